public import TapeBytes

/// Why a session cannot be started, asked about or ended.
///
/// Its message: what went wrong, with which name or member, and what to do next.
public typealias SessionError = CodedError<SessionErrorCode>

public struct SessionErrorCode: Hashable, Sendable {
    enum Value { case invalid, notFound, nameTaken, cassetteInUse, tooMany, stopping }
    var value: Value
    /// The order is not what it has to be.
    public static var invalid: Self { Self(value: .invalid) }
    /// There is no such session.
    public static var notFound: Self { Self(value: .notFound) }
    public static var nameTaken: Self { Self(value: .nameTaken) }
    /// A session writes the cassette, or is to write one that others read.
    public static var cassetteInUse: Self { Self(value: .cassetteInUse) }
    /// As many sessions as may be are open.
    public static var tooMany: Self { Self(value: .tooMany) }
    /// The process ends.
    public static var stopping: Self { Self(value: .stopping) }
}
