@testable import CassetteRedaction
import Testing

@Suite struct EscapeViewTests {
    @Test(arguments: [
        ("a%41b", "aAb"), (#"\"x\/\\"#, #""x/\"#), (#"\u00e9\ud83d\ude00"#, "é😀"), ("&amp;&#39;&#x41;&lt;", "&'A<"),
        ("%zz&nope;\\q %4", nil),
    ])
    func takesEscapesOut(text: String, plain: String?) {
        let view = Array(text.utf8).withUnsafeBytes { EscapeView($0) }
        #expect(view.map { String(decoding: $0.bytes, as: UTF8.self) } == plain)
    }

    @Test func rangesOfTheViewAreWholeEscapesOfTheSource() throws {
        let view = try #require(Array("ab%41%42cd\\u00e9".utf8).withUnsafeBytes { EscapeView($0) })
        #expect(String(decoding: view.bytes, as: UTF8.self) == "abABcdé")
        #expect(view.source(0..<2) == 0..<2)
        #expect(view.source(2..<3) == 2..<5)
        #expect(view.source(1..<5) == 1..<9)
        #expect(view.source(6..<7) == 10..<16)
        #expect(view.source(7..<8) == 10..<16)
        #expect(view.widened(3..<9) == 2..<9)
        #expect(view.widened(0..<12) == 0..<16)
    }

    @Test func canonicalTextHasNoEscapesLeft() {
        #expect(EscapeView.canonical(Array("%2541".utf8)) == [65])
    }
}
