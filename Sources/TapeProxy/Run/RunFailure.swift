public import CassettePlayback
public import CassetteRun
public import TapeRecorder

/// Why a run has failed, as its exit code. Of several the smallest goes first.
public enum RunFailure: Int32, Sendable, CaseIterable, Comparable {
    /// Something was lost, or could not be read or written.
    case failed = 1
    case misses = 3
    case unused = 4
    case order = 5
    /// A secret is still in the recording.
    case leak = 6

    public static func < (left: RunFailure, right: RunFailure) -> Bool { left.rawValue < right.rawValue }

    /// Every reason for which the run has failed.
    ///
    /// - Parameters:
    ///   - failOn: which flaws of the replay count.
    ///   - recorder: nil if nothing was recorded.
    public static func all(
        failOn: FailureRule, verdict: Verdict, counts: ProxyCounts, recorder: RecorderStatus?
    ) -> Set<RunFailure> {
        var failures: Set<RunFailure> = []
        if counts.unreadable > 0 || verdict.unserved > 0 { failures.insert(.failed) }
        if let recorder, recorder.lost > 0 || recorder.firstProblem != nil { failures.insert(.failed) }
        if let recorder, !recorder.leaks.isEmpty { failures.insert(.leak) }
        for flaw in failOn.flaws where verdict.count(of: flaw) > 0 {
            switch flaw {
            case .miss: failures.insert(.misses)
            case .unused: failures.insert(.unused)
            case .order: failures.insert(.order)
            case .unserved, .damage: failures.insert(.failed)
            }
        }
        return failures
    }
}

/// Which flaws of a replay are failures.
///
/// An answer that could not be given is one in any case.
public struct FailureRule: Sendable, Hashable, CustomStringConvertible {
    public static let standard = FailureRule([.miss])

    private static let names: [VerdictFlaw] = [.miss, .unused, .order]

    public let flaws: Set<VerdictFlaw>

    public init(_ flaws: Set<VerdictFlaw>) {
        self.flaws = flaws
    }

    /// Names out of `miss`, `unused` and `order`, or `none` alone.
    public init(names: [String]) throws(SettingError) {
        if names == ["none"] {
            self.flaws = []
            return
        }
        var flaws: Set<VerdictFlaw> = []
        for name in names {
            guard let flaw = Self.names.first(where: { $0.rawValue == name }) else {
                throw SettingError("\"\(name)\" is not a reason to fail; write any of miss, unused and order, or none alone")
            }
            flaws.insert(flaw)
        }
        guard !flaws.isEmpty else {
            throw SettingError("the list is empty; write any of miss, unused and order, or none alone")
        }
        self.flaws = flaws
    }

    /// A request that strict order refused is as bad as one that nothing answers.
    public func under(_ order: ReplayOrder) -> FailureRule {
        order == .strict && self.flaws.contains(.miss) ? FailureRule(self.flaws.union([.order])) : self
    }

    public var description: String {
        self.flaws.isEmpty ? "none" : Self.names.filter { self.flaws.contains($0) }.map(\.rawValue).joined(separator: ",")
    }
}
