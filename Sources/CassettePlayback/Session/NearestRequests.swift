/// Finds the recorded requests that are most like one that was not recorded.
///
/// Looks at all sketches, then takes apart the few that look best: half a millisecond among a hundred thousand.
struct NearestRequests {
    struct Match {
        var key: Int
        var differences: [RequestDifference]
    }

    static let limit = 3
    static let candidateLimit = 24

    private let keys: RecordedKeys

    init(in keys: RecordedKeys) {
        self.keys = keys
    }

    /// The nearest first; among equals in recorded order. Leaves out the request itself.
    func search(for request: UnsafeRawBufferPointer) -> [Match] {
        let parts = RequestParts(request)
        let itself = self.keys.number(of: request)
        var matches: [(key: Int, comparison: RequestComparison)] = []
        for key in self.candidates(RequestSketch(request)) where key != itself {
            let recorded = self.keys.withBytes(ofKey: key) { RequestParts($0) }
            matches.append((key, RequestComparison(parts, recorded)))
        }
        matches.sort { ($0.comparison.distance, $0.key) < ($1.comparison.distance, $1.key) }
        return matches.prefix(Self.limit).map { Match(key: $0.key, differences: $0.comparison.differences) }
    }

    private func candidates(_ sketch: RequestSketch) -> [Int] {
        var best: [(key: Int, distance: Int)] = []
        best.reserveCapacity(Self.candidateLimit + 1)
        var worst = Int.max
        for (key, recorded) in self.keys.sketches.enumerated() {
            let distance = recorded.distance(to: sketch)
            guard distance < worst else { continue }
            let place = best.firstIndex { $0.distance > distance } ?? best.count
            best.insert((key, distance), at: place)
            if best.count > Self.candidateLimit { best.removeLast() }
            if best.count == Self.candidateLimit { worst = best[Self.candidateLimit - 1].distance }
        }
        return best.map(\.key)
    }
}
