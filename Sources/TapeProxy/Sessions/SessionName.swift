/// The name of a session, in its URL and as the user of its proxy credentials: letters, digits, `-`, `_` and `.`, which need no
/// escaping anywhere.
public struct SessionName: Sendable, Hashable, CustomStringConvertible {
    /// Octets; long enough for a test's name, short enough for a line of a log.
    public static let limit = 64

    public let text: String

    /// Nil for what is no name.
    public init?(_ text: String) {
        guard (1...Self.limit).contains(text.utf8.count), text.utf8.allSatisfy(Self.isNameByte), text.utf8.first != UInt8(ascii: ".")
        else { return nil }
        self.text = text
    }

    /// One that nobody has chosen: `s1`.
    init(number: Int) {
        self.text = "s\(number)"
    }

    public var description: String { self.text }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
