import Foundation
import TapeCore
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct CassetteLeakScanTests {
    private let secret = "kT7-pQ2xV9mZ4w"

    /// A cassette recorded without redaction.
    private func record(_ folder: TemporaryFolder, _ exchanges: [TapedExchange]) throws -> String {
        let path = folder.file("tape.json")
        let recorder = try #require(
            try Recorder(RecordingPlan(path: path, mode: .all, exists: false), version: "1", redaction: nil))
        for exchange in exchanges { _ = recorder.put(.exchange(exchange, stored: nil)) }
        return try recorder.close(keepsOld: false)
    }

    private func leaks(_ path: String) throws -> [CassetteLeak] {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array(self.secret.utf8), kind: "jwt")
        return try CassetteLeakScan(path: path, vault: vault).leaks()
    }

    @Test func secretsAreFoundInTheTextAndInTheFilesBesideIt() throws {
        let folder = try TemporaryFolder()
        let filler = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        let path = try self.record(
            folder,
            [
                TapedExchanges.simple(1), TapedExchanges.simple(2, body: "it is \(self.secret)."),
                TapedExchanges.exchange(3, fields: ["Content-Type: image/png"], body: filler + Array(self.secret.utf8)),
            ])
        let leaks = try self.leaks(path)
        #expect(leaks.map(\.exchange) == [2, 3])
        let lines = String(decoding: try folder.read("tape.json"), as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let line = try #require(lines.firstIndex { $0.contains(self.secret) }) + 1
        #expect(leaks.first?.place == "line \(line)")
        #expect(leaks.last?.place.hasPrefix("\"tape.bodies/") == true)
        #expect(leaks.last?.place.hasSuffix(" byte 100000") == true)
        #expect(!leaks.description.contains(self.secret))
    }

    @Test func aRuleThatSpellsTheSecretIsALeakOfTheBeginning() throws {
        let folder = try TemporaryFolder()
        let path = try self.record(folder, [])
        var text = String(decoding: try folder.read("tape.json"), as: UTF8.self)
        text = text.replacingOccurrences(of: "  \"interactions\"", with: "  \"x\": \"\(self.secret)\",\n  \"interactions\"")
        try folder.write(Array(text.utf8), to: "tape.json")
        #expect(try self.leaks(path).map(\.description) == ["the cassette's beginning, line 4: what {{jwt:1}} stands for (plain)"])
    }

    @Test func whatHoldsNoneHasNoLeaks() throws {
        let folder = try TemporaryFolder()
        #expect(try self.leaks(self.record(folder, [TapedExchanges.simple(1)])).isEmpty)
    }
}
