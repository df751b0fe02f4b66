@testable import CassetteFormat
import Testing

struct InflatingDecoderTests {
    private struct Outcome: Equatable {
        var status: InflateStatus
        var content: [UInt8]
        var consumed: Int
        var members: Int
    }

    private func decode(
        _ bytes: [UInt8], _ format: DeflateFormat?, cutAt cut: Int? = nil, limits: InflateLimits = InflateLimits()
    ) -> Outcome {
        let decoder = InflatingDecoder(format: format, limits: limits)
        var content: [UInt8] = []
        for piece in cut.map({ [bytes[..<$0], bytes[$0...]] }) ?? [bytes[...]] {
            piece.withUnsafeBytes { _ = decoder.push($0) { content += $0 } }
        }
        let status = decoder.finish()
        #expect(decoder.produced == content.count)
        return Outcome(status: status, content: content, consumed: decoder.consumed, members: decoder.members)
    }

    @Test func membersAreOneContentInAnyPieces() {
        let wire = CodingFixtures.gzip1 + CodingFixtures.gzipNamed + CodingFixtures.gzip6
        let content = CodingFixtures.content + CodingFixtures.content + CodingFixtures.content
        let expected = Outcome(status: .ended, content: content, consumed: wire.count, members: 3)
        for cut in 0...wire.count { #expect(self.decode(wire, .gzip, cutAt: cut) == expected) }
    }

    @Test(arguments: [[0], [0x1f], [0x1f, 0], [0, 0x1f, 0x8b], Array("trailing".utf8)])
    func bytesAfterTheLastMemberAreNotConsumed(rest: [UInt8]) {
        let wire = CodingFixtures.gzip6 + rest
        let expected = Outcome(status: .ended, content: CodingFixtures.content, consumed: CodingFixtures.gzip6.count, members: 1)
        for cut in CodingFixtures.gzip6.count - 1...wire.count { #expect(self.decode(wire, .gzip, cutAt: cut) == expected) }
    }

    @Test func aMemberThatBreaksTellsItsPlaceInTheWhole() {
        let first = CodingFixtures.gzip6.count
        let cut = self.decode(CodingFixtures.gzip6 + CodingFixtures.gzip6.dropLast(3), .gzip)
        #expect(cut.status == .failed(InflateProblem(.truncated, offset: 2 * first - 3, reason: "gzip stream cut short")))
        #expect(cut.content == CodingFixtures.content + CodingFixtures.content)
        var bytes = CodingFixtures.gzip6 + CodingFixtures.gzip6
        bytes[bytes.count - 8] ^= 1
        #expect(
            self.decode(bytes, .gzip).status
                == .failed(InflateProblem(.wrongChecksum, offset: 2 * first - 8, reason: "wrong gzip checksum")))
        bytes = CodingFixtures.gzip6 + [0x1f, 0x8b, 9]
        #expect(
            self.decode(bytes, .gzip).status
                == .failed(InflateProblem(.corrupt, offset: first + 2, reason: "unknown gzip compression method")))
        #expect(
            self.decode(CodingFixtures.gzip6 + [0x1f, 0x8b], .gzip).status
                == .failed(InflateProblem(.truncated, offset: first + 2, reason: "gzip stream cut short")))
    }

    @Test func theLimitIsThatOfAllMembersTogether() {
        let wire = CodingFixtures.gzip6 + CodingFixtures.gzip6
        #expect(self.decode(wire, .gzip, limits: InflateLimits(output: 1426)).status == .ended)
        let tooLong = self.decode(wire, .gzip, limits: InflateLimits(output: 1425)).status
        guard case .failed(let problem) = tooLong else { return #expect(Bool(false)) }
        #expect(problem.kind == .tooLong && problem.reason == "decoded body longer than 1425 bytes")
        #expect(problem.offset > CodingFixtures.gzip6.count)
    }

    @Test func deflateIsKnownByItsFirstTwoBytes() {
        for (wire, format) in [(CodingFixtures.zlib, DeflateFormat.zlib), (CodingFixtures.rawNode, .raw)] {
            let expected = Outcome(status: .ended, content: CodingFixtures.content, consumed: wire.count, members: 1)
            for cut in 0...wire.count { #expect(self.decode(wire, nil, cutAt: cut) == expected) }
            let decoder = InflatingDecoder(format: nil)
            wire.withUnsafeBytes { _ = decoder.push($0) { _ in } }
            #expect(decoder.format == format)
        }
        #expect(self.decode([0x78], nil).status == .failed(InflateProblem(.truncated, offset: 1, reason: "zlib stream cut short")))
        #expect(self.decode(CodingFixtures.zlib + [1], nil).consumed == CodingFixtures.zlib.count)
    }

    @Test func aDecoderCanBeginAgain() {
        let decoder = InflatingDecoder(format: .gzip)
        (CodingFixtures.gzipNamed + [7]).withUnsafeBytes { _ = decoder.push($0) { _ in } }
        #expect(decoder.header != nil && decoder.status == .ended)
        decoder.restart(format: .zlib)
        #expect(decoder.header == nil && decoder.members == 0 && decoder.consumed == 0 && decoder.produced == 0)
        var content: [UInt8] = []
        CodingFixtures.zlib.withUnsafeBytes { _ = decoder.push($0) { content += $0 } }
        #expect(decoder.finish() == .ended && content == CodingFixtures.content)
    }
}
