import ArgumentParser
import Foundation
@testable import WiretapeCLI
import Testing

@Suite struct WebOptionsTests {
    private func problem(_ words: String...) -> String? {
        do {
            _ = try WiretapeCommand.parseAsRoot(words)
            return nil
        } catch {
            return WiretapeCommand.message(for: error)
        }
    }

    @Test(arguments: ["inspect", "record", "replay", "run"]) func everyCommandThatHasACassetteShowsIt(_ command: String) {
        #expect(self.problem(command, "a.json", "--web") == nil)
        #expect(self.problem(command, "a.json", "--web", "--web-port", "8080", "--open") == nil)
        #expect(self.problem(command, "a.json", "--web-port", "8080")?.contains("--web-port needs --web") == true)
        #expect(self.problem(command, "a.json", "--open")?.contains("--open needs --web") == true)
        #expect(self.problem(command, "a.json", "--web", "--web-port", "65536")?.contains("0 to 65535") == true)
    }

    @Test func theSessionsOfAServerHavePagesToo() {
        #expect(self.problem("serve", "--web", "--web-port", "8080", "--open") == nil)
        #expect(self.problem("serve", "--web-port", "8080")?.contains("--web-port needs --web") == true)
        #expect(self.problem("serve", "--open")?.contains("--open needs --web") == true)
    }

    @Test func aPageShowsAllExchanges() {
        #expect(self.problem("inspect", "a.json", "3", "--web")?.contains("all exchanges") == true)
        #expect(self.problem("inspect", "a.json", "--web", "--filter", "~e")?.contains("all exchanges") == true)
        #expect(self.problem("inspect", "a.json", "--web", "--json")?.contains("all exchanges") == true)
        #expect(self.problem("inspect", "a.json", "--web", "--lint")?.contains("cannot be used together") == true)
        #expect(self.problem("inspect", "a.json", "--against", "b.json")?.contains("--against needs --web") == true)
        #expect(self.problem("inspect", "a.json", "--web", "--against", "b.json") == nil)
    }

    @Test func onlyItsOwnerReadsTheFileThatOpensThePage() throws {
        let file = try RedirectFile("http://127.0.0.1:1/#token=ab")
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try String(contentsOfFile: file.path, encoding: .utf8).contains("url=http://127.0.0.1:1/#token=ab\""))
        file.remove()
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
