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
