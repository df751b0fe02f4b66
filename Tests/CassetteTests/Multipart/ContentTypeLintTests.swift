import Testing

@testable import CassetteModel

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
