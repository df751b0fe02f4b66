/// The arguments after the program's name.
struct Arguments {
    private var words: [String]

    init(_ words: some Sequence<String>) { self.words = Array(words) }

    mutating func next() -> String? { self.words.isEmpty ? nil : self.words.removeFirst() }

    /// Whether the option is present; removes it.
    mutating func flag(_ name: String) -> Bool {
        guard let index = self.words.firstIndex(of: name) else { return false }
        self.words.remove(at: index)
        return true
    }

    /// The number after an option; nil without the option.
    mutating func number(_ name: String) throws -> Int? {
        guard let index = self.words.firstIndex(of: name) else { return nil }
        guard index + 1 < self.words.count, let number = Int(self.words[index + 1]) else {
            throw ProbeError("\"\(name)\" needs a number behind it")
        }
        self.words.removeSubrange(index...index + 1)
        return number
    }

    /// The text after an option; nil without the option or the text.
    mutating func text(_ name: String) -> String? {
        guard let index = self.words.firstIndex(of: name), index + 1 < self.words.count else { return nil }
        defer { self.words.removeSubrange(index...index + 1) }
        return self.words[index + 1]
    }

    func end() throws {
        guard let word = self.words.first else { return }
        throw ProbeError("\"\(word)\" is no option here: see the first lines of ClientProbe.swift")
    }
}
