@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import Testing

struct ContentFormTests {
    private func content(_ bytes: [UInt8], _ type: String?, coded: String? = nil) throws -> BodyContent {
        var sink = MemorySink()
        let form = ContentForm(field: type.map { Array($0.utf8)[...] }, codedExtension: coded)
        return try form.content(bytes, sink: &sink)
    }

    private func fileExtension(_ bytes: [UInt8], _ type: String?, coded: String? = nil) throws -> String? {
        guard case .file(let sidecar) = try self.content(bytes, type, coded: coded) else { return nil }
        return sidecar.path.split(separator: ".").last.map(String.init)
    }

    @Test func jsonNeedsItsTypeOrNoType() throws {
        let json = Array(#"{"a":[1,2]}"#.utf8)
        for type in ["application/json", "application/hal+json; charset=utf-8", nil] {
            #expect(try self.content(json, type) == .json(json, style: .compact))
        }
        #expect(try self.content(json, "text/plain") == .text(json))
        #expect(try self.content(json, "application/octet-stream") == .text(json))
        #expect(try self.content(Array(CodingFixtures.json.utf8), nil) == .json(CodingFixtures.content, style: .spaced))
    }

    @Test func jsonThatCannotBeWrittenBackIsText() throws {
        for text in ["{\"a\": 1,\"b\":2}", "{\"a\":", "42"] {
            #expect(try self.content(Array(text.utf8), "application/json") == .text(Array(text.utf8)))
        }
    }

    @Test func binaryTypesAreNeverText() throws {
        let text = Array("looks like text".utf8)
        #expect(try self.content(text, "image/png") == .binary(text))
        #expect(try self.content(text, "application/x-new") == .text(text))
        #expect(try self.content([0xff, 0], "text/plain") == .binary([0xff, 0]))
    }

    @Test func sizesDecideBetweenCassetteAndSidecar() throws {
        let text = [UInt8](repeating: 65, count: ContentForm.textLimit)
        #expect(try self.content(text, nil) == .text(text))
        #expect(try self.fileExtension(text + [65], nil) == "txt")
        #expect(try self.fileExtension(text + [65], "text/css") == "css")
        let binary = [UInt8](repeating: 1, count: ContentForm.binaryLimit)
        #expect(try self.content(binary, nil) == .binary(binary))
        #expect(try self.fileExtension(binary + [1], nil) == "bin")
        #expect(try self.fileExtension(binary + [1], "image/jpeg") == "jpg")
        #expect(try self.fileExtension([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + binary, nil) == "png")
        let json = Array("[".utf8) + text + Array("]".utf8)
        #expect(try self.fileExtension(json, nil) == "json")
        #expect(try self.fileExtension(binary + [1], "application/json", coded: "gz") == "gz")
    }

    @Test func formsAreFieldsAndWhatCurlCallsAFormIsWhatItIs() throws {
        let type = "application/x-www-form-urlencoded; charset=utf-8"
        #expect(
            try self.content(Array("a=1&b".utf8), type)
                == .form(FormText(fields: [.init(name: "a", value: "1"), .init(name: "b", value: nil)])))
        #expect(try self.content(Array(#"{"a":1}"#.utf8), type) == .json(Array(#"{"a":1}"#.utf8), style: .compact))
        #expect(try self.content(Array("a=+%20".utf8), type) == .text(Array("a=+%20".utf8)))
        #expect(try self.content(Array("a=1".utf8), nil) == .text(Array("a=1".utf8)))
    }

    @Test func linesAndEventsAreSplit() throws {
        let lines = Array("{\"a\":1}\n{\"a\":2}\n".utf8)
        for type in ["application/x-ndjson", "application/json", nil] {
            #expect(try self.content(lines, type) == JSONLines(lines).map { .lines($0) })
        }
        #expect(try self.content(lines, "text/plain") == .text(lines))
        let events = Array("data: a\n\n".utf8)
        #expect(try self.content(events, "text/event-stream") == EventStream(events).map { .events($0) })
        #expect(try self.content(events, "text/plain") == .text(events))
    }

    @Test func textOfOtherCharsetsIsKnownByItsLabelOrMark() throws {
        let korean: [UInt8] = [0xC0, 0xBD, 0xBD, 0xC4]
        #expect(try self.content(korean, "text/html; charset=EUC-KR") == .encodedText(korean, .eucKR))
        #expect(try self.content(korean, "text/html") == .binary(korean))
        #expect(try self.content(korean, "image/png; charset=euc-kr") == .binary(korean))
        #expect(try self.content([0x80, 0x41], "text/plain; charset=iso-8859-1") == .encodedText([0x80, 0x41], .windows1252))
        #expect(try self.content([0xFF, 0xFE, 0x41, 0], nil) == .encodedText([0xFF, 0xFE, 0x41, 0], .utf16LittleEndian))
        #expect(try self.content([0xFF, 0xFE, 1, 0], nil) == .binary([0xFF, 0xFE, 1, 0]))
        #expect(try self.content(Array("음식".utf8), "text/plain; charset=euc-kr") == .text(Array("음식".utf8)))
    }
}

struct ReadableTextTests {
    private func isReadable(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes(ReadableText.isReadable) }

    @Test func textIsReadable() {
        for text in ["", "a", "tab\tline\nreturn\r\n", "음식 🍕 \u{feff}", String(repeating: "\n\t\r x", count: 50)] {
            #expect(self.isReadable(Array(text.utf8)))
        }
    }

    @Test func oneControlCharacterAnywhereIsEnough() {
        for length in [1, 7, 8, 9, 20, 33] {
            for position in 0..<length {
                for control in [UInt8(0), 1, 8, 11, 12, 14, 27, 31, 127] {
                    for filler in [UInt8(ascii: "x"), 9, 10, 13, 32, 126] {
                        var bytes = [UInt8](repeating: filler, count: length)
                        bytes[position] = control
                        #expect(!self.isReadable(bytes))
                    }
                }
            }
        }
    }

    @Test func invalidUTF8IsNotReadable() {
        for bytes: [UInt8] in [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], Array("Größe".utf16.map { UInt8($0) })] {
            #expect(!self.isReadable(bytes))
        }
    }

    @Test func charactersMaySpanPieces() {
        let bytes = Array("음식 🍕".utf8)
        for split in 0...bytes.count {
            var text = ReadableText()
            bytes[..<split].withUnsafeBytes { text.push($0) }
            bytes[split...].withUnsafeBytes { text.push($0) }
            #expect(text.finish())
        }
    }
}
