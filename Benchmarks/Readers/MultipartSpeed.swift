internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import Platform
internal import TapeBytes

/// A file of 100 MB of random bytes in one part, taken apart in pieces of 64 KiB as they come off the wire, beside memchr over the same.
enum MultipartSpeed {
    private static let size = 100_000_000
    private static let pieceSize = 64 << 10

    static func marks(rounds: Int) -> [Mark] {
        var noise = Noise(seed: 1)
        // As Chromium makes them.
        guard let boundary = MultipartBoundary("----WebKitFormBoundaryAbCdEfGh12345678") else { return [] }
        let head = "------WebKitFormBoundaryAbCdEfGh12345678\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n"
        let body =
            Array(head.utf8) + noise.bytes(Self.size) + Array("\r\n--\(String(decoding: boundary.bytes, as: UTF8.self))--\r\n".utf8)
        var rates: [Double] = []
        var ratios: [Double] = []
        body.withUnsafeBytes { bytes in
            for _ in 0..<rounds {
                let scan = Stopwatch.seconds { self.scan(bytes, for: UInt8(ascii: "W")) }
                let parse = Stopwatch.seconds { self.parse(bytes, boundary) }
                rates.append(Double(bytes.count) / parse / 1e9)
                ratios.append(parse / scan)
            }
        }
        return [
            Mark(name: "multipart, one part of 100 MB, GB/s", figure: Stopwatch.median(rates), wanted: .atLeast(1)),
            Mark(name: "the same, CPU times a memchr scan", figure: Stopwatch.median(ratios), wanted: .atMost(1.5)),
        ]
    }

    private static func forEachPiece(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        for start in stride(from: 0, to: bytes.count, by: self.pieceSize) {
            body(UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + self.pieceSize)]))
        }
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer, _ boundary: MultipartBoundary) {
        var parser = MultipartParser(boundary: boundary)
        var data = 0
        func count(_ event: MultipartEvent) {
            if case .data = event.kind { data += event.bytes.count }
        }
        self.forEachPiece(bytes) { parser.push($0, deliver: count) }
        parser.finish(deliver: count)
        guard data == self.size else { fatalError("the part has \(data) bytes instead of \(self.size)") }
    }

    /// All places of one byte: random data has it every 256 bytes, and so does the parser's search stop there.
    private static func scan(_ bytes: UnsafeRawBufferPointer, for byte: UInt8) {
        var hits = 0
        self.forEachPiece(bytes) { piece in
            var rest = piece
            while let base = rest.baseAddress, let hit = memchr(base, Int32(byte), rest.count) {
                hits += 1
                rest = UnsafeRawBufferPointer(rebasing: rest[(UnsafeRawPointer(hit) - base + 1)...])
            }
        }
        guard hits > 0 else { fatalError("no such byte in random data") }
    }
}
