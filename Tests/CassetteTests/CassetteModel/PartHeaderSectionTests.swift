@testable import CassetteModel
import Testing

struct PartHeaderSectionTests {
    private func section(_ text: String) -> PartHeaderSection { PartHeaderSection(bytes: Array(text.utf8)) }

    @Test func carefulSectionsAreTheirLines() {
        let section = self.section("A: b\r\nC:  d \r\n\r\n")
        #expect(section.canonicalLines == [Array("A: b".utf8), Array("C:  d ".utf8)])
        #expect(section.canonicalLines.map { PartHeaderSection(lines: $0) } == section)
        #expect(self.section("\r\n").canonicalLines == [])
    }

    @Test(arguments: [
        "", "A: b\n\n", "A: b\r\n", "A: b\r\n\n", "A: b", "A: b\r\n\r\n\r\n", "A: b\r\n c\r\n\r\n", "A: \0\r\n\r\n", "A: b\rc\r\n\r\n",
    ]) func othersAreNot(_ text: String) {
        #expect(self.section(text).canonicalLines == nil)
    }

    @Test func fieldsAreUnfolded() {
        let fields = self.section("A: b;\r\n\t c=d\r\nE: f\n\r\n").fields
        #expect(fields.lines == ["A: b; c=d", "E: f"])
        #expect(self.section(" odd\r\n\r\n").fields.lines == [" odd"])
    }
}
