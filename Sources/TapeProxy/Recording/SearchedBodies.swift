internal import TapeCore

/// Bodies that were searched for secrets and held none: what a program asks for again and again is taken out of its codings and searched
/// once, as long as no further secret becomes known.
///
/// Not Sendable: lives on the recorder thread.
final class SearchedBodies {
    /// What a search depends on.
    struct Key: Hashable {
        private let digest: [UInt8]
        private let types: [String]
        private let codings: [String]
        private let isComplete: Bool

        /// Nil for a body that is searched as fast as its digest is made.
        init?(_ body: LooseBody, _ headers: HeaderFields) {
            switch body.place {
            case .memory(let octets):
                guard octets.count >= SearchedBodies.smallest else { return nil }
                var digest = FastSHA256()
                octets.withUnsafeBytes { digest.update($0) }
                self.digest = digest.finalize()
            case .spool(let spool):
                self.digest = spool.sha256()
            }
            self.types = headers.values("content-type")
            self.codings = headers.values("content-encoding")
            self.isComplete = body.isComplete
            guard (self.types + self.codings).reduce(0, { $0 + $1.utf8.count }) <= SearchedBodies.valueLimit else { return nil }
        }
    }

    static let smallest = 4 << 10
    /// Octets of the fields in a key.
    private static let valueLimit = 1024
    /// Bodies remembered, half a megabyte of them: beyond that all are forgotten.
    static let limit = 4096

    private var known: Set<Key> = []
    private var generation = 0

    /// - Parameter generation: of the vault; what was found clean knowing less counts no more.
    func contains(_ key: Key?, at generation: Int) -> Bool {
        guard let key, generation == self.generation else { return false }
        return self.known.contains(key)
    }

    func insert(_ key: Key?, at generation: Int) {
        guard let key else { return }
        if generation != self.generation || self.known.count >= Self.limit { self.known = [] }
        self.generation = generation
        self.known.insert(key)
    }
}
