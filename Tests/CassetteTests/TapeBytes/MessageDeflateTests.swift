internal import TapeBytes
import TapeTestSupport
internal import Testing

@Suite struct MessageDeflateTests {
    private static let fox = Array("The quick brown fox jumps over the lazy dog. ".utf8)

    /// `#require` does not support noncopyable values.
    private func deflater(windowBits: Int, keepsWindow: Bool) throws -> MessageDeflater {
        guard let deflater = MessageDeflater(windowBits: windowBits, keepsWindow: keepsWindow) else { throw TestProblem("no deflater") }
        return deflater
    }

    private func deflate(_ message: [UInt8], _ deflater: inout MessageDeflater, pieces: Int = .max) -> [UInt8] {
        var coded: [UInt8] = []
        var start = 0
        repeat {
            let end = start + min(pieces, message.count - start)
            let isWritten = message[start..<end].withUnsafeBytes { piece in
                deflater.push(piece, isLast: end == message.count) { coded.append(contentsOf: $0) }
            }
            #expect(isWritten)
            start = end
        } while start < message.count
        return coded
    }

    private func inflate(_ coded: [UInt8], _ inflater: inout MessageInflater, pieces: Int = .max) -> [UInt8] {
        var message: [UInt8] = []
        var start = 0
        while start < coded.count {
            let end = start + min(pieces, coded.count - start)
            coded[start..<end].withUnsafeBytes { piece in
                inflater.push(piece) {
                    message.append(contentsOf: $0)
                    return true
                }
            }
            start = end
        }
        inflater.messageEnded {
            message.append(contentsOf: $0)
            return true
        }
        return message
    }

    /// RFC 7692, 7.2.3: one block, a shared window, no compression, two blocks, and a block that ends its stream.
    @Test func examplesOfTheStandardAreHello() {
        for coded: [[UInt8]] in [
            [[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00], [0xf2, 0x00, 0x11, 0x00, 0x00]],
            [[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00]],
            [[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00], [0xf2, 0x00, 0x11, 0x00, 0x00]],
            [[0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00]],
        ] {
            for pieces in [1, 3, .max] {
                var inflater = MessageInflater(windowBits: 15, keepsWindow: true)
                for message in coded { #expect(self.inflate(message, &inflater, pieces: pieces) == Array("Hello".utf8)) }
                #expect(inflater.failure == nil)
            }
        }
    }

    @Test func streamThatEndsWithoutAnotherBeginningIsWholeToo() {
        var inflater = MessageInflater(windowBits: 15, keepsWindow: true)
        for _ in 0..<3 { #expect(self.inflate([0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00], &inflater) == Array("Hello".utf8)) }
    }

    @Test func emptyMessageIsOneZero() throws {
        var deflater = try self.deflater(windowBits: 15, keepsWindow: true)
        var inflater = MessageInflater(windowBits: 15, keepsWindow: true)
        for message in [[], Self.fox, [], [], Self.fox] {
            let coded = self.deflate(message, &deflater)
            #expect(message.isEmpty == (coded == [0]))
            #expect(self.inflate(coded, &inflater) == message)
        }
    }

    @Test func windowIsSharedOnlyIfItIsKept() throws {
        var keeping = try self.deflater(windowBits: 15, keepsWindow: true)
        var forgetting = try self.deflater(windowBits: 15, keepsWindow: false)
        let first = self.deflate(Self.fox, &keeping)
        #expect(self.deflate(Self.fox, &keeping).count < first.count / 3)
        #expect(self.deflate(Self.fox, &forgetting) == first)
        #expect(self.deflate(Self.fox, &forgetting) == first)
    }

    @Test func windowOf8BitsCannotBeWritten() {
        #expect(throws: TestProblem.self) { _ = try self.deflater(windowBits: 8, keepsWindow: true) }
    }

    @Test func corruptMessageLosesTheWindowAndNoMoreWithoutOne() {
        for keepsWindow in [false, true] {
            var inflater = MessageInflater(windowBits: 15, keepsWindow: keepsWindow)
            _ = self.inflate([0xff, 0xff, 0xff], &inflater)
            #expect(inflater.failure != nil)
            inflater.forget()
            let next = self.inflate([0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00], &inflater)
            #expect(next == (keepsWindow ? [] : Array("Hello".utf8)))
        }
    }

    @Test func messageThatEndsWithinABlockIsCorrupt() {
        var inflater = MessageInflater(windowBits: 15, keepsWindow: true)
        _ = self.inflate([0xf2, 0x48, 0xcd], &inflater)
        #expect(inflater.failure == .corrupt("message ends within a block"))
    }

    @Test func inflatingStopsWhereItIsTold() throws {
        var deflater = try self.deflater(windowBits: 15, keepsWindow: true)
        let bomb = self.deflate([UInt8](repeating: 0, count: 1 << 22), &deflater)
        var inflater = MessageInflater(windowBits: 15, keepsWindow: true)
        var count = 0
        bomb.withUnsafeBytes {
            inflater.push($0) { piece in
                count += piece.count
                return count < 100_000
            }
        }
        #expect(inflater.failure == .stopped)
        #expect(count <= 100_000 + MessageInflater.pieceSize)
    }

    @Test(arguments: 0..<8) func randomMessagesComeBack(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<rounds(20) {
            let windowBits = Int.random(in: 9...15, using: &generator)
            let keeps = Bool.random(using: &generator)
            var deflater = try self.deflater(windowBits: windowBits, keepsWindow: keeps)
            var inflater = MessageInflater(windowBits: windowBits, keepsWindow: keeps)
            for _ in 0..<8 {
                let size = [0, 1, 5, 200, 5_000, 70_000].randomElement(using: &generator) ?? 0
                // Fewer set bits deflate better.
                let bits = generator.next() | generator.next()
                var message: [UInt8] = []
                while message.count < size {
                    withUnsafeBytes(of: generator.next() & bits) { message.append(contentsOf: $0.prefix(size - message.count)) }
                }
                let coded = self.deflate(message, &deflater, pieces: Int.random(in: 1...100_000, using: &generator))
                #expect(self.inflate(coded, &inflater, pieces: Int.random(in: 1...100_000, using: &generator)) == message)
                if Bool.random(using: &generator) { inflater.pack() }
            }
            #expect(inflater.failure == nil)
        }
    }
}
