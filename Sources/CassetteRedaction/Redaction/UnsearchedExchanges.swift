/// Exchanges that could not be searched completely for secrets, because a coding is unknown or damaged, or the content was too large.
public struct UnsearchedExchanges: Sendable, Hashable {
    public private(set) var count = 0
    /// The number of the first one, and the reason in its note.
    public private(set) var first: (id: Int, reason: String)? {
        get { self.firstID.map { ($0, self.reason) } }
        set { (self.firstID, self.reason) = (newValue?.id, newValue?.reason ?? "") }
    }

    private var firstID: Int?
    private var reason = ""

    public init() {}

    /// Counts an exchange if one of its notes says that something was not searched.
    public mutating func add(_ id: Int, notes: [String?]) {
        guard let reason = notes.lazy.compactMap({ $0.flatMap(Self.reason(in:)) }).first else { return }
        self.count += 1
        if self.first == nil { self.first = (id, reason) }
    }

    /// The part of a note that says what could not be searched and why; nil if everything was searched.
    static func reason(in note: String) -> String? {
        note.split(separator: "; ").first { part in Self.beginnings.contains { part.contains($0) } }.map(String.init)
    }

    /// Phrases of these notes; every note of an incomplete search contains one of them.
    private static let beginnings = [
        "not searched", "searched for secrets only up to", "left out", "are not applied", "cannot be searched",
        "by their looks alone",
    ]

    /// One line for people, without the name of the file; nil if everything was searched.
    public var words: String? {
        guard let first else { return nil }
        let exchanges = self.count == 1 ? "1 exchange" : "\(self.count) exchanges"
        let which = self.count == 1 ? "exchange \(first.id)" : "the first is exchange \(first.id)"
        return "\(exchanges) may hold secrets that were not searched for (\(which): \(first.reason))"
    }
}
