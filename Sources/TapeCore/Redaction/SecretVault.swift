/// The secrets of a run and their placeholders: the same secret, the same placeholder.
///
/// Lives in memory only. Any thread may use it.
public final class SecretVault: Sendable {
    private struct State: Sendable {
        var placeholders: [Placeholder] = []
        /// By the octets without escapes, so that all spellings are one secret.
        var numbers: [[UInt8]: Int] = [:]
        var counts: [String: Int] = [:]
        var searched: Set<[UInt8]> = []
        var index = NeedleIndex()
        var octets = 0
        var generation = 0
    }

    /// Secrets of one run. Each takes about two kilobytes with its spellings.
    public static let limit = 100_000
    /// Octets of all secrets of one run.
    public static let octetLimit = 64 << 20

    private let state: Guarded<State>
    private let own = Guarded(0)

    public init() { self.state = Guarded(State()) }

    /// Another way to the same secrets, for a second thread: what is learned through one is found through the other, and counted apart.
    package init(sharing other: SecretVault) { self.state = other.state }

    /// Secrets held.
    public var count: Int { self.state.withLock { $0.placeholders.count } }

    /// Counts up with each secret that is searched for: octets looked at with this number need no second look while it stays.
    public var generation: Int { self.state.withLock { $0.generation } }

    /// Counts up with each secret that is searched for first through this object. While it stays, a search has taught nothing that it
    /// should itself be repeated for.
    package var learned: Int { self.own.withLock { $0 } }

    /// The placeholder of a secret, which is a new one for one not seen yet. Its number is 0 where there is no room for more.
    ///
    /// - Parameter isSure: the place it comes from holds nothing but secrets; see `SecretReach`.
    public func placeholder(for secret: [UInt8], kind: String, isSure: Bool = true) -> Placeholder {
        self.placeholder(for: secret, kind: kind, reach: SecretReach(secret, isSure: isSure))
    }

    func placeholder(for secret: [UInt8], kind: String, reach: SecretReach, pieces: [[UInt8]] = []) -> Placeholder {
        let canonical = EscapeView.canonical(secret)
        return self.state.withLock { state in
            let number: Int
            if let known = state.numbers[canonical] {
                number = known
            } else {
                guard state.placeholders.count < Self.limit, secret.count <= Self.octetLimit - state.octets else {
                    return Placeholder(kind: kind, number: 0)
                }
                number = state.placeholders.count
                state.numbers[canonical] = number
                state.octets += secret.count
                let kind = Placeholder.kind(kind)
                state.counts[kind, default: 0] += 1
                state.placeholders.append(Placeholder(kind: kind, number: state.counts[kind, default: 1]))
            }
            if reach != .place, state.searched.insert(secret).inserted {
                state.index.insert(secret, as: number, standsAlone: reach == .word)
                for piece in pieces { state.index.insert(piece, as: number, standsAlone: false) }
                state.generation += 1
                self.own.withLock { $0 += 1 }
            }
            return state.placeholders[number]
        }
    }

    /// Counts on behind placeholders that stand somewhere already, whose secrets nobody knows any more.
    public func countOn(behind tally: PlaceholderTally) {
        self.state.withLock { $0.counts.merge(tally.highest) { max($0, $1) } }
    }

    /// What is searched for now, with the placeholders by number. Take it anew after learning: while it is held, learning copies it.
    func snapshot() -> (index: NeedleIndex, placeholders: [Placeholder]) {
        self.state.withLock { ($0.index, $0.placeholders) }
    }

    /// Whether nothing is searched for.
    var isEmpty: Bool { self.state.withLock { $0.index.isEmpty } }
}
