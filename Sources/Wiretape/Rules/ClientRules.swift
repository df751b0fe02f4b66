internal import CassettePlayback
internal import Foundation
internal import TapeBytes
internal import TrafficRules

#if canImport(TapeYAML)
internal import TapeYAML
#endif

/// The traffic rules of an open cassette, with what its exchanges share: the time since it was opened, and the buckets that limit rates.
final class ClientRules: Sendable {
    /// Bytes that may pass at a time, refilled at a rate.
    private struct Bucket {
        var available: Double
        var filled: Duration
    }

    private struct BucketKey: Hashable {
        var rule: Int
        /// Empty for the whole session.
        var host: String
        var isUp: Bool
    }

    /// Hosts with a bucket of their own; more share one.
    private static let hostLimit = 1000

    /// The time since the cassette was opened, by a session's clock.
    struct Time: Sendable {
        /// What had passed by other clocks when the session made its first request.
        fileprivate let base: Duration
        fileprivate let watch: ElapsedClock

        var elapsed: Duration { self.base + self.watch.elapsed }
    }

    private struct Times {
        /// Of sessions whose clocks are not that of the system. Weak, because an address is used again.
        var ofSessions: [(owner: WeakOwner, time: Time)] = []
        /// The latest time of sessions that are gone.
        var past = Duration.zero

        var latest: Duration { self.ofSessions.reduce(self.past) { max($0, $1.time.elapsed) } }
    }

    private struct WeakOwner {
        weak var owner: ClockOwner?
    }

    let engine: RuleEngine
    /// Nil if nobody asks for a verdict on the client.
    let attempts: ClientAttempts?
    private let watch = ElapsedClock()
    private let times = Guarded(Times())
    /// Which of the rules belong to the test itself, so that each of them should match a request.
    private let ownNames: Set<String>
    private let buckets = Guarded<[BucketKey: Bucket]>([:])

    /// Nil if there are no rules, and nobody asks for a verdict.
    ///
    /// - Parameters:
    ///   - match: the match rules of the cassette, which say what equal requests are.
    ///   - path: of the cassette.
    ///
    /// Throws `SettingSyntaxError` for a rule or a threshold that is wrong.
    init?(
        _ modifications: [TrafficModification], seed: UInt64, match: MatchRules, verdict: VerdictRule?, cassette path: String
    ) throws {
        guard !modifications.isEmpty || verdict != nil else { return nil }
        self.attempts = try verdict.map { ClientAttempts(try $0.limits) }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var lists: [RuleList] = []
        var isOwn: [Bool] = []
        for modification in modifications {
            switch modification.source {
            case .rule(let node): lists.append(RuleList(node: .list([node]), file: "modify", folder: folder))
            case .file(let name): lists.append(try RulesFile.read(name))
            }
            isOwn += Array(repeating: !modification.isOfSuite, count: lists[lists.count - 1].count)
        }
        let rules = try TrafficRules(lists)
        self.engine = RuleEngine(rules, seed: seed, match: match) { DrawnURL.of($0) }
        self.ownNames = Set(zip(rules.rules, isOwn).filter { $0.1 }.map(\.0.name))
    }

    /// The time of a session.
    ///
    /// A session with the system's clock has that time. One with another clock begins where others with such clocks are.
    func time(of clock: any Clock<Duration>, owner: ClockOwner) -> Time {
        if clock is ContinuousClock { return Time(base: .zero, watch: self.watch) }
        return self.times.withLock { times in
            if let known = times.ofSessions.first(where: { $0.owner.owner === owner }) { return known.time }
            let gone = times.ofSessions.filter { $0.owner.owner == nil }
            times.past = gone.reduce(times.past) { max($0, $1.time.elapsed) }
            times.ofSessions.removeAll { $0.owner.owner == nil }
            let time = Time(base: times.latest, watch: ElapsedClock(clock))
            times.ofSessions.append((WeakOwner(owner: owner), time))
            return time
        }
    }

    /// What the client did with answers that failed; nil if nobody asks.
    ///
    /// - Parameter hasEnded: the test has ended, so that no more attempts come.
    func findings(hasEnded: Bool) -> [ClientVerdict.Finding]? {
        self.attempts?.findings(
            at: max(self.watch.elapsed, self.times.withLock { $0.latest }), hasEnded: hasEnded, shownURL: self.engine.shown)
    }

    /// How long bytes wait so that a rate holds.
    ///
    /// - Parameter now: since the cassette was opened.
    func reserve(_ count: Int, _ rate: TokenRate, isUp: Bool, at now: Duration) -> Duration {
        let host: String
        switch rate.scope {
        // A client's exchange has no connection of its own that can be told apart.
        case .request: return .seconds(Double(count) / max(1, rate.bytesPerSecond))
        case .host(let name): host = name
        case .connection, .session: host = ""
        }
        return self.buckets.withLock { buckets in
            var key = BucketKey(rule: rate.rule, host: host, isUp: isUp)
            if buckets[key] == nil, buckets.count >= Self.hostLimit { key.host = "" }
            var bucket = buckets[key] ?? Bucket(available: Double(rate.burst), filled: now)
            bucket.available = min(
                Double(rate.burst), bucket.available + (now - bucket.filled).milliseconds / 1000 * rate.bytesPerSecond)
            bucket.filled = now
            bucket.available -= Double(count)
            buckets[key] = bucket
            return bucket.available >= 0 ? .zero : .seconds(-bucket.available / max(1, rate.bytesPerSecond))
        }
    }

    /// What became of the rules, for the report.
    ///
    /// - Parameter hasEnded: as for `findings`.
    func checks(hasEnded: Bool) -> [ReplayReport.Check] {
        RuleLines.checks(self.engine.report(), self.findings(hasEnded: hasEnded))
    }

    /// What is wrong with rules of the test itself, in lines: one matched nothing, or could not be carried out.
    var problems: [String] {
        self.engine.report().filter { self.ownNames.contains($0.name) }.flatMap { RuleLines.lines(of: $0) }.filter(\.isComplaint).map(
            \.text)
    }

    /// The same for the rules of its suites.
    var warnings: [String] {
        self.engine.report().filter { !self.ownNames.contains($0.name) && !$0.notes.isEmpty }.flatMap { RuleLines.lines(of: $0) }
            .filter(\.isComplaint).map(\.text)
    }
}

/// Whose clock measures the time of rules: a session.
final class ClockOwner: Sendable {}

extension RuleList {
    /// How many rules it has.
    fileprivate var count: Int {
        switch self.node.content {
        case .list(let nodes): return nodes.count
        case .members(let members):
            guard case .list(let nodes)? = members.first(where: { $0.name == "rules" })?.value.content else { return 0 }
            return nodes.count
        case .nothing, .text: return 0
        }
    }
}

/// A file of traffic rules: a list, or a mapping with `modify`.
private enum RulesFile {
    private static let sizeLimit = 1 << 20

    static func read(_ path: String) throws -> RuleList {
        let url = URL(fileURLWithPath: path)
        guard let data = try? Data(contentsOf: url) else {
            throw SettingSyntaxError("the rules file \"\(url.path)\" cannot be read: correct the path")
        }
        guard data.count <= Self.sizeLimit else { throw SettingSyntaxError("the rules file \"\(url.path)\" has more than 1 MiB") }
        var node = path.hasSuffix(".json") ? try self.json(Array(data), url.path) : try self.yaml(Array(data), url.path)
        if case .members(let members) = node.content, let modify = members.first(where: { $0.name == "modify" }) {
            // Such as "seed" or "ignore", which would be without effect.
            if let other = members.first(where: { $0.name != "modify" }) {
                throw SettingSyntaxError(
                    "\"\(url.path)\" line \(other.line): \"\(other.name)\" is not a rule: a file of rules has \"modify\" alone; set it in the settings of the cassette"
                )
            }
            node = modify.value
        }
        // Whoever passes a file means its rules, which may all be commented out.
        if case .nothing = node.content {
            throw SettingSyntaxError("\"\(url.path)\" has no rules: write each after \"- \", for example - block: 403, or [] for none")
        }
        return RuleList(node: node, file: url.lastPathComponent, folder: url.deletingLastPathComponent().path)
    }

    private static func json(_ bytes: [UInt8], _ path: String) throws -> RuleNode {
        do throws(JSONSyntaxError) {
            return RuleNode(try JSONDocument(bytes).root)
        } catch {
            throw SettingSyntaxError("\"\(path)\" line \(error.line): \(error.reason): correct it")
        }
    }

    private static func yaml(_ bytes: [UInt8], _ path: String) throws -> RuleNode {
        #if canImport(TapeYAML)
        return try RuleNode(yaml: bytes, path: path)
        #else
        throw SettingSyntaxError(
            "\"\(path)\" is YAML, which this build cannot read: enable the trait \"Server\" of the package, or write the rules in JSON, in a file that ends with .json"
        )
        #endif
    }
}
