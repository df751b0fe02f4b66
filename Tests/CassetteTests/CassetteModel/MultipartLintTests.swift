@testable import CassetteModel
import Testing

struct MultipartLintTests {
    private static let field = "Content-Disposition: form-data; name=\"a\"\r\n"

    @Test func problemsAreSentences() {
        let problems = MultipartFixture.problems("\r\n--X\r\n\(Self.field)\r\na--X--")
        #expect(
            problems.map(\.description) == [
                "offset 0: there is a line end before the first delimiter, which some servers refuse; begin the body with \"--\"",
                "offset 52: there is no line end between the data of part 1 (\"a\") and the delimiter; write CRLF before the \"--\"",
                "offset 57: there is no line end after the closing delimiter, and some servers wait for it; write CRLF there",
            ])
    }

    private static let file = "Content-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n"
    private static let png = "\u{89}PNG\r\n\u{1A}\n123"

    /// Common errors of uploads that are written by hand in Swift. `|` marks the reported byte, and is not part of the body.
    @Test(arguments: [
        ("|\r\n--X\r\n\(Self.field)\r\na\r\n--X--\r\n", MultipartProblem.Kind.lineEndBeforeFirst),
        ("--X\r\n\(Self.file)\r\n|\r\n\(Self.png)\r\n--X--\r\n", .lineEndDoubled),
        ("--X\r\n\(Self.file)\r\n\(Self.png)|\r\n\r\n--X--\r\n", .lineEndDoubled),
        ("--X\r\n\(Self.file)|\(Self.png)\r\n--X--\r\n", .emptyLineMissing),
        ("--X\r\n\(Self.file)\r\n\(Self.png)|--X--\r\n", .lineEndMissing),
        ("--X\r\n\(Self.file)\r\n\(Self.png)|--X\r\n\(Self.field)\r\na\r\n--X--\r\n", .lineEndMissing),
        ("--X\r\n\(Self.field)\r\nvalue|--X--\r\n", .lineEndMissing),
        ("--X\r\n\(Self.field)|--X--\r\n", .emptyLineMissing),
        ("--X\r\n\(Self.field)\r\n음식\r\n--X--|", .lastLineEndMissing),
        ("--X\r\nContent-Disposition: form-data; name=\"f\"; filename=\"|--X.png\"\r\n\r\na\r\n--X--\r\n", .boundaryInHeaders),
    ]) func handWrittenUploadsAreJudgedToTheByte(_ marked: String, _ kind: MultipartProblem.Kind) throws {
        let bytes = marked.unicodeScalars.flatMap { $0 == "\u{89}" ? [0x89] : Array(String($0).utf8) }
        let place = try #require(bytes.firstIndex(of: UInt8(ascii: "|")))
        let body = bytes.filter { $0 != UInt8(ascii: "|") }
        let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X"])
        let problems = body.withUnsafeBytes { MultipartLint.problems(headers: headers, body: $0) }
        #expect(problems.map(\.kind) == [kind] && problems.first?.offset == place)
        // The whole body is read anyway.
        let read = try #require(try MultipartFixture.body(body))
        #expect(read.parts.count == (marked.contains("name=\"a\"") && marked.contains("name=\"f\"") ? 2 : 1))
        #expect(body.withUnsafeBytes { MultipartSerializer.bytes(read, source: $0) } == body)
    }

    @Test func handWrittenContentTypesAreJudged() {
        let body = "--X\r\n\(Self.field)\r\na\r\n--X--\r\n"
        func found(_ lines: String...) -> [String] {
            let headers = HeaderFields(lines.map { "Content-Type: \($0)" })
            return Array(body.utf8).withUnsafeBytes { MultipartLint.problems(headers: headers, body: $0) }.map(\.description)
        }
        #expect(found("multipart/form-data; boundary=X") == [])
        #expect(
            found("multipart/form-data; boundary=\"X\"") == [
                "the boundary \"X\" is in quotes, which is allowed, but some servers take them for a part of it; leave them out"
            ])
        let twice = "\"Content-Type\" appears twice, and servers differ in which one they use; set it once"
        #expect(found("application/json", "multipart/form-data; boundary=X") == [twice])
        #expect(found("multipart/form-data; boundary=X, multipart/form-data; boundary=X") == [twice])
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
        let bytes = Array(text.utf8)
        let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X"])
        let whole = bytes.withUnsafeBytes { MultipartLint.problems(headers: headers, body: $0) }
        var lint = MultipartLint(headers: headers)
        for index in bytes.indices { bytes[index...index].withUnsafeBytes { lint.push($0) } }
        #expect(lint.finish() == whole)
    }
}

struct BoundaryGuessTests {
    @Test func theBodysOwnBoundaryIsProposed() throws {
        let named = try #require(MultipartBoundary("X"))
        let problem = BoundaryGuess.problem(Array("pre\r\n--real-1 \r\nContent-".utf8), named: named)
        #expect(problem?.kind == .boundaryWrong)
        #expect(problem?.proposal == MultipartBoundary("real-1"))
        #expect(problem?.offset == 5)
        #expect(
            problem?.sentence == "the body uses the boundary \"real-1\", but \"Content-Type\" says \"X\"; write \"boundary=real-1\" there")
    }

    @Test func aMissingDelimiterIsReported() throws {
        let named = try #require(MultipartBoundary("X"))
        #expect(BoundaryGuess.problem(Array("a=b".utf8), named: named)?.kind == .noDelimiter)
        #expect(BoundaryGuess.problem([], named: named)?.sentence.hasPrefix("the body is empty") == true)
        #expect(BoundaryGuess.problem(Array("--cut".utf8), named: named)?.kind == .noDelimiter)
        #expect(BoundaryGuess.problem(Array("a=b".utf8), named: nil) == nil)
        #expect(BoundaryGuess.problem(Array("--a\n".utf8), named: nil)?.proposal == MultipartBoundary("a"))
    }
}

struct ContentTypeLintTests {
    private func kinds(_ lines: String...) -> [MultipartProblem.Kind] {
        ContentTypeLint.problems(HeaderFields(lines.map { "Content-Type: \($0)" }), offset: nil).map(\.kind)
    }

    @Test func boundariesAreJudged() {
        #expect(self.kinds("multipart/form-data; boundary=X-1.2_3+'4'") == [])
        #expect(self.kinds("multipart/form-data; boundary=\"a:b\"") == [])
        #expect(self.kinds("text/plain") == [])
        #expect(self.kinds("multipart/form-data") == [.boundaryMissing])
        #expect(self.kinds("multipart/form-data; boundary=") == [.boundaryEmpty])
        #expect(self.kinds("multipart/form-data; boundary=\"\"") == [.boundaryEmpty])
        #expect(self.kinds("multipart/form-data; boundary=" + String(repeating: "a", count: 71)) == [.boundaryTooLong])
        #expect(self.kinds("multipart/form-data; boundary=" + String(repeating: "a", count: 70)) == [])
        #expect(self.kinds("multipart/form-data; boundary=a:b") == [.boundaryCharacters])
        #expect(self.kinds("multipart/form-data; boundary=경계") == [.boundaryCharacters])
        #expect(self.kinds("multipart/form-data; boundary=\"a@b\"") == [.boundaryCharacters])
        #expect(self.kinds("multipart/form-data; boundary=\"a \"") == [.boundaryCharacters])
        #expect(self.kinds("multipart/form-data; boundary=\"ab\"") == [.boundaryQuoted])
    }

    @Test func aFieldSetTwiceIsNamed() {
        let type = "multipart/form-data; boundary=X"
        #expect(self.kinds(type, type) == [.contentTypeTwice])
        #expect(self.kinds(type + "," + type) == [.contentTypeTwice])
        #expect(self.kinds("application/json, " + type) == [.contentTypeTwice])
    }

    @Test func problemsOfAPartSayWhere() {
        let fields = HeaderFields(["Content-Type: multipart/mixed"])
        #expect(ContentTypeLint.problems(fields, offset: 40).map(\.offset) == [40])
        #expect(ContentTypeLint.problems(fields, offset: nil).map(\.offset) == [nil])
    }
}

struct LintReportTests {
    @Test func isInTheOrderOfTheBodyAndLimited() {
        let report = LintReport(limit: 2)
        report.add(MultipartProblem(.nul, offset: 9, "b"))
        report.add(MultipartProblem(.nul, offset: 2, "a"))
        report.add(MultipartProblem(.nul, offset: 1, "c"))
        #expect(report.all.map(\.sentence) == ["a", "b", "1 more problems are not listed; fix these first"])
    }

    @Test func saysSomeThingsOnce() {
        let report = LintReport(limit: 10)
        report.addOnce(MultipartProblem(.padding, offset: 1, "a"))
        report.addOnce(MultipartProblem(.padding, offset: 2, "b"))
        report.addOnce(MultipartProblem(.epilogue, offset: 3, "c"))
        #expect(report.all.map(\.sentence) == ["a", "c"])
    }
}

struct MultipartProblemTests {
    @Test func saysWhere() {
        #expect(MultipartProblem(.nul, offset: 7, "a NUL").description == "offset 7: a NUL")
        #expect(MultipartProblem(.boundaryMissing, offset: nil, "no boundary").description == "no boundary")
    }
}
