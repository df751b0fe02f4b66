import CassetteModel
@testable import CassetteRedaction
import Testing

@Suite struct OpaqueContentTests {
    private func notes(_ bytes: [UInt8], _ lines: [String] = ["Content-Type: application/octet-stream"]) -> [String] {
        var response = RecordedResponse(status: 200, headers: HeaderFields(lines))
        var body: WireBody? = WireBody(bytes)
        return Redactor().redact(response: &response, body: &body).notes
    }

    private func isUnsearched(_ notes: [String]) -> Bool {
        var exchanges = UnsearchedExchanges()
        exchanges.add(1, notes: [notes.joined(separator: "; ")])
        return exchanges.count == 1
    }

    private static let zip = Array("PK\u{3}\u{4}\u{14}\0\0\0\u{8}\0".utf8) + [0x21, 0xFF, 0x80, 0x90]

    /// The bytes, in which `\u{80}` and above are one byte each, and how the note ends.
    private static let contents: [(text: String, words: String)] = [
        ("PK\u{3}\u{4}\u{14}\0\0\0\u{8}\0", "inside a ZIP archive"), ("7z\u{BC}\u{AF}\u{27}\u{1C}\0\u{4}", "inside a 7-Zip archive"),
        ("Rar!\u{1A}\u{7}\u{1}\0", "inside a RAR archive"), ("\u{FD}7zXZ\0\0\u{4}", "inside xz"),
        ("BZh91AY&SY\u{1}\u{2}", "inside bzip2"),
        ("]\0\0\u{80}\0\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\u{FF}\0\u{3}", "inside LZMA"),
        ("\u{4}\u{22}\u{4D}\u{18}\u{64}", "inside LZ4"), ("\u{1F}\u{9D}\u{90}a", "inside compress"),
        ("Salted__\u{C8}\u{1}", "inside encrypted data"), ("PAR1\u{15}\0\u{15}", "inside Parquet"), ("ORC\u{3}\u{8}", "inside ORC"),
        ("PACK\0\0\0\u{2}\0\0\0\u{1}", "inside a Git pack"), ("Obj\u{1}\u{2}\u{14}avro.codec\u{E}deflate", "inside compressed Avro"),
        ("Obj\u{1}\u{2}\u{14}avro.codec\u{8}null", "by their names in Avro"),
        ("%PDF-1.7\n1 0 obj <</Filter/FlateDecode>>", "inside a PDF document"),
        ("\u{AC}\u{ED}\0\u{5}t\0\u{1}a", "by their names in Java serialization"),
        ("SQLite format 3\0\u{10}\0", "by their names in a SQLite database"), ("!<arch>\ndebian-binary", "inside a Debian package"),
    ]

    @Test(arguments: Self.contents)
    func contentsWithoutAReaderAreNamed(_ content: (text: String, words: String)) {
        let notes = self.notes(content.text.unicodeScalars.map { UInt8($0.value) })
        #expect(notes.count == 1 && notes[0].hasSuffix(content.words), "\(notes)")
        #expect(self.isUnsearched(notes), "\(notes)")
    }

    @Test func textsImagesAndPlainDocumentsAreSearched() {
        for text in [
            "PK is a name", "%PDF-1.7\n1 0 obj\n(plain)", "BZhello", "Objects", "Salt", "<p>Rar!</p>", "{\"a\":1}", "]\0\0x", "Obj",
            "\u{89}PNG\r\n\u{1A}\n\0\0",
        ] {
            #expect(self.notes(Array(text.utf8)) == [], "\(text)")
        }
    }

    @Test func mediaTypesNameFormatsWithoutASignature() {
        let bytes: [UInt8] = [10, 8, 200, 1, 2, 255]
        #expect(self.notes(bytes, ["Content-Type: application/x-protobuf"]) == ["not searched for values by their names in protobuf"])
        #expect(self.notes(bytes, ["Content-Type: application/x-brotli"]) == ["not searched for secrets inside Brotli"])
        #expect(self.notes(Array("no such message".utf8), ["Content-Type: application/x-protobuf"]) == [])
    }

    @Test func gitPacksAreFoundBehindLinesOfTheProtocol() {
        let type = ["Content-Type: application/x-git-upload-pack-result"]
        #expect(
            self.notes(Array("0008NAK\n0030\u{1}PACK\0\0\0\u{2}\0\0\0\u{3}".utf8), type) == ["not searched for secrets inside a Git pack"])
        #expect(self.notes(Array("0008NAK\n0000".utf8), type) == [])
    }

    @Test(arguments: ["ibm037", "IBM1047", "cp500", "x-IBM930", "ebcdic-cp-us", "utf-7", "unicode-1-1-utf-7"])
    func charsetsThatDoNotContainASCIIAreNamed(_ charset: String) {
        let notes = self.notes([0xC0, 0x7F, 0x97], ["Content-Type: application/json; charset=\(charset)"])
        #expect(notes == ["not searched for secrets inside a text in \(charset.lowercased())"])
    }

    @Test(arguments: ["utf-8", "windows-1252", "cp1252", "ibm437", "iso-8859-1", "euc-kr", "big5"])
    func charsetsThatContainASCIIAreSearched(_ charset: String) {
        #expect(self.notes(Array("\"p\": \"é\"".utf8), ["Content-Type: application/json; charset=\(charset)"]) == [])
    }

    @Test func partsAndBase64AndFilesOfArchivesAreNamed() {
        let part =
            Array("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.zip\"\r\n\r\n".utf8) + Self.zip + Array("\r\n--b--".utf8)
        let expected = ["not searched for secrets inside a ZIP archive"]
        #expect(self.notes(part, ["Content-Type: multipart/form-data; boundary=b"]) == expected)
        let json = Array("{\"file\":\"UEsDBBQAAAAIACH/gJA=\"}".utf8)
        #expect(self.notes(json, ["Content-Type: application/json"]) == expected)
        #expect(self.notes(TapeArchiveTests.archive([("a.zip", Self.zip)]), ["Content-Type: application/x-tar"]) == expected)
    }

    @Test func anInnerGzipThatBreaksIsNamed() {
        var wire = RedactionFixtures.gzip(Array("a text that ends too early".utf8))
        wire.replaceSubrange(14..<20, with: [255, 255, 255, 255, 255, 255])
        #expect(self.isUnsearched(self.notes(wire)), "\(self.notes(wire))")
    }

    @Test func aTextUnderABinaryTypeIsSearchedAsText() {
        #expect(RedactionFixtures.body("DB_PASSWORD=Hunter2pass9\n", type: "application/pdf") == "DB_PASSWORD={{password:1}}\n")
    }
}
