import Testing

@testable import CassettePlayback

@Suite struct RequestPartsTests {
    private func parts(_ url: String) -> RequestParts {
        RequestKey.withBytes(method: "GET", url: url) { RequestParts($0) }
    }

    @Test func splitsPathAndQuery() {
        let parts = self.parts("http://a.test/x//y?a=1&b&=&a=2")
        #expect(parts.segments.map { String(decoding: $0.bytes, as: UTF8.self) } == ["", "x", "", "y"])
        #expect(parts.items.map { String(decoding: $0.bytes, as: UTF8.self) } == ["a=1", "b", "=", "a=2"])
        #expect(parts.items.map { String(decoding: $0.name, as: UTF8.self) } == ["a", "b", "", "a"])
    }

    @Test func noQueryAndAnEmptyQueryAreTwoThings() {
        #expect(self.parts("http://a.test/").items.isEmpty)
        #expect(self.parts("http://a.test/?").items.count == 1)
    }

    @Test func manyPiecesAreLumped() {
        let path = String(repeating: "/s", count: 1_000)
        let query = String(repeating: "q&", count: 1_000)
        let parts = self.parts("http://a.test\(path)?\(query)")
        #expect(parts.segments.count == RequestParts.pieceLimit)
        #expect(parts.items.count == RequestParts.pieceLimit)
    }

    @Test func longRequestsAreCut() {
        #expect(self.parts("http://a.test/" + String(repeating: "x", count: 100_000)).path.count < RequestParts.byteLimit)
    }
}
