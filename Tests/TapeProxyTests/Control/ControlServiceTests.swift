import Foundation
import LocalHTTP
@testable import TapeProxy
import Testing

@Suite struct ControlServiceTests {
    private func ask(_ service: ControlService, _ method: String, _ path: String, query: String = "", body: String = "") throws
        -> (status: Int, body: [String: Any])
    {
        let answer = service.answer(LocalRequest(method: method, path: path, query: query, body: Array(body.utf8)))
        return (answer.status, try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]))
    }

    @Test func aSessionIsStartedLookedAtAndEnded() throws {
        let running = try RunningSessions()
        let service = ControlService(server: running.server)
        let created = try self.ask(service, "POST", "/sessions", body: #"{"cassette": "pets.json", "port": true}"#)
        #expect(created.status == 201)
        #expect(created.body["id"] as? String == "s1")
        #expect(created.body["records"] as? Bool == true && created.body["replays"] as? Bool == false)
        let proxy = try #require(created.body["proxy"] as? String)
        #expect(proxy.hasPrefix("http://s1:") && proxy.hasSuffix("@\(running.server.address)"))
        let port = try #require(created.body["port"] as? Int)
        #expect(created.body["portProxy"] as? String == "http://127.0.0.1:\(port)")

        let listed = try #require(try self.ask(service, "GET", "/sessions").body["sessions"] as? [[String: Any]])
        #expect(listed.map { $0["id"] as? String } == ["s1"])
        let shown = try self.ask(service, "GET", "/sessions/s1")
        #expect(shown.status == 200 && shown.body["state"] as? String == "open")
        let token = try #require(proxy.split(separator: ":").dropFirst(2).first?.split(separator: "@").first)
        #expect(!"\(shown.body)\(listed)".contains(token), "told once, to whoever started the session")

        let ended = try self.ask(service, "DELETE", "/sessions/s1")
        #expect(ended.status == 200 && ended.body["state"] as? String == "closed")
        #expect((ended.body["verdict"] as? [String: Any])?["misses"] as? Int == 0)
        #expect(try self.ask(service, "DELETE", "/sessions/s1").status == 404)
        #expect(try self.ask(service, "GET", "/sessions/s1").status == 404)
    }

    @Test func refusalsAreAnswers() throws {
        let running = try RunningSessions()
        let service = ControlService(server: running.server)
        for (body, status) in [
            ("", 400), (#"{"cassette": "../pets.json"}"#, 400), (#"{"cassette": "pets.json", "mode": "none"}"#, 422),
            (#"{"cassette": "pets.json", "modes": "none"}"#, 400),
        ] {
            let answer = try self.ask(service, "POST", "/sessions", body: body)
            #expect(answer.status == status, "\(body)")
            #expect((answer.body["error"] as? [String: Any])?["message"] is String)
        }
        #expect(try self.ask(service, "GET", "/").status == 404)
    }

    @Test func theAddressOfAPortIsThatOfTheHost() throws {
        let running = try RunningSessions { $0.host = "::1" }
        let created = try self.ask(
            ControlService(server: running.server), "POST", "/sessions", body: #"{"cassette": "a.json", "port": true}"#)
        #expect(created.body["portProxy"] as? String == "http://[::1]:\(created.body["port"] as? Int ?? 0)")
    }
}

@Suite struct ControlRouteTests {
    private func route(_ method: String, _ path: String, _ query: String = "") throws -> ControlRoute {
        try ControlRoute(LocalRequest(method: method, path: path, query: query, body: []))
    }

    @Test func fourThingsCanBeAsked() throws {
        let name = try #require(SessionName("s1"))
        #expect(try self.route("GET", "/sessions") == .list)
        #expect(try self.route("POST", "/sessions") == .create)
        #expect(try self.route("GET", "/sessions/s1") == .show(name))
        #expect(try self.route("DELETE", "/sessions/s1") == .end(name, failed: false))
        #expect(try self.route("DELETE", "/sessions/s1", "failed=false") == .end(name, failed: false))
        #expect(try self.route("DELETE", "/sessions/s1", "failed=true") == .end(name, failed: true))
    }

    @Test(arguments: [
        ("GET", "/", "", 404), ("GET", "/session", "", 404), ("GET", "/sessions/s1/x", "", 404), ("GET", "//sessions", "", 404),
        ("GET", "/sessions/", "", 404), ("GET", "/sessions/..", "", 404), ("GET", "/sessions/a%20b", "", 404),
        ("PUT", "/sessions", "", 405), ("DELETE", "/sessions", "", 405), ("POST", "/sessions/s1", "", 405), ("HEAD", "/sessions", "", 405),
        ("GET", "/sessions", "failed=true", 400), ("POST", "/sessions", "a", 400), ("DELETE", "/sessions/s1", "failed", 400),
        ("DELETE", "/sessions/s1", "fail=true", 400), ("GET", "/sessions/s1", "failed=true", 400),
    ])
    func everythingElseIsRefused(_ method: String, _ path: String, _ query: String, _ status: Int) {
        let refusal = #expect(throws: LocalAnswer.self) { try self.route(method, path, query) }
        #expect(refusal?.status == status)
        #expect((refusal?.fields.contains { $0.hasPrefix("Allow: ") } == true) == (status == 405))
    }
}
