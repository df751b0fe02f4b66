import Testing

@testable import CassetteFormat
@testable import CassetteModel

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

    @Test func whatIsBeforeTheBreakCanBeRead() throws {
        // A block of a kind that does not exist (RFC 1951, 3.2.3), after blocks that are whole.
        let wire = CodingFixtures.mebibyteOfZeros + [0x07, 0, 0]
        let read = try self.read(wire, .coded([.deflate]), limit: 2 << 20)
        #expect(!read.isWhole && read.name == .deflate && read.problem?.kind == .corrupt)
        #expect(read.bytes == [UInt8](repeating: 0, count: 1 << 20))
        #expect(read.problem?.offset == CodingFixtures.mebibyteOfZeros.count + 1)
    }

    @Test func aStreamThatWasCutGivesWhatCame() throws {
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
