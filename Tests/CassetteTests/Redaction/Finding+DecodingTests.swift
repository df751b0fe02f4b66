import Testing

@testable import CassetteRedaction

@Suite struct FindingDecodingTests {
    @Test(arguments: [
        (Finding.Spelling.plain, "a%41+", "a%41+"), (.json, #"a\u0041\n"#, "aA\n"), (.query, "a%41+", "aA+"), (.form, "a%41+", "aA "),
        (.number, "12", "12"),
    ])
    func valuesLoseTheirEscapes(spelling: Finding.Spelling, text: String, plain: String) {
        let decoded = Array(text.utf8).withUnsafeBytes { spelling.decode($0) }
        #expect(decoded.map { String(decoding: $0, as: UTF8.self) } == plain)
    }
}
