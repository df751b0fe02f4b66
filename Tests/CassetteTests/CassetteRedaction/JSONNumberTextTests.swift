@testable import CassetteRedaction
import Testing

@Suite struct JSONNumberTextTests {
    @Test(
        arguments: [
            (#"{"a": 12345678 }"#, 6..<14, 6..<14), (#"[12345678.5]"#, 1..<9, 1..<11), (#""a 12345678 b""#, 3..<11, nil),
            ("[1, 12345678, 2]", 4..<12, 4..<12), ("[-12345678e+2]", 2..<10, 1..<13),
            (#""12345678""#, 1..<9, nil), ("12345678", 0..<8, nil), ("a,12345678,b", 2..<10, nil), ("a: 12345678", 3..<11, nil),
            ("[12345678-1234-5678-1234-567812345678]", 1..<37, nil), ("[2026-01-02]", 1..<11, nil), ("[1.2.12345678]", 5..<13, nil),
        ] as [(String, Range<Int>, Range<Int>?)])
    func standsWhereAValueDoes(text: String, range: Range<Int>, number: Range<Int>?) {
        #expect(Array(text.utf8).withUnsafeBytes { JSONNumberText.around(range, in: $0, bounds: JSONNumberText.bounds(of: $0)) } == number)
    }
    @Test(arguments: [("12345678", 0..<8), ("\n 12345678 ", 2..<10)])
    func textDeclaredAsJSONMayBeANumber(text: String, range: Range<Int>) {
        #expect(
            Array(text.utf8).withUnsafeBytes { JSONNumberText.around(range, in: $0, bounds: JSONNumberText.bounds(of: $0), isJSON: true) }
                == range)
    }
}
