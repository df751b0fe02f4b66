/// The names of an open conversation's two files: `open-7.json` for its head, and `open-7.jsonl` for its messages.
///
/// Only files with such names are treated as journals.
package struct JournalName: Sendable, Hashable {
    /// How many names are tried for one exchange: recordings next to a cassette share its folder, and number their exchanges in the same
    /// way.
    static let copies = 1...1000

    /// The id of the exchange.
    package var id: Int
    /// Counted from 1; `open-7-2.json` is the second.
    package var copy: Int

    package init(id: Int, copy: Int = 1) {
        self.id = id
        self.copy = copy
    }

    /// Nil if it is not a name of either file.
    package init?(_ name: String) {
        // Most names in a folder of bodies are sidecars.
        guard name.hasPrefix("open-") else { return nil }
        let stem = name.hasSuffix(".jsonl") ? name.dropLast(6) : name.hasSuffix(".json") ? name.dropLast(5) : ""
        let parts = stem.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, parts[0] == "open", let id = Self.number(parts[1]) else { return nil }
        guard let copy = parts.count == 2 ? 1 : Self.number(parts[2]), parts.count == 2 || copy > 1 else { return nil }
        self.id = id
        self.copy = copy
    }

    /// Each number has one spelling, so that two names never mean the same journal. No recording has more than twelve digits of exchanges.
    private static func number(_ text: Substring) -> Int? {
        guard let first = text.utf8.first, first != UInt8(ascii: "0"), text.utf8.count <= 12 else { return nil }
        return text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }

    private var stem: String { self.copy == 1 ? "open-\(self.id)" : "open-\(self.id)-\(self.copy)" }
    package var head: String { "\(self.stem).json" }
    package var messages: String { "\(self.stem).jsonl" }
}
