import Testing

@testable import WiretapeCLI

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
