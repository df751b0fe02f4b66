public import CassettePlayback
public import CassetteRun
public import TapeRecorder

/// Why a run has failed, as its exit code. If there are several reasons, the smallest applies.
public enum RunFailure: Int32, Sendable, CaseIterable, Comparable {
    /// Something was lost or could not be read or written.
    case failed = 1
    case misses = 3
    case unused = 4
    case order = 5
    /// A secret is still in the recording, or may be in a part that could not be searched if `--fail-on unsearched` applies.
    case leak = 6

    public static func < (left: RunFailure, right: RunFailure) -> Bool { left.rawValue < right.rawValue }

    /// All reasons why the run has failed.
    ///
    /// - Parameters:
    ///   - failOn: the replay flaws that count as failures.
    ///   - recorder: nil if nothing was recorded.
    public static func all(
        failOn: FailureRule, verdict: Verdict, counts: ProxyCounts, recorder: RecorderStatus?
    ) -> Set<RunFailure> {
        var failures: Set<RunFailure> = []
        if counts.unreadable > 0 || verdict.unserved > 0 { failures.insert(.failed) }
        if let recorder, recorder.lost > 0 || recorder.firstProblem != nil { failures.insert(.failed) }
        if let recorder, !recorder.leaks.isEmpty { failures.insert(.leak) }
        if let recorder, failOn.isOnUnsearched, recorder.unsearchedExchanges.count > 0 { failures.insert(.leak) }
        for flaw in failOn.failing where verdict.count(of: flaw) > 0 {
            switch flaw {
            case .miss: failures.insert(.misses)
            case .unused, .unasked: failures.insert(.unused)
            case .order: failures.insert(.order)
            case .unserved, .damage: failures.insert(.failed)
            }
        }
        return failures
    }
}

/// Which flaws of a replay are failures, and whether a recording fails if part of it could not be searched for secrets.
///
/// An answer that could not be given is always a failure. A replay without a single request and a replay of a damaged cassette are failures
/// under every rule but `none`, because such a run shows nothing, or less than it seems to.
public struct FailureRule: Sendable, Hashable, CustomStringConvertible {
    public static let standard = FailureRule([.miss])

    private static let names: [VerdictFlaw] = [.miss, .unused, .order]

    /// The name of the only reason to fail that is not a replay flaw.
    private static let unsearched = "unsearched"
    private static let next = "write any of miss, unused, order and unsearched, or none alone"

    /// The flaws that the rule names.
    public let flaws: Set<VerdictFlaw>
    /// A recording fails if part of it could not be searched for secrets.
    public let isOnUnsearched: Bool

    /// All flaws that fail a run under this rule.
    public var failing: Set<VerdictFlaw> {
        self.flaws.isEmpty && !self.isOnUnsearched ? [] : self.flaws.union([.unasked, .damage])
    }

    public init(_ flaws: Set<VerdictFlaw>, isOnUnsearched: Bool = false) {
        self.flaws = flaws
        self.isOnUnsearched = isOnUnsearched
    }

    /// Accepts `miss`, `unused`, `order` and `unsearched`, or `none` alone.
    public init(names: [String]) throws(SettingError) {
        if names == ["none"] {
            self.init([])
            return
        }
        var flaws: Set<VerdictFlaw> = []
        var isOnUnsearched = false
        for name in names {
            guard name != Self.unsearched else {
                isOnUnsearched = true
                continue
            }
            guard let flaw = Self.names.first(where: { $0.rawValue == name }) else {
                throw SettingError("\"\(name)\" is not a reason to fail; \(Self.next)")
            }
            flaws.insert(flaw)
        }
        guard !flaws.isEmpty || isOnUnsearched else { throw SettingError("the list is empty; \(Self.next)") }
        self.init(flaws, isOnUnsearched: isOnUnsearched)
    }

    /// With strict order, a request refused because of its order counts like one that nothing answers.
    public func under(_ order: ReplayOrder) -> FailureRule {
        order == .strict && self.flaws.contains(.miss) ? FailureRule(self.flaws.union([.order]), isOnUnsearched: self.isOnUnsearched) : self
    }

    public var description: String {
        let names = Self.names.filter { self.flaws.contains($0) }.map(\.rawValue) + (self.isOnUnsearched ? [Self.unsearched] : [])
        return names.isEmpty ? "none" : names.joined(separator: ",")
    }
}
