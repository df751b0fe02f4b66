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
