internal import Foundation

/// Percent-encodes (RFC 3986, 2.1) all bytes of a text's UTF-8 except those allowed.
struct PercentEncoder: Sendable {
    /// ALPHA, DIGIT, `-._~` (RFC 3986, 2.3).
    static let unreserved = PercentEncoder(allowing: "-._~")
    /// What a path or a query may contain unescaped (RFC 3986, 3.3 and 3.4).
    static let target = PercentEncoder(allowing: "-._~!$&'()*+,;=:@/?")

    /// A bit for each ASCII character.
    private var allowed: (low: UInt64, high: UInt64) = (0, 0)

    /// Allows ASCII letters, digits and `others`.
    private init(allowing others: String) {
        for octet in Array(0..<128) as [UInt8]
        where (48...57).contains(octet) || (65...90).contains(octet) || (97...122).contains(octet) || others.utf8.contains(octet) {
            self.allow(octet)
        }
    }

    /// Characters outside ASCII are always encoded, even if the set contains them.
    init(_ characters: CharacterSet) {
        for octet in 0..<128 as Range<UInt8> where characters.contains(Unicode.Scalar(octet)) { self.allow(octet) }
    }

    private mutating func allow(_ octet: UInt8) {
        if octet < 64 { self.allowed.low |= 1 << octet } else { self.allowed.high |= 1 << (octet - 64) }
    }

    func allows(_ octet: UInt8) -> Bool {
        switch octet {
        case 0..<64: self.allowed.low >> octet & 1 == 1
        case 64..<128: self.allowed.high >> (octet - 64) & 1 == 1
        default: false
        }
    }

    func encode(_ text: String) -> String {
        var octets: [UInt8] = []
        octets.reserveCapacity(text.utf8.count)
        for octet in text.utf8 { self.append(octet, to: &octets) }
        return String(decoding: octets, as: UTF8.self)
    }

    /// Leaves existing percent-encodings unchanged; nil if a percent sign begins none.
    func encodeOnce(_ text: some StringProtocol) -> String? {
        let source = Array(text.utf8)
        var octets: [UInt8] = []
        octets.reserveCapacity(source.count)
        for (index, octet) in source.enumerated() {
            guard octet == UInt8(ascii: "%") else {
                self.append(octet, to: &octets)
                continue
            }
            guard index + 2 < source.count, Self.isHex(source[index + 1]), Self.isHex(source[index + 2]) else { return nil }
            octets.append(octet)
        }
        return String(decoding: octets, as: UTF8.self)
    }

    private func append(_ octet: UInt8, to octets: inout [UInt8]) {
        guard !self.allows(octet) else { return octets.append(octet) }
        octets += [UInt8(ascii: "%"), Self.digit(octet >> 4), Self.digit(octet & 15)]
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }

    private static func isHex(_ octet: UInt8) -> Bool {
        (48...57).contains(octet) || (65...70).contains(octet) || (97...102).contains(octet)
    }
}
