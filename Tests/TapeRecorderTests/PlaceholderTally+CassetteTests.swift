import CassetteRedaction
import CassetteStore
import TapeBytes
import TapeExchange
import TapeTestSupport
import Testing

@testable import TapeRecorder

@Suite struct PlaceholderTallyCassetteTests {
    @Test func placeholdersInFilesCountToo() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let plan = try RecordingPlan(path: path, mode: .once, exists: false)
        let recorder = try #require(try Recorder(plan, version: "1", redaction: nil))
        let text = String(repeating: "x ", count: 600_000) + "{{token:41}} " + String(repeating: "y ", count: 600_000)
        let fields = ["Content-Type: text/plain", "X-T: {{token:7}} {{jwt:3}}"]
        _ = recorder.put(.exchange(TapedExchanges.exchange(1, fields: fields, body: Array(text.utf8)), stored: nil))
        _ = try recorder.close(keepsOld: false)
        #expect(try folder.names(in: "tape.bodies").count == 1)
        #expect(
            try PlaceholderTally(CassetteReader(path: path), path: path, digest: { PortableSHA256() }).highest == ["token": 41, "jwt": 3])
    }
}
