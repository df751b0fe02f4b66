internal import ArgumentParser

/// A shell, and how it sets a variable.
enum Shell: String, ExpressibleByArgument, CaseIterable {
    case sh, fish, powershell

    /// The one that the environment names; `sh` stands for all that understand its lines, as bash and zsh do.
    static func standard(environment: [String: String]) -> Self {
        environment["SHELL"]?.split(separator: "/").last == "fish" ? .fish : .sh
    }

    func line(_ name: String, _ value: String) -> String {
        switch self {
        // The semicolon, for an eval without quotes, which makes one line of all.
        case .sh: "export \(name)=\(ShellWord.quoted(value));"
        case .fish: "set -gx \(name) '\(Self.escaped(value, ["\\": "\\\\", "'": "\\'"]))';"
        // Each of these ends a string there, and stands for itself when it is doubled (about_Quoting_Rules).
        case .powershell: "$env:\(name) = '\(Self.escaped(value, Self.doubled))'"
        }
    }

    /// The line that takes the lines of `command` over.
    func evaluation(_ command: String) -> String {
        switch self {
        case .sh: "eval \"$(\(command))\""
        case .fish: "\(command) | source"
        case .powershell: "\(command) | Out-String | Invoke-Expression"
        }
    }

    private static let doubled = Dictionary(uniqueKeysWithValues: "'\u{2018}\u{2019}\u{201A}\u{201B}".map { ($0, "\($0)\($0)") })

    private static func escaped(_ value: String, _ replacements: [Character: String]) -> String {
        value.map { replacements[$0] ?? String($0) }.joined()
    }
}
