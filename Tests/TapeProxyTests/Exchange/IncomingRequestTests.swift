import CassetteModel
import NIOCore
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct IncomingRequestTests {
    private func request(_ method: String = "GET", _ fields: String..., version: HTTPVersion = .http11) throws -> IncomingRequest {
        let head = RequestHead(method: method, target: "http://h/", version: version, fields: HeaderFields(["Host: h"] + fields))
        return try IncomingRequest(head, start: .now())
    }

    @Test func contradictoryCredentialsAreEmpty() throws {
        #expect(try self.request("GET").proxyAuthorization == nil)
        let twice = try self.request("GET", "Proxy-Authorization: Basic YTpi", "Proxy-Authorization: Basic YTpi")
        #expect(twice.proxyAuthorization == "Basic YTpi")
        for fields in [["Basic YTpi", "Basic YTpj"], ["Basic YTpj", "Basic YTpi"]] {
            let request = try self.request("GET", "Proxy-Authorization: \(fields[0])", "proxy-authorization: \(fields[1])")
            #expect(request.proxyAuthorization == "")
            #expect(request.head.fields.first("proxy-authorization") == nil)
        }
    }

    @Test func anythingButNothingIsABody() throws {
        #expect(try !self.request().hasBody)
        #expect(try !self.request("POST", "Content-Length: 0").hasBody)
        #expect(try self.request("POST", "Content-Length: 1").hasBody)
        #expect(try self.request("POST", "Transfer-Encoding: chunked").hasBody)
    }

    @Test func onlyAnHTTP11ClientWaitsFor100() throws {
        #expect(try self.request("PUT", "Expect: 100-Continue").expectsContinue)
        #expect(try !self.request("PUT", "Expect: 100-continue", version: .http10).expectsContinue)
        #expect(try !self.request("PUT").expectsContinue)
    }

    @Test func methodsThatMayBeSentTwiceAreKnownByTheirExactNames() throws {
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"] { #expect(try self.request(method).isIdempotent) }
        for method in ["POST", "PATCH", "get", "BREW"] { #expect(try !self.request(method).isIdempotent) }
    }

    @Test func aHeadOutOfOrderIsRefused() {
        #expect(throws: MessageError.self) { try self.request("GET", "Host: other") }
        #expect(throws: MessageError.self) { try self.request("POST", "Content-Length: x") }
    }

    // MARK: In a tunnel

    /// Two servers of one host would share a URL.
    @Test(
        arguments: [
            ("h", 8443, "https://h:8443/a"), ("h:", 8443, "https://h:8443/a"), ("h:8443", 8443, "https://h:8443/a"),
            ("h", 443, "https://h/a"), ("h:443", 443, "https://h:443/a"), ("other", 8443, "https://other/a"),
        ])
    func aHostWithoutAPortHasThatOfTheTunnel(host: String, port: Int, url: String) throws {
        let scope = TunnelScope(route: UpstreamRoute(Origin(scheme: .https, host: "h", port: port)))
        let head = RequestHead(method: "GET", target: "/a", version: .http11, fields: HeaderFields(["Host: \(host)"]))
        #expect(try IncomingRequest(head, start: .now(), scope: scope).url == url)
    }

    /// `curl --connect-to`: the servers of two ports would share a URL.
    @Test(arguments: [(true, "http://shop.test:8080/a"), (false, "http://shop.test/a")])
    func theConnectionOfAnIsolatedProgramHasThePort(isIsolated: Bool, url: String) throws {
        let route = UpstreamRoute(Origin(scheme: .http, host: "203.0.113.10", port: 8080))
        let scope = TunnelScope(route: route, opening: .transparent, isIsolated: isIsolated)
        let head = RequestHead(method: "GET", target: "/a", version: .http11, fields: HeaderFields(["Host: shop.test"]))
        #expect(try IncomingRequest(head, start: .now(), scope: scope).url == url)
    }

    // MARK: A URL in the path

    /// - Parameter host: the beginning of a URL whose authority is the Host field; nil for the proxy's own.
    private func reversed(
        _ target: String, _ fields: String..., address: String = "127.0.0.1:7070", host: String? = nil
    ) throws -> IncomingRequest {
        let authority = host.map { $0.replacing("http://", with: "") } ?? "localhost:7070"
        let head = RequestHead(
            method: "GET", target: target, version: .http11, fields: HeaderFields(["Host: \(authority)"] + fields))
        return try IncomingRequest(head, start: .now(), address: address)
    }

    /// Through the proxy's settings or directly, an invalid URL is refused with the reason.
    @Test(
        arguments: ["/https%3A//a/", "/ftp://a/", "/https://", "/HTTPS%3a%2f%2fa"], ["", "http://localhost:7070", "http://127.0.0.1:7070"])
    func anInvalidURLIsRefused(path: String, before: String) {
        let error = #expect(throws: MessageError.self) { try self.reversed(before + path, host: before.isEmpty ? nil : before) }
        #expect(error?.status == 400)
    }

    @Test func anEscapedColonElsewhereStaysWhatItIs() throws {
        let request = try self.reversed("http://a:7070/https%3A//b/", host: "http://a:7070")
        #expect(request.reverse == nil && request.url == "http://a:7070/https%3A//b/")
    }

    @Test func aURLInThePathIsTheTarget() throws {
        let request = try self.reversed("/https://a:8/b?c")
        #expect(request.target == .absolute(Origin(scheme: .https, host: "a", port: 8), originForm: "/b?c"))
        #expect(request.url == "https://a:8/b?c" && request.head.target == "https://a:8/b?c")
        #expect(request.reverse?.authority == "localhost:7070")
        #expect(request.received.first("host") == "localhost:7070", "as the client sent it")
        #expect(request.head.fields.first("host") == "a:8")
        #expect(try self.reversed("/a").reverse == nil)
    }

    @Test func credentialsOfThePathMustNotContradictTheField() throws {
        #expect(try self.reversed("/a:b/https://c/").proxyAuthorization == "Basic YTpi")
        #expect(try self.reversed("/a:b/https://c/", "Proxy-Authorization: Basic YTpi").proxyAuthorization == "Basic YTpi")
        let other = try self.reversed("/a:b/https://c/", "Proxy-Authorization: Basic YTpj")
        #expect(other.proxyAuthorization == "" && !other.head.fields.contains("proxy-authorization"))
    }

    @Test func aURLForTheProxyItselfIsLookedIntoToo() throws {
        #expect(try self.reversed("http://localhost:7070/https://a/").url == "https://a/")
        for target in [
            "http://localhost:7071/https://a/", "http://b.test:7070/https://a/", "http://localhost:7070/a",
            "http://127.0.0.1:70/https://a/",
        ] {
            let request = try self.reversed(target)
            #expect(request.reverse == nil && request.url == target)
        }
        #expect(throws: MessageError.self) { try self.reversed("http://localhost:7070/https://") }
    }

    @Test func insideATunnelAPathIsAPath() throws {
        #expect(try self.url("/https://a/") == "https://h.test/https://a/")
    }

    // MARK: Inside a tunnel

    private func url(
        _ target: String, host: String? = "h.test", scheme: Origin.Scheme = .https, method: String = "GET", version: HTTPVersion = .http11
    ) throws -> String {
        let scope = TunnelScope(route: UpstreamRoute(Origin(scheme: scheme, host: "tunnel.test", port: 8443)))
        let fields = host.map { ["Host: \($0)"] } ?? []
        let head = RequestHead(method: method, target: target, version: version, fields: HeaderFields(fields))
        return try IncomingRequest(head, start: .now(), scope: scope).url
    }

    @Test func theURLIsPutTogetherFromTheTunnelTheHostFieldAndThePath() throws {
        #expect(try self.url("/a?b=c") == "https://h.test/a?b=c")
        #expect(try self.url("/a", host: "h.test:8443") == "https://h.test:8443/a")
        #expect(try self.url("/a", host: "[::1]:8443") == "https://[::1]:8443/a")
        #expect(try self.url("/a", scheme: .http) == "http://h.test/a")
        #expect(try self.url("//a") == "https://h.test//a")
    }

    @Test func withoutAHostFieldItIsTheTunnels() throws {
        #expect(try self.url("/a", host: nil, version: .http10) == "https://tunnel.test:8443/a")
        #expect(throws: MessageError.self) { try self.url("/a", host: nil) }
        #expect(throws: MessageError.self) { try self.url("/a", host: "") }
    }

    @Test func anAbsoluteTargetIsItsOwnURL() throws {
        #expect(try self.url("https://other.test/a") == "https://other.test/a")
        #expect(try self.url("http://other.test/a") == "http://other.test/a")
    }

    @Test func theServerAsAWholeHasNoPath() throws {
        #expect(try self.url("*", method: "OPTIONS") == "https://h.test")
    }

    @Test func aNestedTunnelIsNamedAsOne() throws {
        #expect(try self.url("next.test:443", method: "CONNECT") == "https://next.test:443/")
    }

    @Test func insideATunnelAnHTTP10ClientTalksToTheOriginAndMayStay() throws {
        let fields = HeaderFields(["Host: h", "Connection: keep-alive"])
        let head = RequestHead(method: "GET", target: "/", version: .http10, fields: fields)
        let scope = TunnelScope(route: UpstreamRoute(Origin(scheme: .https, host: "h")))
        #expect(try IncomingRequest(head, start: .now(), scope: scope).persists)
        #expect(try !self.request("GET", "Connection: keep-alive", version: .http10).persists)
    }

    @Test func aPasswordForTheProxyIsTakenOutOfTheHead() throws {
        let request = try self.request("GET", "Proxy-Authorization: Basic eDp5")
        #expect(request.proxyAuthorization == "Basic eDp5")
        #expect(request.head.fields.first("proxy-authorization") == nil)
    }
}
