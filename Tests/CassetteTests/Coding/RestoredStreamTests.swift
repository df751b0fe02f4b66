import Testing

@testable import CassetteFormat
@testable import CassetteModel

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
