@testable internal import TapeExchange
internal import Testing

@Suite struct RequestTargetTests {
    @Test func absoluteFormGivesOriginAndPath() throws {
        let origin = Origin(scheme: .http, host: "a")
        #expect(try RequestTarget("http://A/b?c", method: "GET") == .absolute(origin, originForm: "/b?c"))
        #expect(try RequestTarget("HTTP://a:80", method: "GET") == .absolute(origin, originForm: "/"))
        #expect(try RequestTarget("http://a:?b", method: "GET") == .absolute(origin, originForm: "/?b"))
        #expect(try RequestTarget("http://a//b//", method: "GET") == .absolute(origin, originForm: "//b//"))
        #expect(try RequestTarget("https://a/", method: "GET") == .absolute(Origin(scheme: .https, host: "a"), originForm: "/"))
        // aiohttp uses this form to request a WebSocket from a proxy.
        #expect(try RequestTarget("ws://a/b", method: "GET") == .absolute(origin, originForm: "/b"))
        #expect(try RequestTarget("WSS://a/b", method: "GET") == .absolute(Origin(scheme: .https, host: "a"), originForm: "/b"))
        #expect(
            try RequestTarget("http://[::1]:81/@:", method: "GET")
                == .absolute(Origin(scheme: .http, host: "::1", port: 81), originForm: "/@:"))
    }

    @Test func optionsWithoutAPathAsksAboutTheServer() throws {
        let origin = Origin(scheme: .http, host: "a")
        #expect(try RequestTarget("http://a", method: "OPTIONS") == .absolute(origin, originForm: "*"))
        #expect(try RequestTarget("http://a/", method: "OPTIONS") == .absolute(origin, originForm: "/"))
        #expect(try RequestTarget("http://a?b", method: "OPTIONS") == .absolute(origin, originForm: "/?b"))
        #expect(try RequestTarget("*", method: "OPTIONS") == .asterisk)
    }

    @Test func originFormIsKeptAsItIs() throws {
        for target in ["/", "/a/../b", "//a", "/%00", "/?q=[|]{}\"<>\\^`", "/http://x@y/"] {
            #expect(try RequestTarget(target, method: "GET") == .origin(target))
        }
    }

    @Test func connectTakesHostAndPort() throws {
        #expect(try RequestTarget("A:443", method: "CONNECT") == .authority(host: "a", port: 443))
        #expect(try RequestTarget("[::1]:443", method: "CONNECT") == .authority(host: "::1", port: 443))
    }

    @Test(arguments: [
        ("GET", ""), ("GET", "*"), ("GET", "a"), ("GET", "a:443"), ("GET", "http:/a"), ("GET", "http:a"), ("GET", "http://"),
        ("GET", "http:///a"), ("GET", "http://:80/"), ("GET", "ftp://a/"),
        ("GET", "http://u@a/"), ("GET", "http://u:p@a/"), ("GET", "http://a:0/"), ("GET", "http://a:65536/"), ("GET", "http://a:+1/"),
        ("GET", "http://[::1/"), ("GET", "http://::1/"),
        ("GET", "http://a\\@b/"), ("GET", "http://a%2eb/"), ("GET", "/a#b"), ("GET", "http://a/#b"), ("GET", "http://a#b"),
        ("GET", "/\u{FC}"), ("GET", "/a b"), ("GET", "/\r"), ("CONNECT", "a"), ("CONNECT", "a:"), ("CONNECT", "a:0"),
        ("CONNECT", "a:99999"), ("CONNECT", ":443"), ("CONNECT", "/"), ("CONNECT", "*"), ("CONNECT", "http://a:443/"),
        ("CONNECT", "a:443/"), ("CONNECT", "u@a:443"), ("CONNECT", "a:443:443"), ("OPTIONS", "**"), ("GET", "://a/"),
    ])
    func anythingElseIsRefused(_ method: String, _ target: String) {
        let error = #expect(throws: MessageError.self) { try RequestTarget(target, method: method) }
        #expect(error?.status == 400)
    }

    @Test func refusalOfUserinfoHidesIt() {
        let error = #expect(throws: MessageError.self) { try RequestTarget("http://user:secret@a/", method: "GET") }
        #expect(error?.message.contains("secret") == false)
    }
}

@Suite struct HostRuleTests {
    private func check(_ target: String, _ version: String, _ lines: [String], method: String = "GET") throws -> Authority? {
        let wire = (["\(method) \(target) \(version)"] + lines).joined(separator: "\r\n") + "\r\n\r\n"
        guard let head = try Wire.request(wire)?.head else { throw Wire.Incomplete() }
        return try HostRule.check(head, target: RequestTarget(head))
    }

    @Test func oneHostFieldIsTaken() throws {
        #expect(try self.check("/", "HTTP/1.1", ["HOST:  A:81 "]) == Authority(Array("a:81".utf8)[...]))
    }

    @Test func onlyHTTP10MayLeaveHostOut() throws {
        #expect(try self.check("/", "HTTP/1.0", []) == nil)
        #expect(throws: MessageError.self) { try self.check("/", "HTTP/1.1", []) }
        #expect(throws: MessageError.self) { try self.check("http://a/", "HTTP/1.1", []) }
    }

    @Test func aTunnelNeedsNoHostField() throws {
        #expect(try self.check("a:443", "HTTP/1.1", [], method: "CONNECT") == nil)
        #expect(throws: MessageError.self) { try self.check("a:443", "HTTP/1.1", ["Host: u@a"], method: "CONNECT") }
    }

    @Test func emptyHostMattersOnlyWhereTheTargetNamesNone() throws {
        #expect(try self.check("http://a/", "HTTP/1.1", ["Host:"]) == nil)
        #expect(throws: MessageError.self) { try self.check("/", "HTTP/1.1", ["Host:"]) }
    }

    @Test(arguments: ["a b", "a, b", "u@a", "a:0", "a:b", "http://a", "a/b", "a\tb", "[::1", "a:80:80", "a\u{FC}"])
    func malformedHostIsRefusedEvenWithAnAbsoluteTarget(_ value: String) throws {
        for target in ["/", "http://a/"] {
            let error = #expect(throws: MessageError.self) { try self.check(target, "HTTP/1.1", ["Host: \(value)"]) }
            #expect(error?.status == 400)
        }
    }

    @Test func severalHostFieldsAreRefused() {
        #expect(throws: MessageError.self) { try self.check("/", "HTTP/1.1", ["Host: a", "host: a"]) }
        #expect(throws: MessageError.self) { try self.check("/", "HTTP/1.0", ["Host: a", "host: a"]) }
    }
}
