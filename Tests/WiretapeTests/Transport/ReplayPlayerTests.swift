import CassetteModel
import CassettePlayback
import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct ReplayPlayerTests {
    @Test func anAnswerThatCannotBeReadIsNotedAndNamed() async throws {
        let folder = try TemporaryFolder()
        let sidecar = Sidecar(
            path: "made.bodies/\(String(repeating: "a", count: 64)).bin", size: 9, sha256: String(repeating: "a", count: 64))
        let interaction = CassetteFixture.interaction(url: "http://a.test/", body: Body(size: 9, content: .file(sidecar)))
        let cassette = try CassetteFixture.cassette([interaction], in: folder)
        let log = try await ReplayTransport(cassette).exchange("GET", "http://a.test/")
        #expect(log.lines == ["failed unserved"])
        #expect(cassette.verdict.unserved == 1)
        #expect(cassette.verdict.hits == 0)
        #expect(try cassette.close().failures.first?.hasPrefix("not served: exchange 1 could not be replayed") == true)
    }
}
