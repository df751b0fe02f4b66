import CassetteModel
import NIOCore
import TapeExchange
import TapeTestSupport
@testable import TapeProxy
import Testing

/// The other proxy is a script, and so is the origin behind it. Names that do not resolve prove that the other proxy resolves them.
@Suite struct UpstreamProxyTests {
    private func chain(_ url: String) throws -> UpstreamChain {
        let proxy = try UpstreamProxy(url, source: "--upstream-proxy")
        return UpstreamChain(http: proxy, https: proxy)
    }

    private func proxy(_ url: String) throws -> RunningProxy {
        let chain = try self.chain(url)
        return try RunningProxy { $0.chain = chain }
    }

    private static let get = "GET http://far.test/a HTTP/1.1\r\nHost: far.test\r\nConnection: close\r\n\r\n"

    @Test func aRequestInClearHasItsWholeURL() throws {
        let other = try RawOrigin { connection in
            let head = try connection.expectRequest("GET http://far.test/a")
            #expect(head.contains("\r\nProxy-Authorization: Basic bWU6cHc=\r\n") && head.contains("\r\nHost: far.test\r\n"))
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        }
        let proxy = try self.proxy("http://me:pw@127.0.0.1:\(other.port)")
        #expect(try proxy.ask(Self.get).hasSuffix("\r\n\r\nhi"))
        other.finish()
        let recorded = try proxy.recorded()
        #expect(recorded.map(\.request.url) == ["http://far.test/a"])
        #expect(recorded.first?.request.headers.contains("proxy-authorization") == false)
    }

    @Test func tlsIsCheckedFromEndToEnd() throws {
        let scene = try TLSScene()
        let origin = try scene.origin("far.test").plays { stream in
            _ = try stream.expectRequest("GET /b")
            try stream.send(TLSScene.answer("secret"))
        }
        let other = try RawOrigin { connection in
            try connection.expect("CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\nWiretape-Hops: 1\r\n\r\n")
            try connection.send("HTTP/1.1 200 OK\r\n\r\n")
            try origin(connection)
        }
        let chain = try self.chain("http://127.0.0.1:\(other.port)")
        let proxy = try scene.proxy { $0.chain = chain }
        let client = try scene.secure(proxy.connect(), to: "far.test:443", serverName: "far.test")
        try client.send(TLSScene.request("GET", "/b", "Connection: close", host: "far.test"))
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasSuffix("\r\n\r\nsecret"))
        other.finish()
        let recorded = try proxy.recorded()
        #expect(recorded.map(\.request.url) == ["https://far.test/b"] && recorded.first?.connection?.tls?.sni == "far.test")
    }

    @Test func aSOCKSProxyIsGivenTheNameAndTheLogin() throws {
        let other = try RawOrigin { connection in
            #expect(try connection.read(count: 4) == [5, 2, 0, 2])
            try connection.send([5, 2])
            #expect(try connection.read(count: 7) == [1, 2] + Array("me".utf8) + [2] + Array("pw".utf8))
            try connection.send([1, 0])
            #expect(try connection.read(count: 15) == [5, 1, 0, 3, 8] + Array("far.test".utf8) + [0, 80])
            try connection.send(SOCKS5.Reply.granted.bytes)
            _ = try connection.expectRequest("GET /a")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        }
        let proxy = try self.proxy("socks5://me:pw@127.0.0.1:\(other.port)")
        #expect(try proxy.ask(Self.get).hasSuffix("\r\n\r\nhi"))
        other.finish()
    }

    @Test func aProxyOverTLSIsCheckedToo() throws {
        let scene = try TLSScene()
        let other = try RawOrigin(
            scene.origin("127.0.0.1").plays { stream in
                _ = try stream.expectRequest("GET http://far.test/a")
                try stream.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            }, scene.origin("someone.test").isRefused())
        let chain = try self.chain("https://127.0.0.1:\(other.port)")
        let proxy = try scene.proxy { $0.chain = chain }
        #expect(try proxy.ask(Self.get).hasSuffix("\r\n\r\nhi"))
        #expect(try proxy.ask(Self.get).contains("the upstream proxy \"https://127.0.0.1:\(other.port)\" (--upstream-proxy): TLS to"))
        other.finish()
    }

    @Test func aWebSocketInClearGoesThroughATunnel() throws {
        let other = try RawOrigin { connection in
            try connection.expect("CONNECT far.test:80 HTTP/1.1\r\nHost: far.test:80\r\nWiretape-Hops: 1\r\n\r\n")
            try connection.send("HTTP/1.1 200 OK\r\n\r\n")
            _ = try connection.expectRequest("GET /w")
            try connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let proxy = try self.proxy("http://127.0.0.1:\(other.port)")
        let fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
        let answer = try proxy.ask("GET http://far.test/w HTTP/1.1\r\nHost: far.test\r\n\(fields)\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
        other.finish()
    }

    @Test func aRefusedLoginIsNoQuestionForTheClient() throws {
        let wanted = "HTTP/1.1 407 X\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n"
        let other = try RawOrigin { connection in
            _ = try connection.expectRequest("GET http://far.test/a")
            try connection.send(wanted)
        }
        let proxy = try self.proxy("http://127.0.0.1:\(other.port)")
        let answer = try proxy.ask(Self.get)
        #expect(answer.hasPrefix("HTTP/1.1 502 ") && !answer.contains("Proxy-Authenticate"))
        #expect(answer.contains("the upstream proxy \"http://127.0.0.1:\(other.port)\" (--upstream-proxy) requires a user and a password"))
        other.finish()
    }

    @Test func aDeadProxyIsNamedWithTheWayRoundIt() throws {
        let other = try RawOrigin()
        other.stop()
        let answer = try self.proxy("http://127.0.0.1:\(other.port)").ask(Self.get)
        #expect(answer.hasPrefix("HTTP/1.1 502 ") && answer.contains("refused the connection: is it running? --no-upstream-proxy far.test"))
    }

    @Test func aServerOfThisMachineIsReachedDirectly() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.expectRequest("GET /a")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        }
        let other = try RawOrigin()
        let proxy = try self.proxy("http://127.0.0.1:\(other.port)")
        #expect(try proxy.ask(origin.request("GET", "/a", "Connection: close")).hasSuffix("hi"))
        #expect(other.accepted == 0)
        origin.finish()
    }

    /// A proxy whose upstream proxy is the port that it listens on.
    private func proxyToItself(source: String) throws -> RunningProxy {
        let (descriptor, port) = try RawSocket.bound("127.0.0.1", listens: false)
        RawConnection(descriptor: descriptor).close()
        let own = try UpstreamProxy("http://me:pw@127.0.0.1:\(port)", source: source)
        let here = NameResolver(lookup: { _ in [try SocketAddress(ipAddress: "127.0.0.1", port: 0)] })
        return try RunningProxy(resolver: here) {
            $0.port = port
            $0.chain = UpstreamChain(http: own, https: own)
        }
    }

    @Test func aProxyIsNeverItsOwnUpstream() throws {
        let answer = try self.proxyToItself(source: "--upstream-proxy").ask(Self.get)
        #expect(answer.contains("(--upstream-proxy) is this proxy itself: name another one."))
    }

    private func get(hops: Int) -> String {
        "GET http://far.test/a HTTP/1.1\r\nHost: far.test\r\nWiretape-Hops: \(hops)\r\nConnection: close\r\n\r\n"
    }

    @Test func aHopIsCountedAndNotRecorded() throws {
        let other = try RawOrigin { connection in
            let head = try connection.expectRequest("GET http://far.test/a")
            #expect(head.contains("\r\nWiretape-Hops: 9\r\n") && !head.contains("Wiretape-Hops: 8"))
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        }
        let proxy = try self.proxy("http://127.0.0.1:\(other.port)")
        #expect(try proxy.ask(self.get(hops: 8)).hasSuffix("\r\n\r\nhi"))
        other.finish()
        #expect(try proxy.recorded().first?.request.headers.contains("wiretape-hops") == false)
    }

    @Test func anOriginGetsNoHopsField() throws {
        let origin = try RawOrigin { connection in
            #expect(try !connection.expectRequest("GET /a").contains("Wiretape-Hops"))
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        }
        let answer = try RunningProxy().ask(origin.request("GET", "/a", "Wiretape-Hops: 1\r\nConnection: close"))
        #expect(answer.hasSuffix("\r\n\r\nhi"))
        origin.finish()
    }

    @Test func proxiesThatNameEachOtherAreReported() throws {
        let proxy = try RunningProxy()
        let answer = try proxy.ask(self.get(hops: 9))
        #expect(answer.hasPrefix("HTTP/1.1 508 ") && answer.contains("--upstream-proxy"))
        let tunnel = try proxy.ask("CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\nWiretape-Hops: 9\r\nConnection: close\r\n\r\n")
        #expect(tunnel.hasPrefix("HTTP/1.1 508 "))
    }

    @Test func aShellThatNamesTheProxyItselfIsPassedOver() throws {
        let origin = try RawOrigin { connection in
            let head = try connection.expectRequest("GET /a")
            #expect(!head.contains("Proxy-Authorization"))
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        }
        let authority = "far.test:\(origin.port)"
        let answer = try self.proxyToItself(source: "http_proxy").ask(
            "GET http://\(authority)/a HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n\r\n")
        #expect(answer.hasSuffix("\r\n\r\nhi"))
        origin.finish()
    }
}
