public import CassettePlayback

/// What came of a cassette that was closed.
public struct CassetteOutcome: Sendable, Hashable {
    /// The file that was recorded; nil where nothing was.
    public var path: String?
    /// Exchanges recorded.
    public var recorded: Int
    /// Exchanges that could not be written.
    public var lost: Int
    public var report: ReplayReport
    /// What `CassetteSettings.failOn` takes for failures, each with its next step; empty where all is well.
    public var failures: [String]

    init(path: String?, recorded: Int, lost: Int, report: ReplayReport, failOn: Set<VerdictFlaw>) {
        self.path = path
        self.recorded = recorded
        self.lost = lost
        self.report = report
        var flaws = failOn.union([.unserved])
        // A request that strict order refused is as bad as one that nothing answers.
        if report.order == .strict, failOn.contains(.miss) { flaws.insert(.order) }
        self.failures = report.flawLines(naming: flaws)
        if lost > 0 {
            self.failures.append(
                "\(lost) recorded \(lost == 1 ? "exchange" : "exchanges") could not be written: make room on the disk and record again")
        }
    }
}
