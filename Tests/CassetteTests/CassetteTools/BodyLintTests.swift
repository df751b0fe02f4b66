import CassetteModel
@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct BodyLintTests {
    @Test func aDefectHasTheBytesAroundIt() throws {
        let lint = try #require(try BodyLint(BodyContents([13, 10] + FormFixtures.pets), headers: FormFixtures.headers))
        // A part of the form has a Content-Transfer-Encoding.
        #expect(lint.findings.map(\.kind) == ["lineEndBeforeFirst", "transferEncoding"])
        #expect(lint.findings.first?.excerpt?.lines.first?.hasPrefix("00000000  0d 0a 2d 2d ") == true)
    }

    @Test func aDefectOfTheFieldsHasNone() throws {
        let lint = try #require(
            try BodyLint(BodyContents(FormFixtures.pets), headers: HeaderFields(FormFixtures.headers.lines + FormFixtures.headers.lines)))
        #expect(lint.findings.first?.kind == "contentTypeTwice")
        #expect(lint.findings.first?.excerpt?.lines == nil)
    }

    /// Of a request whose body came whole, with its length announced.
    private func findings(_ body: [UInt8], _ fields: String...) throws -> [BodyLint.Finding] {
        let headers = HeaderFields(fields + ["Content-Length: \(body.count)"])
        let context = BodyLint.Context(body: Body(size: body.count, content: .binary(body)))
        return try BodyLint(BodyContents(body), headers: headers, context)?.findings ?? []
    }

    @Test(arguments: ["{\"a\": 1,}", "{a: 1}", "{'a': 1}", "<html>", "{\"a\": 1} b"])
    func aLengthIsOnlyBlamedForJSONThatJustEnds(_ text: String) throws {
        let found = try self.findings(Array(text.utf8), "Content-Type: application/json")
        #expect(found.map(\.kind) == ["notJSON"] && found.first?.sentence.contains("Content-Length") == false)
    }

    @Test(arguments: ["{\"a\": 1", "[1, 2", "{\"a\": \"b", "{\"a\":", "[\"\u{e9}"]) func aLengthIsBlamedForJSONThatJustEnds(_ text: String)
        throws
    {
        for cut in [0, 1] where text.utf8.count != text.count || cut == 0 {
            let found = try self.findings(Array(text.utf8.dropLast(cut)), "Content-Type: application/json")
            #expect(found.map(\.kind) == ["notJSON"] && found.first?.sentence.contains("count bytes and not characters") == true)
        }
    }

    @Test(
        arguments: [
            (Array("\u{feff}{}".utf8), "UTF-8 with a byte-order mark"), ([0xff, 0xfe, 0x7b, 0, 0x7d, 0], "UTF-16"),
            ([0, 0x7b, 0, 0x7d], "UTF-16"), ([0x7b, 0, 0x7d, 0], "UTF-16"), ([0x7b, 0, 0, 0, 0x7d, 0, 0, 0], "UTF-32"),
        ] as [([UInt8], String)])
    func anEncodingOfJSONIsNamed(_ body: [UInt8], encoding: String) throws {
        let found = try self.findings(body, "Content-Type: application/json")
        #expect(found.map(\.kind) == ["notJSON"] && found.first?.sentence.contains("is in \(encoding), which") == true)
    }

    /// Servers of bulk requests take both types.
    @Test(arguments: [
        ("{\"index\":{\"_index\":\"pets\"}}\n{\"name\":\"Bori\"}\n{\"delete\":{\"_id\":\"1\"}}\n", true),
        ("{\"create\":{}}\r\n{\"a\":1}\r\n", true), ("{}\n{\"query\":{}}\n", true), ("{\"index\":\"pets\"}\n{\"query\":{}}\n", true),
        ("{\"a\":1}\n{\"a\":2}\n", false),
    ]) func linesOfJSONAreJSONInBulkRequestsOnly(_ text: String, isBulk: Bool) throws {
        let found = try self.findings(Array(text.utf8), "Content-Type: application/json")
        #expect(found.map(\.kind) == (isBulk ? [] : ["notJSON"]))
        #expect(isBulk || found.first?.sentence.contains("application/x-ndjson") == true)
    }

    @Test func aMarkIsTakenAwayInWhatToWrite() throws {
        let change = try self.findings(Array("\u{feff}{}".utf8), "Content-Type: application/json").first?.change
        #expect(change?.removed == [0xef, 0xbb, 0xbf] && change?.inserted == [] && change?.offset == 0)
    }

    @Test func jsonInAStringIsWrittenOnce() throws {
        let change = try self.findings(Array(#""{\"a\": 1}""#.utf8), "Content-Type: application/json").first?.change
        #expect(change?.inserted == Array(#"{"a": 1}"#.utf8))
    }

    /// A body whose coding is not removed may be anything.
    @Test func bytesInACodingAreNotJudged() throws {
        let gzip: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0]
        #expect(try self.findings(gzip, "Content-Type: application/json", "Content-Encoding: gzip").isEmpty)
        #expect(try self.findings([1, 2, 3, 4], "Content-Type: application/json", "Content-Encoding: aws-chunked").isEmpty)
        #expect(try self.findings([0x8b, 2, 3, 4], "Content-Type: image/png", "Content-Encoding: br").isEmpty)
        #expect(try self.findings([0x28, 0xb5, 0x2f, 0xfd], "Content-Type: image/png", "Content-Encoding: zstd").isEmpty)
        let plain = try self.findings(Array("{}".utf8), "Content-Type: application/json", "Content-Encoding: zstd")
        #expect(plain.map(\.kind) == ["contentEncoding"] && plain.first?.change?.before == "Content-Encoding: zstd")
    }

    /// Their pieces do not begin as the file does.
    @Test(arguments: ["Content-Range: bytes 0-3/9", "Upload-Offset: 4", "X-Amz-Content-SHA256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD"])
    func aPieceOfAFileIsNotJudged(_ field: String) throws {
        #expect(try self.findings([1, 2, 3, 4], "Content-Type: image/png", field).isEmpty)
        #expect(try self.findings([1, 2, 3, 4], "Content-Type: image/png").map(\.kind) == ["typeContradicted"])
    }

    @Test func aFileWithoutItsLineEndsSaysWhoTookThem() throws {
        let type = "Content-Type: application/x-www-form-urlencoded"
        let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d]
        let whole = try self.findings(png, type)
        #expect(whole.first?.kind == "typeContradicted" && whole.first?.sentence.contains("curl -d") == false)
        let stripped = try self.findings(png.filter { ![0, 10, 13].contains($0) }, type)
        #expect(stripped.first?.kind == "typeContradicted" && stripped.first?.sentence.contains("use --data-binary @FILE") == true)
        #expect(stripped.first?.change?.after == "Content-Type: image/png")
    }

    @Test func contentsThatWereDecodedAreJudged() throws {
        let body = Body(size: 30, codings: [.brotli], content: .binary([1, 2, 3]))
        let headers = HeaderFields(["Content-Type: image/png", "Content-Encoding: br"])
        let lint = try BodyLint(BodyContents([1, 2, 3]), headers: headers, BodyLint.Context(body: body))
        #expect(lint?.findings.map(\.kind) == ["typeContradicted"])
    }

    @Test func onlyMultipartBodiesAreLookedAt() throws {
        #expect(try BodyLint(BodyContents([1]), headers: HeaderFields(["Content-Type: text/plain"]))?.findings.count == nil)
    }
}

@Suite struct LintExcerptTests {
    private func lines(_ offset: Int, of bytes: [UInt8], pieces: Int = 7) -> [String] {
        var excerpt = LintExcerpt(offset, size: bytes.count)
        bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                excerpt.take(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + pieces, bytes.count)]), at: start)
            }
        }
        return excerpt.lines
    }

    private let text = Array("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ!?abcdefghijklmnop".utf8)

    @Test func theByteIsMarkedBelowBothColumns() {
        #expect(
            self.lines(41, of: self.text) == [
                "00000010  71 72 73 74 75 76 77 78  79 7a 30 31 32 33 34 35  qrstuvwxyz012345",
                "00000020  36 37 38 39 41 42 43 44  45 46 47 48 49 4a 4b 4c  6789ABCDEFGHIJKL",
                "                                      ^^                             ^",
                "00000030  4d 4e 4f 50 51 52 53 54  55 56 57 58 59 5a 21 3f  MNOPQRSTUVWXYZ!?",
            ])
    }

    @Test func theFirstByteHasNothingInFront() {
        #expect(self.lines(0, of: self.text).count == 3)
        #expect(self.lines(0, of: self.text)[1].hasPrefix("          ^^   "))
    }

    @Test func thePositionAfterTheLastByteIsMarked() {
        let lines = self.lines(20, of: Array(self.text.prefix(20)))
        #expect(lines.count == 3)
        #expect(lines[2].hasPrefix("                      ^^  "))
        #expect(self.lines(16, of: Array(self.text.prefix(16))).count == 1)
        #expect(self.lines(0, of: []) == [])
    }

    @Test(arguments: [1, 16, 1000]) func piecesMakeNoDifference(pieces: Int) {
        #expect(self.lines(41, of: self.text, pieces: pieces) == self.lines(41, of: self.text))
    }
}
