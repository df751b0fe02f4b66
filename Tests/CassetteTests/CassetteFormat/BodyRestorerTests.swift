@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import TapeTestSupport
import Testing

struct BodyRestorerTests {
    private func restore(_ body: Body, _ sink: MemorySink = MemorySink()) throws -> BodyRestorer.Restored {
        try BodyRestorer.wireBytes(of: body, file: sink.read, raw: { _ in [] }, digest: TestDigest())
    }

    private func decode(_ wire: [UInt8], _ sink: inout MemorySink) throws -> Body {
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        return try decoder.decode(wire, headers: HeaderFields(["Content-Encoding: gzip"]), origin: "o", sink: &sink)
    }

    /// A body as an origin may send it: right or wrong, coded or not.
    private static func wire(_ generator: inout CodingFixtures.Generator) -> (bytes: [UInt8], headers: HeaderFields) {
        let size = [0, 1, 40, 3000, 5000, 70_000].randomElement(using: &generator) ?? 0
        let json = Array("{\"a\": [".utf8) + Array(repeating: Array("12, ".utf8), count: size / 4).joined() + Array("7]}".utf8)
        let content = [generator.text(size), generator.bytes(size), json].randomElement(using: &generator) ?? []
        let level = Int.random(in: 1...9, using: &generator)
        let memory = [8, 8, 9, Int.random(in: 1...9, using: &generator)].randomElement(using: &generator) ?? 8
        let strategy = [0, 0, 0, Int.random(in: 1...4, using: &generator)].randomElement(using: &generator) ?? 0
        let parameters = DeflateParameters(level: level, memoryLevel: memory, strategy: strategy)
        let format = DeflateFormat.allCases.randomElement(using: &generator) ?? .gzip
        let isCoded = Bool.random(using: &generator)
        var bytes = isCoded ? CodingFixtures.deflated(content, parameters, format) : content
        if isCoded, Int.random(in: 0..<6, using: &generator) == 0 {
            let flushed = DeflateParameters(level: level, flushes: (0..<4).map { _ in Int.random(in: 1...900, using: &generator) })
            bytes += CodingFixtures.deflated(content, flushed, .gzip)
        }
        switch Int.random(in: 0..<9, using: &generator) {
        case 0: bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator))
        case 1: bytes += generator.bytes(Int.random(in: 1...20, using: &generator))
        case 2 where !bytes.isEmpty: bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 0x10
        default: break
        }
        let right = format == .gzip ? "gzip" : "deflate"
        let coding =
            [right, right, right, right, "br", "zstd", "identity", "gzip, gzip", "compress"].randomElement(using: &generator) ?? ""
        let type = ["application/json", "text/html", "image/png", "x/y"].randomElement(using: &generator) ?? ""
        var headers = HeaderFields(["Content-Type: \(type)"])
        if isCoded || Bool.random(using: &generator) { headers.append(name: "Content-Encoding", value: isCoded ? coding : "gzip") }
        return (bytes, headers)
    }

    private func throughACassette(_ body: Body) throws -> Body? {
        let request = RecordedRequest(method: "POST", url: "http://127.0.0.1/", body: body)
        var writer = JSONWriter()
        InteractionEncoder.encode(Interaction(id: 1, started: Timestamp(microseconds: 0), request: request), into: &writer)
        return try InteractionDecoder.decode(writer.bytes, at: .textAlone).request.body
    }

    @Test func membersAndFlushesComeBackByteForByte() throws {
        var generator = CodingFixtures.Generator(seed: 34)
        for _ in 0..<20 {
            var sink = MemorySink()
            let wire = (0..<Int.random(in: 1...GzipMember.limit, using: &generator)).flatMap { _ in
                let flushes = (0..<Int.random(in: 0...3, using: &generator)).map { _ in Int.random(in: 1...300, using: &generator) }
                let parameters = DeflateParameters(level: [1, 6, 9].randomElement(using: &generator) ?? 6, flushes: flushes)
                return CodingFixtures.deflated(generator.text(Int.random(in: 0...2000, using: &generator)), parameters, .gzip)
            }
            let body = try #require(try self.throughACassette(self.decode(wire, &sink)))
            #expect(body.original == nil)
            #expect(try self.restore(body, sink) == .init(bytes: wire, isEdited: false))
        }
    }

    @Test func editedContentOfMembersIsCodedAsMembers() throws {
        var sink = MemorySink()
        var body = try self.decode(CodingFixtures.gzip6 + CodingFixtures.gzip9, &sink)
        for content in [Array("short".utf8), [], CodingFixtures.content + CodingFixtures.content + CodingFixtures.content] {
            body.content = .text(content)
            let restored = try self.restore(body, sink)
            #expect(restored.isEdited)
            let read = try DecodedBeginning.read(ByteSource(restored.bytes), .coded([.gzip]))
            #expect(read.isWhole && read.bytes == content && read.leftOver == 0)
        }
    }

    @Test func aStreamGivesTheSameBytes() throws {
        for wire in [CodingFixtures.gzipFlushed, CodingFixtures.gzip6 + CodingFixtures.gzip9, CodingFixtures.gzipNode] {
            var sink = MemorySink()
            var body = try self.decode(wire, &sink)
            func read() throws -> [UInt8] {
                let stream = try BodyRestorer.open(body, file: { ByteSource(try sink.read($0)) }, raw: { _ in ByteSource([]) })
                var bytes: [UInt8] = []
                while !stream.isEnded { bytes += try stream.next() }
                return bytes
            }
            #expect(try read() == wire)
            body.content = .text(Array("edited".utf8))
            #expect(try read() == self.restore(body, sink).bytes)
        }
    }

    @Test func anyBodyComesBackByteForByte() throws {
        var generator = CodingFixtures.Generator(seed: 10)
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var coded = 0
        for _ in 0..<rounds(400) {
            var sink = MemorySink()
            let (wire, headers) = Self.wire(&generator)
            let body = try decoder.decode(wire, headers: headers, origin: "o", sink: &sink)
            #expect(body.size == wire.count)
            #expect((body.content == .empty) == wire.isEmpty)
            #expect(try self.restore(body, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
            #expect(try self.throughACassette(body) == body)
            var streamed: [UInt8] = []
            let isEdited = try BodyRestorer.streamWire(
                of: body, file: { ByteSource(try sink.read($0)) }, raw: { _ in ByteSource([]) }, digest: TestDigest()
            ) { streamed += $0 }
            #expect(streamed == wire && !isEdited)
            if !body.codings.isEmpty { coded += 1 }
        }
        // The test proves something only if many bodies were decoded.
        #expect(coded > rounds(50))
    }

    @Test func editedTextIsCodedAgain() throws {
        var sink = MemorySink()
        for wire in [CodingFixtures.gzip6, CodingFixtures.gzipNode] {
            var body = try self.decode(wire, &sink)
            let edited = Array("{\"edited\": true}".utf8)
            body.content = .text(edited)
            let restored = try self.restore(body, sink)
            #expect(restored.isEdited)
            #expect(restored.bytes == CodingFixtures.deflated(edited, DeflateParameters(level: 6), .gzip))
        }
    }

    /// Codings as a front server and a back server may stack them.
    @Test func anyPileOfCodingsComesBackByteForByte() throws {
        var generator = CodingFixtures.Generator(seed: 20)
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        for _ in 0..<100 {
            var sink = MemorySink()
            var wire = generator.text([0, 1, 3000, 70_000].randomElement(using: &generator) ?? 0)
            var names: [String] = []
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let format = DeflateFormat.allCases.randomElement(using: &generator) ?? .gzip
                let level = Int.random(in: 1...9, using: &generator)
                names.append(format == .gzip ? "gzip" : "deflate")
                let members = format == .gzip ? Int.random(in: 1...2, using: &generator) : 1
                let cut = Int.random(in: 0...wire.count, using: &generator)
                let parts = members == 1 ? [wire] : [Array(wire[..<cut]), Array(wire[cut...])]
                wire = parts.flatMap { CodingFixtures.deflated($0, DeflateParameters(level: level), format) }
            }
            let coding = "Content-Encoding: " + names.joined(separator: ",")
            let body = try decoder.decode(wire, headers: HeaderFields([coding]), origin: "o", sink: &sink)
            #expect(body.codings.count == names.count && body.note == nil)
            #expect(try self.restore(body, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
            #expect(try self.throughACassette(body) == body)
        }
    }

    @Test func editedTextGetsAllItsCodingsAgain() throws {
        let edited = Array("edited".utf8)
        let codings: [ContentCoding] = [.gzip(nil, header: .plain), .deflate(DeflateParameters(level: 1))]
        let restored = try self.restore(Body(size: 9, codings: codings, content: .text(edited)))
        #expect(restored.isEdited)
        let inner = CodingFixtures.deflated(edited, DeflateParameters(level: 6), .gzip)
        #expect(restored.bytes == CodingFixtures.deflated(inner, DeflateParameters(level: 1), .zlib))
    }

    @Test func anEditIsSeenThroughAllCodings() throws {
        var sink = MemorySink()
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        let wire = CodingFixtures.deflated(CodingFixtures.gzipNode, DeflateParameters(level: 6), .zlib)
        let headers = HeaderFields(["Content-Encoding: gzip, deflate"])
        var body = try decoder.decode(wire, headers: headers, origin: "o", sink: &sink)
        #expect(body.original != nil)
        #expect(try self.restore(body, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
        body.content = .text(CodingFixtures.content.dropLast() + [65])
        let restored = try self.restore(body, sink)
        #expect(restored.isEdited)
        let inner = CodingFixtures.deflated(CodingFixtures.content.dropLast() + [65], DeflateParameters(level: 6), .gzip)
        #expect(restored.bytes == CodingFixtures.deflated(inner, DeflateParameters(level: 6), .zlib))
    }

    @Test func textThatWasAddedOrTakenAwayIsAnEdit() throws {
        var sink = MemorySink()
        var body = try self.decode(CodingFixtures.gzipNode, &sink)
        #expect(body.original != nil)
        for edited in [CodingFixtures.content + [32], CodingFixtures.content.dropLast(), []] {
            body.content = .text(edited)
            let bytes = CodingFixtures.deflated(edited, EncoderChain.fallback, .gzip)
            // Other bytes of the recorded size count as edited too.
            for size in [body.size, bytes.count] {
                body.size = size
                #expect(try self.stream(body, sink) == BodyRestorer.Restored(bytes: bytes, isEdited: true))
            }
        }
    }

    @Test func contentShorterThanItsIntermediateFormIsNoEdit() throws {
        var sink = MemorySink()
        let content = Array("hi".utf8)
        let wire = CodingFixtures.deflated(
            CodingFixtures.deflated(content, DeflateParameters(level: 6), .gzip), DeflateParameters(level: 6), .zlib)
        let sidecar = try sink.store(fileExtension: "zz") { write in try wire.withUnsafeBytes { try write($0) } }
        let body = Body(
            size: wire.count, codings: [.gzip(nil, header: .plain), .deflate(nil)], content: .text(content), original: sidecar)
        #expect(try self.restore(body, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
    }

    /// Restores a body without a digest.
    private func stream(_ body: Body, _ sink: MemorySink) throws -> BodyRestorer.Restored {
        try BodyRestorer.wireBytes(of: body, file: { try sink.read($0) }, raw: { _ in [] })
    }

    @Test(arguments: [(ContentCoding.brotli, "br"), (.zstandard, "zstd")])
    func editedTextOfOtherCodingsCanBeDecoded(coding: ContentCoding, name: String) throws {
        let edited = Array("edited".utf8)
        let restored = try self.restore(Body(size: 9, codings: [coding], content: .text(edited)))
        #expect(restored.isEdited)
        let encoding = ContentEncoding(HeaderFields(["Content-Encoding: \(name)"]))
        guard case .coded = encoding else { return }
        #expect(try DecodedBeginning.read(ByteSource(restored.bytes), encoding).bytes == edited)
    }

    @Test func anEditOfEqualLengthIsSeenByTheDigest() throws {
        let content = Array("abcdefgh".utf8)
        var sink = MemorySink()
        var body = try self.decode(CodingFixtures.deflated(content, DeflateParameters(level: 6), .gzip), &sink)
        body.content = .text(Array("abcdefgi".utf8))
        let restored = try self.restore(body)
        #expect(restored.bytes.count == body.size)
        #expect(restored.isEdited)
    }

    @Test func editedPlainTextIsTakenAsItIs() throws {
        let body = Body(size: 5, content: .text(Array("longer".utf8)))
        #expect(try self.restore(body) == BodyRestorer.Restored(bytes: Array("longer".utf8), isEdited: true))
    }

    @Test func theHeaderOfGzipComesBackVerbatim() throws {
        var sink = MemorySink()
        let body = try self.decode(CodingFixtures.gzipNamed, &sink)
        #expect(sink.files.isEmpty)
        #expect(try self.restore(body).bytes == CodingFixtures.gzipNamed)
    }

    @Test func decodedContentNeedsNoOriginal() throws {
        var sink = MemorySink()
        let body = try self.decode(CodingFixtures.gzipNode, &sink)
        let decoded = try BodyRestorer.decodedBytes(of: body, file: { _ in throw MemorySink.Full() }, raw: { _ in [] })
        #expect(decoded == CodingFixtures.content)
    }

    @Test func rawBodiesGiveTheirSlice() throws {
        let slice = RawSlice(path: "r", offset: 1, size: 3, crc32: 0)
        let body = WireBodyDecoder.undecoded(slice)
        let restored = try BodyRestorer.wireBytes(of: body, file: { _ in [] }, raw: { $0 == slice ? [1, 2, 3] : [] })
        #expect(restored == BodyRestorer.Restored(bytes: [1, 2, 3], isEdited: false))
    }

    @Test func hostileCassettesAreErrorsNotTraps() throws {
        let bad = DeflateParameters(level: .max, memoryLevel: -1, windowBits: 99, strategy: 7)
        for coding in [ContentCoding.gzip(bad, header: GzipHeader(bytes: [])), .deflate(bad), .rawDeflate(bad)] {
            #expect(throws: CassetteError.self) { try self.restore(Body(size: -5, codings: [coding], content: .text([65]))) }
        }
    }

    @Test func aBombInsteadOfTheOriginalEndsAtTheFirstDifference() throws {
        var sink = MemorySink()
        let bomb = CodingFixtures.deflated([UInt8](repeating: 65, count: 8 << 20), DeflateParameters(level: 9), .gzip)
        let sidecar = try sink.store(fileExtension: "gz") { write in try bomb.withUnsafeBytes { try write($0) } }
        let body = Body(size: bomb.count, codings: [.gzip(nil, header: .plain)], content: .text([65, 65]), original: sidecar)
        let restored = try self.restore(body, sink)
        #expect(restored.isEdited)
        #expect(restored.bytes == CodingFixtures.deflated([65, 65], DeflateParameters(level: 6), .gzip))
    }

    private func multipart(_ sink: inout MemorySink) throws -> (body: Body, wire: [UInt8]) {
        let wire = Array(MultipartFixture.form.utf8) + []
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X"])
        return (try decoder.decode(wire, headers: headers, origin: "", sink: &sink), wire)
    }

    @Test func anEditedPartKeepsTheBoundary() throws {
        var sink = MemorySink()
        var (body, wire) = try self.multipart(&sink)
        guard case .multipart(var parts) = body.content else { return #expect(Bool(false)) }
        #expect(try self.restore(body, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
        parts.parts[0].content = .data(.text(Array("rice".utf8)))
        body.content = .multipart(parts)
        let expected = Array(MultipartFixture.form.replacing("음식", with: "rice").utf8)
        #expect(try self.restore(body, sink) == BodyRestorer.Restored(bytes: expected, isEdited: true))
        parts.parts[0].content = .data(.text(Array("\r\n--X--\r\n".utf8)))
        body.content = .multipart(parts)
        let error = #expect(throws: CassetteError.self) { try self.restore(body, sink) }
        #expect(error?.message.contains("part 1 (\"food\")") == true)
    }

    @Test func partsUnderACodingAreCodedAgain() throws {
        let wire = CodingFixtures.deflated(Array(MultipartFixture.form.utf8), DeflateParameters(level: 6), .gzip)
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X", "Content-Encoding: gzip"])
        for origin in ["a", "b"] {
            var body = try decoder.decode(wire, headers: headers, origin: origin, sink: &sink)
            guard case .multipart(let parts) = body.content else { return #expect(Bool(false)) }
            #expect(parts.parts.count == 2 && body.codings.count == 1)
            #expect(try self.restore(body, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
            body.original = try sink.store(fileExtension: "gz") { piece in try wire.withUnsafeBytes { try piece($0) } }
            #expect(try self.restore(body, sink) == BodyRestorer.Restored(bytes: wire, isEdited: false))
        }
    }

    @Test func uncodedBytesAreReadWhereTheyAre() throws {
        var sink = MemorySink()
        let (body, wire) = try self.multipart(&sink)
        #expect(try BodyRestorer.uncoded(body, file: { ByteSource(try sink.read($0)) }, raw: { _ in ByteSource([]) }).load() == wire)
    }
}

@Suite struct RestoredStreamTests {
    private func drain(_ stream: RestoredStream) throws -> (bytes: [UInt8], largest: Int) {
        var bytes: [UInt8] = []
        var largest = 0
        while !stream.isEnded {
            let piece = try stream.next()
            #expect(piece.count >= RestoredStream.pieceSize || stream.isEnded)
            largest = max(largest, piece.count)
            bytes += piece
        }
        #expect(try stream.next().isEmpty)
        return (bytes, largest)
    }

    @Test func bytesThatAreThereComeAsTheyAre() throws {
        for size in [0, 1, RestoredStream.pieceSize, RestoredStream.pieceSize + 1] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 >> 4) }
            #expect(try self.drain(RestoredStream(ByteSource(bytes), nil)).bytes == bytes)
        }
    }

    @Test func codedBytesComeInPiecesOfABoundedSize() throws {
        var generator = CodingFixtures.Generator(seed: 41)
        let content = generator.bytes(2 << 20)
        let parameters = DeflateParameters(level: 1)
        let read = try self.drain(
            RestoredStream(ByteSource(content), try EncoderChain([.gzip(parameters, header: .plain)])))
        #expect(read.bytes == CodingFixtures.deflated(content, parameters, .gzip))
        #expect(read.largest < 2 * RestoredStream.pieceSize)
    }

    @Test func emptyContentHasACodedForm() throws {
        let read = try self.drain(RestoredStream(ByteSource([]), try EncoderChain([.gzip(nil, header: .plain)])))
        #expect(read.bytes == CodingFixtures.deflated([], EncoderChain.fallback, .gzip))
    }

    @Test func aSourceThatEndsEarlyIsAnError() throws {
        let stream = RestoredStream(ByteSource(size: 10) { offset, buffer in offset < 4 ? min(4, buffer.count) : 0 }, nil)
        #expect(throws: CassetteError.self) { try stream.next() }
    }
}
