import CassetteModel
import CassettePlayback
import TapeExchange
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct SharedSessionTests {
    /// Browsers open a spare tunnel and do not use it. Its CONNECT, in HTTP/1.1, does not show which protocol is used inside other tunnels.
    @Test func versionOfAnOriginIsNotThatOfItsCONNECT() throws {
        let folder = try TemporaryFolder()
        let text = """
            { "wiretape": 1, "interactions": [
            { "id": 1, "started": "2026-11-21T04:19:28.123456Z",
              "request": { "method": "CONNECT", "url": "https://origin.test/", "headers": ["Host: origin.test"] },
              "outcome": { "failed": "tls", "message": "left" } },
            { "id": 2, "started": "2026-11-21T04:19:29.123456Z",
              "request": { "method": "GET", "url": "https://origin.test/", "version": "HTTP/2.0" }, "response": { "status": 204 } },
            { "id": 3, "started": "2026-11-21T04:19:30.123456Z",
              "request": { "method": "GET", "url": "https://origin.test/a" }, "response": { "status": 204 } } ] }
            """
        try folder.write(text.utf8, to: "tape.json")
        let cassette = try RecordedCassette(path: folder.file("tape.json"))
        let shared = SharedSession(
            configuration: ProxyConfiguration(), session: try CassetteSession(mode: .none, cassette: cassette), cassette: cassette)
        #expect(shared.recordedVersions == [Origin(scheme: .https, host: "origin.test", port: 443): .http2])
    }
}
