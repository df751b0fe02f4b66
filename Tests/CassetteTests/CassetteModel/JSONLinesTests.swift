@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct JSONLinesTests {
    private func lines(_ text: String) -> JSONLines? { JSONLines(Array(text.utf8)) }

    @Test func oneStyleHoldsForAllLines() {
        let lines = self.lines("{}\n{\"a\": 1, \"b\": [1, 2]}\n[]\n")
        #expect(lines?.style == .spaced && lines?.lineEnd == .lineFeed && lines?.isEnded == true)
        #expect(lines?.lines == [0..<2, 3..<24, 25..<27])
        #expect(self.lines("{\"a\":1}\r\n{\"a\":2}").map { $0.lineEnd == .carriageReturnLineFeed && !$0.isEnded } == true)
    }

    @Test(arguments: ["", "{}", "{\"a\":1}\n{\"a\": 2}\n", "{}\n\n{}\n", "{}\n1\n", "{}\r\n{}\n", "{\n}\n", "{\"a\":1} \n", "{}\n{", "\n"])
    func linesThatNoSingleStyleRestoresAreText(_ text: String) {
        #expect(self.lines(text) == nil)
    }

    @Test func linesAreRestoredFromAnyLayout() {
        let texts = ["{ \"a\" : 1 }", "[ 1 , 2 ]"].map { Array($0.utf8)[...] }
        let lines = JSONLines(restoring: texts, style: .compact, lineEnd: .lineFeed, isEnded: false)
        #expect(lines.map { String(decoding: $0.bytes, as: UTF8.self) } == "{\"a\":1}\n[1,2]")
        #expect(JSONLines(restoring: [[123]], style: .compact, lineEnd: .lineFeed, isEnded: true) == nil)
    }
}
