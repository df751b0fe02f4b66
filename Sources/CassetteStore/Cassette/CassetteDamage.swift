/// What a torn cassette has lost, next to the interactions that are intact.
///
/// A file that is wrong rather than torn has no such value: reading it throws.
public struct CassetteDamage: Sendable, Hashable {
    /// A stretch of the file that is left out.
    public struct Stretch: Sendable, Hashable {
        /// Byte range in the file; empty where nothing but closing brackets is missing.
        public var bytes: Range<Int>
        /// The line it begins at, counted from 1.
        public var line: Int
        /// What is wrong there, for people.
        public var reason: String
        /// How many interactions begin in it; nil where the stretch does not tell.
        public var interactions: Int?

        public init(bytes: Range<Int>, line: Int, reason: String, interactions: Int?) {
            self.bytes = bytes
            self.line = line
            self.reason = reason
            self.interactions = interactions
        }
    }

    public var path: String
    public var stretches: [Stretch]
    /// Where a repair has put the bytes it took out of the file.
    public var keptAt: String?

    public init(path: String, stretches: [Stretch], keptAt: String? = nil) {
        self.path = path
        self.stretches = stretches
        self.keptAt = keptAt
    }

    /// How many interactions were lost; nil where that cannot be told.
    public var interactions: Int? {
        var sum = 0
        for stretch in self.stretches {
            guard let count = stretch.interactions else { return nil }
            sum += count
        }
        return sum
    }

    public var byteCount: Int { self.stretches.reduce(0) { $0 + $1.bytes.count } }

    /// One sentence for people.
    public var summary: String {
        let lost: String
        switch self.interactions {
        case nil: lost = "an unknown number of exchanges"
        case 0: lost = "no exchange"
        case 1: lost = "1 exchange"
        case let count?: lost = "\(count) exchanges"
        }
        var text = "\"\(self.path)\" is torn: \(lost) lost, \(self.byteCount) bytes left out"
        if let first = self.stretches.first { text += ", from line \(first.line) (\(first.reason))" }
        if self.stretches.count > 1 { text += " and in \(self.stretches.count - 1) more places" }
        if let keptAt = self.keptAt { text += "; the bytes are kept in \"\(keptAt)\"" }
        return text
    }
}
