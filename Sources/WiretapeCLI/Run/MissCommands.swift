internal import CassetteTools

/// The command lines that a miss suggests, made of the one that was run, so that they can be pasted.
///
/// The report of a replay knows rules, but not how the program was started.
struct MissCommands {
    /// The words after the program's name.
    private let words: [String]
    private let file: String

    init(words: [String], file: String) {
        self.words = words
        self.file = file
    }

    /// A line of a report with whole commands in place of `run with: --ignore …` and `COMMAND`.
    func complete(_ text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { self.line(String($0)) }
        // The report suggests no rule for these places, because it would make many requests equal. A person may still want that.
        if let way = self.wayOut(lines), let place = lines.firstIndex(where: { $0.hasPrefix("to record it") }) {
            lines.insert(way, at: place)
        }
        return lines.joined(separator: "\n")
    }

    /// A command that ignores every place in which the nearest request differs; nil if the report has one, or a difference is none of a place.
    private func wayOut(_ lines: [String]) -> String? {
        guard !lines.contains(where: { $0.hasPrefix("to match it") }),
            let first = lines.firstIndex(where: { $0.hasPrefix("  exchange ") })
        else { return nil }
        var places: [String] = []
        for line in lines[(first + 1)...].prefix(while: { $0.hasPrefix("    ") }) {
            guard let place = self.place(of: line.drop { $0 == " " }) else { return nil }
            if !places.contains(place) { places.append(place) }
        }
        guard !places.isEmpty else { return nil }
        // Which requests that makes equal is not known here.
        let number = lines[first].dropFirst("  exchange ".count).prefix { $0.isNumber }
        let options = places.map { "--ignore \(ShellWord.quoted($0))" }.joined(separator: " ")
        return
            "to match it with exchange \(number) all the same, as any other request that differs only there: \(self.command(adding: options))"
    }

    /// The place that a line of differences is about, as `--ignore` takes it.
    private func place(of line: Substring) -> String? {
        for place in ["method", "scheme", "host", "port", "path", "body"] where line.hasPrefix("\(place) is ") { return place }
        guard line.hasPrefix("query item "), let quote = line.firstIndex(of: "\"") else { return nil }
        let name = line[line.index(after: quote)...].prefix { $0 != "=" && $0 != "\"" }
        return name.isEmpty || name.contains("\\") ? nil : "query:\(name)"
    }

    private func line(_ line: String) -> String {
        guard line.hasPrefix("to ") else { return line }
        return line.components("; to ").enumerated().map { index, part in self.part(index == 0 ? part : "to " + part) }
            .joined(separator: "\n")
    }

    private func part(_ text: String) -> String {
        if let range = text.firstRange(of: ", run with: ") {
            return text[..<range.lowerBound] + ": " + self.command(adding: String(text[range.upperBound...]))
        }
        if let range = text.firstRange(of: "--mode new-episodes"), let start = text.firstRange(of: ", run: ") {
            _ = range
            return text[..<start.lowerBound] + ": " + self.recording
        }
        return text
    }

    private var parts: (options: [String], program: [String]) {
        guard let end = self.words.firstIndex(of: "--") else { return (self.words, []) }
        return (Array(self.words[..<end]), Array(self.words[end...]))
    }

    /// - Parameter options: spelled for a shell.
    private func command(adding options: String) -> String {
        let (own, program) = self.parts
        return (["wiretape"] + own.map(ShellWord.quoted) + [options] + program.map(ShellWord.quoted)).joined(separator: " ")
    }

    private var recording: String {
        var (own, program) = self.parts
        if let place = own.firstIndex(of: "replay") { own[place] = "run" }
        if let place = own.firstIndex(of: "--mode"), place + 1 < own.count { own.removeSubrange(place...(place + 1)) }
        own.removeAll { $0.hasPrefix("--mode=") }
        return (["wiretape"] + own.map(ShellWord.quoted) + ["--mode", "new-episodes"] + program.map(ShellWord.quoted)).joined(
            separator: " ")
    }
}

extension String {
    /// The pieces between the occurrences of a text.
    fileprivate func components(_ separator: String) -> [String] {
        var (pieces, rest) = ([String](), self[...])
        while let range = rest.firstRange(of: separator) {
            pieces.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return pieces + [String(rest)]
    }
}
