import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct PaintTests {
    @Test func paintsAndGoesBack() {
        #expect(Paint(isOn: true)("200", .green) == "\u{1B}[32m200\u{1B}[0m")
    }

    @Test func leavesTextAloneWhereThereIsNoColor() {
        #expect(Paint(isOn: false)("200", .green) == "200")
        #expect(Paint(isOn: true)("200", nil) == "200")
        #expect(Paint(isOn: true)("", .red) == "")
    }

    @Test(arguments: [(100, nil), (204, .green), (302, .cyan), (404, .yellow), (503, .red), (999, nil)] as [(Int, Paint.Color?)])
    func aStatusHasTheColorOfItsClass(status: Int, color: Paint.Color?) {
        #expect(Paint.color(status: status) == color)
    }
}

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

@Suite struct MarkupPaintTests {
    private func painted(_ pieces: [String]) -> String {
        var painter = MarkupPaint(Paint(isOn: true))
        return pieces.map { painter.push($0) }.joined().replacing(#/\u{1B}\[(\d+)m/#) { $0.1 == "0" ? "}" : "{\($0.1) " }
    }

    @Test func tagsValuesAndCommentsAreColored() {
        #expect(self.painted([#"x<a b="c>d" e='f'/>y<!-- <b> -->z"#]) == #"x{36 <a b=}{32 "c>d"}{36  e=}{32 'f'}{36 />}y{2 <!-- <b> -->}z"#)
    }

    @Test func noColorGoesOverALinesEnd() {
        #expect(self.painted(["<!-- a\nb -->\n<a\nb>"]) == "{2 <!-- a}\n{2 b -->}\n{36 <a}\n{36 b>}")
    }

    @Test func piecesMakeNoDifferenceToTheText() {
        let text = "<a b='c'>이름<!-- x --></a>"
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<50 {
            var rest = text[...]
            var pieces: [String] = []
            while !rest.isEmpty {
                let count = Int.random(in: 1...4, using: &generator)
                pieces.append(String(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            var painter = MarkupPaint(Paint(isOn: true))
            #expect(pieces.map { painter.push($0) }.joined().replacing(#/\u{1B}\[\d+m/#, with: "") == text)
        }
    }

    @Test func withoutColorsNothingChanges() {
        var painter = MarkupPaint(Paint(isOn: false))
        #expect(painter.push("<a>") == "<a>")
    }
}
