@testable import CassetteRedaction
import Testing

@Suite struct EditListTests {
    private func edit(_ range: Range<Int>, _ text: String) -> Edit { Edit(range: range, bytes: Array(text.utf8)) }

    @Test func outerEditsWin() {
        let edits = EditList([self.edit(2..<3, "x"), self.edit(1..<4, "OUT"), self.edit(6..<7, "")])
        #expect(String(decoding: edits.applied(to: Array("abcdefgh".utf8)), as: UTF8.self) == "aOUTefh")
        #expect(edits.growth == -1)
    }

    @Test func editsThatOverlapBecomeOne() {
        let edits = EditList([self.edit(1..<4, "A"), self.edit(3..<6, "B")])
        #expect(String(decoding: edits.applied(to: Array("01234567".utf8)), as: UTF8.self) == "0AB67")
    }

    @Test func offsetsMoveWithTheTextBeforeThem() {
        let edits = EditList([self.edit(2..<4, "12345")])
        #expect(edits.moved([0, 2, 3, 4, 8]) == [0, 2, 7, 7, 11])
    }

    @Test func rangesTouchEditsByTheirBytes() {
        let edits = EditList([self.edit(2..<4, ""), self.edit(8..<9, "")])
        #expect([0..<2, 1..<3, 3..<8, 4..<8, 8..<9, 9..<20].map(edits.touches) == [false, true, true, false, true, false])
    }
}
