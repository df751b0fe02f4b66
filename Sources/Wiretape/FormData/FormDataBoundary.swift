internal import TapeBytes

/// What separates the parts of a form: a text that RFC 2046, 5.1.1, allows, so that it can break neither header nor body.
///
/// Does not look for itself in the parts: 128 random bits are in no file by chance.
public struct FormDataBoundary: Sendable, Hashable {
    /// RFC 2046, 5.1.1
    public static let longest = 70

    public let text: String

    public init(_ text: String) throws(FormDataError) {
        let octets = text.utf8
        guard (1...Self.longest).contains(octets.count), octets.last != 32, octets.allSatisfy(Self.isAllowed) else {
            throw FormDataError(
                .invalidBoundary,
                "\"\(PlainText.escape(text.utf8, limit: 200))\" cannot be a boundary: take 1 to \(Self.longest) ASCII letters, digits and \"-\""
            )
        }
        self.text = text
    }

    public init(using generator: inout some RandomNumberGenerator) {
        let digits = [generator.next(), generator.next()].map { number in
            let digits = String(number as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }
        self.text = "wiretape-" + digits.joined()
    }

    public static func random() -> FormDataBoundary {
        var generator = SystemRandomNumberGenerator()
        return FormDataBoundary(using: &generator)
    }

    /// The same for the same seed, everywhere: for tests, and for recordings that are to be compared.
    public static func seeded(_ seed: UInt64) -> FormDataBoundary {
        var generator = SplitMix64(seed: seed)
        return FormDataBoundary(using: &generator)
    }

    /// As the parameter of a Content-Type: quoted where it is not a token (RFC 9110, 5.6.2).
    public var parameter: String {
        let isToken = self.text.utf8.allSatisfy { Self.isAlphanumeric($0) || "'+_-.".utf8.contains($0) }
        return isToken ? "boundary=\(self.text)" : "boundary=\"\(self.text)\""
    }

    private static func isAlphanumeric(_ octet: UInt8) -> Bool {
        (48...57).contains(octet) || (65...90).contains(octet) || (97...122).contains(octet)
    }

    private static func isAllowed(_ octet: UInt8) -> Bool { Self.isAlphanumeric(octet) || "'()+_,-./:=? ".utf8.contains(octet) }
}
