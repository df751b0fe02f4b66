import Foundation
import Testing

@testable import Wiretape

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
}
