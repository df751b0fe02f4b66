/// An error with a code for its kind and a message for people.
///
/// Each subject defines its codes, such as `CassetteErrorCode`, and a name for its errors, such as `CassetteError`. Errors are equal if
/// their code and message are equal.
public struct CodedError<Kind: Hashable & Sendable>: Error, Hashable, Sendable, CustomStringConvertible {
    /// A kind of error; more kinds may be added.
    public typealias Code = Kind

    public var code: Kind
    /// What went wrong, with the name of the file, rule or address, and what to do next.
    public var message: String
    /// The error that caused this one.
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
