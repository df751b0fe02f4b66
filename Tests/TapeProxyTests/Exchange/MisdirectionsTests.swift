import Testing

@testable import TapeProxy

@Suite struct MisdirectionsTests {
    private let list = Misdirections()

    private func request(_ authority: String) -> Misdirections.Request {
        Misdirections.Request(method: "GET", authority: authority, tunnel: "a.test", text: "")
    }

    @Test func aRequestThatComesAgainIsForgotten() {
        for authority in ["b.test", "c.test"] { #expect(self.list.wait(for: self.request(authority), url: "https://\(authority)/x")) }
        self.list.arrived(method: "GET", url: "https://b.test/x")
        for url in ["https://c.test/y", "http://c.test/x"] { self.list.arrived(method: "GET", url: url) }
        self.list.arrived(method: "POST", url: "https://c.test/x")
        #expect(self.list.end() == [self.request("c.test")])
        #expect(self.list.end().isEmpty)
    }

    @Test func eachRequestHasToComeAgain() {
        for _ in 0..<2 { #expect(self.list.wait(for: self.request("b.test"), url: "https://b.test/")) }
        self.list.arrived(method: "GET", url: "https://b.test/")
        #expect(self.list.end().count == 1)
    }

    @Test func thereIsALimit() {
        for number in 0..<Misdirections.limit { #expect(self.list.wait(for: self.request("b.test"), url: "https://b.test/\(number)")) }
        #expect(!self.list.wait(for: self.request("b.test"), url: "https://b.test/"))
    }
}
