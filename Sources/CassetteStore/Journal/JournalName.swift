/// The names of an open conversation's two files: `open-7.json`, its head, and `open-7.jsonl`, its messages.
///
/// Only files with such names are taken for a journal's.
package struct JournalName: Sendable, Hashable {
    /// Names tried for one exchange: recordings beside a cassette share its folder, and number their exchanges alike.
    static let copies = 1...1000

    /// The id of the exchange.
    package var id: Int
    /// From 1; `open-7-2.json` is the second.
    package var copy: Int

    package init(id: Int, copy: Int = 1) {
        self.id = id
        self.copy = copy
    }

    /// Nil if neither file has such a name.
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

    /// One spelling for each number: two names never mean the same journal. Twelve digits are more than any recording has exchanges.
    private static func number(_ text: Substring) -> Int? {
        guard let first = text.utf8.first, first != UInt8(ascii: "0"), text.utf8.count <= 12 else { return nil }
        return text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }

    private var stem: String { self.copy == 1 ? "open-\(self.id)" : "open-\(self.id)-\(self.copy)" }
    package var head: String { "\(self.stem).json" }
    package var messages: String { "\(self.stem).jsonl" }
}
