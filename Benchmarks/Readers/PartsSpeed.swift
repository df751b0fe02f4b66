internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// A body of 100,000 small parts, read into a value, beside one of 10,000: the time per part must not grow.
enum PartsSpeed {
    static func marks(rounds: Int) -> [Mark] {
        guard let boundary = MultipartBoundary("b0undary") else { return [] }
        let (few, many) = (self.body(10_000), self.body(100_000))
        var ratios: [Double] = []
        var times: [Double] = []
        for _ in 0..<rounds {
            let short = Stopwatch.seconds { self.read(few, boundary, 10_000) }
            let long = Stopwatch.seconds { self.read(many, boundary, 100_000) }
            times.append(long * 1e9 / 100_000)
            ratios.append(long / short / 10)
        }
        return [
            Mark(name: "100,000 parts, ns each", figure: Stopwatch.median(times), wanted: .atMost(5000)),
            Mark(name: "the same, times what each of 10,000 costs", figure: Stopwatch.median(ratios), wanted: .atMost(2)),
        ]
    }

    private static func body(_ parts: Int) -> [UInt8] {
        var body: [UInt8] = []
        for index in 0..<parts {
            body += "--b0undary\r\nContent-Disposition: form-data; name=\"field\(index)\"\r\n\r\nvalue \(index)\r\n".utf8
        }
        return body + Array("--b0undary--\r\n".utf8)
    }

    private static func read(_ body: [UInt8], _ boundary: MultipartBoundary, _ parts: Int) {
        let parsed = body.withUnsafeBytes { MultipartBody.parse($0, boundary: boundary) }
        guard parsed?.parts.count == parts else { fatalError("the body has \(parsed?.parts.count ?? 0) parts instead of \(parts)") }
    }
}
