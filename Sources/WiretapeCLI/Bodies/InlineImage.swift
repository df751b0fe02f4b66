internal import CassetteTools
internal import Platform
internal import TapeBytes

/// An image as the escape sequence that shows it within text.
struct InlineImage {
    /// Larger images, in bytes, are not sent to a terminal.
    static let limit = 8 << 20
    /// The assumed width of a character cell in pixels. It only matters for large images.
    private static let cellWidth = 10
    /// Bytes of base64 in one sequence of kitty's protocol.
    private static let chunkSize = 4096

    let sequence: String

    /// Nil if the terminal cannot show that format.
    ///
    /// - Parameter columns: the width available; a wider image is scaled down.
    init?(_ image: ImageInfo, _ bytes: [UInt8], columns: Int, _ kind: ImageProtocol) {
        let needed = image.size.map { ($0.width + Self.cellWidth - 1) / Self.cellWidth } ?? 1
        switch kind {
        case .kitty:
            // The protocol takes PNG and raw pixels.
            guard image.format == .png, image.size != nil else { return nil }
            self.sequence = Self.kitty(bytes, columns: needed > columns ? columns : nil)
        case .iTerm:
            guard image.size != nil else { return nil }
            let width = needed > columns ? ";width=\(columns)" : ""
            let data = Self.base64(bytes)
            self.sequence = "\u{1B}]1337;File=inline=1;size=\(bytes.count)\(width);preserveAspectRatio=1:\(data)\u{07}"
        case .sixel:
            guard image.format == .png, let pixels = PNGPixels(bytes) else { return nil }
            self.sequence = Sixel.sequence(pixels, widest: columns * Self.cellWidth)
        }
    }

    /// `q=2` suppresses the answer, which would arrive as if it were typed.
    private static func kitty(_ bytes: [UInt8], columns: Int?) -> String {
        let data = Array(self.base64(bytes).utf8)
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

    private static func base64(_ bytes: [UInt8]) -> String {
        var writer = JSONWriter()
        bytes.withUnsafeBytes { writer.base64($0) }
        return String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self)
    }
}

/// The protocol by which a terminal shows images within text.
///
/// Decided by environment variables alone, without a query: the answer would arrive as if it were typed.
enum ImageProtocol {
    /// https://sw.kovidgoyal.net/kitty/graphics-protocol
    case kitty
    /// https://iterm2.com/documentation-images.html
    case iTerm
    /// DEC's graphics, six pixels to a character.
    case sixel

    static var current: ImageProtocol? { ImageProtocol { name in getenv(name).map { String(cString: $0) } } }

    /// - Parameter variable: looks up an environment variable.
    init?(_ variable: (String) -> String?) {
        let kind = variable("TERM") ?? ""
        let program = variable("TERM_PROGRAM") ?? ""
        // A multiplexer keeps the variables of the terminal it was started in, and drops its images.
        guard variable("TMUX") == nil, variable("STY") == nil, kind != "dumb" else { return nil }
        if kind == "xterm-kitty" || kind == "xterm-ghostty" || program == "ghostty" || variable("KITTY_WINDOW_ID") != nil {
            self = .kitty
        } else if program == "iTerm.app" || program == "WezTerm" || variable("LC_TERMINAL") == "iTerm2" {
            self = .iTerm
        } else if kind.contains("sixel") || kind == "mlterm" || kind == "foot" || kind.hasPrefix("foot-") || kind == "contour" {
            self = .sixel
        } else {
            return nil
        }
    }
}

/// Writes pixels as sixels: bands of six rows, a colour at a time (DEC STD 070, 9).
///
/// Uses 216 colours, six levels per channel, which every sixel terminal supports.
enum Sixel {
    private static let levels = 6

    /// - Parameter widest: in pixels; a wider image is reduced by skipping pixels.
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

    /// Nil if the pixel is mostly transparent.
    private static func color(_ pixel: PNGPixels.Pixel) -> Int? {
        guard pixel.alpha >= 128 else { return nil }
        func level(_ value: UInt8) -> Int { (Int(value) * (self.levels - 1) + 127) / 255 }
        return level(pixel.red) * 36 + level(pixel.green) * 6 + level(pixel.blue)
    }

    private static func row(_ color: Int, _ band: ArraySlice<[Int?]>, _ width: Int) -> String {
        var bytes: [UInt8] = []
        var run = (sixel: UInt8(0), count: 0)
        func flush() {
            if run.count > 3 {
                bytes += Array("!\(run.count)".utf8) + [run.sixel]
            } else {
                bytes += Array(repeating: run.sixel, count: run.count)
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
        return String(decoding: bytes, as: UTF8.self)
    }
}
