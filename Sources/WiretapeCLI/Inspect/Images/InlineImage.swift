internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// An image as the escape sequence that shows it among text.
struct InlineImage {
    /// Octets of an image that a terminal is sent: more of it is looked at elsewhere.
    static let limit = 8 << 20
    /// Pixels of a character cell where nobody knows: only large images are held against it.
    private static let cellWidth = 10
    /// Octets of base64 in one sequence of kitty's protocol.
    private static let chunkSize = 4096

    let sequence: String

    /// Nil where the terminal cannot show that format.
    ///
    /// - Parameter columns: room for the image, which is made smaller to fit.
    init?(_ image: ImageInfo, _ octets: [UInt8], columns: Int, _ kind: ImageProtocol) {
        let needed = image.size.map { ($0.width + Self.cellWidth - 1) / Self.cellWidth } ?? 1
        switch kind {
        case .kitty:
            // The protocol takes PNG and bare pixels.
            guard image.format == .png, image.size != nil else { return nil }
            self.sequence = Self.kitty(octets, columns: needed > columns ? columns : nil)
        case .iTerm:
            guard image.size != nil else { return nil }
            let width = needed > columns ? ";width=\(columns)" : ""
            let data = Self.base64(octets)
            self.sequence = "\u{1B}]1337;File=inline=1;size=\(octets.count)\(width);preserveAspectRatio=1:\(data)\u{07}"
        case .sixel:
            guard image.format == .png, let pixels = PNGPixels(octets) else { return nil }
            self.sequence = Sixel.sequence(pixels, widest: columns * Self.cellWidth)
        }
    }

    /// `q=2`: without an answer, which would come as if it were typed.
    private static func kitty(_ octets: [UInt8], columns: Int?) -> String {
        let data = Array(self.base64(octets).utf8)
        var sequence = ""
        var start = 0
        repeat {
            let end = min(data.count, start + self.chunkSize)
            let first = start == 0 ? "a=T,f=100,q=2," + (columns.map { "c=\($0)," } ?? "") : ""
            let more = end < data.count ? 1 : 0
            sequence += "\u{1B}_G\(first)m=\(more);\(String(decoding: data[start..<end], as: UTF8.self))\u{1B}\\"
            start = end
        } while start < data.count
        return sequence
    }

    private static func base64(_ octets: [UInt8]) -> String {
        var writer = JSONWriter()
        octets.withUnsafeBytes { writer.base64($0) }
        return String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self)
    }
}

/// Writes pixels as sixels: bands of six rows, a colour at a time (DEC STD 070, 9).
///
/// With 216 colours, six levels of each, which any such terminal takes.
enum Sixel {
    private static let levels = 6

    /// - Parameter widest: in pixels; a wider image is made smaller, by leaving pixels out.
    static func sequence(_ image: PNGPixels, widest: Int) -> String {
        let step = max(1, (image.width + widest - 1) / max(widest, 1))
        let (width, height) = ((image.width + step - 1) / step, (image.height + step - 1) / step)
        let colors = (0..<height).map { y in (0..<width).map { x in self.color(image.pixels[y * step * image.width + x * step]) } }
        var sequence = "\u{1B}P0;1;0q\"1;1;\(width);\(height)"
        for color in Set(colors.joined().compactMap { $0 }).sorted() {
            let parts = [color / 36, color / 6 % 6, color % 6].map { "\($0 * 100 / (self.levels - 1))" }
            sequence += "#\(color);2;\(parts.joined(separator: ";"))"
        }
        for top in stride(from: 0, to: height, by: 6) {
            let band = colors[top..<min(top + 6, height)]
            let used = Set(band.joined().compactMap { $0 }).sorted()
            sequence += used.map { "#\($0)" + self.row($0, band, width) }.joined(separator: "$") + "-"
        }
        return sequence + "\u{1B}\\"
    }

    /// Nil for a pixel that is rather not there.
    private static func color(_ pixel: PNGPixels.Pixel) -> Int? {
        guard pixel.alpha >= 128 else { return nil }
        func level(_ value: UInt8) -> Int { (Int(value) * (self.levels - 1) + 127) / 255 }
        return level(pixel.red) * 36 + level(pixel.green) * 6 + level(pixel.blue)
    }

    private static func row(_ color: Int, _ band: ArraySlice<[Int?]>, _ width: Int) -> String {
        var octets: [UInt8] = []
        var run = (sixel: UInt8(0), count: 0)
        func flush() {
            if run.count > 3 {
                octets += Array("!\(run.count)".utf8) + [run.sixel]
            } else {
                octets += Array(repeating: run.sixel, count: run.count)
            }
        }
        for x in 0..<width {
            var bits: UInt8 = 0
            for (index, row) in band.enumerated() where row[x] == color { bits |= 1 << UInt8(index) }
            if run.count > 0, run.sixel != 63 + bits {
                flush()
                run.count = 0
            }
            run = (63 + bits, run.count + 1)
        }
        flush()
        return String(decoding: octets, as: UTF8.self)
    }
}

/// The pixels of a PNG, for terminals that want them as such.
///
/// Checks no checksums, and leaves interlaced images alone: few are, and they can be looked at elsewhere.
struct PNGPixels {
    struct Pixel: Equatable {
        var red: UInt8
        var green: UInt8
        var blue: UInt8
        var alpha: UInt8
    }

    /// Pixels on each side: 16 million of them are more than a screen shows.
    private static let longestSide = 4096

    let width: Int
    let height: Int
    private(set) var pixels: [Pixel] = []

    init?(_ octets: [UInt8]) {
        guard let size = ImageInfo(octets)?.size, octets.count > 29 else { return nil }
        let (depth, color, isInterlaced) = (Int(octets[24]), octets[25], octets[28] != 0)
        guard !isInterlaced, (1...Self.longestSide).contains(size.width), (1...Self.longestSide).contains(size.height) else { return nil }
        guard let layout = Layout(color: color, depth: depth) else { return nil }
        self.width = size.width
        self.height = size.height
        let chunks = Self.chunks(octets)
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

    private static func chunks(_ octets: [UInt8]) -> (data: [UInt8], palette: [UInt8], transparency: [UInt8]) {
        var (data, palette, transparency): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
        var offset = 8
        while offset + 12 <= octets.count {
            let length = octets[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= octets.count - offset - 12 else { break }
            let body = octets[(offset + 8)..<(offset + 8 + length)]
            switch String(decoding: octets[(offset + 4)..<(offset + 8)], as: UTF8.self) {
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
        var octets: [UInt8] = []
        _ = try? data.withUnsafeBytes { try chain.push($0) { octets.append(contentsOf: $0) } }
        return octets.count >= size ? octets : nil
    }

    /// PNG, 9: each row in terms of the one above and of the pixel on its left.
    private static func unfiltered(_ octets: [UInt8], stride: Int, height: Int, step: Int) -> [UInt8]? {
        var rows = [UInt8](repeating: 0, count: stride * height)
        for y in 0..<height {
            let filter = octets[y * (stride + 1)]
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
                rows[here] = octets[y * (stride + 1) + 1 + x] &+ UInt8(truncatingIfNeeded: guess)
            }
        }
        return rows
    }
}

extension PNGPixels {
    /// How the samples of a pixel lie in a row (PNG, 11.2.2).
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
            // The high octet of two is enough for a terminal.
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

        /// A sample of less than eight bits; the first is in the high ones.
        private func small(_ row: ArraySlice<UInt8>, _ x: Int) -> UInt8 {
            let bit = x * self.depth
            return row[row.startIndex + bit / 8] >> UInt8(8 - self.depth - bit % 8) & UInt8(1 << self.depth - 1)
        }
    }
}
