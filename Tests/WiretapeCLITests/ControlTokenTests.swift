import Foundation
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct ControlTokenTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func find(_ file: String?, _ environment: [String: String] = [:]) throws -> (token: String, notices: [String]) {
        var notices: [String] = []
        let secret = try ControlToken.find(file: file, environment: environment) { notices.append($0) }
        return (secret.revealed, notices)
    }

    @Test func aFileIsMadeForItsOwnerAndFoundAgain() throws {
        let file = self.folder.file("token")
        let made = try self.find(file)
        #expect(made.token.count == 48 && made.notices.count == 1)
        #expect(!made.notices[0].contains(made.token))
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let found = try self.find(file)
        #expect(found.token == made.token && found.notices.isEmpty)
    }

    @Test func theFileGoesBeforeTheVariable() throws {
        try self.folder.write("from-the-file-of-tokens".utf8, to: "token")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: self.folder.file("token"))
        let found = try self.find(self.folder.file("token"), ["WIRETAPE_TOKEN": "from-the-variable"])
        #expect(found.token == "from-the-file-of-tokens")
        #expect(found.notices.first?.contains("chmod 600") == true)
        #expect(try self.find(nil, ["WIRETAPE_TOKEN": "from-the-variable"]).token == "from-the-variable")
    }

    @Test(arguments: ["", "short", "with a space in the middle", "two-lines-of-text\nand-another", String(repeating: "x", count: 257)])
    func whatIsNoTokenIsRefusedWithoutBeingShown(_ text: String) throws {
        try self.folder.write((text + "\n").utf8, to: "token")
        let error = #expect(throws: TrustError.self) { try self.find(self.folder.file("token")) }
        #expect(error?.message.contains("is not a token") == true)
        #expect(text.isEmpty || error?.message.contains(text) == false)
        #expect(throws: TrustError.self) { try self.find(nil, ["WIRETAPE_TOKEN": text]) }
    }

    @Test func withoutAnyItSaysWhereToGiveOne() {
        let error = #expect(throws: TrustError.self) { try self.find(nil) }
        #expect(error?.message.contains("--token-file") == true && error?.message.contains("WIRETAPE_TOKEN") == true)
    }
}
