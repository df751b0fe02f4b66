/// A type with a value that stands for no body.
public protocol EmptyResponse: Sendable {
    static func emptyValue() -> Self
}
