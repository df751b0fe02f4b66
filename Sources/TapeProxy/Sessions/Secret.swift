internal import TapeBytes

/// A word that only those may know who may do something: compared in the time of the longer one, printed nowhere.
public struct Secret: Sendable, CustomStringConvertible {
    /// Octets of randomness: 192 bits, past any guessing.
    private static let randomCount = 24

    private let octets: [UInt8]

    public init(_ text: String) {
        self.octets = Array(text.utf8)
    }

    /// A new one, of 48 hex digits from the system's generator.
    public static func random() -> Secret {
        var generator = SystemRandomNumberGenerator()
        return Secret(Hex.encode((0..<self.randomCount).map { _ in UInt8.random(in: 0...255, using: &generator) }))
    }

    /// Takes the time of the longer one, whatever they share, so that nobody measures the secret out.
    public func isEqual(to given: some Collection<UInt8>) -> Bool {
        let given = Array(given)
        var difference = given.count ^ self.octets.count
        for index in 0..<max(given.count, self.octets.count) {
            let left = index < given.count ? given[index] : 0
            let right = index < self.octets.count ? self.octets[index] : 0
            difference |= Int(left ^ right)
        }
        return difference == 0
    }

    /// For whoever it is made for.
    public var revealed: String { String(decoding: self.octets, as: UTF8.self) }

    public var description: String { "a secret" }
}
