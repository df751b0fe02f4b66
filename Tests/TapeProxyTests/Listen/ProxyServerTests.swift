import CassetteModel
import CassettePlayback
import CassetteStore
import Foundation
import TapeExchange
@testable import TapeProxy
import TapeTestSupport
import Testing

@Suite struct ProxyServerTests {
    // MARK: Starting

    private func start(_ change: (inout ProxyConfiguration) -> Void) throws {
        var configuration = ProxyConfiguration()
        change(&configuration)
        let session = try CassetteSession(mode: .passthrough)
        try ProxyServer.start(configuration, session: session).stop()
    }

    @Test(arguments: ["0.0.0.0", "::", "192.0.2.1", "example.com", "127.example.com"]) func anAddressForOthersHasToBeAskedFor(host: String)
    {
        let error = #expect(throws: ProxyError.self) { try self.start { $0.host = host } }
        #expect(error?.code == .remoteNotAllowed)
        #expect(error?.message.contains("--allow-remote") == true)
    }

    @Test func aProxyForOthersWantsAPassword() throws {
        let error = #expect(throws: ProxyError.self) {
            try self.start {
                $0.host = "0.0.0.0"
                $0.allowsRemote = true
            }
        }
        #expect(error?.code == .remoteNotAllowed)
        #expect(error?.message.contains("--proxy-auth") == true)
        try self.start {
            $0.host = "0.0.0.0"
            $0.allowsRemote = true
            $0.credentials = "user:password"
        }
    }

    @Test func aPortInUseIsReportedWithItsAddress() throws {
        let proxy = try RunningProxy(.passthrough)
        let error = #expect(throws: ProxyError.self) { try self.start { $0.port = proxy.server.port } }
        #expect(error?.code == .cannotListen)
        #expect(error?.message.contains(proxy.server.address) == true)
    }

    // MARK: Who may ask, and for what

    @Test func aRequestWithoutThePasswordIsAskedForIt() throws {
        let origin = try RawOrigin { connection in
            let head = try connection.expectRequest("GET /right")
            guard !head.lowercased().contains("proxy-authorization") else { throw RawError("the password was passed on") }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let proxy = try RunningProxy(.passthrough) { $0.credentials = "user:pass:word" }
        let client = try proxy.connect()
        for field in [
            "X: y", "Proxy-Authorization: Basic dXNlcjpwYXNz", "Proxy-Authorization: Bearer dXNlcjpwYXNzOndvcmQ=",
            "Proxy-Authorization: Basic ?",
        ] {
            try client.send(origin.request("GET", "/wrong", field))
            let answer = String(decoding: try client.readMessage(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"wiretape\"\r\n"))
            #expect(!answer.contains("dXNl"))
        }
        try client.send(origin.request("GET", "/right", "Proxy-Authorization: basic dXNlcjpwYXNzOndvcmQ="))
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasSuffix("\r\n\r\nok"))
        origin.finish()
        let tunnel = try proxy.connect()
        try tunnel.send("CONNECT \(origin.authority) HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
        #expect(String(decoding: try tunnel.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 407 "))
        #expect(origin.accepted == 1)
    }

    @Test(arguments: ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1", "[::ffff:127.0.0.1]", "0x7f000001", "2130706433"])
    func theProxyItselfIsNoOriginUnderAnySpelling(host: String) throws {
        let proxy = try RunningProxy()
        let authority = "\(host):\(proxy.server.port)"
        let answer = try proxy.ask("GET http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 508 Loop Detected\r\nWiretape-Error: loop\r\n"))
        let tunnel = try proxy.ask("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        #expect(tunnel.hasPrefix("HTTP/1.1 508 Loop Detected\r\n"))
        #expect(try proxy.recorded().isEmpty)
    }

    @Test func noOriginIsWhereTheProcessListensElse() throws {
        var configuration = ProxyConfiguration()
        configuration.closedPorts = [.init(port: 7), .init(host: "192.0.2.7", port: 8), .init(host: "0.0.0.0", port: 9)]
        let server = try ProxyServer.start(configuration, session: CassetteSession(mode: .passthrough))
        defer { server.stop() }
        func isOwn(_ address: IPAddress?, _ port: Int) throws -> Bool {
            try #require(server.loops.shared.ownPorts.rule(for: port)).isSelf(address: #require(address), port: port)
        }
        for port in [7, 8, 9] { #expect(try isOwn(IPAddress("127.0.0.1"), port)) }
        #expect(try isOwn(IPAddress("192.0.2.7"), 8) && !isOwn(IPAddress("192.0.2.7"), 7))
        for address in ProxyListener.interfaces() { #expect(try isOwn(address, 9)) }
    }

    @Test func aPersonWhoOpensTheAddressGetsHelp() throws {
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send("GET / HTTP/1.1\r\nHost: \(proxy.server.address)\r\n\r\n")
        let page = String(decoding: try client.readMessage(), as: UTF8.self)
        #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(page.contains("http_proxy=http://\(proxy.server.address)"))
        try client.send("POST / HTTP/1.1\r\nHost: \(proxy.server.address)\r\nContent-Length: 2\r\n\r\nhi")
        #expect(
            String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix(
                "HTTP/1.1 400 Bad Request\r\nWiretape-Error: origin-form\r\n"))
    }

    @Test func oneConnectionTooManyIsRefused() throws {
        let proxy = try RunningProxy { $0.limits.connections = 16 }
        let clients = try (0..<16).map { _ in try proxy.connect() }
        // Each gets an answer, so all of them have been accepted.
        for client in clients {
            try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            _ = try client.readMessage()
        }
        let answer = try proxy.connect().readToEnd().bytes
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 503 Service Unavailable\r\nWiretape-Error: connections\r\n"))
    }

    // MARK: Stopping

    /// Stops on a separate thread, and returns once no more connections are accepted.
    private func beginStop(_ proxy: RunningProxy) throws -> Gate {
        let stopped = Gate("the proxy has stopped")
        let server = proxy.server
        proxy.isServerStopped = true
        Thread {
            server.stop()
            stopped.open()
        }.start()
        for _ in 0..<100_000 {
            guard let client = try? proxy.connect() else { return stopped }
            _ = try client.readToEnd()
        }
        throw RawError("the proxy still accepts")
    }

    @Test func aStopLetsRequestsUnderWayEnd() throws {
        let asked = Gate("the origin has the request")
        let answer = Gate("the stop has begun")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            asked.open()
            try answer.wait()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate")
        }
        let proxy = try RunningProxy { $0.limits.grace = 20 }
        let idle = try proxy.connect()
        let client = try proxy.connect()
        try client.send(origin.request())
        try asked.wait()
        let stopped = try self.beginStop(proxy)
        try idle.expectEnd()
        answer.open()
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasSuffix("\r\n\r\nlate"))
        try stopped.wait()
        origin.finish()
        #expect(try proxy.recorded().map(\.outcome) == [.complete])
    }

    @Test func aStopCutsExchangesAfterItsGrace() throws {
        let asked = Gate("the origin has the request")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart")
            asked.open()
            try connection.expectEnd()
        }
        let proxy = try RunningProxy { $0.limits.grace = 1 }
        let client = try proxy.connect()
        try client.send(origin.request())
        _ = try client.read(through: "part")
        try asked.wait()
        let recorded = try proxy.recorded()
        try client.expectEnd()
        origin.finish()
        guard case .cut(let cut)? = recorded.first?.outcome else { throw RawError("\(recorded) is not cut") }
        #expect(cut.by == .recorder)
        #expect(recorded.first?.response?.body?.isComplete == false)
    }

    @Test func aStopWaitsForASlowClientToTakeItsAnswer() throws {
        let size = 8 << 20
        let asked = Gate("the answer has begun")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            asked.open()
            try connection.send([UInt8](repeating: 7, count: size))
        }
        let proxy = try RunningProxy { $0.limits.grace = 20 }
        let client = try proxy.connect(receives: 8 << 10)
        try client.send(origin.request())
        try asked.wait()
        let stopped = try self.beginStop(proxy)
        _ = try client.read(through: "\r\n\r\n")
        #expect(try client.readToEnd().bytes.count == size)
        try stopped.wait()
        origin.finish()
    }
}
