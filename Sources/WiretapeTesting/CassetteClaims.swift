internal import TapeBytes

/// The cassettes that tests of this process are recording at this moment, by their paths.
///
/// Of two recordings of one file one would be lost, and who replays half a recording misses what is still to come. Says nothing of other
/// processes: a recorder locks its file against those.
struct CassetteClaims: Sendable {
    static let shared = CassetteClaims()

    private let paths = Guarded<Set<String>>([])

    /// - Parameter records: whether the caller is going to record; asked while nobody else can begin to.
    /// - Returns: whether the caller has to release the path.
    /// - Throws: where somebody is recording there.
    func claim(_ path: String, of name: CassetteName, records: () -> Bool) throws(CassetteTestError) -> Bool {
        let isClaimed = self.paths.withLock { paths -> Bool? in
            guard !paths.contains(path) else { return nil }
            guard records() else { return false }
            paths.insert(path)
            return true
        }
        guard let isClaimed else {
            throw CassetteTestError(
                .inUse,
                "the cassette \"\(name)\" is being recorded by another test at this moment; give each test one of its own, or run them .serialized"
            )
        }
        return isClaimed
    }

    func release(_ path: String) { _ = self.paths.withLock { $0.remove(path) } }
}
