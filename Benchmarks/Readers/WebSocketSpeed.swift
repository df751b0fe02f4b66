internal import CassetteModel
internal import TapeBytes
internal import TapeExchange

/// What watching a WebSocket costs: frames found, and messages put together, in pieces of 64 KiB.
///
/// Frames of 1 MiB for the bytes, and of 100 for the number. A client's are masked, and are unmasked for the watcher alone.
enum WebSocketSpeed {
    private static let pieceSize = 64 << 10
    private static let size = 64 << 20

    static func marks(rounds: Int) -> [Mark] {
        let (large, small) = (self.frames(of: 1 << 20, mask: nil), self.frames(of: 100, mask: nil))
        let (maskedLarge, maskedSmall) = (self.frames(of: 1 << 20, mask: 0x1234_5678), self.frames(of: 100, mask: 0x1234_5678))
        let count = self.size / 100
        return [
            self.mark("frames of 1 MiB found, MB/s", large, Double(self.size) / 1e6, .atLeast(1000), rounds, self.find),
            self.mark("frames of 100 bytes found, million/s", small, Double(count) / 1e6, .atLeast(0), rounds, self.find),
            self.mark("messages of 1 MiB, MB/s", large, Double(self.size) / 1e6, .atLeast(1000), rounds, self.read),
            self.mark("the same, masked, MB/s", maskedLarge, Double(self.size) / 1e6, .atLeast(1000), rounds, self.read),
            self.mark("messages of 100 bytes, million/s", small, Double(count) / 1e6, .atLeast(0), rounds, self.read),
            self.mark("the same, masked, million/s", maskedSmall, Double(count) / 1e6, .atLeast(0), rounds, self.read),
            self.inflating(rounds: rounds),
        ]
    }

    private static func mark(
        _ name: String, _ wire: [UInt8], _ amount: Double, _ wanted: Mark.Wanted, _ rounds: Int, _ work: (UnsafeRawBufferPointer) -> Int
    ) -> Mark {
        var rates: [Double] = []
        wire.withUnsafeBytes { bytes in
            for _ in 0..<rounds {
                var found = 0
                rates.append(amount / Stopwatch.seconds { found = work(bytes) })
                guard found == self.size / 100 * 100 || found == self.size else { fatalError("\(found) bytes of payload were found") }
            }
        }
        return Mark(name: name, figure: Stopwatch.median(rates), wanted: wanted)
    }

    /// JSON that looks back into earlier messages, as a ticker sends it.
    private static func inflating(rounds: Int) -> Mark {
        let agreement = WebSocketAgreement(deflate: PerMessageDeflate())
        var noise = Noise(seed: 5)
        var writer = WebSocketWriter(.server, agreement: agreement)
        var wire: [UInt8] = []
        let count = 100_000
        for index in 0..<count {
            let text =
                "{\"type\":\"ticker\",\"sequence\":\(index),\"price\":\"\(noise.next() % 100_000)\",\"side\":\"buy\",\"product\":\"A-B\"}"
            Array(text.utf8).withUnsafeBytes { writer.message(true, $0, isDeflated: true, to: &wire) }
        }
        var rates: [Double] = []
        wire.withUnsafeBytes { bytes in
            for _ in 0..<rounds {
                var found = 0
                let seconds = Stopwatch.seconds {
                    var reader = WebSocketReader(.server, stand: .watcher, agreement: agreement)
                    self.forEachPiece(bytes) { reader.read($0) { if case .message = $0 { found += 1 } } }
                }
                guard found == count else { fatalError("\(found) messages instead of \(count)") }
                rates.append(Double(count) / seconds / 1e6)
            }
        }
        return Mark(name: "messages inflated, million/s", figure: Stopwatch.median(rates), wanted: .atLeast(0))
    }

    private static func frames(of length: Int, mask: UInt32?) -> [UInt8] {
        var noise = Noise(seed: 4)
        let payload = noise.bytes(length)
        var writer = WebSocketWriter(mask == nil ? .server : .client, generator: OneKey(key: mask ?? 0))
        var wire: [UInt8] = []
        for _ in 0..<self.size / length { payload.withUnsafeBytes { writer.message(false, $0, to: &wire) } }
        return wire
    }

    private struct OneKey: RandomNumberGenerator {
        var key: UInt32
        func next() -> UInt64 { UInt64(self.key) }
    }

    private static func forEachPiece(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        for start in stride(from: 0, to: bytes.count, by: self.pieceSize) {
            body(UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + self.pieceSize)]))
        }
    }

    private static func find(_ bytes: UnsafeRawBufferPointer) -> Int {
        var parser = WebSocketFrameParser(.watcher)
        var count = 0
        self.forEachPiece(bytes) { piece in
            do {
                try parser.consume(piece) { if case .payload(let range, _) = $0 { count += range.count } }
            } catch {
                fatalError("\(error)")
            }
        }
        return count
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) -> Int {
        var reader = WebSocketReader(.client, stand: .watcher)
        var count = 0
        self.forEachPiece(bytes) { piece in reader.read(piece) { if case .message(let message) = $0 { count += message.size } } }
        return count
    }
}
