import CassetteModel
import CassettePlayback
import CassetteStore
import TapeExchange
import TapeTLS
import TapeTrust
import Testing
@testable import TapeProxy

/// URLs in the path of requests to the proxy itself: live, recorded under the real URL, and replayed from the cassette.
@Suite struct ReverseModeTests {
    private typealias Answer = LiveAndReplayed.Answer

    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    private static func request(_ method: String = "GET", _ path: String, _ fields: String..., body: String = "") -> String {
        (["\(method) \(path) HTTP/1.1", "Host: localhost:7"] + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    @Test func aURLInThePathIsAskedForAndRecordedAsItIs() throws {
        let origin = try RawOrigin { connection in
            let head = try connection.expectRequest("POST /a?b=c")
            guard head.contains("\r\nX-Odd:  two  spaces \r\n"), !head.contains("localhost:7") else { throw RawError(head) }
            try connection.expect("hello")
            try connection.send("HTTP/1.1 201 Made\r\nContent-Length: 3\r\nX-Out:  1\r\n\r\nyes")
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin) { client in
            try client.send(
                Self.request("POST", "/http://\(origin.authority)/a?b=c", "X-Odd:  two  spaces ", "Content-Length: 5", body: "hello"))
            return Answer(bytes: try client.readMessage())
        }
        #expect(answer.text == "HTTP/1.1 201 Made\r\nContent-Length: 3\r\nX-Out:  1\r\n\r\nyes")
        let request = try #require(recorded.first?.request)
        #expect(request.url == "http://\(origin.authority)/a?b=c")
        #expect(request.headers.lines == ["Host: \(origin.authority)", "X-Odd:  two  spaces ", "Content-Length: 5"])
        #expect(request.body?.content == .text(Array("hello".utf8)))
    }

    @Test(arguments: ["https://", "https:/"]) func theOriginsTLSIsOurs(scheme: String) throws {
        let origin = try RawOrigin(
            self.scene.origin("localhost").plays { stream in
                let head = try stream.expectRequest("GET /a")
                guard head.contains("\r\nHost: localhost:") else { throw RawError(head) }
                try stream.send(TLSScene.answer("secret", "Set-Cookie: a=b; Domain=localhost; Secure"))
                try stream.expectRequest("GET /b")
                try stream.send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ../c\r\n\r\n")
            })
        let base = "/\(scheme)localhost:\(origin.port)"
        let (answer, recorded) = try LiveAndReplayed.compare(origin, configure: self.scene.configure) { client in
            try client.send(Self.request("GET", "\(base)/a"))
            let first = try client.readMessage()
            try client.send(Self.request("GET", "\(base)/b"))
            return Answer(bytes: first + (try client.readMessage()))
        }
        #expect(
            answer.text == "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nSet-Cookie: a=b; Path=\(base)/\r\n\r\nsecret"
                + "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: http://localhost:7/https://localhost:\(origin.port)/c\r\n\r\n")
        #expect(recorded.map(\.request.url) == ["https://localhost:\(origin.port)/a", "https://localhost:\(origin.port)/b"])
        #expect(recorded.first?.response?.headers.first("set-cookie") == "a=b; Domain=localhost; Secure", "as the origin sent it")
        #expect(recorded.last?.response?.headers.first("location") == "../c")
        #expect(recorded.last?.connection?.tls?.version == "TLSv1.3")
        #expect(recorded.map { $0.connection?.isReused } == [false, true])
    }

    @Test func aCertificateThatIsNotTrustedIs502() throws {
        let origin = try RawOrigin(TLSOrigin(try TestAuthority().leaf(for: ["localhost"])).isRefused())
        let proxy = try self.scene.proxy()
        let answer = try proxy.ask(Self.request("GET", "/https://localhost:\(origin.port)/", "Connection: close"))
        #expect(answer.hasPrefix("HTTP/1.1 502 Bad Gateway\r\nWiretape-Error: tls\r\n"), "\(answer)")
        origin.finish()
        #expect(try proxy.recorded().first?.request.url == "https://localhost:\(origin.port)/")
    }

    /// Many libraries send everything through the proxy of their settings, even requests to the proxy's own address.
    @Test func aURLForUsThatCameByTheProxysSettingsIsTheSame() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /a")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
        }
        let proxy = try RunningProxy()
        let url = "http://localhost:\(proxy.server.port)/http://\(origin.authority)/a"
        let client = try proxy.connect()
        try client.send("GET \(url) HTTP/1.1\r\nHost: localhost:\(proxy.server.port)\r\n\r\n")
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasSuffix("\r\n\r\n1"))
        client.close()
        origin.finish()
        #expect(try proxy.recorded().map(\.request.url) == ["http://\(origin.authority)/a"])
    }

    @Test func theProxysOwnPortsAreNoOrigins() throws {
        let proxy = try RunningProxy()
        let own = "127.0.0.1:\(proxy.server.port)"
        for host in [own, "localhost:\(proxy.server.port)", "[::1]:\(proxy.server.port)", "0.0.0.0:\(proxy.server.port)"] {
            for path in ["/http://\(host)/", "/http://\(own)/http://\(host)/x", "/https://\(host)/"] {
                let answer = try proxy.ask(Self.request("GET", path, "Connection: close"))
                let isRefused =
                    answer.hasPrefix("HTTP/1.1 508 ") || answer.contains("Wiretape-Error: tls")
                    || answer.contains("Wiretape-Error: refused")
                #expect(isRefused, "\(path): \(answer)")
            }
        }
    }

    @Test(arguments: [
        ("/https://", "needs a host name"), ("/https://a:0/", "port from 1 to 65535"), ("/https://u:p@a/", "userinfo"),
        ("/https%3A//a/", "is not a URL after a slash"), ("/https://a b/", "version"),
    ])
    func aBadURLIs400(path: String, reason: String) throws {
        let answer = try RunningProxy(.none, in: self.scene.emptyCassette()).ask(Self.request("GET", path))
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n") && answer.contains(reason), "\(answer)")
    }

    @Test func aWebPageIsRefused() throws {
        let proxy = try RunningProxy(.none, in: self.scene.emptyCassette())
        for fields in ["Host: evil.test", "Host: localhost\r\nOrigin: http://evil.test", "Host: localhost\r\nSec-Fetch-Site: cross-site"] {
            let answer = try proxy.ask("GET /http://a.test/ HTTP/1.1\r\n\(fields)\r\nConnection: close\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 403 Forbidden\r\nWiretape-Error: reverse\r\n"), "\(answer)")
        }
        #expect(proxy.session.verdict().misses == 0)
    }

    @Test func missGets424() throws {
        let proxy = try RunningProxy(.none, in: self.scene.emptyCassette())
        let answer = try proxy.ask(Self.request("GET", "/https://a.test/b", "Connection: close"))
        #expect(answer.hasPrefix("HTTP/1.1 424 ") && answer.contains("https://a.test/b"), "\(answer)")
    }

    @Test func hostsThatAreExceptedStayExcepted() throws {
        let hosts = try [HostPattern("a.test"), HostPattern("b.test")]
        let proxy = try self.scene.proxy {
            $0.tls?.refused = [hosts[0]]
            $0.tls?.passthrough = [hosts[1]]
        }
        for (host, option) in [("a.test", "--refuse"), ("b.test", "--passthrough")] {
            let answer = try proxy.ask(Self.request("GET", "/https://\(host)/", "Connection: close"))
            #expect(answer.hasPrefix("HTTP/1.1 403 ") && answer.contains(option), "\(answer)")
        }
    }

    @Test func theMagicHostAnswersHereToo() throws {
        let proxy = try RunningProxy()
        #expect(try proxy.ask(Self.request("GET", "/http://wiretape.test/status.json", "Connection: close")).contains("\"mode\""))
        #expect(
            try proxy.ask(Self.request("GET", "/https://wiretape.test/trusted.svg", "Connection: close")).hasPrefix("HTTP/1.1 404 "),
            "nobody has trusted anything")
    }

    @Test func credentialsStandBeforeTheURLAndGoNoFurther() throws {
        let origin = try RawOrigin { connection in
            let head = try connection.expectRequest("GET /a")
            guard !head.contains("pass"), !head.lowercased().contains("authorization") else { throw RawError(head) }
            try connection.send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /b\r\n\r\n")
        }
        let proxy = try RunningProxy { $0.credentials = "us/er:pa:ss" }
        let path = "http://\(origin.authority)/a"
        for prefix in ["", "us%2Fer:wrong/", "us%2Fer/", ":/"] {
            let answer = try proxy.ask(Self.request("GET", "/\(prefix)\(path)", "Connection: close"))
            #expect(answer.hasPrefix(prefix.contains(":") || prefix.isEmpty ? "HTTP/1.1 403 " : "HTTP/1.1 400 "), "\(answer)")
        }
        let answer = try proxy.ask(Self.request("GET", "/us%2Fer:pa%3Ass/\(path)", "Connection: close"))
        #expect(answer.contains("\r\nLocation: http://localhost:7/us%2Fer:pa%3Ass/http://\(origin.authority)/b\r\n"), "\(answer)")
        origin.finish()
        #expect(try proxy.recorded().map(\.request.url) == [path])
    }

    @Test func anUpgradeBecomesATunnel() throws {
        let origin = try RawOrigin { connection in
            let head = try connection.expectRequest("GET /chat")
            guard head.contains("\r\nOrigin: http://127.0.0.1:") else { throw RawError(head) }
            try connection.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
            try connection.send(try connection.read(count: 5))
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(
            Self.request("GET", "/http://\(origin.authority)/chat", "Origin: http://localhost:7", "Connection: Upgrade", "Upgrade: echo"))
        #expect(String(decoding: try client.read(through: "\r\n\r\n"), as: UTF8.self).hasPrefix("HTTP/1.1 101 "))
        try client.send("hello")
        #expect(try client.read(count: 5) == Array("hello".utf8))
        client.close()
        origin.finish()
    }
}
