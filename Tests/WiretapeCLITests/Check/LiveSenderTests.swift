import CassetteModel
import Testing

@testable import WiretapeCLI

@Suite struct LiveSenderTests {
    @Test func aRequestInClearIsReadToTheEndOfItsAnswer() throws {
        let origin = try DriftingOrigin(["a": String(repeating: "x", count: 200_000)])
        defer { origin.stop() }
        let recorded = RecordedRequest(method: "GET", url: origin.url("a"), target: "/a", headers: HeaderFields(["Host: a"]))
        try LiveSender(port: origin.port, seconds: 20).send(LiveRequest(recorded, allowsUnsafe: false) { _ in [] })
        #expect(try origin.takeRequests() == ["GET /a "])
    }

    @Test func aRefusedTunnelIsAnError() throws {
        let origin = try DriftingOrigin([:])
        defer { origin.stop() }
        let recorded = RecordedRequest(method: "GET", url: "https://a/")
        #expect(throws: LiveSocket.Failure.self) {
            // No proxy: it knows no CONNECT.
            try LiveSender(port: origin.port, seconds: 20).send(LiveRequest(recorded, allowsUnsafe: false) { _ in [] })
        }
    }
}
