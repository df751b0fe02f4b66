internal import ArgumentParser

/// Suggests the command or the option that was probably meant if there is none with the given name.
enum CommandSuggestion {
    /// The error for a command line whose command does not exist; nil if it exists, or an option comes first.
    static func problem(_ arguments: [String], in root: any ParsableCommand.Type) -> String? {
        var command = root
        var path = [root.configuration.commandName ?? ""]
        if let problem = self.nothingAfterMark(arguments, in: root) { return problem }
        for word in arguments {
            let known = command.configuration.subcommands
            // "help" is a command that swift-argument-parser adds, and what follows it is a command again.
            if word == "help", command == root { continue }
            guard !known.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let next = known.first(where: { self.names($0).contains(word) }) else {
                return self.message(word, path: path.joined(separator: " "), known: known.flatMap(self.names))
            }
            command = next
            path.append(word)
        }
        return nil
    }

    /// A run without a program listens until Ctrl-C, which nobody wants who writes the mark for one.
    private static func nothingAfterMark(_ arguments: [String], in root: any ParsableCommand.Type) -> String? {
        guard arguments.firstIndex(of: "--") == arguments.count - 1, let name = arguments.first, !arguments.contains("--browser"),
            ["record", "replay", "run"].contains(name)
        else { return nil }
        return
            "nothing follows \"--\": write a command after it, or omit \"--\" to listen until Ctrl-C."
    }

    /// The error for the first option that its command does not have; nil if there is none before "--".
    ///
    /// Ask only after the parser has rejected the command line: the parser reports missing arguments before unknown ones, and suggests
    /// nothing for some of them.
    static func unknownOption(_ arguments: [String], in root: any ParsableCommand.Type) -> String? {
        var command = root
        var path = [root.configuration.commandName ?? ""]
        var words = arguments[...]
        while let word = words.first, let next = command.configuration.subcommands.first(where: { self.names($0).contains(word) }) {
            command = next
            path.append(word)
            words.removeFirst()
        }
        let known = self.options(of: command)
        if let problem = self.malformed(words.prefix { $0 != "--" }) { return problem }
        guard let word = words.prefix(while: { $0 != "--" }).first(where: { self.isUnknown($0, among: known) }) else { return nil }
        let option = word.prefix { $0 != "=" }
        let start = "there is no option \"\(self.shown(String(option)))\" of \"\(path.joined(separator: " "))\""
        let name = String(option.drop { $0 == "-" })
        if path.count == 1, let problem = self.beforeItsCommand(String(option), words, in: root) { return "\(start): \(problem)" }
        if let meant = self.otherWords[name], known.long.contains(meant) { return "\(start): did you mean \"--\(meant)\"?" }
        // An option of another command, as --mode with "record".
        let others = root.configuration.subcommands.filter { $0 != command && self.options(of: $0).long.contains(name) }
        let nearest = self.nearest(to: name, in: known.long)
        // What has only a few letters is easily near to something.
        if let nearest, others.isEmpty || self.distance(Array(name), Array(nearest)) == 1 || nearest.hasPrefix(name) {
            return "\(start): did you mean \"--\(nearest)\"?"
        }
        if ["format", "to", "type", "as"].contains(name), known.long.contains("har") {
            return "\(start): each format is an option of its own, such as --har or --curl."
        }
        if !others.isEmpty, path.count > 1 {
            let names = others.prefix(3).map { "\"\(root.configuration.commandName ?? "") \(self.names($0).first ?? "")\"" }
            let list = names.dropLast().joined(separator: ", ") + (names.count > 1 ? " and " : "") + (names.last ?? "")
            return "\(start); \(list) \(names.count == 1 ? "has" : "have") it."
        }
        // Options come after the command that defines them.
        for next in command.configuration.subcommands {
            guard let nearest = self.nearest(to: name, in: self.options(of: next).long) else { continue }
            return "\(start): did you mean \"\((path + [self.names(next).first ?? ""]).joined(separator: " ")) --\(nearest)\"?"
        }
        return "\(start): \"\(path.joined(separator: " ")) --help\" lists the options."
    }

    /// Words that only look like options: with the dash of a text editor, and negative numbers, which no option takes.
    private static func malformed(_ words: ArraySlice<String>) -> String? {
        for index in words.indices {
            let word = words[index]
            if let dash = word.first, "\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}".contains(dash), word.count > 1 {
                return "\"\(self.shown(word))\" begins with a dash that text editors make of two hyphens: write \"--\(word.dropFirst())\"."
            }
            guard word.count > 1, word.first == "-", word.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) else { continue }
            let before = index > words.startIndex ? words[index - 1] : ""
            if before.hasSuffix("-port") { return "\(before) takes a port from 0 to 65535, and not \"\(self.shown(word))\"." }
            if before.hasPrefix("--") { return "\(before) does not take the negative number \"\(self.shown(word))\"." }
            return "\"\(self.shown(word))\" is not the number of an exchange: they count from 1."
        }
        return nil
    }

    /// What to say about an option before its command, and about a command that is written as an option; nil for anything else.
    private static func beforeItsCommand(_ option: String, _ words: ArraySlice<String>, in root: any ParsableCommand.Type) -> String? {
        let commands = root.configuration.subcommands
        let program = root.configuration.commandName ?? ""
        let name = String(option.drop { $0 == "-" })
        if option.hasPrefix("--"), let command = commands.first(where: { self.names($0).contains(name) }) {
            return "did you mean \"\(program) \(self.names(command).first ?? name)\"?"
        }
        guard let command = words.lazy.compactMap({ word in commands.first { self.names($0).contains(word) } }).first else { return nil }
        let known = self.options(of: command)
        let isKnown = option.hasPrefix("--") ? known.long.contains(name) : !name.isEmpty && name.allSatisfy(known.short.contains)
        guard isKnown else { return nil }
        return "write it after the command, as in \"\(program) \(self.names(command).first ?? "") \(option)\"."
    }

    /// A word with one "-" counts if it is not a group of short options.
    private static func isUnknown(_ word: String, among known: Options) -> Bool {
        let name = word.prefix { $0 != "=" }
        if name.hasPrefix("--") { return !known.long.contains(String(name.dropFirst(2))) }
        return name.hasPrefix("-") && name.count > 1 && !name.dropFirst().allSatisfy(known.short.contains)
    }

    /// Options that every command has and no help lists.
    private static let ofTheParser = ["generate-completion-script", "experimental-dump-help", "help-hidden"]

    /// Names without their dashes.
    private struct Options {
        var long: [String] = []
        var short: [Character] = []
    }

    /// As the help lists them, one or more names before two spaces: "  -q, --quiet    Print errors only."
    private static func options(of command: any ParsableCommand.Type) -> Options {
        var options = Options(long: self.ofTheParser)
        for line in command.helpMessage(includeHidden: true, columns: 1000).split(separator: "\n") where line.hasPrefix("  -") {
            for word in line.split(separator: " ").prefix(while: { $0.hasPrefix("-") }) {
                for name in word.split(separator: "/") where name.hasPrefix("-") {
                    let name = name.last == "," ? name.dropLast() : name
                    if name.hasPrefix("--") { options.long.append(String(name.dropFirst(2))) } else { options.short += name.dropFirst() }
                }
            }
        }
        return options
    }

    /// What other tools call an option, and its name here.
    private static let otherWords = [
        "port": "listen", "proxy-port": "listen", "address": "listen", "bind": "listen", "out": "output", "o": "output", "file": "output",
        "debug": "verbose", "silent": "quiet", "V": "version", "v": "version", "force": "overwrite", "ui": "web", "page": "web",
        "skip": "ignore",
        "exclude": "ignore", "headers": "ignore", "accept-edits": "accept", "fix": "accept",
    ]

    /// What other tools call a command, and its name here.
    private static let otherCommands = [
        "list": "inspect", "ls": "inspect", "view": "inspect", "open": "inspect", "cat": "inspect", "web": "inspect", "play": "replay",
        "playback": "replay", "start": "record", "proxy": "record", "capture": "record", "convert": "import", "compare": "diff",
        "curl": "show", "follow": "tail", "watch": "tail", "log": "tail", "fix": "decode", "repair": "decode", "correct": "verify",
        "validate": "verify", "cert": "ca", "trust": "ca", "stub": "serve", "mock": "serve", "agent": "mcp",
    ]

    private static func names(_ command: any ParsableCommand.Type) -> [String] {
        (command.configuration.commandName.map { [$0] } ?? []) + command.configuration.aliases
    }

    private static func message(_ word: String, path: String, known: [String]) -> String {
        let shown = self.shown(word)
        if word.lowercased() == "version" { return "there is no command \"\(path) \(shown)\": did you mean \"\(path) --version\"?" }
        if let meant = self.otherCommands[word.lowercased()], known.contains(meant) {
            return "there is no command \"\(path) \(shown)\": did you mean \"\(path) \(meant)\"?"
        }
        guard let nearest = self.nearest(to: word, in: known) else {
            return "there is no command \"\(path) \(shown)\": \"\(path) --help\" lists the commands."
        }
        return "there is no command \"\(path) \(shown)\": did you mean \"\(path) \(nearest)\"?"
    }

    private static func shown(_ word: String) -> String { word.count > 40 ? "\(word.prefix(40))…" : word }

    /// The name with the fewest changes, if they are few enough for a typing error. A prefix of a name also counts.
    static func nearest(to word: String, in names: [String]) -> String? {
        guard word.count <= 40 else { return nil }
        let word = word.lowercased()
        if word.count >= 2, let longer = names.first(where: { $0.hasPrefix(word) }) { return longer }
        // A name with something behind it, as --report-junit for --report.
        if let shorter = names.first(where: { $0.count >= 4 && word.hasPrefix($0 + "-") }) { return shorter }
        let near = names.map { (name: $0, distance: self.distance(Array(word), Array($0))) }.min { $0.distance < $1.distance }
        guard let near, near.distance <= (near.name.count <= 3 || word.count <= 3 ? 1 : 2) else { return nil }
        return near.name
    }

    /// Insertions, removals, replacements and swaps of neighbours (Damerau and Levenshtein's distance with each place changed once).
    static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var rows = [Array(0...other.count)]
        for (index, character) in one.enumerated() {
            var row = [index + 1]
            for (column, wanted) in other.enumerated() {
                var best = min(rows[index][column + 1] + 1, row[column] + 1, rows[index][column] + (character == wanted ? 0 : 1))
                if index > 0, column > 0, character == other[column - 1], one[index - 1] == wanted {
                    best = min(best, rows[index - 1][column - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}
