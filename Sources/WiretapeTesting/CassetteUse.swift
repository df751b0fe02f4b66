internal import Foundation
internal import Wiretape

/// One test's use of a cassette: opened before its body, judged and closed behind it.
///
/// Knows no test framework: what fails the test is a text.
struct CassetteUse: Sendable {
    let cassette: Cassette
    private let plan: CassettePlan
    /// Where the recorder writes into the file that is there.
    private let snapshot: CassetteSnapshot?
    private let isClaimed: Bool

    /// Opens it; where it is to be recorded, its folder is made.
    init(_ plan: CassettePlan) throws {
        self.plan = plan
        let isClaimed = try CassetteClaims.shared.claim(plan.path, of: plan.name) {
            plan.mode.records && (plan.mode != .once || !FileManager.default.fileExists(atPath: plan.path))
        }
        self.isClaimed = isClaimed
        self.snapshot = plan.mode == .newEpisodes ? CassetteSnapshot(of: plan.path) : nil
        do {
            if plan.mode.records {
                try FileManager.default.createDirectory(
                    at: URL(fileURLWithPath: plan.path).deletingLastPathComponent(), withIntermediateDirectories: true)
            }
            self.cassette = try Cassette(plan.path, mode: plan.mode, settings: plan.settings)
        } catch {
            if isClaimed { CassetteClaims.shared.release(plan.path) }
            guard let error = error as? CassetteError, error.code == .notFound else { throw error }
            throw CassetteError(
                .notFound, "there is no cassette \"\(plan.path)\"; to record \"\(plan.name)\", \(Self.remedy(.once, plan))")
        }
    }

    /// Judges what was asked of the cassette. A recording takes its place only where nothing fails the test; else the old one stays.
    ///
    /// - Parameter failed: whether the body has failed the test, or was given up. What it did not ask for is then no news.
    /// - Returns: what fails the test, in lines; nil where nothing does.
    func end(failed: Bool) -> String? {
        defer { if self.isClaimed { CassetteClaims.shared.release(self.plan.path) } }
        let report = self.cassette.report
        var flaws: Set<VerdictFlaw> = [.miss, .order, .unserved, .damage]
        // Order is a rule where it is strict; else it is a remark.
        if report.order != .strict { flaws.remove(.order) }
        let isReplay = self.plan.mode == .none || self.plan.mode == .once
        if !failed, isReplay, self.plan.unused == .fail { flaws.insert(.unused) }
        let found = report.verdict.flaws.filter(flaws.contains)
        let problem = found.isEmpty ? nil : self.text(report, flaws: flaws, unused: found.contains(.unused))
        do {
            guard problem == nil, !failed else {
                try self.cassette.abandon()
                try self.snapshot?.restore()
                return problem
            }
            let outcome = try self.cassette.close()
            return outcome.lost > 0 ? outcome.failures.joined(separator: "\n") : nil
        } catch {
            return [problem, "\(error)"].compactMap { $0 }.joined(separator: "\n")
        }
    }

    private func text(_ report: ReplayReport, flaws: Set<VerdictFlaw>, unused: Bool) -> String {
        var lines = ["\(report.numbers)."] + report.flawLines(naming: flaws)
        if unused {
            lines.append(
                "to record it anew, \(Self.remedy(.all, self.plan)); to let it be, say unused: .allow with \"\(self.plan.name)\""
            )
        }
        return lines.joined(separator: "\n")
    }

    /// How the test gets another mode.
    private static func remedy(_ mode: TestMode, _ plan: CassettePlan) -> String {
        plan.isModeFixed ? "say mode: .\(mode.rawValue) with it" : "run the test with \(TestMode.variable)=\(mode.rawValue)"
    }
}

extension RecordMode {
    fileprivate var records: Bool {
        switch self {
        case .none, .passthrough: false
        case .once, .newEpisodes, .all: true
        }
    }
}
