internal import ArgumentParser

/// Names the command that was probably meant where there is none of a name.
enum CommandSuggestion {
    /// The error for a command line whose command does not exist; nil if it exists, or an option comes first.
    static func problem(_ arguments: [String], in root: any ParsableCommand.Type) -> String? {
        var command = root
        var path = [root.configuration.commandName ?? ""]
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

    private static func names(_ command: any ParsableCommand.Type) -> [String] {
        (command.configuration.commandName.map { [$0] } ?? []) + command.configuration.aliases
    }

    private static func message(_ word: String, path: String, known: [String]) -> String {
        let shown = word.count > 40 ? "\(word.prefix(40))…" : word
        guard let nearest = self.nearest(to: word, in: known) else {
            return "there is no command \"\(path) \(shown)\": \"\(path) --help\" lists the commands."
        }
        return "there is no command \"\(path) \(shown)\": did you mean \"\(path) \(nearest)\"?"
    }

    /// The name with the fewest changes, if these are few enough for a typing error; a beginning of a name also counts.
    static func nearest(to word: String, in names: [String]) -> String? {
        guard word.count <= 40 else { return nil }
        let word = word.lowercased()
        if word.count >= 2, let longer = names.first(where: { $0.hasPrefix(word) }) { return longer }
        let near = names.map { (name: $0, distance: self.distance(Array(word), Array($0))) }.min { $0.distance < $1.distance }
        guard let near, near.distance <= (near.name.count <= 3 ? 1 : 2) else { return nil }
        return near.name
    }

    /// Insertions, removals, replacements and swaps of neighbours (Damerau and Levenshtein's distance with each place changed once).
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
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
