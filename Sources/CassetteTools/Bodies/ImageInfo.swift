/// The format and size of an image, read from its first bytes without decoding it.
package struct ImageInfo: Equatable, CustomStringConvertible {
    package enum Format: String {
        case png = "PNG"
        case jpeg = "JPEG"
        case gif = "GIF"
        case webp = "WebP"
    }

    /// How many bytes to pass: a JPEG may have a preview and a colour profile before its size, in segments of 64 KiB.
    package static let prefixSize = 256 << 10

    package var format: Format
    /// In pixels; nil if the bytes end before it.
    package var size: Size?

    package struct Size: Equatable {
        package var width: Int
        package var height: Int
    }

    /// Nil if the bytes are in another format.
    package init?(_ bytes: [UInt8]) {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self.format = .png
            self.size = Self.png(bytes)
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self.format = .jpeg
            self.size = Self.jpeg(bytes)
        } else if bytes.starts(with: Array("GIF87a".utf8)) || bytes.starts(with: Array("GIF89a".utf8)) {
            self.format = .gif
            self.size = Self.size(Self.little(bytes, at: 6, 2), Self.little(bytes, at: 8, 2))
        } else if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) {
            self.format = .webp
            self.size = Self.webp(bytes)
        } else {
            return nil
        }
    }

    /// `PNG image, 640 × 480`
    package var description: String {
        "\(self.format.rawValue) image" + (self.size.map { ", \($0.width) × \($0.height)" } ?? ", cut short before its size")
    }

    // MARK: Formats

    /// PNG, 11.2.2: the first chunk is IHDR.
    private static func png(_ bytes: [UInt8]) -> Size? {
        guard bytes.dropFirst(12).starts(with: Array("IHDR".utf8)) else { return nil }
        return self.size(self.big(bytes, at: 16, 4), self.big(bytes, at: 20, 4))
    }

    /// ITU-T T.81, B.2.2: a frame header (SOF) in one of the segments.
    private static func jpeg(_ bytes: [UInt8]) -> Size? {
        var offset = 2
        while let mark = self.big(bytes, at: offset, 1), let marker = self.big(bytes, at: offset + 1, 1), mark == 0xFF {
            switch marker {
            case 0xFF: offset += 1
            // Markers without a segment.
            case 0x01, 0xD0...0xD8: offset += 2
            // The size precedes the scan. 0xC4, 0xC8 and 0xCC are tables.
            case 0xD9, 0xDA: return nil
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return self.size(self.big(bytes, at: offset + 7, 2), self.big(bytes, at: offset + 5, 2))
            default:
                guard let length = self.big(bytes, at: offset + 2, 2), length >= 2 else { return nil }
                offset += 2 + length
            }
        }
        return nil
    }

    /// RFC 9649, 2.5 to 2.7: lossy, lossless or extended.
    private static func webp(_ bytes: [UInt8]) -> Size? {
        switch String(decoding: bytes.dropFirst(12).prefix(4), as: UTF8.self) {
        case "VP8 ":
            guard bytes.dropFirst(23).starts(with: [0x9D, 0x01, 0x2A]) else { return nil }
            return self.size(self.little(bytes, at: 26, 2).map { $0 & 0x3FFF }, self.little(bytes, at: 28, 2).map { $0 & 0x3FFF })
        case "VP8L":
            guard let bits = self.little(bytes, at: 21, 4), bytes[20] == 0x2F else { return nil }
            return Size(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
        case "VP8X":
            guard let width = self.little(bytes, at: 24, 3), let height = self.little(bytes, at: 27, 3) else { return nil }
            return Size(width: width + 1, height: height + 1)
        default: return nil
        }
    }

    // MARK: Numbers

    private static func size(_ width: Int?, _ height: Int?) -> Size? {
        guard let width, let height else { return nil }
        return Size(width: width, height: height)
    }

    private static func big(_ bytes: [UInt8], at offset: Int, _ count: Int) -> Int? {
        guard offset + count <= bytes.count else { return nil }
        return bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func little(_ bytes: [UInt8], at offset: Int, _ count: Int) -> Int? {
        guard offset + count <= bytes.count else { return nil }
        return bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
