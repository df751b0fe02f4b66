internal import CassetteStore
internal import Foundation
internal import TapeBytes
internal import Testing
internal import Wiretape

/// One test's use of a cassette: opens it before the test's body, checks and closes it after.
///
/// Only `run` knows a test framework. A failure of the test is a text.
struct CassetteUse: Sendable {
    let cassette: Cassette
    private let plan: TestPlan
    /// Taken if the recorder adds to an existing file.
    private let snapshot: CassetteSnapshot?
    private let isClaimed: Bool
    private let scope: CassetteScopes.Scope
    private let scopes: CassetteScopes

    /// Opens the cassette, and creates its folder if the mode records.
    ///
    /// - Parameter outer: the cassette that the test is using already.
    init(_ plan: TestPlan, within outer: Cassette? = Cassette.current, scopes: CassetteScopes = .shared) throws {
        self.plan = plan
        self.scopes = scopes
        let isClaimed = try CassetteClaims.shared.claim(plan.path, of: plan.name) {
            plan.mode.records && (plan.mode != .once || Self.isMissingOrEmpty(plan.path))
        }
        self.isClaimed = isClaimed
        if let list = plan.useList {
            do {
                try OpenedCassettes.add(plan.path, of: plan.test?.description, to: list)
            } catch {
                if isClaimed { CassetteClaims.shared.release(plan.path) }
                throw error
            }
        }
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
                .notFound, "there is no cassette \"\(plan.path)\"; \(Self.advice(plan))")
        }
        // A task of a Swift Testing test without a cassette may use the network. Tasks of XCTest cannot be recognized.
        self.scope = scopes.enter(self.cassette, of: plan.label, within: outer, allowsEscapes: plan.escapes == .allow) {
            Test.current != nil
        }
    }

    /// Whether the mode `.once` records the file.
    private static func isMissingOrEmpty(_ path: String) -> Bool {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return true }
        return attributes[.type] as? FileAttributeType == .typeRegular && attributes[.size] as? Int == 0
    }

    /// Checks and closes the cassette. A recording is kept only if nothing fails the test; otherwise an older cassette stays.
    ///
    /// - Parameter failed: whether the body has failed the test or was cancelled: unused exchanges are then not reported.
    func end(failed: Bool) -> Ending {
        let doubtful = self.scopes.doubtful(self.scope)
        let escaped = self.scopes.leave(self.scope)
        defer { if self.isClaimed { CassetteClaims.shared.release(self.plan.path) } }
        let report = self.cassette.report
        var flaws: Set<VerdictFlaw> = [.miss, .order, .unserved, .damage]
        // Order fails the test only if it is strict.
        if report.order != .strict { flaws.remove(.order) }
        let isReplay = self.plan.mode == .none || self.plan.mode == .once
        if !failed, isReplay, self.plan.unused == .fail { flaws.insert(.unused) }
        let found = report.verdict.flaws.filter(flaws.contains)
        var problems = found.isEmpty ? [] : [self.text(report, flaws: flaws, unused: found.contains(.unused))]
        if !escaped.isEmpty { problems.append(Self.text(escaped)) }
        // A test that fails may have ended before its first request.
        var warning: String?
        if !failed, escaped.isEmpty, !self.cassette.isReached {
            let replays = self.plan.mode == .none || (self.plan.mode == .once && !self.isClaimed)
            if replays, self.plan.unused == .fail {
                problems.insert(self.unreachedText, at: 0)
            } else if !replays, !doubtful.isEmpty {
                problems.append(
                    "\(self.unreachedText). While it ran, these requests were refused, and may be its own:\n\(Self.list(doubtful))")
            } else {
                warning = self.unreachedText
            }
        }
        if !failed {
            problems += self.cassette.clientFindings(hasEnded: true).map(\.line)
            if self.plan.unused == .fail { problems += self.cassette.ruleProblems }
            let notes = self.cassette.ruleWarnings + (self.plan.unused == .fail ? [] : self.cassette.ruleProblems)
            if !notes.isEmpty { warning = ([warning].compactMap { $0 } + notes).joined(separator: "\n") }
        }
        let problem = problems.isEmpty ? nil : problems.joined(separator: "\n")
        do {
            guard problem == nil, !failed else {
                // Whatever happens to the recording, restore the file as it was before the test.
                let abandoned = Result { try self.cassette.abandon() }
                try self.snapshot?.restore()
                try abandoned.get()
                return Ending(problem: problem, warning: warning)
            }
            let outcome = try self.cassette.close()
            guard outcome.lost == 0 else { return Ending(problem: outcome.failures.joined(separator: "\n"), warning: warning) }
            // A cassette without exchanges would refuse the first request that the test makes later.
            if self.plan.mode == .once, self.isClaimed, outcome.recorded == 0 {
                try? FileManager.default.removeItem(atPath: self.plan.path)
            }
            return Ending(
                warning: warning,
                recording: outcome.path.flatMap { outcome.recorded > 0 ? Recording(path: $0, count: outcome.recorded) : nil })
        } catch {
            return Ending(problem: [problem, "\(error)"].compactMap { $0 }.joined(separator: "\n"), warning: warning)
        }
    }

    struct Ending: Sendable {
        /// Why the test fails, in lines; nil if it does not.
        var problem: String?
        /// A warning that does not fail the test; nil if there is none.
        var warning: String?
        var recording: Recording?

        /// Writes the warning to standard error, for test frameworks without warnings.
        ///
        /// - Parameter name: the name of the test; nil outside of a test.
        func sayWarning(of name: String?) {
            guard let warning else { return }
            FileHandle.standardError.write(Data("wiretape: \(name.map { "\($0): " } ?? "")\(warning)\n".utf8))
        }
    }

    /// The recording of the test.
    struct Recording: Sendable, CustomStringConvertible {
        var path: String
        var count: Int

        var description: String { "recorded \(self.count) \(self.count == 1 ? "exchange" : "exchanges") into \(self.path)" }

        /// Writes a line to standard error.
        ///
        /// - Parameter name: the name of the test; nil outside of a test.
        func say(of name: String?) {
            FileHandle.standardError.write(Data("wiretape: \(name.map { "\($0) " } ?? "")\(self)\n".utf8))
        }

        /// The most bytes of a cassette that are attached to a test's results.
        static let attachmentLimit = 1 << 20
    }

    private func text(_ report: ReplayReport, flaws: Set<VerdictFlaw>, unused: Bool) -> String {
        var lines = ["\(report.numbers)."] + report.flawLines(naming: flaws)
        if unused {
            lines.append(
                "to record it again, \(Self.remedy(.all, self.plan)); to accept unused exchanges, pass unused: .allow with \"\(self.plan.name)\""
            )
        }
        return lines.joined(separator: "\n")
    }

    private static func text(_ refused: [String]) -> String {
        let advice =
            "bind the HTTPSession to the test with HTTPSession(configuration:, cassette: .current), carry the cassette there with withEscapedCassette, or pass escapes: .allow"
        return """
            \(refused.count == 1 ? "a request was" : "\(refused.count) requests were") made without the test's cassette, and refused; \(advice):
            \(self.list(refused))
            """
    }

    private static func list(_ requests: [String]) -> String { requests.map { "  \($0)" }.joined(separator: "\n") }

    private var unreachedText: String {
        "no request reached the cassette \"\(self.plan.name)\": the test makes none, or the code under test makes them with a URLSession or a transport of its own, which goes round the cassette; \(Self.ownSessionAdvice)"
    }

    private static let ownSessionAdvice = "give it URLSession(configuration: URLSessionConfiguration.recording(Cassette.current!))"

    /// How to record a cassette that does not exist.
    private static func advice(_ plan: TestPlan) -> String {
        if plan.isBundled { return "the test's bundle is read only: \(TestCassetteFolder.recordingAdvice)" }
        var text = "to record \"\(plan.name)\", \(self.remedy(.once, plan))"
        if plan.isCI { text += " on a machine where CI is not set, and commit the cassette" }
        return "\(text). If nothing is recorded there, the code under test has a URLSession of its own: \(self.ownSessionAdvice)"
    }

    /// How to run the test in another mode.
    private static func remedy(_ mode: TestMode, _ plan: TestPlan) -> String {
        plan.isModeFixed ? "pass mode: .\(mode.rawValue)" : "run the test with \(TestMode.variable)=\(mode.rawValue)"
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
    /// Finds and opens the cassette on a separate thread: tasks share only as many threads as there are cores, and reading may take long.
    static func open(_ plan: @escaping @Sendable () throws -> TestPlan) async throws -> CassetteUse {
        let outer = Cassette.current
        return try await BlockingWork.run { Result { try CassetteUse(plan(), within: outer) } }.get()
    }

    /// Runs the body of a test of Swift Testing with the cassette and closes it; a problem becomes an issue of the test, unless it was
    /// cancelled.
    func run(_ test: Test, sourceLocation: SourceLocation, _ body: @Sendable () async throws -> Void) async throws {
        let watch = FailureWatch()
        let result: Result<Void, any Error>
        do {
            try await Cassette.$current.withValue(self.cassette) { try await watch.watch(test, body) }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        let failed = watch.hasFailed || Task.isCancelled
        let ending = await BlockingWork.run { self.end(failed: failed) }
        if let problem = ending.problem, !Task.isCancelled { Issue.record(Comment(rawValue: problem), sourceLocation: sourceLocation) }
        if !Task.isCancelled { Self.warn(ending, of: test, sourceLocation) }
        if let recording = ending.recording { Self.say(recording, of: test, sourceLocation) }
        try result.get()
    }

    private static func warn(_ ending: Ending, of test: Test, _ sourceLocation: SourceLocation) {
        #if compiler(>=6.3)
        if let warning = ending.warning { Issue.record(Comment(rawValue: warning), severity: .warning, sourceLocation: sourceLocation) }
        #else
        ending.sayWarning(of: test.name)
        #endif
    }

    /// Reports the recording on a line of its own, and attaches the cassette to the test's results, so that nobody records without knowing.
    private static func say(_ recording: Recording, of test: Test, _ sourceLocation: SourceLocation) {
        recording.say(of: test.name)
        #if compiler(>=6.2)
        guard let file = FileHandle(forReadingAtPath: recording.path),
            let bytes = try? file.read(upToCount: Recording.attachmentLimit + 1)
        else { return }
        // A truncated file is no longer a cassette.
        let ending = bytes.count > Recording.attachmentLimit ? ".part" : ""
        Attachment.record(
            Array(bytes.prefix(Recording.attachmentLimit)), named: URL(fileURLWithPath: recording.path).lastPathComponent + ending,
            sourceLocation: sourceLocation)
        #endif
    }
}

/// Observes whether a test of Swift Testing fails while its body runs.
///
/// Failed expectations do not throw: they are issues. One that belongs to no test, such as that of a detached task, fails all running
/// tests. Before Swift 6.2 issues cannot be observed, and only thrown errors count.
struct FailureWatch: Sendable {
    private let seen = Guarded(false)

    /// Whether something has failed the test; warnings and known issues do not.
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

/// The paths of the cassettes that tests of this process are recording.
///
/// Keeps a second test from recording to the same file, or from replaying half a recording. Does not cover other processes: a recorder
/// locks its file against them.
struct CassetteClaims: Sendable {
    static let shared = CassetteClaims()

    private let paths = Guarded<Set<String>>([])

    /// - Parameter records: whether the caller is going to record; called under the lock.
    /// - Returns: whether the caller has to release the path.
    /// - Throws: if another test is recording there.
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
                "the cassette \"\(name)\" is being recorded by another test; give each test its own, or run them .serialized"
            )
        }
        return isClaimed
    }

    func release(_ path: String) { _ = self.paths.withLock { $0.remove(path) } }
}

/// A cassette's file as it was when a test began, to restore it if the test adds exchanges and fails.
///
/// Holds the file in memory, and only the names of the files of large bodies next to it.
struct CassetteSnapshot: Sendable {
    private let path: String
    private let contents: Data
    private let bodies: Set<String>

    /// Nil if there is no file, or if it cannot be read: then no recorder can add to it either.
    init?(of path: String) {
        guard let contents = FileManager.default.contents(atPath: path) else { return nil }
        self.path = path
        self.contents = contents
        self.bodies = Self.names(Self.folder(path))
    }

    /// Removes what was added since.
    func restore() throws {
        let folder = Self.folder(self.path)
        if FileManager.default.contents(atPath: self.path) != self.contents {
            try self.contents.write(to: URL(fileURLWithPath: self.path), options: .atomic)
        }
        for name in Self.names(folder).subtracting(self.bodies) { try FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
        if self.bodies.isEmpty, Self.names(folder).isEmpty { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// The folder of the bodies: "pets.bodies" for "pets.json".
    private static func folder(_ path: String) -> String { (path as NSString).deletingPathExtension + ".bodies" }

    private static func names(_ folder: String) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    }
}
