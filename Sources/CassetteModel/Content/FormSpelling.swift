internal import TapeBytes

/// How a form's names and values are spelled: which octets are escaped, and how.
///
/// One rule for the whole form. The usual one is that of browsers (WHATWG URL, 5.2): a plus for a space, upper-case hex, and letters, digits and
/// `*-._` as they are.
public struct FormSpelling: Sendable, Hashable {
    /// `%20` for a space.
    public var escapesSpace: Bool
    public var usesLowerCaseHex: Bool
    /// Octets beyond the usual ones that stand as they are, in order.
    public var plain: [UInt8]
    /// Those of `*-._` that are escaped, in order.
    public var escaped: [UInt8]

    public init(escapesSpace: Bool = false, usesLowerCaseHex: Bool = false, plain: [UInt8] = [], escaped: [UInt8] = []) {
        self.escapesSpace = escapesSpace
        self.usesLowerCaseHex = usesLowerCaseHex
        self.plain = plain
        self.escaped = escaped
    }

    public static let usual = FormSpelling()

    package static func isAlphanumeric(_ octet: UInt8) -> Bool {
        octet >= 48 && octet <= 57 || (octet | 32) >= 97 && (octet | 32) <= 122 && octet < 128
    }

    static func isUsuallyPlain(_ octet: UInt8) -> Bool {
        self.isAlphanumeric(octet) || octet == UInt8(ascii: "*") || octet == UInt8(ascii: "-") || octet == UInt8(ascii: ".")
            || octet == UInt8(ascii: "_")
    }

    /// Octets that may stand as they are in some spelling: visible ones that divide nothing and escape nothing.
    package static func mayBePlain(_ octet: UInt8) -> Bool {
        octet > 32 && octet < 127 && octet != UInt8(ascii: "&") && octet != UInt8(ascii: "%") && octet != UInt8(ascii: "+")
    }

    /// Appends a name or value as it is spelled.
    func write(_ text: some Sequence<UInt8>, isName: Bool, into octets: inout [UInt8]) {
        for octet in text {
            if octet == 32, !self.escapesSpace {
                octets.append(UInt8(ascii: "+"))
            } else if self.isPlain(octet), !isName || octet != UInt8(ascii: "=") {
                octets.append(octet)
            } else {
                octets.append(UInt8(ascii: "%"))
                for digit in [Hex.digit(octet >> 4), Hex.digit(octet & 15)] {
                    octets.append(digit >= 97 && !self.usesLowerCaseHex ? digit & ~32 : digit)
                }
            }
        }
    }

    private func isPlain(_ octet: UInt8) -> Bool {
        if Self.isUsuallyPlain(octet) { return !self.escaped.contains(octet) }
        return self.plain.contains(octet)
    }
}
