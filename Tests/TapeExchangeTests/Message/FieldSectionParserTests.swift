internal import CassetteModel
@testable internal import TapeExchange
internal import Testing

@Suite struct FieldSectionParserTests {
    private func parse(_ text: String, pieces: [Int] = []) throws -> (end: Int?, fields: HeaderFields) {
        var parser = FieldSectionParser(side: .request, section: "request header", maximumBytes: 1_000, maximumFields: 4)
        let bytes = Array(text.utf8)
        var end: Int?
        for count in pieces + [bytes.count] where end == nil {
            end = try bytes[..<count].withUnsafeBytes { try parser.parse($0, from: 0) }
        }
        return (end, parser.fields)
    }

    @Test func sectionEndsAtItsEmptyLine() throws {
        let result = try self.parse("a: b\r\nC:\td\r\n\r\nrest")
        #expect(result.end == 14)
        #expect(result.fields == HeaderFields(["a: b", "C:\td"]))
        #expect(try self.parse("\r\n").end == 2)
        #expect(try self.parse("a: b\r\n\r").end == nil)
    }

    @Test func everySplitGivesTheSame() throws {
        let text = "a: b\r\nCc: \u{FC} d\r\nE:\r\n\r\n"
        let whole = try self.parse(text)
        for first in 0...text.utf8.count {
            for second in first...text.utf8.count {
                let split = try self.parse(text, pieces: [first, second])
                #expect(split.end == whole.end && split.fields == whole.fields)
            }
        }
    }

    @Test(arguments: [
        "a\r\n", "a b: c\r\n", "a : c\r\n", "a\t: c\r\n", " a: b\r\n", "\ta: b\r\n", "x: y\r\n z\r\n", ": b\r\n", "a: b\n", "a: b\rc\r\n",
        "a: \u{0}\r\n", "a: \u{7F}\r\n", "a: \u{B}b\r\n", "\u{B}a: b\r\n",
        "\n", "\r\r", "a\u{0}: b\r\n", "a(: b\r\n", "\u{E9}: b\r\n", "a: b\r\r\n", "a\r: b\r\n", "a\n: b\r\n", "a:\n", "\"a\": b\r\n",
        "a,b: c\r\n", "a/b: c\r\n", "a;b: c\r\n", "[a]: c\r\n", "a: \u{1B}[0m\r\n",
    ])
    func malformedLineIsRefused(_ text: String) {
        let error = #expect(throws: MessageError.self) { try self.parse(text) }
        #expect(error?.status == 400)
    }

    @Test func fieldsAreCounted() {
        let error = #expect(throws: MessageError.self) { try self.parse("a:\r\nb:\r\nc:\r\nd:\r\ne:\r\n\r\n") }
        #expect(error?.code == .tooManyFields)
    }
}
