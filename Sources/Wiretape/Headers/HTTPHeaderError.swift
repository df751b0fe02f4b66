/// A header field that cannot be sent.
public struct HTTPHeaderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field's name, as given.
    public var name: String
    /// What is wrong with which field, and what to do next. Never has the value, which may be a secret.
    public var message: String

    init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    public var description: String { self.message }
}
