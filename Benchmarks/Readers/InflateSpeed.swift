internal import CZlib
internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// JSON of 16 MiB, gzip-coded, inflated in pieces of 64 KiB, beside zlib alone with the same pieces.
enum InflateSpeed {
    private static let pieceSize = 64 << 10
    private static let size = 16 << 20

    static func marks(rounds: Int) -> [Mark] {
        let coded = self.coded()
        var ratios: [Double] = []
        var rates: [Double] = []
        var whole: [Double] = []
        coded.withUnsafeBytes { bytes in
            for _ in 0..<rounds {
                let theirs = Stopwatch.seconds { self.zlib(bytes) }
                let ours = Stopwatch.seconds { self.ours(bytes) }
                ratios.append(theirs / ours)
                rates.append(Double(self.size) / ours / 1e6)
                whole.append(self.wholeRatio())
            }
        }
        return [
            Mark(name: "inflating, MB/s", figure: Stopwatch.median(rates), wanted: .atLeast(0)),
            Mark(name: "the same, times zlib's own speed", figure: Stopwatch.median(ratios), wanted: .atLeast(0.9)),
            Mark(name: "inflating 64 KiB at once, times an inflater's speed", figure: Stopwatch.median(whole), wanted: .atLeast(1.4)),
        ]
    }

    /// Bodies of 64 KiB one after another, each with a new inflater, as they come.
    private static func wholeRatio() -> Double {
        let body = self.coded(64 << 10)
        let count = 200
        let pieces = Stopwatch.seconds {
            for _ in 0..<count {
                var content: [UInt8] = []
                var inflater = Inflater(format: .gzip)
                body.withUnsafeBytes { _ = inflater.push($0) { content.append(contentsOf: $0) } }
                guard inflater.finish() == .ended else { fatalError("the body is not whole") }
            }
        }
        let whole = Stopwatch.seconds {
            for _ in 0..<count {
                guard WholeStream(body, [.gzip], limits: InflateLimits()) != nil else { fatalError("the body is not taken") }
            }
        }
        return pieces / whole
    }

    private static func coded(_ size: Int = Self.size) -> [UInt8] {
        var noise = Noise(seed: 2)
        var text: [UInt8] = []
        while text.count < size {
            text += "{\"id\":\(text.count),\"name\":\"item \(noise.next() % 1000)\",\"value\":\"\(String(noise.next(), radix: 16))\"},".utf8
        }
        text.removeLast(text.count - size)
        var stream = z_stream()
        wiretape_deflateInit2(&stream, 6, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY)
        defer { deflateEnd(&stream) }
        var coded = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(text.count))))
        text.withUnsafeMutableBufferPointer { input in
            coded.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                _ = deflate(&stream, Z_FINISH)
            }
        }
        coded.removeLast(Int(stream.avail_out))
        return coded
    }

    private static func forEachPiece(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        for start in stride(from: 0, to: bytes.count, by: self.pieceSize) {
            body(UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + self.pieceSize)]))
        }
    }

    private static func ours(_ bytes: UnsafeRawBufferPointer) {
        var inflater = Inflater(format: .gzip)
        var count = 0
        self.forEachPiece(bytes) { piece in inflater.push(piece) { count += $0.count } }
        guard inflater.finish() == .ended, count == self.size else { fatalError("\(count) bytes instead of \(self.size)") }
    }

    /// As zlib does it all: the wrapping and the checksum are its own.
    private static func zlib(_ bytes: UnsafeRawBufferPointer) {
        var stream = z_stream()
        wiretape_inflateInit2(&stream, MAX_WBITS + 16)
        defer { inflateEnd(&stream) }
        let output = UnsafeMutablePointer<UInt8>.allocate(capacity: Inflater.pieceSize)
        defer { output.deallocate() }
        var count = 0
        var code = Z_OK
        self.forEachPiece(bytes) { piece in
            stream.next_in = UnsafeMutablePointer(mutating: piece.bindMemory(to: UInt8.self).baseAddress)
            stream.avail_in = UInt32(piece.count)
            repeat {
                stream.next_out = output
                stream.avail_out = UInt32(Inflater.pieceSize)
                code = inflate(&stream, Z_NO_FLUSH)
                count += Inflater.pieceSize - Int(stream.avail_out)
            } while code == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0)
        }
        guard code == Z_STREAM_END, count == self.size else { fatalError("zlib gave \(count) bytes instead of \(self.size)") }
    }
}
