internal import CassetteFormat
internal import CassetteModel
internal import CassetteTools

/// The pixels of a PNG, for terminals that take raw pixels.
///
/// Does not verify checksums, and does not decode interlaced images, which are rare.
struct PNGPixels {
    struct Pixel: Equatable {
        var red: UInt8
        var green: UInt8
        var blue: UInt8
        var alpha: UInt8
    }

    /// Pixels per side: 16 million pixels are more than a screen shows.
    private static let longestSide = 4096

    let width: Int
    let height: Int
    private(set) var pixels: [Pixel] = []

    init?(_ bytes: [UInt8]) {
        guard let size = ImageInfo(bytes)?.size, bytes.count > 29 else { return nil }
        let (depth, color, isInterlaced) = (Int(bytes[24]), bytes[25], bytes[28] != 0)
        guard !isInterlaced, (1...Self.longestSide).contains(size.width), (1...Self.longestSide).contains(size.height) else { return nil }
        guard let layout = Layout(color: color, depth: depth) else { return nil }
        self.width = size.width
        self.height = size.height
        let chunks = Self.chunks(bytes)
        let stride = (size.width * layout.bits + 7) / 8
        guard let filtered = Self.inflate(chunks.data, size: (stride + 1) * size.height) else { return nil }
        guard let rows = Self.unfiltered(filtered, stride: stride, height: size.height, step: max(1, layout.bits / 8)) else { return nil }
        self.pixels.reserveCapacity(size.width * size.height)
        for y in 0..<size.height {
            let row = rows[(y * stride)..<((y + 1) * stride)]
            for x in 0..<size.width { self.pixels.append(layout.pixel(row, x, chunks.palette, chunks.transparency)) }
        }
    }

    // MARK: Chunks

    private static func chunks(_ bytes: [UInt8]) -> (data: [UInt8], palette: [UInt8], transparency: [UInt8]) {
        var (data, palette, transparency): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - offset - 12 else { break }
            let body = bytes[(offset + 8)..<(offset + 8 + length)]
            switch String(decoding: bytes[(offset + 4)..<(offset + 8)], as: UTF8.self) {
            case "IDAT": data += body
            case "PLTE": palette = Array(body)
            case "tRNS": transparency = Array(body)
            default: break
            }
            offset += 12 + length
        }
        return (data, palette, transparency)
    }

    private static func inflate(_ data: [UInt8], size: Int) -> [UInt8]? {
        struct Enough: Error {}
        guard let chain = DecoderChain([.deflate], limits: InflateLimits(output: size, ratio: .max)) else { return nil }
        var bytes: [UInt8] = []
        _ = try? data.withUnsafeBytes { try chain.push($0) { bytes.append(contentsOf: $0) } }
        return bytes.count >= size ? bytes : nil
    }

    /// PNG, 9: each row is relative to the row above and to the pixel on its left.
    private static func unfiltered(_ bytes: [UInt8], stride: Int, height: Int, step: Int) -> [UInt8]? {
        var rows = [UInt8](repeating: 0, count: stride * height)
        for y in 0..<height {
            let filter = bytes[y * (stride + 1)]
            for x in 0..<stride {
                let here = y * stride + x
                let left = x >= step ? Int(rows[here - step]) : 0
                let above = y > 0 ? Int(rows[here - stride]) : 0
                let corner = x >= step && y > 0 ? Int(rows[here - stride - step]) : 0
                let guess: Int
                switch filter {
                case 0: guess = 0
                case 1: guess = left
                case 2: guess = above
                case 3: guess = (left + above) / 2
                case 4:
                    let sum = left + above - corner
                    let (a, b, c) = (abs(sum - left), abs(sum - above), abs(sum - corner))
                    guess = a <= b && a <= c ? left : b <= c ? above : corner
                default: return nil
                }
                rows[here] = bytes[y * (stride + 1) + 1 + x] &+ UInt8(truncatingIfNeeded: guess)
            }
        }
        return rows
    }

    // MARK: Layout

    /// The layout of a pixel's samples in a row (PNG, 11.2.2).
    private struct Layout {
        enum Kind { case gray, color, palette, grayAlpha, colorAlpha }

        var kind: Kind
        var depth: Int
        var bits: Int

        init?(color: UInt8, depth: Int) {
            let samples: Int
            switch color {
            case 0: (self.kind, samples) = (.gray, 1)
            case 2: (self.kind, samples) = (.color, 3)
            case 3: (self.kind, samples) = (.palette, 1)
            case 4: (self.kind, samples) = (.grayAlpha, 2)
            case 6: (self.kind, samples) = (.colorAlpha, 4)
            default: return nil
            }
            guard depth == 8 || depth == 16 && color != 3 || [1, 2, 4].contains(depth) && samples == 1 else { return nil }
            self.depth = depth
            self.bits = samples * depth
        }

        func pixel(_ row: ArraySlice<UInt8>, _ x: Int, _ palette: [UInt8], _ transparency: [UInt8]) -> Pixel {
            // The high byte of 16 bits is enough for a terminal.
            func sample(_ index: Int) -> UInt8 { row[row.startIndex + (x * self.bits + index * self.depth) / 8] }
            func gray(_ value: UInt8, _ alpha: UInt8) -> Pixel { Pixel(red: value, green: value, blue: value, alpha: alpha) }
            switch self.kind {
            case .gray: return gray(self.depth < 8 ? self.small(row, x) &* (255 / (1 << self.depth - 1)) : sample(0), 255)
            case .grayAlpha: return gray(sample(0), sample(1))
            case .color: return Pixel(red: sample(0), green: sample(1), blue: sample(2), alpha: 255)
            case .colorAlpha: return Pixel(red: sample(0), green: sample(1), blue: sample(2), alpha: sample(3))
            case .palette:
                let index = Int(self.depth < 8 ? self.small(row, x) : sample(0))
                guard index * 3 + 2 < palette.count else { return gray(0, 255) }
                return Pixel(
                    red: palette[index * 3], green: palette[index * 3 + 1], blue: palette[index * 3 + 2],
                    alpha: index < transparency.count ? transparency[index] : 255)
            }
        }

        /// A sample of fewer than eight bits; the first is in the high bits.
        private func small(_ row: ArraySlice<UInt8>, _ x: Int) -> UInt8 {
            let bit = x * self.depth
            return row[row.startIndex + bit / 8] >> UInt8(8 - self.depth - bit % 8) & UInt8(1 << self.depth - 1)
        }
    }
}
