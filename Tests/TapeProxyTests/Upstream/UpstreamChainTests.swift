import TapeBytes
import TapeExchange
import TapeTrust
import Testing
@testable import TapeProxy

@Suite struct UpstreamChainTests {
    private func proxy(_ text: String) throws -> UpstreamProxy { try UpstreamProxy(text, source: "--upstream-proxy") }

    private func reason(_ text: String) throws -> String {
        try #require(#expect(throws: SettingSyntaxError.self) { try self.proxy(text) }).message
    }

    @Test func aURLNamesSchemeHostAndPort() throws {
        #expect(try self.proxy("http://Proxy.Example:3128/").description == "http://proxy.example:3128")
        #expect(try self.proxy("proxy.example:80").description == "http://proxy.example:80")
        #expect(try self.proxy("https://proxy.example").description == "https://proxy.example:443")
        #expect(try self.proxy("socks5h://[::1]").description == "socks5://[::1]:1080")
    }

    @Test func aPasswordIsDecodedAndNeverShown() throws {
        let proxy = try self.proxy("http://me:p%40%3Aw@proxy.example:3128")
        #expect(proxy.credentials == Array("me:p@:w".utf8) && proxy.description == "http://proxy.example:3128")
        #expect(proxy.authorization == "Basic bWU6cEA6dw==")
        #expect(proxy.login.map { String(decoding: $0.password, as: UTF8.self) } == "p@:w")
        #expect(try !self.reason("http://me:hidden@pro xy/path").contains("hidden"))
    }

    @Test func aUserWithoutPasswordHasItsColon() throws {
        #expect(try self.proxy("http://me@h:1").authorization == "Basic bWU6")
        #expect(try self.proxy("http://me:@h:1").authorization == "Basic bWU6")
    }

    @Test func credentialsThatAreNotUTF8AreUnchanged() throws {
        #expect(try self.proxy("http://m%E9:p@h:1").credentials == [0x6D, 0xE9, 0x3A, 0x70])
    }

    @Test func anOriginOfHTTPSIsNeverReachedThroughTheProxyForHTTP() throws {
        let chain = UpstreamChain(http: try self.proxy("http://p:1"))
        #expect(chain.proxy(.https, host: "example.test", port: 443, isTunnel: true) == nil)
        #expect(chain.proxy(.http, host: "example.test", port: 80, isTunnel: true) == chain.http)
        let both = UpstreamChain(http: chain.http, https: try self.proxy("http://q:2"))
        #expect(both.proxy(.http, host: "example.test", port: 80, isTunnel: true) == both.https)
        var route = UpstreamRoute(Origin(scheme: .http, host: "example.test", port: 443))
        route.isTunnelled = true
        #expect(chain.proxy(for: route) == chain.http)
        route.isUnread = true
        #expect(chain.proxy(for: route) == nil, "what is passed on unread is mostly TLS")
    }

    @Test(arguments: ["http://wpad.example/proxy.pac", "pac+http://wpad.example", "file:///etc/x.pac", "http://wpad/wpad.dat"])
    func aPACFileIsRefusedWithTheWayOut(text: String) throws {
        let reason = try self.reason(text)
        #expect(reason.contains("PAC file") && reason.contains("pass --upstream-proxy http://"))
    }

    @Test(arguments: ["socks4://h:1", "ftp://h", "http://h/path", "http://", ""]) func otherTextsAreNoProxies(text: String) throws {
        #expect(try self.reason(text).contains("write http://HOST:PORT"))
    }

    @Test(arguments: ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1", "0.0.0.0"]) func thisMachineIsReachedDirectly(
        host: String
    ) throws {
        let proxy = try self.proxy("http://p:1")
        let chain = UpstreamChain(http: proxy, https: proxy)
        #expect(chain.proxy(.http, host: host, port: 80, isTunnel: false) == nil)
        #expect(chain.proxy(.http, host: "example.test", port: 80, isTunnel: false) == proxy)
    }

    @Test func exceptionsAreReachedDirectly() throws {
        let proxy = try self.proxy("http://p:1")
        var chain = UpstreamChain(http: proxy, https: proxy)
        chain.exceptions = [try HostPattern("*.inside.test")]
        #expect(chain.proxy(.https, host: "a.inside.test", port: 443, isTunnel: true) == nil)
        #expect(chain.proxy(.https, host: "inside.test", port: 443, isTunnel: true) == proxy)
    }

    @Test func noProxyTakesNamesBlocksAndPorts() {
        let list = NoProxy("inside.test, .dot.test,*.star.test,10.1.0.0/15,[2001:db8::1]:8443,192.0.2.7 ported.test:81,junk/99")
        let inside = ["inside.test", "a.inside.test", "dot.test", "a.dot.test", "b.star.test", "10.0.255.1", "10.1.2.3", "192.0.2.7"]
        for host in inside { #expect(list.contains(host, 80), "\(host)") }
        for host in ["outside.test", "notinside.test", "10.2.0.1", "192.0.2.8", "ported.test"] {
            #expect(!list.contains(host, 80), "\(host)")
        }
        #expect(list.contains("ported.test", 81) && list.contains("2001:db8::1", 8443) && !list.contains("2001:db8::1", 80))
        #expect(NoProxy("*").contains("anything.test", 1) && !NoProxy("").contains("anything.test", 1))
    }

    private func environment(_ variables: [String: String]) -> (UpstreamChain, problems: [String]) {
        var problems: [String] = []
        let chain = UpstreamChain.environment(variables) { problems.append($0.message) }
        return (chain, problems)
    }

    @Test func theShellsProxiesAreTakenOver() {
        let (chain, problems) = self.environment([
            "https_proxy": "http://me:pw@a:1", "HTTPS_PROXY": "http://b:2", "ALL_PROXY": "socks5://c:3", "no_proxy": "x.test",
        ])
        #expect(
            chain.https?.description == "http://a:1" && chain.https?.credentials == Array("me:pw".utf8)
                && chain.https?.source == "https_proxy")
        #expect(chain.http?.description == "socks5://c:3" && chain.http?.source == "ALL_PROXY")
        #expect(chain.proxy(.https, host: "x.test", port: 443, isTunnel: true) == nil && problems.isEmpty)
        #expect(self.environment([:]).0.isEmpty)
    }

    @Test func aProxyOfOurOwnIsNot() {
        let own = ["http_proxy": "http://s1:token@127.0.0.1:7070", "https_proxy": "http://127.0.0.1:7070"]
        for reverse in ["http://127.0.0.1:7070/", "http://127.0.0.1:7070/s1:token@/"] {
            let variables = own.merging(["WIRETAPE_REVERSE": reverse]) { $1 }
            #expect(self.environment(variables).0.isEmpty)
        }
        #expect(!self.environment(own.merging(["WIRETAPE_REVERSE": "http://127.0.0.1:7071/"]) { $1 }).0.isEmpty)
    }

    @Test func anUnusableVariableIsReportedAndIgnored() {
        let (chain, problems) = self.environment(["https_proxy": "http://wpad/proxy.pac", "http_proxy": "http://a:1"])
        #expect(chain.https == nil && chain.http != nil && problems.count == 1 && problems[0].hasPrefix("https_proxy names a PAC file"))
    }
}
