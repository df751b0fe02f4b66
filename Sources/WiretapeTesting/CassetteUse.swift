internal import Foundation
internal import TapeBytes
internal import Testing
internal import Wiretape

/// One test's use of a cassette: opened before its body, judged and closed behind it.
///
/// Knows no test framework: what fails the test is a text.
struct CassetteUse: Sendable {
    let cassette: Cassette
    private let plan: TestPlan
    /// Where the recorder writes into the file that is there.
    private let snapshot: CassetteSnapshot?
    private let isClaimed: Bool

    /// Opens it; where it is to be recorded, its folder is made.
    init(_ plan: TestPlan) throws {
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
    private static func remedy(_ mode: TestMode, _ plan: TestPlan) -> String {
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

extension CassetteUse {
    /// Runs the body of a test of Swift Testing with the cassette and closes it; what fails the test becomes an issue of it.
    ///
    /// A test that is cancelled is not judged.
    func run(_ test: Test, sourceLocation: SourceLocation, _ body: @Sendable () async throws -> Void) async throws {
        let watch = FailureWatch()
        let result: Result<Void, any Error>
        do {
            try await Cassette.$current.withValue(self.cassette) { try await watch.watch(test, body) }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        let problem = self.end(failed: watch.hasFailed || Task.isCancelled)
        if let problem, !Task.isCancelled { Issue.record(Comment(rawValue: problem), sourceLocation: sourceLocation) }
        try result.get()
    }
}

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

/// A cassette's file as it was when a test began, for a test that adds exchanges to it and fails.
///
/// Holds the file in memory: a cassette keeps large bodies in files beside it, of which the names are enough.
struct CassetteSnapshot: Sendable {
    private let path: String
    private let octets: Data
    private let bodies: Set<String>

    /// Nil where there is no file, or where it cannot be read: then no recorder can add to it either.
    init?(of path: String) {
        guard let octets = FileManager.default.contents(atPath: path) else { return nil }
        self.path = path
        self.octets = octets
        self.bodies = Self.names(Self.folder(path))
    }

    /// Takes out what has come since.
    func restore() throws {
        let folder = Self.folder(self.path)
        if FileManager.default.contents(atPath: self.path) != self.octets {
            try self.octets.write(to: URL(fileURLWithPath: self.path), options: .atomic)
        }
        for name in Self.names(folder).subtracting(self.bodies) { try FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
        if self.bodies.isEmpty, Self.names(folder).isEmpty { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Where the bodies of "pets.json" are: "pets.bodies".
    private static func folder(_ path: String) -> String { (path as NSString).deletingPathExtension + ".bodies" }

    private static func names(_ folder: String) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    }
}

/// Sees whether a test of Swift Testing fails while its body runs.
///
/// Failed expectations do not throw: they are issues. One that belongs to no test, as of a detached task, counts for all that run.
/// Before Swift 6.2 the library tells nobody of issues, and only thrown errors are seen.
struct FailureWatch: Sendable {
    private let seen = Guarded(false)

    /// Whether something has failed the test: no warning, and no known issue.
    var hasFailed: Bool { self.seen.withLock { $0 } }

    func watch(_ test: Test, _ body: @Sendable () async throws -> Void) async throws {
        do {
            #if compiler(>=6.2)
            let watching: IssueHandlingTrait = .compactMapIssues { issue in
                if self.isFailure(issue) { self.seen.withLock { $0 = true } }
                return issue
            }
            try await watching.provideScope(for: test, testCase: nil, performing: body)
            #else
            try await body()
            #endif
        } catch {
            self.seen.withLock { $0 = true }
            throw error
        }
    }

    private func isFailure(_ issue: Issue) -> Bool {
        #if compiler(>=6.3)
        issue.isFailure
        #else
        true
        #endif
    }
}
