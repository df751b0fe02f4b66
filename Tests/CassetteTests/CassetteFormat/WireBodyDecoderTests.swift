@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import Testing

struct WireBodyDecoderTests {
    private func decode(_ wire: [UInt8], _ lines: String..., sink: inout MemorySink) throws -> Body {
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        return try decoder.decode(wire, headers: HeaderFields(lines), origin: "o", sink: &sink)
    }

    private func decode(_ wire: [UInt8], _ lines: String...) throws -> Body {
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        return try decoder.decode(wire, headers: HeaderFields(lines), origin: "o", sink: &sink)
    }

    @Test func anEmptyBodyIsEmptyWithAnyFields() throws {
        #expect(try self.decode([], "Content-Encoding: gzip", "Content-Type: application/json") == Body(size: 0, content: .empty))
    }

    @Test func plainBodiesHaveNoCodingsAndNoDigest() throws {
        let body = try self.decode(CodingFixtures.content, "Content-Type: application/json")
        #expect(body == Body(size: 713, content: .json(CodingFixtures.content, style: .spaced)))
    }

    @Test func gzipIsDecodedIfItCanBeRestored() throws {
        let body = try self.decode(CodingFixtures.gzip6, "Content-Type: application/json", "Content-Encoding: gzip")
        #expect(body.codings == [.gzip(DeflateParameters(level: 6), header: .plain)])
        #expect(body.content == .json(CodingFixtures.content, style: .spaced))
        #expect(body.size == CodingFixtures.gzip6.count)
        #expect(body.sha256?.count == 64)
        #expect(body.original == nil)
        #expect(body.note == nil)
    }

    @Test func bytesOfOtherProducersAreKeptWithTheReadableForm() throws {
        var sink = MemorySink()
        for (wire, header) in [
            (CodingFixtures.gzipNode, GzipHeader.plain), (CodingFixtures.gzipGo, GzipHeader(bytes: Array(CodingFixtures.gzipGo[..<10]))),
        ] {
            let body = try self.decode(wire, "Content-Encoding: x-gzip", sink: &sink)
            #expect(body.codings == [.gzip(nil, header: header)])
            #expect(body.content == .json(CodingFixtures.content, style: .spaced))
            #expect(body.original?.path.hasSuffix(".gz") == true)
            #expect(try body.original.map { try sink.read($0) } == wire)
        }
    }

    @Test func deflateIsZlibOrRaw() throws {
        let zlib = try self.decode(CodingFixtures.zlib, "Content-Encoding: deflate")
        #expect(zlib.codings == [.deflate(DeflateParameters(level: 6))])
        let raw = try self.decode(
            CodingFixtures.deflated(CodingFixtures.content, DeflateParameters(level: 6), .raw), "Content-Encoding: deflate")
        #expect(raw.codings == [.rawDeflate(DeflateParameters(level: 6))])
        #expect(raw.content == zlib.content)
        let node = try self.decode(CodingFixtures.rawNode, "Content-Encoding: deflate")
        #expect(node.codings == [.rawDeflate(nil)])
    }

    @Test func bodiesThatDoNotMatchTheirTypeStayUnchanged() throws {
        var wrong = CodingFixtures.gzip6
        wrong[wrong.count - 8] ^= 1
        let cases: [([UInt8], String, String)] = [
            (wrong, "gzip", "content coding is not taken off: wrong gzip checksum at offset 194"),
            (Array(CodingFixtures.gzip6.dropLast(3)), "gzip", "content coding is not taken off: gzip stream cut short at offset 199"),
            (CodingFixtures.rawNode + [0, 0], "deflate", "content coding is not taken off: 2 bytes follow the raw stream at offset 184"),
            (CodingFixtures.gzip6, "gzip, gzip", "content coding \"gzip\" is not taken off: no gzip header at offset 0"),
            (CodingFixtures.gzip6, "gzip, compress", "content coding \"gzip, compress\" is not taken off"),
        ]
        for (wire, coding, note) in cases {
            let body = try self.decode(wire, "Content-Type: application/json", "Content-Encoding: \(coding)")
            #expect(body == Body(size: wire.count, content: .binary(wire), note: note))
        }
        let plain = try self.decode(Array("hello".utf8), "Content-Encoding: gzip")
        #expect(plain.content == .text(Array("hello".utf8)))
        #expect(plain.note == "content coding is not taken off: no gzip header at offset 0")
    }

    @Test func bytesAfterAStreamAreReportedAndKept() throws {
        var sink = MemorySink()
        let wire = CodingFixtures.gzip6 + [0, 0]
        let body = try self.decode(wire, "Content-Encoding: gzip", sink: &sink)
        #expect(body.codings == [.gzip(nil, header: .plain)])
        #expect(body.content == .json(CodingFixtures.content, style: .spaced))
        #expect(body.note == "2 bytes follow the gzip stream at offset 202")
        #expect(try body.original.map { try sink.read($0) } == wire)
    }

    @Test func theMembersOfAGzipStreamAreOneContent() throws {
        let body = try self.decode(
            CodingFixtures.gzip6 + CodingFixtures.gzipNamed, "Content-Encoding: gzip", "Content-Type: text/plain")
        guard case .gzipMembers(let members)? = body.codings.first else { return #expect(Bool(false)) }
        #expect(members.map(\.size) == [713, nil])
        #expect(members.map(\.parameters) == [DeflateParameters(level: 6), DeflateParameters(level: 6)])
        #expect(members.map(\.header.bytes.count) == [10, 21])
        #expect(body.content == .text(CodingFixtures.content + CodingFixtures.content))
        #expect(body.note == nil && body.original == nil)
    }

    @Test func aMemberThatIsNotFoundKeepsAllBytes() throws {
        for wire in [
            CodingFixtures.gzip6 + CodingFixtures.gzipNode, CodingFixtures.gzipGo + CodingFixtures.gzip6,
            CodingFixtures.gzip6 + CodingFixtures.gzip9 + [0],
        ] {
            var sink = MemorySink()
            let body = try self.decode(wire, "Content-Encoding: gzip", "Content-Type: text/plain", sink: &sink)
            #expect(body.codings == [.gzip(nil, header: GzipHeader(bytes: Array(wire[..<10])))])
            #expect(body.content == .text(CodingFixtures.content + CodingFixtures.content))
            #expect(try body.original.map { try sink.read($0) } == wire)
        }
    }

    @Test func asManyMembersAsTheLimitHaveParameters() throws {
        let most = Array(repeating: CodingFixtures.gzip6, count: GzipMember.limit).joined()
        var sink = MemorySink()
        let body = try self.decode(Array(most), "Content-Encoding: gzip", sink: &sink)
        guard case .gzipMembers(let members)? = body.codings.first else { return #expect(Bool(false)) }
        #expect(members.count == GzipMember.limit && sink.files.isEmpty)
        let more = try self.decode(most + CodingFixtures.gzip6, "Content-Encoding: gzip", sink: &sink)
        #expect(more.codings == [.gzip(nil, header: .plain)])
        #expect(try more.original.map { try sink.read($0) } == most + CodingFixtures.gzip6)
    }

    @Test func aFlushedStreamIsRestored() throws {
        let body = try self.decode(CodingFixtures.gzipFlushed, "Content-Encoding: gzip")
        #expect(body.codings == [.gzip(DeflateParameters(level: 6, flushes: [200, 200, 200, 113]), header: .plain)])
        #expect(body.content == .json(CodingFixtures.content, style: .spaced) && body.original == nil)
    }

    @Test func membersWithinAnotherCodingAreRestored() throws {
        let wire = CodingFixtures.deflated(
            CodingFixtures.gzip1 + CodingFixtures.gzipFlushed, DeflateParameters(level: 6), .zlib)
        let body = try self.decode(wire, "Content-Encoding: gzip, deflate")
        guard case .gzipMembers(let members)? = body.codings.first else { return #expect(Bool(false)) }
        #expect(members.map(\.size) == [713, nil] && members[1].parameters.flushes.count == 4)
        #expect(body.codings.last == .deflate(DeflateParameters(level: 6)) && body.original == nil)
    }

    @Test func codingsOfZlibAreRestoredOneByOne() throws {
        let inner = CodingFixtures.deflated(CodingFixtures.content, DeflateParameters(level: 9), .zlib)
        let wire = CodingFixtures.deflated(inner, DeflateParameters(level: 6), .gzip)
        let body = try self.decode(wire, "Content-Encoding: deflate, gzip")
        #expect(body.codings == [.deflate(DeflateParameters(level: 9)), .gzip(DeflateParameters(level: 6), header: .plain)])
        #expect(body.content == .json(CodingFixtures.content, style: .spaced))
        #expect(body.original == nil)
    }

    @Test func oneCodingThatCannotBeRestoredKeepsTheBytes() throws {
        var sink = MemorySink()
        let wire = CodingFixtures.deflated(CodingFixtures.rawNode, DeflateParameters(level: 6), .gzip)
        let body = try self.decode(wire, "Content-Encoding: deflate, gzip", sink: &sink)
        #expect(body.codings == [.rawDeflate(nil), .gzip(DeflateParameters(level: 6), header: .plain)])
        #expect(try body.original.map { try sink.read($0) } == wire)
    }

    @Test func severalCodingsOfALargeBodyPassInPieces() throws {
        var generator = CodingFixtures.Generator(seed: 19)
        let content = generator.text(3 << 20)
        let inner = CodingFixtures.deflated(content, DeflateParameters(level: 1), .raw)
        let wire = CodingFixtures.deflated(inner, DeflateParameters(level: 1), .gzip)
        var sink = MemorySink()
        let body = try self.decode(wire, "Content-Type: text/html", "Content-Encoding: deflate, gzip", sink: &sink)
        #expect(body.codings == [.rawDeflate(nil), .gzip(nil, header: .plain)])
        guard case .file(let sidecar) = body.content else { return #expect(Bool(false)) }
        #expect(sidecar.path.hasSuffix(".html"))
        #expect(try sink.read(sidecar) == content)
        #expect(try body.original.map { try sink.read($0) } == wire)
    }

    #if CODINGS
    @Test(arguments: [CodingFixtures.brotli5, CodingFixtures.brotli11])
    func brotliIsDecodedAndKept(wire: [UInt8]) throws {
        var sink = MemorySink()
        let body = try self.decode(wire, "Content-Encoding: br", "Content-Type: application/json", sink: &sink)
        #expect(body.codings == [.brotli])
        #expect(body.content == .json(CodingFixtures.content, style: .spaced))
        #expect(body.original?.path.hasSuffix(".br") == true)
        #expect(try body.original.map { try sink.read($0) } == wire)
    }
    #endif

    #if CODINGS
    @Test(arguments: [CodingFixtures.zstd3, CodingFixtures.zstdUnchecked])
    func zstdIsDecodedAndKept(wire: [UInt8]) throws {
        var sink = MemorySink()
        let body = try self.decode(wire, "Content-Encoding: zstd", sink: &sink)
        #expect(body.codings == [.zstandard])
        #expect(body.content == .json(CodingFixtures.content, style: .spaced))
        #expect(body.original?.path.hasSuffix(".zst") == true)
    }
    #endif

    @Test func largeCodedBodiesPassInPieces() throws {
        var generator = CodingFixtures.Generator(seed: 9)
        let content = generator.text(3 << 20)
        let wire = CodingFixtures.deflated(content, DeflateParameters(level: 1), .gzip)
        var sink = MemorySink()
        let body = try self.decode(wire, "Content-Type: text/html", "Content-Encoding: gzip", sink: &sink)
        #expect(body.codings == [.gzip(DeflateParameters(level: 1), header: .plain)])
        guard case .file(let sidecar) = body.content else { return #expect(Bool(false)) }
        #expect(sidecar.path.hasSuffix(".html"))
        #expect(try sink.read(sidecar) == content)
        #expect(sink.largestPiece <= Inflater.pieceSize)
    }

    @Test func aLargeSourceIsNeverLoaded() throws {
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        sink.keepsBytes = false
        var largestRead = 0
        let source = ByteSource(size: 8 << 20) { _, buffer in
            largestRead = max(largestRead, buffer.count)
            return buffer.count
        }
        let body = try decoder.decode(source, headers: HeaderFields(["Content-Type: video/mp4"]), origin: "o", sink: &sink)
        guard case .file(let sidecar) = body.content else { return #expect(Bool(false)) }
        #expect(sidecar.size == source.size)
        #expect(sidecar.path.hasSuffix(".mp4"))
        #expect(largestRead <= ByteSource.pieceSize)
        #expect(sink.largestPiece <= ByteSource.pieceSize)
    }

    @Test func bytesThatComeAgainGiveAnEqualBody() throws {
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        let headers = HeaderFields(["Content-Encoding: gzip"])
        let first = try decoder.decode(CodingFixtures.gzip6, headers: headers, origin: "o", sink: &sink)
        let cut = try decoder.decode(CodingFixtures.gzip6, headers: headers, origin: "o", isComplete: false, sink: &sink)
        #expect(!cut.isComplete)
        #expect(try decoder.decode(CodingFixtures.gzip6, headers: headers, origin: "o", sink: &sink) == first)
    }

    @Test func problemsOfPartsDependOnTheBodyBeingComplete() throws {
        let form = Array(MultipartFixture.form.utf8)
        let wire = CodingFixtures.deflated(Array(form[..<(form.count - 5)]), DeflateParameters(level: 6), .gzip)
        let headers = HeaderFields(["Content-Encoding: gzip", "Content-Type: multipart/form-data; boundary=X"])
        for order in [[true, false, true], [false, true, false]] {
            var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
            var sink = MemorySink()
            for isComplete in order {
                let body = try decoder.decode(wire, headers: headers, origin: "o", isComplete: isComplete, sink: &sink)
                #expect((body.note != nil) == isComplete)
            }
        }
    }

    @Test func aFullDiskIsTheCallersError() {
        var sink = MemorySink()
        sink.room = 1000
        let wire = [UInt8](repeating: 1, count: 10_000)
        #expect(throws: MemorySink.Full.self) { try self.decode(wire, sink: &sink) }
        #expect(sink.files.isEmpty)
    }

    @Test func aBodyLeftForLaterKeepsItsArrival() throws {
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        let wire = CodingFixtures.gzip6
        var later = WireBodyDecoder.undecoded(RawSlice(path: "r", offset: 0, size: wire.count, crc32: 0), isComplete: false)
        later.arrival = Arrival(isChunked: true, pieces: [Arrival.Piece(at: 1.5, size: wire.count)])
        later.unknown = [UnknownMember(name: "later", json: Array("1".utf8))]
        let headers = HeaderFields(["Content-Encoding: gzip"])
        let body = try decoder.decode(later, from: ByteSource(wire), headers: headers, origin: "o", sink: &sink)
        #expect(body.arrival == later.arrival && body.unknown == later.unknown)
        #expect(!body.isComplete)
        #expect(body.content == .json(CodingFixtures.content, style: .spaced))
    }

    @Test func bodiesCanBeLeftForLater() {
        let slice = RawSlice(path: "tape.bodies/undeveloped.raw", offset: 7, size: 9, crc32: 1)
        #expect(WireBodyDecoder.undecoded(slice, isComplete: false) == Body(size: 9, isComplete: false, content: .raw(slice)))
        #expect(WireBodyDecoder.undecoded(RawSlice(path: "", offset: 0, size: 0, crc32: 0)).content == .empty)
    }

    @Test func partsOfOlderRecordingsAreFound() throws {
        let wire = Array(MultipartFixture.form.utf8)
        let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=X"])
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        let old = Body(size: wire.count, content: .binary(wire))
        #expect(old.isUndecoded(headers))
        let body = try decoder.decodeParts(of: old, from: ByteSource(wire), headers: headers, origin: "o", sink: &sink)
        guard case .multipart(let parts) = body.content else { return #expect(Bool(false)) }
        #expect(parts.parts.count == 2 && !body.isUndecoded(headers))

        let wrong = HeaderFields(["Content-Type: multipart/form-data; boundary=Y"])
        let noted = Body(size: wire.count, content: .binary(wire), note: "own")
        #expect(try decoder.decodeParts(of: noted, from: ByteSource(wire), headers: wrong, origin: "o", sink: &sink).note == "own")
        let kept = try decoder.decodeParts(of: old, from: ByteSource(wire), headers: wrong, origin: "o", sink: &sink)
        #expect(kept.content == old.content && kept.note?.contains("\"X\"") == true && !kept.isUndecoded(wrong))
    }

    @Test func partsUnderACodingThatStaysAreNotLookedFor() throws {
        let body = try self.decode(
            Array(MultipartFixture.form.utf8), "Content-Type: multipart/form-data; boundary=X", "Content-Encoding: compress")
        #expect(body.note?.contains("compress") == true)
        if case .multipart = body.content { #expect(Bool(false)) }
    }
}

struct DecodedMemoTests {
    private func key(_ number: UInt8) -> DecodedMemo.Key {
        DecodedMemo.Key(identity: [number], encoding: .coded([.gzip]), type: nil, isComplete: true)
    }

    @Test func theLastBodiesAreKept() {
        var memo = DecodedMemo()
        for number in 0..<UInt8(20) { memo.remember(Body(size: Int(number), content: .text([number])), for: self.key(number)) }
        #expect(memo[self.key(3)] == nil)
        for number in 4..<UInt8(20) { #expect(memo[self.key(number)]?.size == Int(number)) }
    }

    @Test func theSameBytesUnderAnotherClaimAreAnotherBody() {
        var memo = DecodedMemo()
        memo.remember(Body(size: 1, content: .text([1])), for: self.key(1))
        #expect(memo[DecodedMemo.Key(identity: [1], encoding: .coded([.deflate]), type: nil, isComplete: true)] == nil)
        #expect(memo[DecodedMemo.Key(identity: [1], encoding: .coded([.gzip]), type: nil, isComplete: false)] == nil)
    }

    @Test func bodiesWithSidecarsPassTheSinkEachTime() {
        var memo = DecodedMemo()
        let sidecar = Sidecar(path: "a", size: 1, sha256: "b")
        memo.remember(Body(size: 1, content: .file(sidecar)), for: self.key(1))
        memo.remember(Body(size: 1, content: .text([1]), original: sidecar), for: self.key(2))
        #expect(memo[self.key(1)] == nil)
        #expect(memo[self.key(2)] == nil)
    }
}

@Suite struct WireContentDecoderTests {
    private func content(_ bytes: ByteSource, _ type: String) throws -> (content: BodyContent, note: String?) {
        var sink = MemorySink()
        return try WireContentDecoder(headers: HeaderFields(["Content-Type: \(type)"]), isComplete: true).content(bytes, &sink)
    }

    @Test func partsAreLookedForWhereTheTypeSaysSo() throws {
        let bytes = ByteSource(Array("--X\r\n\r\na\r\n--X--\r\n".utf8))
        guard case .multipart = try self.content(bytes, "multipart/mixed; boundary=X").content else {
            return #expect(Bool(false))
        }
        guard case .text = try self.content(bytes, "text/plain").content else { return #expect(Bool(false)) }
        let wrong = try self.content(bytes, "multipart/mixed; boundary=Y")
        #expect(wrong.content == .text(try bytes.load()))
        #expect(wrong.note?.contains("offset 0") == true && wrong.note?.contains("\"X\"") == true)
    }

    @Test func longContentsAreNeverLoaded() throws {
        var largest = 0
        let source = ByteSource(size: 3 << 20) { _, buffer in
            largest = max(largest, buffer.count)
            for index in 0..<buffer.count { buffer[index] = 65 }
            return buffer.count
        }
        guard case .file(let sidecar) = try self.content(source, "text/plain").content else { return #expect(Bool(false)) }
        #expect(sidecar.size == 3 << 20 && sidecar.path.hasSuffix(".txt") && largest <= ByteSource.pieceSize)
    }
}
