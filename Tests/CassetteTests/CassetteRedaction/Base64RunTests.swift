@testable import CassetteRedaction
import Testing

@Suite struct Base64RunTests {
    @Test func contentIsEncodedAgainFromItsGroupOn() throws {
        let text = Array("data:".utf8) + SecretCorpus.base64(Array("user:hunter2x!".utf8))
        let core = Base64Run.core(of: Array("hunter2x".utf8), alignment: 2)
        let offset = try #require(text.indices.first { text[$0...].starts(with: core) })
        let run = try #require(text.withUnsafeBytes { Base64Run($0, core: offset, alignment: 2) })
        #expect(String(decoding: run.content, as: UTF8.self) == "r:hunter2x!")
        let coded = run.text(with: EditList([Edit(range: 2..<10, bytes: [42])]))
        #expect(coded == SecretCorpus.base64(Array("r:*!".utf8)))
    }

    @Test func withoutPaddingItStaysWithout() throws {
        let text = SecretCorpus.base64(Array("hunter2x??".utf8), urlSafe: true)
        let run = try #require(text.withUnsafeBytes { Base64Run($0, core: 0, alignment: 0) })
        #expect(run.text(with: EditList([Edit(range: 0..<8, bytes: [42])])) == SecretCorpus.base64(Array("*??".utf8), urlSafe: true))
    }
}
