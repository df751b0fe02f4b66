internal import TapeBytes

/// A secret token, compared in constant time and never printed.
public struct Secret: Sendable, CustomStringConvertible {
    /// Bytes of randomness: 192 bits, past any guessing.
    private static let randomCount = 24

    private let bytes: [UInt8]

    public init(_ text: String) {
        self.bytes = Array(text.utf8)
    }

    /// A new one, of 48 hex digits from the system's generator.
    public static func random() -> Secret {
        var generator = SystemRandomNumberGenerator()
        return Secret(Hex.encode((0..<self.randomCount).map { _ in UInt8.random(in: 0...255, using: &generator) }))
    }

    /// Takes the time of the longer one, whatever they share, so that its timing reveals nothing.
    public func isEqual(to given: some Collection<UInt8>) -> Bool {
        let given = Array(given)
        var difference = given.count ^ self.bytes.count
        for index in 0..<max(given.count, self.bytes.count) {
            let left = index < given.count ? given[index] : 0
            let right = index < self.bytes.count ? self.bytes[index] : 0
            difference |= Int(left ^ right)
        }
        return difference == 0
    }

    /// The token, for the client that it is made for.
    public var revealed: String { String(decoding: self.bytes, as: UTF8.self) }

    public var description: String { "a secret" }
}

/// The user and the password of a `Basic` authorization field (RFC 7617), as bytes.
struct BasicCredentials: Sendable, Hashable {
    /// `USER:PASSWORD`.
    let pair: [UInt8]

    /// Nil for other schemes and for what is not base64.
    init?(_ fieldValue: String?) {
        guard let fieldValue, let space = fieldValue.firstIndex(of: " "), fieldValue[..<space].lowercased() == "basic",
            let pair = Base64.decode(Array(fieldValue[space...].drop { $0 == " " }.utf8))
        else { return nil }
        self.pair = pair
    }

    /// The token68 of a pair (RFC 7617, 2).
    static func encoded(_ pair: [UInt8]) -> String {
        var text: [UInt8] = []
        pair.withUnsafeBytes { Base64.encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The parts before and after the first colon; nil if there is none.
    var parts: (user: ArraySlice<UInt8>, password: ArraySlice<UInt8>)? {
        guard let colon = self.pair.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return (self.pair[..<colon], self.pair[(colon + 1)...])
    }
}
