/// A setting that cannot be understood, in a configuration file or among the options.
public struct SettingError: Error, Hashable, CustomStringConvertible {
    /// What is wrong where, and what to write instead.
    public var message: String

    public init(_ message: String) {
        self.message = message
    }

    public var description: String { self.message }
}
