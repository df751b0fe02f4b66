internal import TapeBytes

/// A parameter value with charset and language (RFC 8187, 3.2; RFC 5987 and RFC 2231 before): `UTF-8'ko'%EC%9D%8C`.
///
/// Knows UTF-8, ISO-8859-1 and those of `Charset`: mail programs write their own.
public struct ExtendedValue: Sendable, Hashable {
    /// In lower case.
    public var charset: String
    /// May be empty.
    public var language: String
    public var text: String

    /// Nil where the value is not of that form, or its charset is unknown, or its octets are not of that charset.
    public init?(_ octets: some Collection<UInt8>) {
        let pieces = octets.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count == 3, let decoded = Self.percentDecoded(Array(pieces[2])) else { return nil }
        self.init(charset: pieces[0], language: pieces[1], decoded: decoded)
    }

    private init?(charset: some Collection<UInt8>, language: some Collection<UInt8>, decoded: [UInt8]) {
        self.charset = String(decoding: charset.prefix(64), as: UTF8.self).lowercased()
        self.language = String(decoding: language, as: UTF8.self)
        guard let text = Charset.text(decoded, label: self.charset) else { return nil }
        self.text = text
    }

    /// A value cut into pieces (RFC 2231, 3): `filename*0*=UTF-8''%EC%9D; filename*1*=%8C; filename*2=".txt"`. A character may lie in two.
    ///
    /// Pieces that do not follow are left out. Nil where there is no first one, and as above.
    init?(pieces name: String, of parameters: MIMEParameters) {
        var decoded: [UInt8] = []
        var kind: [ArraySlice<UInt8>] = [[], []]
        for index in 0..<MIMEParameters.limit {
            if let extended = parameters["\(name)*\(index)*"] {
                var raw = extended.raw[...]
                if index == 0 {
                    let parts = raw.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
                    guard parts.count == 3 else { return nil }
                    (kind, raw) = (Array(parts[..<2]), parts[2])
                }
                guard let octets = Self.percentDecoded(Array(raw)) else { return nil }
                decoded += octets
            } else if let plain = parameters["\(name)*\(index)"] {
                decoded += plain.value
            } else if index == 0 {
                return nil
            } else {
                break
            }
        }
        // Without an extended first piece no charset is named.
        self.init(charset: kind[0].isEmpty ? Array("utf-8".utf8)[...] : kind[0], language: kind[1], decoded: decoded)
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
