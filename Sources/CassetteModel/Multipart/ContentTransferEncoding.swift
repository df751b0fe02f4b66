internal import TapeBytes

/// A part's Content-Transfer-Encoding (RFC 2045, 6). It is used in mail; forms should not have it (RFC 7578, 4.7).
///
/// Decodes for display only: decodes malformed input as far as possible, as RFC 2045 requires.
public enum ContentTransferEncoding: Sendable, Hashable {
    /// `7bit`, `8bit`, `binary` or no field: the bytes are the content.
    case identity
    case base64
    case quotedPrintable
    /// An unknown encoding, truncated to 64 characters.
    case other(String)

    public init(_ fields: HeaderFields) {
        guard let index = fields.firstIndex(of: "content-transfer-encoding") else {
            self = .identity
            return
        }
        switch MIMEParameters(fields.valueBytes(at: index)).value {
        case "7bit", "8bit", "binary", "": self = .identity
        case "base64": self = .base64
        case "quoted-printable": self = .quotedPrintable
        case let name: self = .other(String(name.prefix(64)))
        }
    }

    /// Nil if the encoding is unknown.
    public func decode(_ bytes: [UInt8]) -> [UInt8]? {
        switch self {
        case .identity: bytes
        case .base64: Self.decodeBase64(bytes)
        case .quotedPrintable: Self.decodeQuotedPrintable(bytes)
        case .other: nil
        }
    }

    /// RFC 2045, 6.8: ignores characters outside the alphabet; padding ends the data.
    private static func decodeBase64(_ bytes: [UInt8]) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count / 4 * 3)
        var bits: UInt32 = 0
        var held = 0
        for byte in bytes {
            if byte == UInt8(ascii: "=") { break }
            guard let value = Base64.value(byte) else { continue }
            bits = bits << 6 | UInt32(value)
            held += 6
            guard held >= 8 else { continue }
            held -= 8
            decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
        }
        return decoded
    }

    /// RFC 2045, 6.7: `=` and two hex digits are a byte, `=` at a line's end joins lines, and white space at a line's end is dropped.
    /// Everything else is kept.
    private static func decodeQuotedPrintable(_ bytes: [UInt8]) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var start = 0
        while start < bytes.count {
            let feed = bytes[start...].firstIndex(of: 10)
            let next = feed.map { $0 + 1 } ?? bytes.count
            let lineEnd = feed.map { $0 > start && bytes[$0 - 1] == 13 ? $0 - 1 : $0 } ?? bytes.count
            var end = lineEnd
            while end > start, bytes[end - 1] == 32 || bytes[end - 1] == 9 { end -= 1 }
            let isSoft = end > start && bytes[end - 1] == UInt8(ascii: "=")
            self.appendQuotedPrintable(bytes[start..<(isSoft ? end - 1 : end)], to: &decoded)
            if !isSoft { decoded += bytes[lineEnd..<next] }
            start = next
        }
        return decoded
    }

    private static func appendQuotedPrintable(_ line: ArraySlice<UInt8>, to decoded: inout [UInt8]) {
        var index = line.startIndex
        while index < line.endIndex {
            if line[index] == UInt8(ascii: "="), line.endIndex - index > 2, let upper = Hex.value(line[index + 1]),
                let lower = Hex.value(line[index + 2])
            {
                decoded.append(upper << 4 | lower)
                index += 3
            } else {
                decoded.append(line[index])
                index += 1
            }
        }
    }
}
