import CassetteModel
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct BodyLintTests {
    @Test func aDefectHasTheBytesAroundIt() throws {
        let lint = try #require(try BodyLint(BodyContents([13, 10] + FormFixtures.pets), headers: FormFixtures.headers))
        #expect(lint.findings.map(\.problem.kind) == [.lineEndBeforeFirst])
        #expect(lint.findings.first?.excerpt?.lines.first?.hasPrefix("00000000  0d 0a 2d 2d ") == true)
    }

    @Test func aDefectOfTheFieldsHasNone() throws {
        let lint = try #require(
            try BodyLint(BodyContents(FormFixtures.pets), headers: HeaderFields(FormFixtures.headers.lines + FormFixtures.headers.lines)))
        #expect(lint.findings.first?.problem.kind == .contentTypeTwice)
        #expect(lint.findings.first?.excerpt?.lines == nil)
    }

    @Test func onlyMultipartBodiesAreLookedAt() throws {
        #expect(try BodyLint(BodyContents([1]), headers: HeaderFields(["Content-Type: text/plain"]))?.findings.count == nil)
    }
}
