import Testing

@testable import Wiretape

/// RFC 9110, 12.5.1
@Suite struct AcceptedTypesTests {
    @Test(arguments: [
        ("audio/*; q=0.2, audio/basic", "audio/mpeg", true),
        ("text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c", "text/x-c", true),
        ("text/*, text/plain;q=0", "text/plain", false), ("text/*;q=0, text/plain", "text/plain", true),
        ("a/b;x=\"1,2\", c/d", "c/d", true),
        ("a/b;x=\"1,c/d\"", "c/d", false), ("a/b;x=\"\\\",c/d\"", "c/d", false), ("", "a/b", true), (", ,", "a/b", true),
        ("nonsense", "a/b", true),
        ("a/b", "nonsense", false), ("*/*", "nonsense", true), ("*/*;q=0", "a/b", false),
    ]) func fieldsAndTypes(field: String, type: String, isAccepted: Bool) {
        #expect(AcceptedTypes(field).accepts(type) == isAccepted)
    }

    @Test func anythingIsAcceptedByAStarOrByNothing() {
        #expect(AcceptedTypes("a/b, */*;q=0.1").acceptsAnything && AcceptedTypes("").acceptsAnything)
        #expect(!AcceptedTypes("*/*;q=0").acceptsAnything && !AcceptedTypes("a/*").acceptsAnything)
        #expect(AcceptedTypes("a/\"b").description == "\"a/\\\"b\"")
    }
}
