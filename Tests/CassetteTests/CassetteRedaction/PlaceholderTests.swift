@testable import CassetteRedaction
import Testing

@Suite struct PlaceholderTests {
    @Test(arguments: [
        ("{{jwt:1}}", true), ("%7B%7Bapi-key%3A12%7D%7D", true), ("%7b%7bapi-key:12%7d%7d", true), ("{{jwt:1}", false), ("{{jwt:}}", false),
        ("{{:1}}", false), ("{{jwt:1}}x", false), ("{{j wt:1}}", false), ("", false),
    ])
    func isKnownInAnySpelling(text: String, isWhole: Bool) {
        #expect(Array(text.utf8).withUnsafeBytes(Placeholder.isWhole) == isWhole)
    }

    @Test func itIsReadWhereItStands() {
        Array("x {{api-key:12}}%7b%7Bjwt%3a3%7D%7d".utf8).withUnsafeBytes { text in
            let first = Placeholder.spelled(in: text, at: 2)
            #expect(first?.placeholder == Placeholder(kind: "api-key", number: 12) && first?.length == 14)
            let second = Placeholder.spelled(in: text, at: 16)
            #expect(second?.placeholder == Placeholder(kind: "jwt", number: 3) && second?.length == text.count - 16)
            #expect(Placeholder.spelled(in: text, at: 1) == nil && Placeholder.spelled(in: text, at: text.count) == nil)
        }
    }

    @Test func aKindHasNoMarksOfItsOwn() {
        #expect(Placeholder(kind: "a b}:c", number: 3).description == "{{a-b--c:3}}")
        #expect(Placeholder(kind: "", number: 1).description == "{{secret:1}}")
    }

    @Test func aRangeTouchesThePlaceholderItIsPartOf() {
        Array("x {{jwt:1}} y".utf8).withUnsafeBytes { text in
            #expect(Placeholder.all(in: text).touches(4..<7))
            #expect(!Placeholder.all(in: text).touches(11..<13))
        }
    }
}
