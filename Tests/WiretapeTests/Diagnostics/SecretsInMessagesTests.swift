import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

/// Text for people never shows the values of a query: they may be tokens.
@Suite struct SecretsInMessagesTests {
    private static let secret = "s3cr3t-of-4-query"
    private static let url = "http://user:s3cr3t-of-4-query@a.test/pets?access_token=\(Self.secret)&n=1#\(Self.secret)"

    private func check(_ texts: [String], _ place: String) {
        #expect(!texts.isEmpty)
        for text in texts { #expect(!text.contains(Self.secret), "\(place): \(text)") }
    }

    private func texts(_ response: HTTPSession.DataResponse<Data>) -> [String] {
        [
            response.description, response.debugDescription, "\(response.metrics)", String(reflecting: response.metrics),
            response.error.map { "\($0)" } ?? "", response.error.map { String(reflecting: $0) } ?? "",
            response.error?.localizedDescription ?? "",
        ]
    }

    @Test func thoseOfAResponse() async throws {
        let transport = ScriptedTransport { exchange, number in
            exchange.answer(number == 1 ? 302 : 404, ["Location": "/next?access_token=\(Self.secret)", "Content-Type": "a/b"], "x")
        }
        let response = await HTTPSession.plain(transport).request(Self.url).validate().serializingData().response
        self.check(self.texts(response), "response")
        let typed = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.answer(200, ["Content-Type": "a/b"], "x") })
        self.check(self.texts(await typed.request(Self.url).validate(contentType: ["text/plain"]).serializingData().response), "type")
    }

    @Test func thoseOfFailures() async throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("c.json"), mode: .once)
        let other = """
            {"wiretape": 1, "interactions": [{"id": 1, "started": "2026-11-21T04:19:28.123456Z",
             "request": {"method": "GET", "url": "http://127.0.0.1:1/pets?access_token=\(Self.secret)-of-old&n=2", "headers": []},
             "response": {"status": 200, "headers": []}}]}
            """
        try folder.write(Array(other.utf8), to: "none.json")
        let none = try Cassette(folder.file("none.json"))
        let transports: [(String, any Transport)] = [
            ("stub", StubTransport([])), ("rules", StubTransport(rules: [])), ("offline", OfflineTransport()),
            ("escaped", EscapedTransport(scopes: CassetteScopes(), reason: .unknown)), ("replay", ReplayTransport(cassette)),
            ("miss", none.transport),
            ("live", LiveTransport()),
        ]
        for (name, transport) in transports {
            let request = HTTPSession.plain(transport).request(Self.url.replacingOccurrences(of: "a.test", with: "127.0.0.1:1"))
            self.check(self.texts(await request.serializingData().response), name)
        }
        for url in ["ftp://a.test/?t=\(Self.secret)", "http:///?t=\(Self.secret)", "http://a.test/%?t=\(Self.secret)"] {
            self.check(self.texts(await HTTPSession.plain(StubTransport([])).request(url).serializingData().response), url)
        }
        let lines = none.report.flawLines(naming: [.miss])
        self.check(["\(none.report)"] + lines, "report")
        // Harmless values are shown, so that the miss can be understood.
        #expect(lines.joined().contains("n=2") && lines.joined().contains("access_token=…"), "\(lines)")
        try none.close()
        try cassette.abandon()
    }

    @Test func thoseOfATimeout() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport) {
            $0.clock = clock
            $0.timeouts.total = .seconds(5)
        }
        let task = session.request(Self.url).serializingData()
        _ = await transport.exchange(1)
        async let response = task.response
        await clock.sleepers(1)
        clock.advance(by: .seconds(6))
        self.check(self.texts(await response), "timeout")
    }
}
