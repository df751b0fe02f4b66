@testable import CassetteModel
import Testing

struct LintLevelTests {
    private func found(_ text: String, type: String = "multipart/form-data; boundary=X") -> [String] {
        MultipartFixture.problems(text, type: type).map { "\($0.kind) \($0.offset ?? -1)" }
    }

    private static let field = "Content-Disposition: form-data; name=\"a\"\r\n"

    @Test(arguments: [
        ("--X\r\n\(field)\r\na\r\n--X--\r\n", []),
        ("--X--\r\n", []),
        ("\r\n--X\r\n\(field)\r\na\r\n--X--\r\n", ["lineEndBeforeFirst 0"]),
        ("p\r\n--X\r\n\(field)\r\na\r\n--X--\r\n", ["preamble 0"]),
        ("--X\r\n\(field)\r\na\r\n--X--\r\ne", ["epilogue 59"]),
        ("--X\r\n\(field)\r\na\r\n--X--", ["lastLineEndMissing 57"]),
        ("--X\r\n\(field)\r\na--X--\r\n", ["lineEndMissing 50"]),
        ("--X\r\n\(field)\r\na--X\r\n\(field)\r\nb\r\n--X--\r\n", ["lineEndMissing 50"]),
        ("--X\r\n\(field)\r\n--X--\r\n", ["lineEndMissing 49"]),
        ("--X\(field)\r\na\r\n--X--\r\n", ["lineEndMissing 3"]),
        ("--X\r\n\(field)\r\na", ["notClosed 50"]),
        ("--X\r\n\(field)\r\na\r\n", ["notClosed 52"]),
        ("--X\r\n\(field)\r\na\r\n--X\r\n", ["notClosed 57"]),
        ("--X \r\n\(field)\r\na\r\n--X-- \r\n", ["padding 3"]),
        ("--X\n\(field)\na\n--X--\n", ["lineFeedOnly 3"]),
        ("--X\r\n\(field)\r\na--Xb\r\n--X--\r\n", ["boundaryInData 50"]),
        ("--X\r\n\(field)--X--\r\n", ["emptyLineMissing 47"]),
        ("--X\r\n\(field)\u{1}\r\n--X--\r\n", ["emptyLineMissing 47"]),
        ("--X\r\n\(field)\r\n\r\na\r\n--X--\r\n", ["lineEndDoubled 49"]),
        ("--X\r\n\(field)\r\na\r\n\r\n--X--\r\n", ["lineEndDoubled 50"]),
        ("--Y\r\n\(field)\r\na\r\n--Y--\r\n", ["boundaryWrong 0"]),
        ("", ["noDelimiter 0"]),
    ]) func defectsAndTheirOffsets(_ text: String, _ wanted: [String]) {
        #expect(self.found(text) == wanted)
    }

    @Test func partsWithinPartsAreJudged() {
        let head = "--X\r\nContent-Type: multipart/mixed; boundary=\"Y\"\r\n\r\n"
        #expect(
            self.found(head + "--Y\r\n\r\na\r\n--Y--\r\n--X--\r\n", type: "multipart/mixed; boundary=X") == ["boundaryQuoted 52"])
        #expect(
            self.found(head + "--Y\r\n\r\na\r\n--Y--\r\n--X--", type: "multipart/mixed; boundary=X") == [
                "boundaryQuoted 52", "lastLineEndMissing 74",
            ])
        #expect(
            self.found(head + "--Z\r\n\r\na\r\n--Z--\r\n\r\n--X--\r\n", type: "multipart/mixed; boundary=X") == [
                "boundaryQuoted 52", "boundaryWrong 52",
            ])
        #expect(
            self.found(head + "--Y\r\n\r\na\r\n--X--\r\n", type: "multipart/mixed; boundary=X") == ["boundaryQuoted 52", "notClosed 60"])
    }

    @Test func levelsAndPartsAreLimited() {
        var limits = MultipartLimits()
        limits.depth = 1
        limits.parts = 1
        let text = "--X\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n--Y\r\n\r\na\r\n--Y--\r\n\r\n--X\r\n\r\n--X--"
        var lint = MultipartLint(headers: HeaderFields(["Content-Type: multipart/mixed; boundary=X"]), limits: limits)
        Array(text.utf8).withUnsafeBytes { lint.push($0) }
        #expect(lint.finish().map(\.kind) == [.tooDeep, .tooMuch])
    }
}
