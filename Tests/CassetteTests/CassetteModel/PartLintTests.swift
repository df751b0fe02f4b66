@testable import CassetteModel
import Testing

struct PartLintTests {
    private func kinds(_ headers: String, _ data: [UInt8], isFormData: Bool = true) throws -> [MultipartProblem.Kind] {
        var lint = PartLint(number: 2, isFormData: isFormData, offset: 0)
        let boundary = try #require(MultipartBoundary("X"))
        let found = lint.headers(PartHeaderSection(bytes: Array((headers + "\r\n\r\n").utf8)), offset: 0, boundary: boundary)
        for byte in data { [byte].withUnsafeBytes { lint.data($0) } }
        return (found + lint.finish()).map(\.kind)
    }

    private static let field = "Content-Disposition: form-data; name=\"a\""
    private static let image = field + "; filename=\"a.png\"\r\nContent-Type: image/png"
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    @Test func headerLinesAreJudged() throws {
        #expect(try self.kinds(Self.field, []) == [])
        #expect(try self.kinds("A: b", []) == [.nameMissing])
        #expect(try self.kinds("A: b", [], isFormData: false) == [])
        #expect(try self.kinds("Content-Disposition: form-data", []) == [.nameMissing])
        #expect(try self.kinds("Content-Disposition: form-data; name=\"\"", []) == [])
        #expect(try self.kinds("Content-Disposition: attachment; name=a", []) == [.notFormData])
        #expect(try self.kinds(Self.field + "\r\nno colon", []) == [.colonMissing])
        #expect(try self.kinds(Self.field + "\r\n folded", []) == [])
        #expect(try self.kinds(Self.field + "\r\nA: \0", []) == [.nul])
        #expect(try self.kinds(Self.field + "; filename=\"--X.png\"", []) == [.boundaryInHeaders])
        #expect(try self.kinds(Self.field + "\r\n" + Self.field, []) == [.fieldTwice])
        #expect(try self.kinds(Self.image + "\r\nContent-Type: image/png", []) == [.fieldTwice])
    }

    @Test func doubledLineEndsAreSeen() throws {
        let lineEnd: [UInt8] = [13, 10]
        #expect(try self.kinds(Self.image, Self.png) == [])
        #expect(try self.kinds(Self.image, lineEnd + Self.png) == [.lineEndDoubled])
        #expect(try self.kinds(Self.image, [10] + Self.png) == [.lineEndDoubled])
        #expect(try self.kinds(Self.image, Self.png + lineEnd) == [.lineEndDoubled])
        #expect(try self.kinds(Self.image, lineEnd + Self.png + lineEnd) == [.lineEndDoubled, .lineEndDoubled])
        #expect(try self.kinds(Self.field + "; filename=a", lineEnd + Self.png) == [.lineEndDoubled])
        #expect(try self.kinds(Self.field + "; filename=a.txt", Array("text\r\n".utf8)) == [])
        #expect(try self.kinds(Self.field + "; filename=a.pdf\r\nContent-Type: application/pdf", Array("%PDF-1\r\n%%EOF\r\n".utf8)) == [])
        #expect(try self.kinds(Self.field, Array("value\r\n".utf8)) == [.lineEndDoubled])
        #expect(try self.kinds(Self.field, Array("two\r\nlines\r\n".utf8)) == [])
        #expect(try self.kinds(Self.field, Array("\r\nvalue".utf8)) == [.lineEndDoubled])
        #expect(try self.kinds(Self.field, lineEnd) == [.lineEndDoubled])
    }

    @Test func filesOfNoKnownTypeAreJudgedByTheirFirstBytes() throws {
        let file = Self.field + "; filename=\"a.dat\"\r\nContent-Type: application/octet-stream"
        #expect(try self.kinds(file, [13, 10, 1, 2]) == [.lineEndDoubled])
        #expect(try self.kinds(file, [1, 2, 13, 10]) == [.lineEndDoubled])
        #expect(try self.kinds(file, [1, 2]) == [])
        #expect(try self.kinds(file, Array("\r\ntext\r\n".utf8)) == [])
        // "이름" in EUC-KR has no control characters.
        #expect(try self.kinds(file, [0xC0, 0xCC, 0xB8, 0xA7, 13, 10]) == [])
    }

    @Test func aNULInTextIsSeen() throws {
        #expect(try self.kinds(Self.field, [97, 0]) == [.nul])
        #expect(try self.kinds(Self.image, [97, 0]) == [])
    }

    @Test func theLabelIsSafeToShow() throws {
        var lint = PartLint(number: 3, isFormData: true, offset: 0)
        #expect(lint.label == "part 3")
        let section = PartHeaderSection(bytes: Array("Content-Disposition: form-data; name=\"a%0Ab\"\r\n\r\n".utf8))
        _ = lint.headers(section, offset: 0, boundary: try #require(MultipartBoundary("X")))
        #expect(lint.label == "part 3 (\"a\\nb\")")
    }
}
