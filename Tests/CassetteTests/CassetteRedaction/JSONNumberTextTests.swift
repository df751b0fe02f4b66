@testable import CassetteRedaction
import Testing

@Suite struct JSONNumberTextTests {
    @Test(
        arguments: [
            (#"{"a": 12345678 }"#, 6..<14, 6..<14), (#"[12345678.5]"#, 1..<9, 1..<11), (#""a 12345678 b""#, 3..<11, nil),
            ("12345678", 0..<8, 0..<8),
            (#""12345678""#, 1..<9, nil),
        ] as [(String, Range<Int>, Range<Int>?)])
    func standsWhereAValueDoes(text: String, range: Range<Int>, number: Range<Int>?) {
        #expect(Array(text.utf8).withUnsafeBytes { JSONNumberText.around(range, in: $0) } == number)
    }
}
