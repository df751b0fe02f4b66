import CassetteModel
import LocalHTTP
import TapeExchange
import Testing

extension LocalGate.Server {
    static let sample = LocalGate.Server(name: "sample", example: "/sessions", tokenAdvice: "as it was printed") {
        ["/", "/page.js"].contains($0)
    }
}

@Suite struct LocalGateTests {
    /// The refusal's code; nil for an accepted request.
    private func refusal(host: String, path: String = "/sessions", method: String = "GET", _ fields: [(String, String)]) throws -> String? {
        var headers = HeaderFields()
        headers.append(name: "Host", value: host)
        for (name, value) in fields { headers.append(name: name, value: value) }
        let head = RequestHead(method: method, target: path, version: .http11, fields: headers)
        let authority = try HostRule.check(head, target: .origin(path))
        do {
            try LocalGate(token: Secret("sesame-open-wide"), port: 7071, server: .sample).admit(head, path: path, host: authority)
            return nil
        } catch {
            let text = String(decoding: error.body, as: UTF8.self)
            #expect(!text.contains("sesame"), "no secret in a message")
            return ["host", "origin", "token"].first { text.contains("\"code\": \"\($0)\"") }
        }
    }

    private let token = ("Authorization", "Bearer sesame-open-wide")

    @Test(arguments: ["127.0.0.1:7071", "localhost:7071", "[::1]:7071", "LOCALHOST:7071"]) func theAPIsOwnNames(_ host: String) throws {
        #expect(try self.refusal(host: host, [self.token]) == nil)
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:7070", "evil.test:7071", "localhost.evil.test:7071", "127.0.0.1.evil.test:7071", "0.0.0.0:7071",
        "192.0.2.1:7071", "2130706433:7071",
    ])
    func foreignHostsAreRefusedBeforeTheTokenIsLookedAt(_ host: String) throws {
        #expect(try self.refusal(host: host, [self.token]) == "host")
        #expect(try self.refusal(host: host, []) == "host")
    }

    @Test(arguments: [
        "null", "", "http://evil.test", "http://127.0.0.1", "http://127.0.0.1:7070", "https://127.0.0.1:7071", "http://evil.test:7071",
        "http://127.0.0.1:7071/path", "http://127.0.0.1:7071 http://evil.test",
    ])
    func foreignOriginsAreRefused(_ origin: String) throws {
        #expect(try self.refusal(host: "127.0.0.1:7071", [self.token, ("Origin", origin)]) == "origin")
        let own = ("Origin", "http://127.0.0.1:7071")
        #expect(try self.refusal(host: "127.0.0.1:7071", [self.token, own, ("Origin", origin)]) == "origin")
    }

    @Test(arguments: ["cross-site", "same-site", "nonsense"]) func aBrowserThatNamesNoOriginSaysWhereThePageIsFrom(_ site: String) throws {
        #expect(try self.refusal(host: "127.0.0.1:7071", [self.token, ("Sec-Fetch-Site", site)]) == "origin")
    }

    @Test(arguments: ["same-origin", "none"]) func anAddressTypedInIsNoForeignPage(_ site: String) throws {
        #expect(try self.refusal(host: "127.0.0.1:7071", [self.token, ("Sec-Fetch-Site", site)]) == nil)
    }

    @Test func itsOwnOriginIsTaken() throws {
        #expect(try self.refusal(host: "127.0.0.1:7071", [self.token, ("Origin", "http://localhost:7071")]) == nil)
    }

    @Test(arguments: [
        nil, "", "Bearer", "Bearer ", "Bearer sesame", "Bearer  sesame-open-wide", "Bearer sesame-open-wide2",
        "Basic sesame-open-wide", "sesame-open-wide",
    ])
    func onlyTheTokenItselfIsTaken(_ value: String?) throws {
        #expect(try self.refusal(host: "127.0.0.1:7071", value.map { [("Authorization", $0)] } ?? []) == "token")
    }

    @Test func theSchemeHasNoCase() throws {
        #expect(try self.refusal(host: "127.0.0.1:7071", [("authorization", "bEaReR sesame-open-wide")]) == nil)
    }

    @Test func openPathNeedsTheRightHostAndOriginButNoToken() throws {
        let own = "127.0.0.1:7071"
        #expect(try self.refusal(host: own, path: "/page.js", []) == nil)
        #expect(try self.refusal(host: own, path: "/page.js", method: "POST", []) == "token")
        #expect(try self.refusal(host: own, path: "/page.jsx", []) == "token")
        #expect(try self.refusal(host: "evil.test:7071", path: "/page.js", []) == "host")
        #expect(try self.refusal(host: own, path: "/page.js", [("Origin", "http://evil.test")]) == "origin")
        #expect(try self.refusal(host: own, path: "/page.js", [("Sec-Fetch-Site", "cross-site")]) == "origin")
    }

    @Test func aLinkFromElsewhereLeadsToThePageAlone() throws {
        func followed(_ path: String, mode: String = "navigate", target: String = "document") throws -> String? {
            try self.refusal(
                host: "127.0.0.1:7071", path: path,
                [self.token, ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", target)])
        }
        #expect(try followed("/") == nil)
        #expect(try followed("/page.js") == "origin")
        #expect(try followed("/sessions") == "origin")
        #expect(try followed("/", mode: "no-cors") == "origin")
        #expect(try followed("/", target: "iframe") == "origin")
    }
}
