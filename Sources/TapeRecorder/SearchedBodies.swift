internal import CassetteModel
internal import Platform

/// Bodies that were searched for secrets and held none: what a program asks for again and again is taken out of its codings and searched
/// once, as long as no further secret becomes known.
///
/// Not Sendable: each thread that searches has its own.
final class SearchedBodies {
    /// What a search depends on.
    struct Key: Hashable {
        private enum Content: Equatable {
            /// Compared as they are, which is faster than any digest of them.
            case octets([UInt8])
            case digest([UInt8])

            static func == (left: Content, right: Content) -> Bool {
                switch (left, right) {
                case (.octets(let left), .octets(let right)), (.digest(let left), .digest(let right)):
                    left.count == right.count
                        && left.withUnsafeBytes { left in
                            right.withUnsafeBytes { right in
                                // Empty arrays have no addresses.
                                guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return true }
                                return memcmp(leftStart, rightStart, left.count) == 0
                            }
                        }
                default: false
                }
            }
        }

        private let content: Content
        private let types: [String]
        private let codings: [String]
        private let isComplete: Bool

        /// Nil for a body that is searched as fast as it is compared, or has more to be searched than its octets.
        init?(_ body: LooseBody, _ headers: HeaderFields) {
            // What stands behind the sizes of its chunks is no part of its octets, and may be another each time.
            guard body.arrival?.lastLine == nil, body.arrival?.pieces.contains(where: { $0.line != nil }) != true else { return nil }
            switch body.place {
            case .memory(let octets):
                // What is behind a coding may be any number of times longer.
                guard octets.count >= SearchedBodies.smallest || headers.contains("content-encoding") else { return nil }
                self.content = .octets(octets)
            case .spool(let spool):
                self.content = .digest(spool.sha256())
            }
            self.types = headers.values("content-type")
            self.codings = headers.values("content-encoding")
            self.isComplete = body.isComplete
            guard (self.types + self.codings).reduce(0, { $0 + $1.utf8.count }) <= SearchedBodies.valueLimit else { return nil }
        }

        /// Octets held.
        var weight: Int {
            switch self.content {
            case .octets(let octets), .digest(let octets): octets.count
            }
        }

        /// Of octets, where kinds of bodies differ: their end, with the checksum of a gzip body, and their number.
        func hash(into hasher: inout Hasher) {
            switch self.content {
            case .octets(let octets), .digest(let octets):
                hasher.combine(octets.count)
                octets.suffix(64).withUnsafeBytes { hasher.combine(bytes: $0) }
            }
        }
    }

    static let smallest = 4 << 10
    /// Octets of the fields in a key.
    private static let valueLimit = 1024
    /// Bodies remembered: beyond that all are forgotten.
    static let limit = 4096
    /// Octets of them.
    static let octetLimit = 4 << 20

    private var known: Set<Key> = []
    private var octets = 0
    private var generation = 0

    /// - Parameter generation: of the vault; what was found clean knowing less counts no more.
    func contains(_ key: Key?, at generation: Int) -> Bool {
        guard let key, generation == self.generation else { return false }
        return self.known.contains(key)
    }

    func insert(_ key: Key?, at generation: Int) {
        guard let key else { return }
        if generation != self.generation || self.known.count >= Self.limit || self.octets + key.weight > Self.octetLimit {
            self.known = []
            self.octets = 0
        }
        self.generation = generation
        if self.known.insert(key).inserted { self.octets += key.weight }
    }
}
