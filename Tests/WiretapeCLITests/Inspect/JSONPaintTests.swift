import Testing

@testable import WiretapeCLI

@Suite struct JSONPaintTests {
    @Test func eachKindHasItsColor() {
        let painted = JSONPaint(paint: Paint(isOn: true))(#"{ "a": "b", "c": [-1.5e3, true, null] }"#)
        #expect(
            painted
                == "{ \u{1B}[36m\"a\"\u{1B}[0m: \u{1B}[32m\"b\"\u{1B}[0m, \u{1B}[36m\"c\"\u{1B}[0m: [\u{1B}[33m-1.5e3\u{1B}[0m, \u{1B}[35mtrue\u{1B}[0m, \u{1B}[35mnull\u{1B}[0m] }"
        )
    }

    @Test func quotesInStringsEndNothing() {
        #expect(JSONPaint(paint: Paint(isOn: true))(#""a\"b\\""#) == "\u{1B}[32m\"a\\\"b\\\\\"\u{1B}[0m")
    }

    @Test(arguments: ["{\"a", "\"\\", "", "이름", "-", "tru", "[1,"]) func anyTextKeepsItsCharacters(text: String) {
        let painted = JSONPaint(paint: Paint(isOn: true))(text)
        #expect(painted.replacing(#/\u{1B}\[\d+m/#, with: "") == text)
        #expect(JSONPaint(paint: Paint(isOn: false))(text) == text)
    }
}
