public import CassettePlayback
public import CassetteRun
public import TapeRecorder
package import TrafficRules

/// Why a run has failed, as its exit code. If there are several reasons, the smallest applies.
public enum RunFailure: Int32, Sendable, CaseIterable, Comparable {
    /// Something was lost or could not be read or written.
    case failed = 1
    case misses = 3
    case unused = 4
    case order = 5
    /// A secret is still in the recording, or may be: the last search did not reach all of it, or a part could not be searched, and
    /// `--fail-on unsearched` applies.
    case leak = 6
    /// A traffic rule matched no request, or could not be carried out, and that is to fail.
    case rules = 8
    /// The verdict on the client has found something, and that is to fail.
    case client = 9
    /// An isolated program tried to get past the proxy, and that is to fail.
    case escapes = 10
    /// An upload is broken, and that is to fail.
    case lint = 11

    public static func < (left: RunFailure, right: RunFailure) -> Bool { left.rawValue < right.rawValue }

    /// All reasons why the run has failed.
    ///
    /// - Parameters:
    ///   - failOn: the replay flaws that count as failures.
    ///   - recorder: nil if nothing was recorded.
    ///   - rules: what became of each traffic rule.
    ///   - findings: the number of findings about the client.
    ///   - escapes: how often an isolated program tried to get past the proxy.
    ///   - defects: the number of defects in uploads.
    package static func all(
        failOn: FailureRule, verdict: Verdict, counts: ProxyCounts, recorder: RecorderStatus?, rules: [RuleReport] = [], findings: Int = 0,
        escapes: Int = 0, defects: Int = 0
    ) -> Set<RunFailure> {
        var failures: Set<RunFailure> = []
        if counts.unreadable > 0 || verdict.unserved > 0 { failures.insert(.failed) }
        if let recorder, recorder.lost > 0 || recorder.firstProblem != nil { failures.insert(.failed) }
        if let recorder, !recorder.leaks.isEmpty { failures.insert(.leak) }
        // A secret that the last search would have found may be in clear.
        if let recorder, recorder.unchecked > 0 { failures.insert(.leak) }
        if let recorder, failOn.others.contains(.unsearched), recorder.unsearchedExchanges.count > 0 { failures.insert(.leak) }
        if failOn.others.contains(.rules), rules.contains(where: { $0.neverMatched || !$0.notes.isEmpty }) { failures.insert(.rules) }
        if failOn.others.contains(.client), findings > 0 { failures.insert(.client) }
        if failOn.others.contains(.escapes), escapes > 0 { failures.insert(.escapes) }
        if failOn.others.contains(.lint), defects > 0 { failures.insert(.lint) }
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

/// Which flaws of a replay are failures, and which other things fail a run.
///
/// An answer that could not be given is always a failure. A replay without a single request and a replay of a damaged cassette are failures
/// under every rule but `none`, because such a run shows nothing, or less than it seems to.
public struct FailureRule: Sendable, Hashable, CustomStringConvertible {
    /// A reason to fail that is not a flaw of a replay.
    public enum Other: String, Sendable, Hashable, CaseIterable {
        /// Something in a recording could not be searched for secrets.
        case unsearched
        /// A traffic rule matched no request, or could not be carried out.
        case rules
        /// The verdict on the client has found something.
        case client
        /// An isolated program tried to get past the proxy.
        case escapes
        /// An upload is broken.
        case lint
    }

    public static let standard = FailureRule([.miss])

    private static let flawNames: [VerdictFlaw] = [.miss, .unused, .order]
    /// The names of all reasons to fail, and `none`.
    static let names = flawNames.map(\.rawValue) + Other.allCases.map(\.rawValue) + ["none"]
    private static let next = "use any of miss, unused, order, unsearched, rules, client, escapes and lint, or only none"

    /// The flaws that the rule names.
    public let flaws: Set<VerdictFlaw>
    public let others: Set<Other>

    /// The checks of a replay's report that fail a run under this rule.
    package var failingChecks: Set<ReplayReport.Check.Kind> {
        Set(
            [(Other.rules, ReplayReport.Check.Kind.rule), (.client, .client), (.escapes, .client)].filter { self.others.contains($0.0) }
                .map(\.1))
    }

    /// All flaws that fail a run under this rule.
    public var failing: Set<VerdictFlaw> {
        self.flaws.isEmpty && self.others.isEmpty ? [] : self.flaws.union([.unasked, .damage])
    }

    public init(_ flaws: Set<VerdictFlaw>, others: Set<Other> = []) {
        self.flaws = flaws
        self.others = others
    }

    /// Names out of `miss`, `unused`, `order`, `unsearched`, `rules`, `client`, `escapes` and `lint`, or `none` alone.
    public init(names: [String]) throws(SettingError) {
        if names == ["none"] {
            self.init([])
            return
        }
        var flaws: Set<VerdictFlaw> = []
        var others: Set<Other> = []
        for name in names {
            if let other = Other(rawValue: name) {
                others.insert(other)
            } else if let flaw = Self.flawNames.first(where: { $0.rawValue == name }) {
                flaws.insert(flaw)
            } else {
                throw SettingError("\"\(name)\" is not a reason to fail; \(Self.next)")
            }
        }
        guard !flaws.isEmpty || !others.isEmpty else { throw SettingError("the list is empty; \(Self.next)") }
        self.init(flaws, others: others)
    }

    /// With strict order, a request refused because of its order counts like one that nothing answers.
    public func under(_ order: ReplayOrder) -> FailureRule {
        order == .strict && self.flaws.contains(.miss) ? FailureRule(self.flaws.union([.order]), others: self.others) : self
    }

    public var description: String {
        let names =
            Self.flawNames.filter { self.flaws.contains($0) }.map(\.rawValue)
            + Other.allCases.filter { self.others.contains($0) }.map(\.rawValue)
        return names.isEmpty ? "none" : names.joined(separator: ",")
    }
}
