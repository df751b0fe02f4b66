@testable import CassetteFormat
@testable import CassetteModel
import Testing

struct DecoderChainTests {
    private static let inner = CodingFixtures.deflated(CodingFixtures.content, DeflateParameters(level: 6), .zlib)
    private static let wire = CodingFixtures.deflated(inner, DeflateParameters(level: 6), .gzip)

    private func chain(_ names: [ContentEncoding.Name], _ limits: InflateLimits = InflateLimits()) throws -> DecoderChain {
        try #require(DecoderChain(names, limits: limits))
    }

    @Test func codingsAreDecodedFromTheLastToTheFirst() throws {
        for cut in 0...Self.wire.count {
            let chain = try self.chain([.deflate, .gzip])
            var content: [UInt8] = []
            for piece in [Self.wire[..<cut], Self.wire[cut...]] {
                let takesMore = try piece.withUnsafeBytes { try chain.push($0) { content += $0 } }
                #expect(takesMore)
            }
            #expect(chain.finish() && content == CodingFixtures.content && chain.produced == content.count)
            #expect(chain.found.map(\.format) == [.gzip, .zlib])
            #expect(!chain.found.contains { !$0.mayBeRestored })
        }
    }

    @Test func theCodingWithTheProblemIsNamed() throws {
        var broken = Self.inner
        broken[broken.count - 1] ^= 1
        let cases: [([UInt8], ContentEncoding.Name, InflateProblem.Kind)] = [
            (Self.wire.dropLast(20), .gzip, .truncated),
            (CodingFixtures.deflated(broken, DeflateParameters(level: 6), .gzip), .deflate, .corrupt),
            (CodingFixtures.deflated(Array(Self.inner.dropLast(9)), DeflateParameters(level: 6), .gzip), .deflate, .truncated),
        ]
        for (wire, name, kind) in cases {
            let chain = try self.chain([.deflate, .gzip])
            _ = try wire.withUnsafeBytes { try chain.push($0) { _ in } }
            #expect(!chain.finish())
            #expect(chain.problem?.name == name && chain.problem?.problem.kind == kind)
        }
    }

    @Test func everyCodingIsHeldToTheLimits() throws {
        let chain = try self.chain([.deflate, .gzip], InflateLimits(output: 150))
        let takesMore = try Self.wire.withUnsafeBytes { try chain.push($0) { _ in } }
        #expect(!takesMore)
        #expect(chain.problem?.name == .gzip && chain.problem?.problem.kind == .tooLong)
    }

    @Test func bytesAfterAnInnerStreamAreCounted() throws {
        let chain = try self.chain([.deflate, .gzip])
        let wire = CodingFixtures.deflated(Self.inner + [1, 2, 3], DeflateParameters(level: 6), .gzip)
        _ = try wire.withUnsafeBytes { try chain.push($0) { _ in } }
        #expect(chain.finish() && chain.leftOver == [0, 3])
    }

    @Test func anErrorOfTheReceiverPassesThrough() throws {
        struct Full: Error {}
        let chain = try self.chain([.deflate, .gzip])
        #expect(throws: Full.self) { try Self.wire.withUnsafeBytes { try chain.push($0) { _ in throw Full() } } }
    }

    @Test func codingThatTheBuildLacksMakesNoChain() {
        for name in ContentEncoding.Name.allCases {
            #expect((DecoderChain([.gzip, name], limits: InflateLimits()) != nil) == name.isSupported)
        }
    }
}

struct DecodedBeginningTests {
    private func read(_ wire: [UInt8], _ encoding: ContentEncoding, limit: Int = 1 << 20) throws -> DecodedBeginning {
        try DecodedBeginning.read(ByteSource(wire), encoding, limit: limit)
    }

    @Test func aWholeBodyIsAllThere() throws {
        let whole = DecodedBeginning(bytes: CodingFixtures.content, isWhole: true)
        #expect(try self.read(CodingFixtures.gzip6, .coded([.gzip])) == whole)
        #expect(try self.read(CodingFixtures.content, .none) == whole)
        #expect(try self.read(CodingFixtures.content, .other("compress")) == whole)
        #expect(try self.read(CodingFixtures.gzip6, .coded([.gzip]), limit: CodingFixtures.content.count) == whole)
    }

    @Test func theLimitEndsItWithoutAProblem() throws {
        let beginning = DecodedBeginning(bytes: Array(CodingFixtures.content.prefix(100)), isWhole: false)
        #expect(try self.read(CodingFixtures.gzip6, .coded([.gzip]), limit: 100) == beginning)
        #expect(try self.read(CodingFixtures.content, .none, limit: 100) == beginning)
    }

    @Test func bytesBeforeACorruptBlockAreRead() throws {
        // A block of a type that does not exist (RFC 1951, 3.2.3), after complete blocks.
        let wire = CodingFixtures.mebibyteOfZeros + [0x07, 0, 0]
        let read = try self.read(wire, .coded([.deflate]), limit: 2 << 20)
        #expect(!read.isWhole && read.name == .deflate && read.problem?.kind == .corrupt)
        #expect(read.bytes == [UInt8](repeating: 0, count: 1 << 20))
        #expect(read.problem?.offset == CodingFixtures.mebibyteOfZeros.count + 1)
    }

    @Test func aTruncatedStreamGivesItsBeginning() throws {
        let read = try self.read(Array(CodingFixtures.gzip6.dropLast(30)), .coded([.gzip]))
        #expect(read.problem == InflateProblem(.truncated, offset: 172, reason: "gzip stream cut short"))
        #expect(read.bytes.count > 300 && CodingFixtures.content.starts(with: read.bytes))
    }

    @Test func bytesAfterTheStreamAreCounted() throws {
        let read = try self.read(CodingFixtures.gzip6 + [1, 2], .coded([.gzip]))
        #expect(read.isWhole && read.leftOver == 2 && read.bytes == CodingFixtures.content)
        let cut = CodingFixtures.deflated(Array(CodingFixtures.gzip6.dropLast(9)), DeflateParameters(level: 6), .zlib)
        let broken = try self.read(cut + [1], .coded([.gzip, .deflate]))
        #expect(!broken.isWhole && broken.name == .gzip && broken.leftOver == 0)
    }
}

struct DecodedLayerTests {
    private func layer(_ name: ContentEncoding.Name, _ format: DeflateFormat, _ wire: [UInt8]) -> DecodedLayer {
        let decoder = InflatingDecoder(format: format)
        wire.withUnsafeBytes { _ = decoder.push($0) { _ in } }
        decoder.finish()
        return DecodedLayer(name, decoder, leftOver: wire.count - decoder.consumed)
    }

    @Test func itBecomesTheCodingItIs() {
        let parameters = DeflateParameters(level: 3)
        let gzip = self.layer(.gzip, .gzip, CodingFixtures.gzip6)
        #expect(gzip.coding([parameters]) == .gzip(parameters, header: .plain))
        #expect(gzip.fileExtension == "gz" && gzip.mayBeRestored && gzip.note == nil && gzip.problem == nil)
        #expect(self.layer(.deflate, .zlib, CodingFixtures.zlib).coding(nil) == .deflate(nil))
        #expect(self.layer(.deflate, .raw, CodingFixtures.rawNode).coding(nil) == .rawDeflate(nil))
    }

    @Test func membersAreReportedUpToTheLimit() {
        let two = self.layer(.gzip, .gzip, CodingFixtures.gzip6 + CodingFixtures.gzipNamed)
        #expect(two.mayBeRestored)
        #expect(two.members.map(\.codedSize) == [202, CodingFixtures.gzipNamed.count] && two.members.map(\.size) == [713, 713])
        let parameters = [DeflateParameters(level: 6), DeflateParameters(level: 9)]
        guard case .gzipMembers(let members) = two.coding(parameters), let header = two.members.last?.header else {
            return #expect(Bool(false))
        }
        #expect(members.map(\.parameters) == parameters && members.map(\.size) == [713, nil] && members.map(\.header) == [.plain, header])
        #expect(two.coding(nil) == .gzip(nil, header: .plain))
        let many = self.layer(.gzip, .gzip, Array(repeating: CodingFixtures.gzip6, count: GzipMember.limit + 1).flatMap { $0 })
        #expect(!many.mayBeRestored)
    }

    @Test func bytesAfterAreReportedAndDoubtedWhereNothingProvesTheStream() {
        let gzip = self.layer(.gzip, .gzip, CodingFixtures.gzip6 + [7])
        #expect(gzip.note == "1 byte follows the gzip stream at offset 202")
        #expect(gzip.problem == nil && !gzip.mayBeRestored)
        let raw = self.layer(.deflate, .raw, CodingFixtures.rawNode + [7, 7])
        #expect(raw.problem == InflateProblem(.corrupt, offset: 184, reason: "2 bytes follow the raw stream"))
    }
    #if CODINGS
    @Test func bytesAfterBrotliAreDoubtedToo() {
        let decoder = BrotliDecoder()
        (CodingFixtures.brotli5 + [7]).withUnsafeBytes { _ = decoder.push($0) { _ in } }
        let layer = DecodedLayer(.br, decoder, leftOver: 1)
        let reason = "1 byte follows the br stream"
        #expect(layer.problem == InflateProblem(.corrupt, offset: CodingFixtures.brotli5.count, reason: reason))
    }
    #endif
}
