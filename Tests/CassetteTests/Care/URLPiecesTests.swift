import Testing

@testable import CassetteTools

@Suite struct URLPiecesTests {
    @Test(arguments: [
        ("http://A/b?x=1&y=2", "HTTP://a/b?y=2&x=1", true), ("http://a", "http://a/", true), ("http://a/b", "http://a/B", false),
        ("http://a/?x", "http://a/?x=", false), ("http://a/?x=1#f", "http://a/?x=1", true), ("http://a/?x=1&x=1", "http://a/?x=1", false),
    ])
    func aKeyDoesNotDependOnTheOrderOfTheQuery(one: String, other: String, areEqual: Bool) {
        #expect((URLPieces(one) == URLPieces(other)) == areEqual)
        #expect((Set([URLPieces(one), URLPieces(other)]).count == 1) == areEqual)
    }

    @Test func itemsAreCutAtTheFirstEqualsSign() {
        let pieces = URLPieces("http://a/b?x=1=2&y&=z&")
        #expect(pieces.base == "http://a/b")
        #expect(pieces.query.map(\.name) == ["x", "y", ""])
        #expect(pieces.query.map(\.value) == ["1=2", nil, "z"])
    }

    @Test func whatIsNoURLIsItsOwnBase() {
        #expect(URLPieces("*").base == "*")
        #expect(URLPieces("").key == "?")
    }
}
