@testable import CassetteRedaction
import Testing

@Suite struct SurveyTableTests {
    private func anchors(_ text: String) -> [String] {
        var found: [String] = []
        Array(text.utf8).withUnsafeBytes { bytes in SurveyTable.shared.scan(bytes) { found.append("\($0)@\($1)") } }
        return found
    }

    @Test func findsAnchorsAtAnyOffset() {
        for lead in 0..<8 {
            let space = String(repeating: " ", count: lead)
            #expect(self.anchors(space + "eyJh").first == "webToken@\(lead)")
            #expect(self.anchors(space + "-----BEGIN").contains("armour@\(lead + 5)"))
            #expect(self.anchors(space + "password\"") == ["name@\(lead + 5)"])
            #expect(self.anchors(space + "ACCESS_TOKEN=") == ["name@\(lead + 9)"])
        }
    }

    @Test func proseHasNone() {
        #expect(self.anchors("the quick brown fox jumps over the lazy dog") == [])
    }
}
