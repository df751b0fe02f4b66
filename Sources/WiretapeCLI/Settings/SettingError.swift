/// A setting that cannot be understood, in a configuration file or among the options.
struct SettingError: Error, Hashable, CustomStringConvertible {
    /// What is wrong where, and what to write instead.
    var message: String

    init(_ message: String) {
        self.message = message
    }

    var description: String { self.message }
}
