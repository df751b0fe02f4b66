@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct WireMultipartDecoderTests {
    private static let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X"])

    private func decode(
        _ bytes: ByteSource, headers: HeaderFields = Self.headers, isComplete: Bool = true, sink: inout MemorySink
    ) throws -> (body: MultipartBody<PartContent>?, note: String?) {
        try WireMultipartDecoder(headers: headers).body(bytes, isComplete: isComplete, &sink)
    }

    private func decode(_ text: String, isComplete: Bool = true) throws -> (body: MultipartBody<PartContent>?, note: String?) {
        var sink = MemorySink()
        return try self.decode(ByteSource(Array(text.utf8)), isComplete: isComplete, sink: &sink)
    }

    private func part(_ head: String, _ data: [UInt8]) -> [UInt8] {
        Array("--X\r\n\(head)\r\n\r\n".utf8) + data + [13, 10]
    }

    @Test func everyPartGetsItsForm() throws {
        var wire = self.part("Content-Disposition: form-data; name=\"a\"", Array("음식".utf8))
        wire += self.part("Content-Type: application/json", Array(#"{"a": 1}"#.utf8))
        wire += self.part("Content-Type: image/png", [0, 1])
        wire += self.part("Content-Type: text/plain; charset=euc-kr", [0xC0, 0xBD])
        wire += self.part("Content-Type: application/x-www-form-urlencoded", Array("a=1".utf8))
        wire += self.part("Content-Type: image/png", [UInt8](repeating: 7, count: 5_000))
        wire += Array("--X--\r\n".utf8)
        var sink = MemorySink()
        let (body, note) = try self.decode(ByteSource(wire), sink: &sink)
        let contents = body?.parts.map(\.content) ?? []
        #expect(
            contents.dropLast() == [
                .data(.text(Array("음식".utf8))), .data(.json(Array(#"{"a": 1}"#.utf8), style: JSONStyle(colon: " "))),
                .data(.binary([0, 1])),
                .data(.encodedText([0xC0, 0xBD], .eucKR)), .data(.form(FormText(fields: [.init(name: "a", value: "1")]))),
            ])
        #expect(note == nil && body?.sidecars.map(\.size) == [5_000] && sink.files.count == 1)
    }

    @Test func transferEncodingsAreDecoded() throws {
        let encodings = ["base64", "quoted-printable", "base64", "base64", "x-uuencode", "base64"]
        let data = ["W10=\r\n", "=EC=9D=8C", "AAEC", "W1 0=", "a", "W10="]
        var wire: [UInt8] = []
        for (encoding, data) in zip(encodings, data) {
            let type = wire.isEmpty ? "application/json" : "text/plain"
            wire += self.part("Content-Type: \(type)\r\nContent-Transfer-Encoding: \(encoding)", Array(data.utf8))
        }
        wire += Array("--X--\r\n".utf8)
        var sink = MemorySink()
        let body = try #require(try self.decode(ByteSource(wire), sink: &sink).body)
        #expect(
            body.parts.map(\.content) == [
                .data(.transferEncoded(.json([0x5B, 0x5D], style: .compact), .base64(Base64Spelling(isEnded: true)))),
                .data(.transferEncoded(.text(Array("음".utf8)), .quotedPrintable(QuotedPrintableSpelling()))),
                // Bytes are no more readable than their base64, and text with a different spelling stays as it is.
                .data(.text(Array("AAEC".utf8))), .data(.text(Array("W1 0=".utf8))), .data(.text([97])),
                .data(.transferEncoded(.text([0x5B, 0x5D]), .base64(Base64Spelling()))),
            ])
        #expect(try body.source { _ in ByteSource([]) }.load() == wire)
    }

    @Test func valuesAreInTheCharsetThatTheFormNames() throws {
        var wire = self.part("Content-Disposition: form-data; name=\"_charset_\"", Array("euc-kr".utf8))
        wire += self.part("Content-Disposition: form-data; name=\"a\"", [0xC0, 0xBD])
        wire += self.part("Content-Disposition: form-data; name=\"b\"\r\nContent-Type: text/plain; charset=iso-8859-1", [0xE9])
        wire += self.part("Content-Disposition: form-data; name=\"c\"; filename=\"c\"", [0xC0, 0xBD])
        wire += Array("--X--\r\n".utf8)
        var sink = MemorySink()
        let body = try #require(try self.decode(ByteSource(wire), sink: &sink).body)
        #expect(
            body.parts.dropFirst().map(\.content) == [
                .data(.encodedText([0xC0, 0xBD], .eucKR)), .data(.encodedText([0xE9], .latin1)), .data(.binary([0xC0, 0xBD])),
            ])
    }

    @Test func anyMultipartIsRestored() throws {
        var generator = SeededGenerator(seed: 11)
        var taken = 0
        for _ in 0..<rounds(2_000) {
            var bytes = MultipartSerializer.bytes(try RandomMultipart.body(using: &generator))
            var type = "multipart/mixed; boundary=" + String(decoding: bytes.dropFirst(2).prefix(17), as: UTF8.self)
            if Bool.random(using: &generator) {
                bytes = MultipartFixture.mutated(
                    Array((MultipartFixture.texts.randomElement(using: &generator) ?? "").utf8), using: &generator)
                type = "multipart/mixed; boundary=X"
            }
            let headers = HeaderFields(["Content-Type: \(type)"])
            var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
            var sink = MemorySink()
            let body = try decoder.decode(bytes, headers: headers, origin: "", sink: &sink)
            if case .multipart = body.content { taken += 1 } else { #expect(bytes.isEmpty || body.note != nil) }
            #expect(!body.isUndecoded(headers))

            let request = RecordedRequest(method: "POST", url: "http://a/", headers: headers, body: body)
            var writer = JSONWriter()
            InteractionEncoder.encode(Interaction(id: 1, started: Timestamp(microseconds: 0), request: request), into: &writer)
            let read = try #require(try InteractionDecoder.decode(writer.bytes, at: .textAlone).request.body)
            #expect(read == body)
            let restored = try BodyRestorer.wireBytes(of: read, file: sink.read, raw: { _ in [] }, digest: TestDigest())
            #expect(restored == BodyRestorer.Restored(bytes: bytes, isEdited: false))
        }
        #expect(taken > rounds(1_200))
    }

    @Test func defectiveBodyIsKeptWithANote() throws {
        let wrong = try self.decode("--Z\r\n\r\na\r\n--Z--\r\n")
        #expect(wrong.body == nil && wrong.note?.hasPrefix("not split into parts: offset 0: the body uses the boundary \"Z\"") == true)
        let none = try self.decode("hello")
        #expect(none.body == nil && none.note?.contains("no line \"--X\"") == true)
        let open = try self.decode("--X\r\n\r\na")
        #expect(open.body?.closing == nil && open.note?.hasPrefix("offset 8: the body ends without a closing delimiter") == true)
        #expect(try self.decode("--X\r\n\r\na", isComplete: false).note == nil)
        var sink = MemorySink()
        let unnamed = try self.decode(ByteSource([1]), headers: HeaderFields(["Content-Type: multipart/mixed"]), sink: &sink)
        #expect(unnamed.body == nil && unnamed.note?.contains("names no boundary") == true)
    }

    @Test func tooManyPartsStayInOnePiece() throws {
        let text = String(repeating: "--X\r\n\r\na\r\n", count: 1_001) + "--X--\r\n"
        let result = try self.decode(text)
        #expect(result.body == nil && result.note?.contains("more than 1000 parts") == true)
        #expect(try self.decode(String(repeating: "--X\r\n\r\na\r\n", count: 1_000) + "--X--\r\n").body?.parts.count == 1_000)
    }

    @Test func textBeyondTheLimitOfAllPartsGoesToFiles() throws {
        let text = [UInt8](repeating: 65, count: 60_000)
        var wire: [UInt8] = []
        for _ in 0..<20 { wire += self.part("A: b", text) }
        wire += Array("--X--\r\n".utf8)
        var sink = MemorySink()
        let body = try self.decode(ByteSource(wire), sink: &sink).body
        #expect(body?.sidecars.count == 3)
    }

    /// A part of 128 MiB passes through in small pieces.
    @Test func aLongPartIsNeverHeld() throws {
        let (head, tail) = (self.part("Content-Type: video/mp4", []).dropLast(2), Array("\r\n--X--\r\n".utf8))
        let data = 1 << 27
        var largest = 0
        let source = ByteSource(size: head.count + data + tail.count) { offset, buffer in
            largest = max(largest, buffer.count)
            if offset < head.count {
                buffer[0] = head[head.startIndex + offset]
                return 1
            }
            if offset >= head.count + data {
                buffer[0] = tail[offset - head.count - data]
                return 1
            }
            let count = min(buffer.count, head.count + data - offset)
            buffer.baseAddress?.initializeMemory(as: UInt8.self, repeating: 0x5A, count: count)
            return count
        }
        var sink = MemorySink()
        sink.keepsBytes = false
        sink.isDigested = false
        let body = try self.decode(source, sink: &sink).body
        #expect(body?.sidecars.map(\.size) == [data])
        #expect(largest <= ByteSource.pieceSize && sink.largestPiece <= ByteSource.pieceSize)
    }
}

@Suite struct MultipartCheckTests {
    private func check(_ text: String, edit: (inout MultipartBody<ByteSource>) -> Void = { _ in }) throws {
        let bytes = Array(text.utf8)
        var body = try #require(try MultipartFixture.body(bytes)).mapData { ByteSource(Array(bytes[$0])) }
        edit(&body)
        try MultipartCheck.check(body)
    }

    @Test(arguments: MultipartFixture.texts)
    func readableBodiesAreReadAgain(_ text: String) throws {
        guard try MultipartFixture.body(Array(text.utf8)) != nil else { return }
        try self.check(text)
    }

    @Test func readableMutationsAreReadAgain() throws {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<rounds(3_000) {
            let text = MultipartFixture.texts.randomElement(using: &generator) ?? ""
            let bytes = MultipartFixture.mutated(Array(text.utf8), using: &generator)
            guard let body = try MultipartFixture.body(bytes) else { continue }
            try MultipartCheck.check(body.mapData { ByteSource(Array(bytes[$0])) })
        }
    }

    @Test func aBoundaryInEditedDataIsAnError() throws {
        let error = #expect(throws: CassetteError.self) {
            try self.check(MultipartFixture.form) { $0.parts[1].content = .data(ByteSource(Array("a\r\n--X\r\nb".utf8))) }
        }
        #expect(error?.message.contains("part 2 (\"pet\")") == true && error?.message.contains("\"X\"") == true)
    }

    @Test func theBoundaryOfALevelAboveCountsToo() throws {
        let text = "--X\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n--Y\r\n\r\na\r\n--Y--\r\n\r\n--X--\r\n"
        let error = #expect(throws: CassetteError.self) {
            try self.check(text) { body in
                guard case .multipart(var inner) = body.parts[0].content else { return }
                inner.parts[0].content = .data(ByteSource(Array("\r\n--X--\r\n".utf8)))
                body.parts[0].content = .multipart(inner)
            }
        }
        #expect(error?.message.contains("part 1") == true)
    }

    @Test func somethingLikeTheBoundaryIsData() throws {
        try self.check(MultipartFixture.form) { $0.parts[0].content = .data(ByteSource(Array("a\r\n--Xtra--X".utf8))) }
    }
}
