import Foundation
import Testing

@testable import Wiretape

@Suite struct URLQueryTests {
    @Test(arguments: [
        ("http://h", "http://h?x=1"), ("http://h/a", "http://h/a?x=1"), ("http://h/a?", "http://h/a?x=1"),
        ("http://h/a?b=%5B&c", "http://h/a?b=%5B&c&x=1"), ("http://h/a?b&", "http://h/a?b&x=1"), ("http://h/a#f?g", "http://h/a?x=1#f?g"),
    ]) func aQueryIsPutBehindWhatIsThere(text: String, expected: String) throws {
        #expect(try text.asURL().appending(query: "x=1").absoluteString == expected)
        #expect(try text.asURL().appending(query: "").absoluteString == text)
    }
}
