internal import TapeBytes

/// A secret token, compared in constant time and never printed.
public struct Secret: Sendable, CustomStringConvertible {
    /// Bytes of randomness: 192 bits, which cannot be guessed.
    private static let randomCount = 24

    private let bytes: [UInt8]

    public init(_ text: String) {
        self.bytes = Array(text.utf8)
    }

    /// A new token of 48 hex digits from the system's generator.
    public static func random() -> Secret { self.random(byteCount: self.randomCount) }

    package static func random(byteCount: Int) -> Secret {
        var generator = SystemRandomNumberGenerator()
        return Secret(Hex.encode((0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }))
    }

    /// Takes time according to the longer value, regardless of its content, so that timing reveals nothing.
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

    /// The token, for the client that it was created for.
    public var revealed: String { String(decoding: self.bytes, as: UTF8.self) }

    public var description: String { "a secret" }
}
