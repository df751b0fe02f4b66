import Foundation

/// A command of the plugin.
enum WiretapeCommand: Equatable {
    case record(filters: [String], mode: String, options: [String])
    case status(runsTests: Bool, options: [String])
    case prune(removes: Bool, options: [String])
    case inspect(String)
    case help

    static let usage = """
        usage: swift package wiretape COMMAND [-- OPTIONS OF swift test]

          record [--mode MODE] [FILTER…]  runs the tests, or those that match, and records their cassettes; MODE is all (by default),
                                          new-episodes or once
          status [--no-run]               lists the cassettes: test, exchanges, size, age; runs the tests to see which of them are used
          prune [--yes]                   lists the cassettes that no test uses, and moves them to a trash folder with --yes; runs all tests
          inspect FILE                    lists the exchanges of a cassette

        swift package asks for the permission to write into the package; --allow-writing-to-package-directory before "wiretape" gives it.
        """

    /// Options of `swift test` with which not all tests run, or not in their present state.
    private static let selections: Set<String> = [
        "--filter", "--skip", "--specifier", "-s", "--test-product", "--disable-xctest", "--disable-swift-testing", "--skip-build",
        "--disable-experimental-swift-testing", "list",
    ]

    /// The first option with which a run does not prove that a cassette is unused; nil if there is none.
    static func selection(in options: [String]) -> String? {
        options.first { option in
            self.selections.contains(option.prefix { $0 != "=" }.description)
        }
    }

    private static let modes = ["all", "new-episodes", "once"]

    init(_ arguments: [String]) throws {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        var words = Array(arguments[..<end])
        let options = Array(arguments[end...].dropFirst())
        guard !words.isEmpty else { throw PluginFailure("a command is missing\n\(Self.usage)") }
        let command = words.removeFirst()
        switch command {
        case "record":
            var mode = "all"
            if let index = words.firstIndex(of: "--mode") {
                let value = words.index(after: index) < words.endIndex ? words[index + 1] : ""
                guard Self.modes.contains(value) else {
                    throw PluginFailure("--mode \"\(value)\" is not a mode that records: use \(Self.modes.joined(separator: ", "))")
                }
                mode = value
                words.removeSubrange(index...index + 1)
            }
            self = .record(filters: try Self.noOptions(words, of: command), mode: mode, options: options)
        case "status":
            let runs = Self.take("--no-run", from: &words)
            try Self.nothing(words, after: command)
            self = .status(runsTests: !runs, options: options)
        case "prune":
            let removes = Self.take("--yes", from: &words)
            try Self.nothing(words, after: command)
            if let option = Self.selection(in: options) {
                throw PluginFailure(
                    "prune does not take \"\(visible(option))\": only a run of all tests proves that no test uses a cassette; leave the option out"
                )
            }
            self = .prune(removes: removes, options: options)
        case "inspect":
            guard try Self.noOptions(words, of: command).count == 1, options.isEmpty else {
                throw PluginFailure("inspect takes one file: swift package wiretape inspect Cassettes/pets.json")
            }
            self = .inspect(words[0])
        case "help", "--help", "-h": self = .help
        default: throw PluginFailure("there is no command \"\(visible(command))\"\n\(Self.usage)")
        }
    }

    private static func take(_ flag: String, from words: inout [String]) -> Bool {
        let count = words.count
        words.removeAll { $0 == flag }
        return words.count < count
    }

    private static func nothing(_ words: [String], after command: String) throws {
        guard let word = words.first else { return }
        throw PluginFailure("\(command) does not take \"\(visible(word))\"\n\(self.usage)")
    }

    private static func noOptions(_ words: [String], of command: String) throws -> [String] {
        if let option = words.first(where: { $0.hasPrefix("-") }) {
            throw PluginFailure("\(command) does not take \"\(visible(option))\": options of swift test stand after --")
        }
        return words
    }
}

/// Why a command cannot do what it should, and what to do next.
struct PluginFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A text of a recording for a terminal. Control characters are escaped, since they could change what is shown.
func visible(_ text: String) -> String {
    text.unicodeScalars.map {
        switch $0.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: $0.escaped(asASCII: true)
        default: String($0)
        }
    }.joined()
}
