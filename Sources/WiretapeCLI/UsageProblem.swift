internal import ArgumentParser
internal import CassetteImport

/// Says in one sentence what is wrong with a command line that the parser has rejected, and what to write.
///
/// The parser's own messages name the value and list every help text of the option. This one names what was meant.
struct UsageProblem {
    /// The line to print; nil if the parser's message is good as it is.
    let text: String

    /// - Parameters:
    ///   - message: the parser's, without usage.
    ///   - full: the same with the help of the option.
    init?(message: String, full: String, arguments: [String], in root: any ParsableCommand.Type) {
        let (command, path) = Self.command(arguments, in: root)
        let name = path.joined(separator: " ")
        let help = Self.help(in: full)
        if let found = Self.invalid(message) {
            self.text = Self.describe(found, command: path.dropFirst().first ?? "", help: help)
        } else if let missing = Self.quoted(after: "Missing value for ", message) {
            self.text =
                "\(Self.option(missing)) needs a value after it, \(Self.placeholder(missing) ?? "its value")\(help.map { ": \(Self.lowercased($0))" } ?? ".")"
        } else if let missing = Self.quoted(after: "Missing expected argument ", message) {
            let example = Self.example(of: command, name)
            let what = missing.hasPrefix("--") ? Self.option(missing) : missing
            self.text =
                "\"\(name)\" needs \(what)\(help.map { " (\(Self.lowercased($0)))" } ?? "")\(example.map { ", as in: \($0)" } ?? ".")"
                .replacing(".)", with: ")")
        } else if let unexpected = Self.quoted(after: "Unexpected argument ", message) {
            let example = Self.example(of: command, name).map { ", as in: \($0)" } ?? "."
            self.text = "\"\(unexpected)\" is one argument too many for \"\(name)\"\(example)"
        } else if message.contains(" is not a "), let meant = Self.meant(in: message) {
            self.text = message + (message.hasSuffix(".") ? "" : ".") + " Did you mean \(meant)?"
        } else {
            return nil
        }
    }

    /// The command that was named, and its path with the program's name.
    private static func command(_ arguments: [String], in root: any ParsableCommand.Type) -> (any ParsableCommand.Type, [String]) {
        var command = root
        var path = [root.configuration.commandName ?? ""]
        for word in arguments {
            guard
                let next = command.configuration.subcommands.first(where: {
                    $0.configuration.commandName == word || $0.configuration.aliases.contains(word)
                })
            else { break }
            command = next
            path.append(word)
        }
        return (command, path)
    }

    // MARK: Values

    private struct Invalid {
        var value: String
        /// `--mode <mode>` or `<n>`
        var option: String
        var choices: [String]
        var reason: String?
    }

    private static func invalid(_ message: String) -> Invalid? {
        guard let start = message.firstRange(of: "The value '"), let middle = message.firstRange(of: "' is invalid for '") else {
            return nil
        }
        let rest = message[middle.upperBound...]
        guard let end = rest.firstIndex(of: "'") else { return nil }
        let option = String(rest[..<end])
        let after = rest[rest.index(after: end)...]
        var choices: [String] = []
        if after.contains("Please provide one of") {
            choices = after.split(separator: "'", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map {
                String($0.element)
            }
        }
        let reason = after.hasPrefix(": ") ? String(after.dropFirst(2)) : nil
        return Invalid(
            value: String(message[start.upperBound..<middle.lowerBound]), option: option, choices: choices, reason: reason)
    }

    private static func describe(_ found: Invalid, command: String, help: String?) -> String {
        let option = self.option(found.option)
        let value = found.value.count > 60 ? "\(found.value.prefix(60))…" : found.value
        if option == "--listen" || option == "--control" {
            return "\(option) takes HOST:PORT or a port from 0 to 65535, such as 127.0.0.1:7070 or 7070, and not \"\(value)\"."
        }
        if found.option == "<n>" {
            return "\"\(value)\" is not the number of an exchange: \"wiretape inspect FILE\" lists them."
        }
        if option == "--exchanges" {
            return "--exchanges takes two numbers of exchanges, such as 3:7, or one for both, and not \"\(value)\"."
        }
        // The parser lists no choices of types that have none of its own.
        let choices = option == "--from" ? ImportKind.allCases.map(\.rawValue) : found.choices
        if !choices.isEmpty {
            let list = choices.dropLast().joined(separator: ", ") + (choices.count > 1 ? " or " : "") + (choices.last ?? "")
            let nearest = Self.nearest(to: value, in: choices).map { ": did you mean \($0)?" } ?? "."
            return "\(option) takes \(list), and not \"\(value)\"\(nearest)"
        }
        if let reason = found.reason {
            let known = self.names(in: reason)
            let wrong = reason.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first.map(String.init) ?? value
            let nearest = Self.nearest(to: wrong, in: known).map { " Did you mean \($0)?" } ?? ""
            return "\(option): \(reason)\(reason.hasSuffix(".") ? "" : ".")\(nearest)"
        }
        return "\(option) does not take \"\(value)\"\(help.map { ": \(self.lowercased($0))" } ?? ".")"
    }

    /// The choice that was probably meant: one with few changes, or whose beginning has.
    private static func nearest(to word: String, in choices: [String]) -> String? {
        let word = word.lowercased()
        let near = choices.map { choice in
            let whole = CommandSuggestion.distance(Array(word), Array(choice)) * 2
            let beginning = CommandSuggestion.distance(Array(word), Array(choice.prefix(word.count))) * 2 + 1
            return (choice: choice, distance: min(whole, beginning))
        }.min { ($0.distance, -$0.choice.count) < ($1.distance, -$1.choice.count) }
        guard let near, near.distance <= max(2, min(word.count - 1, 5)) else { return nil }
        return near.choice
    }

    /// The name before the colon that was probably meant, with what follows it: `query:page` for `qeury:page`.
    private static func meant(in message: String) -> String? {
        let quoted = message.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
        guard quoted.count >= 3, quoted[0].isEmpty || quoted[0].hasSuffix(" ") else { return nil }
        let word = quoted[1].prefix { $0 != ":" }
        let rest = quoted[1].dropFirst(word.count)
        let known = quoted.dropFirst(2).joined(separator: " ").split { !($0.isLetter || $0 == "-" || $0 == ":") }
            .map { String($0.prefix { $0 != ":" }) }.filter { $0.count > 2 }
        guard let nearest = self.nearest(to: String(word), in: known), nearest != word else { return nil }
        return nearest + rest
    }

    /// The single words of a list such as `use any of miss, unused and order`.
    private static func names(in reason: String) -> [String] {
        guard let start = reason.firstRange(of: "of ") else { return [] }
        return reason[start.upperBound...].split { !($0.isLetter || $0 == "-") }.map(String.init).filter {
            !["and", "or", "only"].contains($0)
        }
    }

    // MARK: Pieces of the parser's text

    /// `--mode` of `--mode <mode>`.
    private static func option(_ text: String) -> String { text.split(separator: " ").first.map(String.init) ?? text }

    private static func placeholder(_ text: String) -> String? { text.split(separator: " ").dropFirst().first.map(String.init) }

    private static func quoted(after start: String, _ message: String) -> String? {
        guard let range = message.firstRange(of: start + "'") else { return nil }
        let rest = message[range.upperBound...]
        return rest.firstIndex(of: "'").map { String(rest[..<$0]) }
    }

    /// The option's help, which the parser prints below its message.
    private static func help(in full: String) -> String? {
        guard let line = full.split(separator: "\n").first(where: { $0.hasPrefix("Help:") }), let gap = line.range(of: "  ", after: 7)
        else { return nil }
        return String(line[gap.upperBound...])
    }

    private static func lowercased(_ text: String) -> String {
        guard let first = text.first, text.dropFirst().first?.isUppercase != true else { return text }
        return first.lowercased() + text.dropFirst()
    }

    /// The first example in the command's help.
    private static func example(of command: any ParsableCommand.Type, _ name: String) -> String? {
        command.configuration.discussion.split(separator: "\n").map { $0.drop { $0 == " " } }.first { $0.hasPrefix("\(name) ") }
            .map(String.init)
    }
}

extension Substring {
    /// The first occurrence of a text after some characters.
    fileprivate func range(of text: String, after count: Int) -> Range<Index>? { self.dropFirst(count).firstRange(of: text) }
}
