/// What redaction did to a message.
public struct RedactionOutcome: Sendable, Hashable {
    /// Placeholders that were put in, each place counted.
    public var count = 0
    public var isBodyChanged = false
    /// Sentences for people on what could not be looked into or could not be made right; for `Body.note`.
    public var notes: [String] = []

    public init() {}

    public var isChanged: Bool { self.count > 0 || self.isBodyChanged }
    public var note: String? { self.notes.isEmpty ? nil : self.notes.joined(separator: "; ") }

    /// Adds what another look did.
    public mutating func add(_ other: RedactionOutcome) {
        self.count += other.count
        self.isBodyChanged = self.isBodyChanged || other.isBodyChanged
        self.notes += other.notes.filter { !self.notes.contains($0) }
    }
}
