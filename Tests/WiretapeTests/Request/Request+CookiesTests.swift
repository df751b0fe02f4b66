import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestCookiesTests {
    @Test func cookiesComeBackWhereTheyBelong() async throws {
        let transport = ScriptedTransport { exchange, number in
            switch number {
            case 1: exchange.answer(302, ["Location": "/b", "Set-Cookie": "a=1; Path=/", "Set-Cookie": "b=2; Path=/"])
            default: exchange.answer(200, ["Set-Cookie": "a=; Max-Age=0; Path=/"], "x")
            }
        }
        let session = Session.plain(transport) { $0.cookieStorage = Session.Configuration().cookieStorage }
        _ = await session.request("http://a.test/a").serializingData().response
        _ = await session.request("http://a.test/c", headers: ["Cookie": "own=3"]).serializingData().response
        _ = await session.request("http://b.test/").serializingData().response
        #expect(transport.requests.map { $0.headers["Cookie"] } == [nil, "a=1; b=2", "own=3; b=2", nil])
    }

    @Test func withoutAStorageThereAreNone() async {
        let transport = ScriptedTransport { exchange, _ in exchange.answer(200, ["Set-Cookie": "a=1"]) }
        let session = Session.plain(transport)
        for _ in 0..<2 { _ = await session.request("http://a.test/").serializingData().response }
        #expect(transport.requests.allSatisfy { !$0.headers.contains(name: "Cookie") })
    }

    @Test func configurationsShareNoCookies() {
        #expect(Session.Configuration().cookieStorage !== Session.Configuration().cookieStorage)
    }

    @Test func allCookieFieldsOfARequestStay() async throws {
        let transport = ScriptedTransport { exchange, _ in exchange.answer(200, ["Set-Cookie": "a=1; Path=/"], "x") }
        let session = Session.plain(transport) { $0.cookieStorage = Session.Configuration().cookieStorage }
        _ = await session.request("http://a.test/").serializingData().response
        _ = await session.request("http://a.test/", headers: ["Cookie": "own=3", "Cookie": "more=4"]).serializingData().response
        #expect(transport.requests.last?.headers.values(for: "Cookie") == ["own=3; more=4; a=1"])
    }

    @Test func aCookieCannotWriteLinesOfItsOwn() async throws {
        let storage = try #require(Session.Configuration().cookieStorage)
        let properties: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "1\r\nX-Bad: 2", .domain: "a.test", .path: "/"]
        if let cookie = HTTPCookie(properties: properties) { storage.setCookie(cookie) }
        let transport = ScriptedTransport { exchange, _ in exchange.answer() }
        let session = Session.plain(transport) { $0.cookieStorage = storage }
        _ = await session.request("http://a.test/").serializingData().response
        #expect(transport.requests.count == 1)
        #expect(transport.requests.allSatisfy { !$0.headers.description.contains("X-Bad") })
    }
}
