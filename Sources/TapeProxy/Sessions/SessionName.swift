public import TapeBytes

/// The name of a session, used in its URL and as the user of its proxy credentials. Consists of letters, digits, `-`, `_` and `.`, which
/// need no escaping anywhere.
public struct SessionName: Sendable, Hashable, CustomStringConvertible {
    /// In bytes: enough for a test's name, but short enough for a log line.
    public static let limit = 64

    public let text: String

    /// nil if invalid.
    public init?(_ text: String) {
        guard (1...Self.limit).contains(text.utf8.count), text.utf8.allSatisfy(Self.isNameByte), text.utf8.first != UInt8(ascii: ".")
        else { return nil }
        self.text = text
    }

    /// A generated name: `s1`.
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

/// Why a session cannot be opened, inspected or ended.
///
/// Its message: what went wrong, with which name or member, and what to do next.
public typealias SessionError = CodedError<SessionErrorCode>

public struct SessionErrorCode: Hashable, Sendable {
    enum Value { case invalid, notFound, nameTaken, cassetteInUse, tooMany, stopping }
    var value: Value
    /// The order is invalid.
    public static var invalid: Self { Self(value: .invalid) }
    /// There is no such session.
    public static var notFound: Self { Self(value: .notFound) }
    public static var nameTaken: Self { Self(value: .nameTaken) }
    /// A session writes the cassette, or wants to write one that others read.
    public static var cassetteInUse: Self { Self(value: .cassetteInUse) }
    /// The session limit has been reached.
    public static var tooMany: Self { Self(value: .tooMany) }
    /// The server is stopping.
    public static var stopping: Self { Self(value: .stopping) }
}
