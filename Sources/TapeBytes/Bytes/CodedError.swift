/// An error that is one of several kinds, with what happened in words.
///
/// Each subject has its kinds, as `CassetteErrorCode`, and a name for its errors, as `CassetteError`. Errors are equal if their code and
/// message are.
public struct CodedError<Kind: Hashable & Sendable>: Error, Hashable, Sendable, CustomStringConvertible {
    /// A kind of error; more kinds may come.
    public typealias Code = Kind

    public var code: Kind
    /// What went wrong, with the name of the file, rule or address, and what to do next.
    public var message: String
    /// The error that this one came of.
    public var cause: (any Error)?

    public init(_ code: Kind, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { self.message }

    public static func == (left: Self, right: Self) -> Bool { left.code == right.code && left.message == right.message }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.code)
        hasher.combine(self.message)
    }
}
