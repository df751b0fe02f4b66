@testable import CassetteFormat
@testable import CassetteModel
import Testing

struct DeflaterTests {
    @Test func zlibsOwnProducersAreReproduced() {
        let content = CodingFixtures.content
        content.withUnsafeBytes { content in
            for (level, flags, stream) in [(1, 4, CodingFixtures.gzip1), (6, 0, CodingFixtures.gzip6), (9, 2, CodingFixtures.gzip9)] {
                let header = GzipHeader(bytes: [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, UInt8(flags), 3])
                #expect(Deflater.encode(content, DeflateParameters(level: level), format: .gzip, header: header) == stream)
            }
            #expect(Deflater.encode(content, DeflateParameters(level: 6), format: .zlib) == CodingFixtures.zlib)
        }
    }

    @Test(arguments: DeflateFormat.allCases) func piecesOfContentDoNotChangeTheStream(_ format: DeflateFormat) {
        var generator = CodingFixtures.Generator(seed: 2)
        let content = generator.text(200_000)
        for level in [1, 4, 6, 9] {
            let parameters = DeflateParameters(level: level, memoryLevel: Int.random(in: 1...9, using: &generator))
            guard var deflater = Deflater(parameters, format: format) else { return #expect(Bool(false)) }
            var coded: [UInt8] = []
            var position = 0
            while position < content.count {
                let end = min(content.count, position + Int.random(in: 0...40_000, using: &generator))
                content[position..<end].withUnsafeBytes {
                    _ = deflater.push($0, isLast: false) {
                        coded += $0; return true
                    }
                }
                position = end
            }
            deflater.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) {
                coded += $0; return true
            }
            #expect(coded == CodingFixtures.deflated(content, parameters, format))
        }
    }

    @Test func parametersOutOfRangeGiveNothing() {
        for parameters in [
            DeflateParameters(level: 10), DeflateParameters(level: -2), DeflateParameters(level: 6, memoryLevel: 0),
            DeflateParameters(level: 6, memoryLevel: 10), DeflateParameters(level: 6, windowBits: 8),
            DeflateParameters(level: 6, windowBits: 16), DeflateParameters(level: 6, strategy: 5),
            DeflateParameters(level: .max, memoryLevel: .min, windowBits: .max, strategy: .min),
        ] {
            #expect(Deflater.encode(UnsafeRawBufferPointer(start: nil, count: 0), parameters, format: .gzip) == nil)
        }
    }

    @Test(arguments: [1, 7, 200, 713]) func flushesAreThoseOfZlibHoweverTheContentComes(_ step: Int) throws {
        guard var deflater = Deflater(DeflateParameters(level: 6, flushes: [200, 200, 200, 113]), format: .gzip) else {
            return #expect(Bool(false))
        }
        let content = CodingFixtures.content
        for isLastEmpty in [false, true] {
            var coded: [UInt8] = []
            for start in stride(from: 0, to: content.count, by: step) {
                let end = min(start + step, content.count)
                content[start..<end].withUnsafeBytes {
                    _ = deflater.push($0, isLast: !isLastEmpty && end == content.count) {
                        coded += $0; return true
                    }
                }
            }
            if isLastEmpty {
                deflater.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) {
                    coded += $0; return true
                }
            }
            #expect(coded == CodingFixtures.gzipFlushed)
            deflater.restart(flushes: [200, 200, 200, 113])
        }
    }

    @Test func aRestartForgetsTheFlushes() {
        guard var deflater = Deflater(DeflateParameters(level: 6, flushes: [5]), format: .gzip) else { return #expect(Bool(false)) }
        deflater.restart()
        var coded: [UInt8] = []
        CodingFixtures.content.withUnsafeBytes {
            _ = deflater.push($0, isLast: true) {
                coded += $0; return true
            }
        }
        #expect(coded == CodingFixtures.gzip6)
    }

    /// Edited content may be shorter than the offsets of the flushes.
    @Test func flushesAfterTheEndAreLeftOut() {
        let short = Array("short".utf8)
        #expect(
            CodingFixtures.deflated(short, DeflateParameters(level: 6, flushes: [2, 100, 0]), .zlib)
                == CodingFixtures.deflated(short, DeflateParameters(level: 6, flushes: [2]), .zlib))
        #expect(
            CodingFixtures.deflated(short, DeflateParameters(level: 6, flushes: [5, 0]), .zlib)
                == CodingFixtures.deflated(short, DeflateParameters(level: 6, flushes: [5]), .zlib))
        #expect(!Deflater.accepts(DeflateParameters(level: 6, flushes: [-1])))
    }

    @Test func aRefusedPieceEndsThePush() {
        guard var deflater = Deflater(DeflateParameters(level: 6), format: .gzip) else { return #expect(Bool(false)) }
        var calls = 0
        let wentOn = CodingFixtures.content.withUnsafeBytes {
            deflater.push($0, isLast: true) { _ in
                calls += 1; return false
            }
        }
        #expect(!wentOn)
        #expect(calls == 1)
    }

    @Test func aRestartedDeflaterGivesTheSameStream() {
        guard var deflater = Deflater(DeflateParameters(level: 6), format: .gzip) else { return #expect(Bool(false)) }
        for _ in 0..<3 {
            var coded: [UInt8] = []
            CodingFixtures.content.withUnsafeBytes {
                _ = deflater.push($0, isLast: true) {
                    coded += $0; return true
                }
            }
            #expect(coded == CodingFixtures.gzip6)
            deflater.restart()
        }
    }

    @Test func emptyContentIsAWholeStream() {
        for format in DeflateFormat.allCases {
            let coded = CodingFixtures.deflated([], DeflateParameters(level: 6), format)
            var inflater = Inflater(format: format)
            _ = coded.withUnsafeBytes { inflater.push($0) { _ in } }
            #expect(inflater.status == .ended)
        }
    }
}

@Suite struct MembersDeflaterTests {
    private static let named = GzipHeader(bytes: [0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3, 65, 0])

    private func members(_ sizes: [Int?]) -> [GzipMember] {
        sizes.enumerated().map {
            GzipMember(header: $0 == 1 ? Self.named : .plain, parameters: DeflateParameters(level: $0 + 1), size: $1)
        }
    }

    /// Nil if a push returned false.
    private func encode(_ content: [UInt8], _ members: [GzipMember], by step: Int) throws -> [UInt8]? {
        guard var deflater = MembersDeflater(members) else { return nil }
        var wire: [UInt8] = []
        for start in stride(from: 0, to: content.count, by: step) {
            let piece = content[start..<min(start + step, content.count)]
            let wentOn = piece.withUnsafeBytes { deflater.push($0, isLast: false) { wire += $0 } }
            guard wentOn else { return nil }
        }
        return deflater.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, deliver: { wire += $0 }) ? wire : nil
    }

    private func expected(_ content: [UInt8], _ cuts: [Int]) -> [UInt8] {
        let edges = [0] + cuts + [content.count]
        return zip(zip(edges, edges.dropFirst()), self.members(Array(repeating: nil, count: cuts.count + 1))).flatMap { range, member in
            Array(content[range.0..<range.1]).withUnsafeBytes {
                Deflater.encode($0, member.parameters, format: .gzip, header: member.header) ?? []
            }
        }
    }

    @Test(arguments: [1, 7, 100, 713]) func eachMemberTakesItsPartHoweverTheContentComes(_ step: Int) throws {
        let content = CodingFixtures.content
        #expect(try self.encode(content, self.members([100, 300, nil]), by: step) == self.expected(content, [100, 400]))
        #expect(try self.encode(content, self.members([0, 713, nil]), by: step) == self.expected(content, [0, 713]))
        #expect(try self.encode(content, self.members([nil]), by: step) == self.expected(content, []))
    }

    @Test func shorterContentLeavesTheLastMembersEmpty() throws {
        let content = Array("short".utf8)
        #expect(try self.encode(content, self.members([3, 100, nil]), by: 2) == self.expected(content, [3, 5]))
        #expect(try self.encode([], self.members([3, 100, nil]), by: 2) == self.expected([], [0, 0]))
    }

    @Test func invalidMembersAreRefused() {
        var wrong = self.members([1, nil])
        wrong[1].parameters.level = 10
        for members in [wrong, self.members([-1, nil]), []] {
            let isTaken = if MembersDeflater(members) != nil { true } else { false }
            #expect(!isTaken)
        }
    }
}
