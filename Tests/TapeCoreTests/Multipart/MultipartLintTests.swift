import Testing

@testable import TapeCore

struct MultipartLintTests {
    private static let field = "Content-Disposition: form-data; name=\"a\"\r\n"

    @Test func problemsAreSentences() {
        let problems = MultipartFixture.problems("\r\n--X\r\n\(Self.field)\r\na--X--")
        #expect(
            problems.map(\.description) == [
                "offset 0: there is a line end in front of the first delimiter, which some servers refuse; begin the body with \"--\"",
                "offset 52: there is no line end between the data of part 1 (\"a\") and the delimiter; write CRLF in front of the \"--\"",
                "offset 57: there is no line end behind the closing delimiter, and some servers wait for it; write CRLF there",
            ])
    }

    @Test func withoutABoundaryTheBodysOwnIsProposed() {
        let problems = MultipartFixture.problems("--real\r\n\r\na\r\n--real--\r\n", type: "multipart/form-data")
        #expect(problems.map(\.kind) == [.boundaryMissing, .boundaryWrong])
        #expect(problems.last?.proposal == MultipartBoundary("real"))
        #expect(MultipartFixture.problems("a", type: "text/plain").isEmpty)
    }

    @Test func thereIsALimit() {
        let text = String(repeating: "--X\r\n\r\na\r\n", count: 200) + "--X--\r\n"
        let problems = MultipartFixture.problems(text)
        #expect(problems.count == MultipartLint.limit + 1)
        #expect(problems.last?.kind == .more)
    }

    @Test(arguments: MultipartFixture.texts) func piecesGiveTheSameProblems(_ text: String) {
        let octets = Array(text.utf8)
        let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X"])
        let whole = octets.withUnsafeBytes { MultipartLint.problems(headers: headers, body: $0) }
        var lint = MultipartLint(headers: headers)
        for index in octets.indices { octets[index...index].withUnsafeBytes { lint.push($0) } }
        #expect(lint.finish() == whole)
    }
}
