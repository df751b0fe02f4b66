/// A parameter value with charset and language (RFC 8187, 3.2; RFC 5987 before): `UTF-8'ko'%EC%9D%8C`.
///
/// Knows UTF-8 and ISO-8859-1, the two that RFC 5987 made everyone support.
public struct ExtendedValue: Sendable, Hashable {
    /// In lower case.
    public var charset: String
    /// May be empty.
    public var language: String
    public var text: String

    /// Nil where the value is not of that form, or its charset is unknown, or its octets are not of that charset.
    public init?(_ octets: some Collection<UInt8>) {
        let pieces = octets.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count == 3 else { return nil }
        self.charset = String(decoding: pieces[0], as: UTF8.self).lowercased()
        self.language = String(decoding: pieces[1], as: UTF8.self)
        guard let decoded = Self.percentDecoded(Array(pieces[2])) else { return nil }
        switch self.charset {
        case "utf-8" where UTF8Validator.isValid(decoded): self.text = String(decoding: decoded, as: UTF8.self)
        case "iso-8859-1": self.text = Latin1.decode(decoded)
        default: return nil
        }
    }

    private static func percentDecoded(_ octets: [UInt8]) -> [UInt8]? {
        var decoded: [UInt8] = []
        var index = 0
        while index < octets.count {
            if octets[index] == UInt8(ascii: "%") {
                guard index + 2 < octets.count, let upper = Hex.value(octets[index + 1]), let lower = Hex.value(octets[index + 2]) else {
                    return nil
                }
                decoded.append(upper << 4 | lower)
                index += 3
            } else {
                decoded.append(octets[index])
                index += 1
            }
        }
        return decoded
    }
}
