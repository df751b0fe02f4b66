@testable import CassetteModel
import TapeBytes
import Testing

@Suite struct GRPCFramesTests {
    private func message(_ size: Int) -> [UInt8] {
        [0] + (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) } + [UInt8](repeating: 7, count: size)
    }

    @Test func messagesAreFoundInAnyPieces() {
        var random = SplitMix64(seed: 11)
        for _ in 0..<200 {
            let sizes = (0..<Int.random(in: 0...6, using: &random)).map { _ in [0, 1, 4, 300].randomElement(using: &random) ?? 0 }
            var rest = sizes.flatMap { self.message($0) }[...]
            var (frames, found, size, isWithin) = (GRPCFrames(), [Int](), 0, false)
            while !rest.isEmpty {
                let part = rest.prefix(Int.random(in: 1...7, using: &random))
                rest = rest.dropFirst(part.count)
                part.withUnsafeBytes { bytes in
                    frames.takeAll(bytes) { piece in
                        #expect(piece.isFirst == !isWithin && piece.count > 0)
                        size += piece.count
                        isWithin = !piece.isLast
                        guard piece.isLast else { return }
                        found.append(size - GRPCMessage.prefixSize)
                        size = 0
                    }
                }
            }
            #expect(found == sizes && frames.complete == sizes.count && !frames.isWithin)
        }
    }

    @Test func theLargestLengthIsCountedAndHoldsNothing() {
        var frames = GRPCFrames()
        let bytes: [UInt8] = [1, 0xff, 0xff, 0xff, 0xff, 1, 2, 3]
        #expect(bytes.withUnsafeBytes { frames.take($0) } == GRPCFrames.Piece(count: 8, isFirst: true, isLast: false))
        #expect(frames.isWithin && frames.complete == 0)
    }
}
