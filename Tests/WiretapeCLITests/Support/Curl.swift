/// curl command lines for use after `--`.
enum Curl {
    private static let always = ["curl", "-q", "--silent", "--show-error", "--max-time", "20"]

    /// Prints the bodies one after another.
    static func get(_ urls: String...) -> [String] { self.always + urls }

    /// As a line of a shell script.
    static func line(_ urls: String...) -> String { (self.always + urls.map { "'\($0)'" }).joined(separator: " ") }
}
