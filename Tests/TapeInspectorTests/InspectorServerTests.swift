import CassetteModel
import CassetteStore
import Foundation
import LocalHTTP
import TapeBytes
@testable import TapeInspector
import TapeTestSupport
import Testing

@Suite struct InspectorServerTests {
    @Test func theAddressHasTheTokenInItsFragmentAlone() throws {
        let inspector = try RunningInspector()
        #expect(inspector.server.address == "http://127.0.0.1:\(inspector.server.port)/#token=\(RunningInspector.token)")
        let other = try RunningInspector()
        #expect(other.server.port != inspector.server.port)
    }

    @Test func everyRunHasATokenOfItsOwn() throws {
        let running = try RunningInspector()
        let tokens = try (0..<2).map { _ in
            let server = try InspectorServer.start(InspectedCassette(path: running.path))
            defer { server.stop() }
            return try #require(server.address.split(separator: "=").last)
        }
        #expect(tokens[0] != tokens[1] && tokens.allSatisfy { $0.count == 64 && $0.allSatisfy(\.isHexDigit) })
    }

    @Test func thePageNeedsNoToken() throws {
        let inspector = try RunningInspector()
        for path in PageFiles.paths + ["/", PageFiles.scriptPath] {
            let answer = try inspector.ask("GET", path, token: nil)
            #expect(answer.status == 200, "\(path)")
            #expect(!answer.body.contains("http://a/pets"), "\(path) holds data")
            for field in PageFiles.protection + ["X-Content-Type-Options: nosniff", "Cache-Control: no-store"] {
                #expect(answer.head.contains(field), "\(path) lacks \(field)")
            }
            #expect(!answer.head.lowercased().contains("set-cookie"))
        }
    }

    @Test func thePageFitsInItsBudget() {
        let size = PageFiles.paths.compactMap { PageFiles.answer($0)?.body.count }.reduce(0, +)
        #expect(size > 0 && size <= 340_000)
    }

    @Test(arguments: [
        "/api/state", "/api/rows", "/api/x/1", "/api/x/1/text", "/api/x/1/response/body", "/api/live", "/api/redactions", "/api/views/1",
    ])
    func dataNeedsTheToken(_ path: String) throws {
        let inspector = try RunningInspector()
        for token in [nil, "", "wrong", String(RunningInspector.token.dropLast())] {
            let answer = try inspector.ask("GET", path, token: token)
            #expect(answer.status == 401 && !answer.body.contains("pets"))
        }
        // Not in the query, which is logged in many places, and not as a cookie, which other ports would receive.
        #expect(try inspector.ask("GET", "\(path)?token=\(RunningInspector.token)", token: nil).status == 401)
        #expect(try inspector.ask("GET", path, fields: ["Cookie: token=\(RunningInspector.token)"], token: nil).status == 401)
    }

    @Test(arguments: ["evil.test", "127.0.0.1", "127.0.0.1:1", "localhost.evil.test", "0.0.0.0"])
    func foreignHostsGetNothing(_ host: String) throws {
        let inspector = try RunningInspector()
        let host = host.hasPrefix("127") ? host : "\(host):\(inspector.server.port)"
        for path in ["/", "/app.js", "/api/state"] { #expect(try inspector.ask("GET", path, host: host).status == 403, "\(path)") }
    }

    @Test func foreignPagesGetNothing() throws {
        let inspector = try RunningInspector()
        for field in [
            "Origin: http://evil.test", "Origin: null", "Origin: http://127.0.0.1:1", "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Site: same-site",
        ] {
            for path in ["/app.js", "/api/state"] {
                #expect(try inspector.ask("GET", path, fields: [field]).status == 403, "\(field) \(path)")
            }
        }
        let own = ["Origin: http://127.0.0.1:\(inspector.server.port)", "Sec-Fetch-Site: same-origin"]
        #expect(try inspector.ask("GET", "/api/state", fields: own).status == 200)
    }

    @Test func aLinkInAFileOpensThePage() throws {
        let inspector = try RunningInspector()
        let link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
        #expect(try inspector.ask("GET", "/", fields: link, token: nil).status == 200)
        #expect(try inspector.ask("GET", "/api/x/1/response/body", fields: link).status == 403)
    }

    @Test(arguments: [
        ("POST", "/"), ("DELETE", "/api/state"), ("PUT", "/api/x/1"), ("GET", "/api/views"), ("GET", "/api/searches"),
        ("POST", "/api/live"), ("OPTIONS", "/api/state"),
    ])
    func otherMethodsAreRefused(_ method: String, _ path: String) throws {
        let answer = try RunningInspector().ask(method, path)
        #expect(answer.status == 405 && answer.head.contains("\r\nAllow: "))
    }

    @Test func itIsNoProxy() throws {
        let inspector = try RunningInspector()
        for line in ["GET http://127.0.0.1:\(inspector.server.port)/ HTTP/1.1", "CONNECT 127.0.0.1:\(inspector.server.port) HTTP/1.1"] {
            #expect(try inspector.answer(to: "\(line)\r\nHost: 127.0.0.1:\(inspector.server.port)\r\n\r\n").status == 400)
        }
    }

    @Test func requestsFollowEachOtherOnAConnection() throws {
        let inspector = try RunningInspector()
        let head = "Host: 127.0.0.1:\(inspector.server.port)\r\nAuthorization: Bearer \(RunningInspector.token)\r\n"
        let text = try inspector.answer(
            to:
                "GET /api/x/1/text HTTP/1.1\r\n\(head)Range: bytes=0-1\r\n\r\nGET / HTTP/1.1\r\n\(head)\r\nGET /api/state HTTP/1.1\r\n\(head)Connection: close\r\n\r\n"
        )
        #expect(text.head.hasPrefix("HTTP/1.1 206 "))
        let more = text.body.components(separatedBy: "HTTP/1.1 200 OK")
        #expect(more.count == 3 && more[2].contains("\"rows\": "))
    }

    @Test func newExchangesAreReported() throws {
        let inspector = try RunningInspector([.sample(1)])
        _ = try inspector.state { $0.contains("\"rows\": 1,") }
        try RecordedExchanges.write([.sample(1), .sample(2), .sample(3)], to: inspector.folder.file("new.json"))
        #expect(rename(inspector.folder.file("new.json"), inspector.path) == 0)
        let text = try inspector.state { $0.contains("\"rows\": 3,") }
        #expect(text.contains("\"epoch\": 2"))
    }

    @Test func aPortInUseIsReported() throws {
        let inspector = try RunningInspector()
        let error = #expect(throws: InspectorServer.StartError.self) {
            try InspectorServer.start(InspectedCassette(path: inspector.path), port: inspector.server.port)
        }
        #expect(error?.message.contains("--web-port") == true)
    }

    /// The last tick may be the answer to a question, and is read after the end.
    @Test func aStoppedInspectorEndsItsFeedsInGoodOrder() throws {
        let running = try RunningInspector()
        let server = try InspectorServer.start(InspectedCassette(path: running.path), token: Secret(RunningInspector.token))
        let feed = try Connection(port: server.port)
        try feed.send("GET /api/live HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nAuthorization: Bearer \(RunningInspector.token)\r\n\r\n")
        while let more = feed.read(), !more.contains("data: ") {}
        server.stop()
        #expect(feed.readToEnd().hasSuffix("0\r\n\r\n"))
    }

    /// Stopping the process waits for this.
    @Test func aStopCancelsTheWorkUnderWay() throws {
        let running = try RunningInspector()
        let (began, ended) = (Gate("the work begins"), Gate("the work is cancelled"))
        var tools = InspectorTools()
        tools.tryRedaction = { _, _ in
            WorkCancellation.onCancel { ended.open() }
            began.open()
            try ended.wait()
            try CassetteError.checkCancellation()
            throw TestProblem("the work was not cancelled")
        }
        let server = try InspectorServer.start(
            InspectedCassette(path: running.path), tools: tools, token: Secret(RunningInspector.token))
        let connection = try Connection(port: server.port)
        try connection.send(
            "POST /api/redactions/try HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nAuthorization: Bearer \(RunningInspector.token)\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        )
        try began.wait()
        server.stop()
        #expect(connection.readToEnd().hasPrefix("HTTP/1.1 503 "))
    }

    @Test func clientThatLeavesCancelsItsRequest() throws {
        let running = try RunningInspector()
        let (began, cancelled, over) = (Gate("the work begins"), Gate("the work is cancelled"), Gate("the test is over"))
        var tools = InspectorTools()
        tools.tryRedaction = { _, _ in
            WorkCancellation.onCancel { cancelled.open() }
            began.open()
            try over.wait()
            throw TestProblem("nobody reads this")
        }
        let server = try InspectorServer.start(
            InspectedCassette(path: running.path), tools: tools, token: Secret(RunningInspector.token))
        defer { server.stop() }
        var connection: Connection? = try Connection(port: server.port)
        try connection?.send(
            "POST /api/redactions/try HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nAuthorization: Bearer \(RunningInspector.token)\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        )
        try began.wait()
        connection = nil
        try cancelled.wait()
        over.open()
    }

    @Test func aStoppedInspectorListensNoMore() throws {
        let running = try RunningInspector()
        let server = try InspectorServer.start(InspectedCassette(path: running.path))
        server.stop()
        #expect(throws: TestProblem.self) { try Connection(port: server.port) }
    }
}
