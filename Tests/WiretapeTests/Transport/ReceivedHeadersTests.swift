import Testing

@testable import Wiretape

@Suite struct ReceivedHeadersTests {
    @Test(arguments: [
        ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2", ["a=1", "b=2"]),
        ("a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT, b=2; Path=/", ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2; Path=/"]),
        ("a=x,y; Path=/, b=", ["a=x,y; Path=/", "b="]), ("a=\"1, 2\"", ["a=\"1, 2\""]), ("", []),
    ])
    func joinedCookiesAreTakenApart(joined: String, cookies: [String]) {
        #expect(ReceivedHeaders.cookies(joined) == cookies)
    }

    @Test func fieldsComeInTheOrderOfTheirNames() {
        let list = ReceivedHeaders.list(["X-b": "1", "x-A": "2", "Set-Cookie": "a=1, b=2", 7: "no name"] as [AnyHashable: Any])
        #expect(list.map { "\($0.name): \($0.value)" } == ["Set-Cookie: a=1", "Set-Cookie: b=2", "x-A: 2", "X-b: 1"])
    }
}
