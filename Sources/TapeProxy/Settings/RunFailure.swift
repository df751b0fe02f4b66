public import CassettePlayback
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

    /// All that has gone wrong.
    ///
    /// - Parameters:
    ///   - failOn: which flaws of the replay count.
    ///   - recorder: nil where nothing was recorded.
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
