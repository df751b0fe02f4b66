import CassetteModel
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct ReverseGateTests {
    private func refusal(_ fields: String..., address: String = "127.0.0.1", isAuthorized: Bool = false) throws -> ProxyAnswer? {
        let head = RequestHead(method: "GET", target: "/https://a/", version: .http10, fields: HeaderFields(fields))
        let host = try HostRule.check(head, target: .origin("/https://a/"))
        return ReverseGate(address: IPAddress(address), isAuthorized: isAuthorized).refusal(of: head.fields, host: host)
    }

    @Test(arguments: ["127.0.0.1:7070", "127.0.0.1", "localhost:8080", "[::1]:7070", "LOCALHOST", "127.8.8.8:1"])
    func aLoopbackNameIsOurs(host: String) throws { #expect(try self.refusal("Host: \(host)") == nil) }

    @Test(arguments: ["evil.test:7070", "localhost.evil.test", "127.0.0.1.evil.test", "0.0.0.0:7070", "192.0.2.1:7070", "2130706433:7070"])
    func aNameThatResolvesToUsIsNot(host: String) throws {
        let answer = try #require(try self.refusal("Host: \(host)"))
        #expect(answer.status == 403 && answer.error == "reverse")
        #expect(try self.refusal("Host: \(host)", isAuthorized: true) == nil, "no page knows the credentials")
    }

    @Test func theAddressThatTheClientConnectedToIsOurs() throws {
        #expect(try self.refusal("Host: 192.0.2.1:7070", address: "192.0.2.1") == nil)
        #expect(try self.refusal("Host: 192.0.2.2:7070", address: "192.0.2.1") != nil)
    }

    @Test func aClientOfHTTP10NeedsNoHost() throws { #expect(try self.refusal() == nil) }

    @Test(arguments: [
        "null", "", "http://evil.test", "http://evil.test:7070", "http://127.0.0.1", "http://127.0.0.1:7071", "https://127.0.0.1:7070",
        "https://a", "http://127.0.0.1:7070, http://evil.test",
    ])
    func pagesOfOtherOriginsAreRefused(origin: String) throws {
        for isAuthorized in [false, true] {
            let answer = try self.refusal("Host: 127.0.0.1:7070", "Origin: \(origin)", isAuthorized: isAuthorized)
            #expect(answer?.status == 403)
        }
    }

    @Test func severalOriginsMustAllBeOurs() throws {
        let own = "Origin: http://127.0.0.1:7070"
        #expect(try self.refusal("Host: 127.0.0.1:7070", own, own) == nil)
        #expect(try self.refusal("Host: 127.0.0.1:7070", own, "Origin: http://evil.test") != nil)
        #expect(try self.refusal(own) != nil, "without Host it is nobody's")
    }

    @Test(arguments: ["cross-site", "same-site", "same-origin", "", "None"])
    func requestMadeByAPageIsRefused(site: String) throws {
        #expect(try self.refusal("Host: 127.0.0.1:7070", "Sec-Fetch-Site: \(site)")?.status == 403)
    }

    @Test func requestTypedByAPersonIsAccepted() throws { #expect(try self.refusal("Host: localhost:7070", "Sec-Fetch-Site: none") == nil) }

    @Test func aRefusalComesWithAdvice() throws {
        #expect(ReverseGate.unauthorized(at: "127.0.0.1:7070").text.contains("http://127.0.0.1:7070/NAME:TOKEN/https://host/path"))
        #expect(ReverseGate.excluded("a", by: "--refuse").text.contains("\"a\" is excluded by --refuse"))
    }
}
