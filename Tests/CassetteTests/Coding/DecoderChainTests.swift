import Testing

@testable import CassetteFormat
@testable import CassetteModel

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

    @Test func whatTheBuildDoesNotKnowMakesNoChain() {
        for name in ContentEncoding.Name.allCases {
            #expect((DecoderChain([.gzip, name], limits: InflateLimits()) != nil) == name.isSupported)
        }
    }
}
