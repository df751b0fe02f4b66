package import CassetteModel
package import TapeBytes

/// What a client did with answers that failed, judged by when its requests came.
///
/// Names a thing only if the attempts show it. Knows no connections and no clocks: the caller reports what happened.
package struct ClientVerdict: Sendable {
    /// One request and what became of it.
    package struct Attempt: Sendable {
        package enum Outcome: Sendable, Hashable {
            /// A whole answer with this status.
            case answer(Int)
            /// The request did not reach a server: refused, no address, a failed handshake, a stream refused by HTTP/2.
            case notSent
            /// The connection or the stream ended before the answer began.
            case lost
            /// Nothing came any more, from a time on.
            case stalled(from: Duration)
            /// The body ended early, and its framing shows it.
            case cut
            /// Bytes that break the framing, or the coding of the body.
            case garbage(breaksFraming: Bool)
        }

        /// When the request had come, since the run began.
        package var start: Duration
        /// When the answer or the failure had been passed on; nil if that did not happen.
        package var end: Duration?
        package var method: String
        package var redactedURL: String
        /// As the client sent it, with its secrets; nil if that is the other one.
        package var url: String?
        /// Equal for bodies that matching compares as equal.
        package var bodyDigest: [UInt8]
        /// Equal for requests that matching compares as equal, without long bodies; empty if the method and the URL say it.
        package var fingerprint: [UInt8] = []
        /// Equal for requests with the credentials of one user.
        package var user = 0
        /// False if not all of its body is known, so that a later attempt may be the same request without being known as one.
        package var hasWholeRequest = true
        /// Whether the request has an `Idempotency-Key`, or another field that makes a repetition safe.
        package var hasIdempotencyKey: Bool
        package var outcome: Outcome
        /// Whether a rule made the outcome, and not the origin.
        package var isInjected: Bool
        /// Of `Retry-After`, since the end.
        package var retryAfter: Duration?
        /// Whether `Retry-After` was a date, which is exact to a second.
        package var isRetryAfterDate: Bool
        /// When the client closed its side, or reset the stream, before the end.
        package var clientLeft: Duration?
        /// When the answer stalled, although all of it came in the end.
        package var stalledFrom: Duration?
        package var version: HTTPVersion
        /// Equal for requests on one connection.
        package var connection: Int
        /// Whether all requests are known to be of one program, so that their connections say nothing.
        package var isOfOneProgram = false
        /// A policy of its client decides what calls of gRPC may be sent again.
        package var isGRPC = false
        /// When the connection ended; nil if it was open at the end of the run.
        package var connectionEnd: Duration?

        package init(
            start: Duration, end: Duration?, method: String, redactedURL: String, bodyDigest: [UInt8] = [],
            hasIdempotencyKey: Bool = false, outcome: Outcome, isInjected: Bool = true, retryAfter: Duration? = nil,
            isRetryAfterDate: Bool = false, clientLeft: Duration? = nil, version: HTTPVersion = .http11, connection: Int = 0,
            connectionEnd: Duration? = nil
        ) {
            self.start = start
            self.end = end
            self.method = method
            self.redactedURL = redactedURL
            self.bodyDigest = bodyDigest
            self.hasIdempotencyKey = hasIdempotencyKey
            self.outcome = outcome
            self.isInjected = isInjected
            self.retryAfter = retryAfter
            self.isRetryAfterDate = isRetryAfterDate
            self.clientLeft = clientLeft
            self.version = version
            self.connection = connection
            self.connectionEnd = connectionEnd
        }

        /// Quotas count the request by these values: a request with others is another user's.
        package mutating func isCounted(by values: [[UInt8]]) {
            guard !values.isEmpty else { return }
            var hasher = Hasher()
            hasher.combine(self.user)
            hasher.combine(values)
            self.user = hasher.finalize()
        }
    }

    package struct Finding: Sendable, Hashable {
        package enum Kind: String, Sendable, Hashable, CaseIterable {
            /// A request came before the time that `Retry-After` had asked for.
            case retryAfterIgnored = "retry-after-ignored"
            /// Retries followed each other at once.
            case noBackoff = "no-backoff"
            /// More failing attempts of one request in a time than anybody needs.
            case storm
            /// A request that may have had an effect, or that was refused for good, was sent again.
            case unsafeRetry = "unsafe-retry"
            /// A fault that passes was not met by another attempt.
            case noRetry = "no-retry"
            /// The client waited for an answer that had stalled.
            case endlessWait = "endless-wait"
            /// An answer that was cut was taken for whole.
            case cutAccepted = "cut-accepted"
            /// A connection was kept after bytes that break its framing.
            case connectionKept = "connection-kept"
        }

        package enum Certainty: String, Sendable, Hashable { case sure, likely }

        package var kind: Kind
        package var certainty: Certainty
        /// What happened, with its times.
        package var text: String
        /// Indices of the attempts that show it, in the order in which they came.
        package var evidence: [Int]

        /// The finding as an object of JSON.
        ///
        /// - Parameter number: of an attempt by its index, as reports count exchanges.
        package func write(into writer: inout JSONWriter, number: (Int) -> Int) {
            writer.beginObject(.lines)
            writer.member("kind")
            writer.string(self.kind.rawValue)
            writer.member("certainty")
            writer.string(self.certainty.rawValue)
            writer.member("text")
            writer.string(self.text)
            writer.member("exchanges")
            writer.beginArray(.inline)
            for index in self.evidence {
                writer.element()
                writer.integer(number(index))
            }
            writer.endArray()
            writer.endObject()
        }
    }

    /// From what on something is named.
    package struct Limits: Sendable, Hashable {
        /// How much too early a request may come after `Retry-After`.
        package var retryAfterTolerance: Duration = .milliseconds(100)
        /// Retries that follow each other faster have no backoff.
        package var backoffGap: Duration = .milliseconds(50)
        /// So many such retries in a row.
        package var backoffRetries = 2
        package var stormCount = 10
        package var stormTime: Duration = .seconds(10)
        /// A later request is one of its own, not a retry.
        package var retryWindow: Duration = .seconds(60)
        /// How long a retry may keep us waiting, if the client has not exited.
        package var noRetryWait: Duration = .seconds(60)
        package var stallWait: Duration = .seconds(60)
        /// How long a connection may be open after garbage.
        package var closeWait: Duration = .seconds(5)

        package init() {}

        private static let names = [
            "retryAfterTolerance", "backoffGap", "backoffRetries", "stormCount", "stormTime", "retryWindow", "noRetryWait", "stallWait",
            "closeWait",
        ]

        /// Limits that a settings file changes: members with these names.
        ///
        /// - Parameter file: the name for errors.
        package init(_ node: RuleNode, file: String) throws(SettingSyntaxError) {
            let reader = RuleReader(file: file, folder: nil)
            if case .text(let text) = node.content {
                throw reader.error(
                    node.line,
                    "\"verdict\" is \"\(RuleReader.shown(text))\"; write client, or members that change its thresholds, for example { stallWait: 30s }"
                )
            }
            let members = try reader.members(node, of: "\"verdict\"", known: Self.names)
            if let value = try members.duration("retryAfterTolerance") { self.retryAfterTolerance = value }
            if let value = try members.duration("backoffGap") { self.backoffGap = value }
            if let value = try members.integer("backoffRetries", 1...1000) { self.backoffRetries = value }
            if let value = try members.integer("stormCount", 2...1_000_000) { self.stormCount = value }
            if let value = try members.duration("stormTime") { self.stormTime = value }
            if let value = try members.duration("retryWindow") { self.retryWindow = value }
            if let value = try members.duration("noRetryWait") { self.noRetryWait = value }
            if let value = try members.duration("stallWait") { self.stallWait = value }
            if let value = try members.duration("closeWait") { self.closeWait = value }
        }
    }

    /// The run as a whole.
    package struct Run: Sendable, Hashable {
        /// Since it began.
        package var end: Duration
        /// Of the client's process; nil if it is not one that was started for the run, or it was killed.
        package var exitCode: Int?
        /// Whether the client has ended, so that no more attempts come.
        package var hasEnded: Bool

        /// - Parameter hasEnded: nil if a process has ended that the run started.
        package init(end: Duration, exitCode: Int? = nil, hasEnded: Bool? = nil) {
            self.end = end
            self.exitCode = exitCode
            self.hasEnded = hasEnded ?? (exitCode != nil)
        }
    }

    package let findings: [Finding]

    /// Attempts that one finding shows; a storm has thousands.
    private static let evidenceLimit = 50

    private struct Key: Hashable {
        var method: String
        var url: String
        var body: [UInt8]
    }

    /// Takes time in line with the attempts, apart from sorting them.
    ///
    /// - Parameters:
    ///   - attempts: in any order; findings name them by their indices.
    ///   - shownURL: removes what a recording would not have of a URL that a finding names.
    package init(_ attempts: [Attempt], run: Run, limits: Limits = Limits(), shownURL: @escaping (String) -> String = { $0 }) {
        var judge = Judge(attempts: attempts, run: run, limits: limits, shownURL: shownURL)
        judge.judge()
        self.findings = judge.findings
    }

    // MARK: Judging

    private struct Judge {
        let attempts: [Attempt]
        let run: Run
        let limits: Limits
        let shownURL: (String) -> String
        var findings: [Finding] = []

        init(attempts: [Attempt], run: Run, limits: Limits, shownURL: @escaping (String) -> String) {
            self.shownURL = shownURL
            self.attempts = attempts
            self.run = run
            self.limits = limits
        }

        mutating func judge() {
            var groups: [Key: [Int]] = [:]
            let order = self.attempts.indices.sorted { (self.attempts[$0].start, $0) < (self.attempts[$1].start, $1) }
            var keys: [Key] = []
            for index in order {
                let attempt = self.attempts[index]
                let url = attempt.fingerprint.isEmpty ? attempt.redactedURL : ""
                let key = Key(method: attempt.method, url: url, body: attempt.fingerprint + attempt.bodyDigest)
                if groups[key] == nil { keys.append(key) }
                groups[key, default: []].append(index)
            }
            for key in keys {
                let group = groups[key] ?? []
                for attempts in self.byUser(group) {
                    self.judgeRetryAfter(attempts)
                    self.judgeBackoff(attempts)
                    self.judgeStorm(attempts)
                    self.judgeUnsafeRetries(attempts)
                }
                // A client may get other credentials before it tries again.
                self.judgeMissingRetry(group)
            }
            self.judgeWaits(order)
            self.judgeCuts(order)
            self.judgeConnections(order)
        }

        /// The attempts of each user, in the order of the first ones.
        private func byUser(_ group: [Int]) -> [[Int]] {
            guard let first = group.first, group.contains(where: { self.attempts[$0].user != self.attempts[first].user }) else {
                return [group]
            }
            let attempts = Dictionary(grouping: group) { self.attempts[$0].user }
            return attempts.values.sorted { ($0.first ?? 0) < ($1.first ?? 0) }
        }

        private mutating func find(_ kind: Finding.Kind, _ certainty: Finding.Certainty, _ evidence: [Int], _ text: String) {
            self.findings.append(
                Finding(kind: kind, certainty: certainty, text: text, evidence: Array(evidence.prefix(ClientVerdict.evidenceLimit))))
        }

        private func name(_ index: Int) -> String {
            let attempt = self.attempts[index]
            return "\(attempt.method) \(self.shownURL(attempt.url ?? attempt.redactedURL))"
        }

        /// The first attempt of a group that began after another had ended: those that ran at the same time are no retries.
        private func next(after position: Int, in group: [Int]) -> Int? {
            guard let end = self.attempts[group[position]].end else { return nil }
            let next = self.firstPosition(from: end, after: position, in: group)
            return next < group.count ? group[next] : nil
        }

        /// Where the first attempt is that began at a time or later. A group is in the order of starts.
        private func firstPosition(from time: Duration, after position: Int, in group: [Int]) -> Int {
            var (low, high) = (position + 1, group.count)
            while low < high {
                let middle = (low + high) / 2
                if self.attempts[group[middle]].start < time { low = middle + 1 } else { high = middle }
            }
            return low
        }

        /// Whether a request that ended so may succeed if it is sent again.
        private static func isTransient(_ outcome: Attempt.Outcome) -> Bool {
            switch outcome {
            case .answer(let status): [408, 425, 429, 500, 502, 503, 504].contains(status)
            case .notSent, .lost, .cut, .garbage, .stalled: true
            }
        }

        // MARK: Retry-After

        private mutating func judgeRetryAfter(_ group: [Int]) {
            for position in group.indices {
                let attempt = self.attempts[group[position]]
                // RFC 9110, 10.2.3, and RFC 6585, 4
                guard let wait = attempt.retryAfter, let end = attempt.end, case .answer(let status) = attempt.outcome,
                    [413, 429, 503].contains(status)
                else { continue }
                let tolerance = self.limits.retryAfterTolerance + (attempt.isRetryAfterDate ? .seconds(1) : .zero)
                let early = group[self.firstPosition(from: end, after: position, in: group)...].prefix { index in
                    self.attempts[index].start + tolerance < end + wait
                }
                guard let first = early.first else { continue }
                // If each refused worker has waited, the early request may be another worker's, whatever its connection.
                if self.allWaited(group) {
                    self.find(
                        .retryAfterIgnored, .likely, [group[position]] + early, self.text(early: first, after: end, status: status, wait))
                    return
                }
                // One that uses another connection while this one is open may be another worker's.
                let isOfAnother = early.allSatisfy { index in
                    let early = self.attempts[index]
                    return early.connection != attempt.connection && attempt.connectionEnd.map { $0 > early.start } ?? true
                }
                self.find(
                    .retryAfterIgnored, isOfAnother ? .likely : .sure, [group[position]] + early,
                    self.text(early: first, after: end, status: status, wait))
                return
            }
        }

        private func text(early: Int, after end: Duration, status: Int, _ wait: Duration) -> String {
            "\(self.name(early)) came \(Self.text(self.attempts[early].start - end)) after an answer \(status) that asked for \(Self.text(wait))"
        }

        /// Whether there is a request of its own for each answer with `Retry-After` that came when it was due. A client that tries again too
        /// early has fewer of them.
        private func allWaited(_ group: [Int]) -> Bool {
            let due = group.compactMap { index -> Duration? in
                let attempt = self.attempts[index]
                guard let wait = attempt.retryAfter, let end = attempt.end else { return nil }
                return end + wait - self.limits.retryAfterTolerance - (attempt.isRetryAfterDate ? .seconds(1) : .zero)
            }.sorted()
            var starts = group.map { self.attempts[$0].start }[...]
            return due.allSatisfy { due in
                starts = starts.drop { $0 < due }
                return starts.popFirst() != nil
            }
        }

        /// Of requests that ran at the same time, nobody can tell which is the retry of which. Those on a connection each may be of as many
        /// programs.
        ///
        /// - Parameter evidence: those of the group that show the finding.
        private func certainty(of group: [Int], _ evidence: [Int]) -> Finding.Certainty {
            if !evidence.contains(where: { self.attempts[$0].isOfOneProgram }),
                Set(evidence.map { self.attempts[$0].connection }).count == evidence.count
            {
                return .likely
            }
            var latest = Duration.zero
            for index in group {
                let attempt = self.attempts[index]
                if attempt.start < latest { return .likely }
                latest = max(latest, attempt.end ?? attempt.start)
            }
            return .sure
        }

        // MARK: Backoff and storms

        private mutating func judgeBackoff(_ group: [Int]) {
            var chain: [Int] = []
            for position in group.indices {
                let index = group[position]
                let attempt = self.attempts[index]
                if chain.isEmpty { chain = [index] }
                guard Self.isTransient(attempt.outcome), attempt.retryAfter == nil, let end = attempt.end,
                    let next = self.next(after: position, in: group), self.attempts[next].start - end < self.limits.backoffGap
                else {
                    if self.report(chain, in: group) { return }
                    chain = []
                    continue
                }
                if chain.last != next { chain.append(next) }
            }
            _ = self.report(chain, in: group)
        }

        private mutating func report(_ chain: [Int], in group: [Int]) -> Bool {
            guard chain.count > self.limits.backoffRetries else { return false }
            self.find(
                .noBackoff, self.certainty(of: group, chain), chain,
                "\(self.name(chain[0])) was sent \(chain.count) times, each less than \(Self.text(self.limits.backoffGap)) after the one before it had failed"
            )
            return true
        }

        private mutating func judgeStorm(_ group: [Int]) {
            // Attempts that follow a failure: what runs at the same time from the start is not a storm of retries.
            var failing: [Int] = []
            var firstFailure: Duration?
            for index in group where Self.isTransient(self.attempts[index].outcome) {
                if let firstFailure, firstFailure <= self.attempts[index].start { failing.append(index) }
                if let end = self.attempts[index].end { firstFailure = min(firstFailure ?? end, end) }
            }
            var first = 0
            for last in failing.indices {
                while self.attempts[failing[last]].start - self.attempts[failing[first]].start > self.limits.stormTime { first += 1 }
                guard last - first + 1 > self.limits.stormCount else { continue }
                self.find(
                    .storm, self.certainty(of: group, Array(failing[first...last])), Array(failing[first...last]),
                    "\(self.name(failing[last])) failed and was sent again \(last - first + 1) times in \(Self.text(self.limits.stormTime))"
                )
                return
            }
        }

        // MARK: Retries that must not be

        /// RFC 9110, 9.2.2, and those of the registry of HTTP methods (iana.org/assignments/http-methods) that clients of APIs and WebDAV
        /// use.
        private static let idempotent: Set<String> = [
            "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY", "PROPFIND", "PROPPATCH", "REPORT", "SEARCH", "MKCOL", "MKCALENDAR",
            "COPY", "MOVE", "UNLOCK",
        ]
        /// Answers that ask for nothing but another request. Others that a client may meet with a second request: 401 and 407 with
        /// credentials, 417 without `Expect`, 421 on another connection; 404, 409, 412 and 423 may be asked for until they change.
        private static let refusals: Set<Int> = [400, 402, 403, 405, 406, 410, 411, 413, 414, 415, 416, 422, 431, 451]

        private mutating func judgeUnsafeRetries(_ group: [Int]) {
            for position in group.indices {
                let attempt = self.attempts[group[position]]
                guard let end = attempt.end, let next = self.next(after: position, in: group),
                    self.attempts[next].start - end <= self.limits.retryWindow
                else { continue }
                let gap = Self.text(self.attempts[next].start - end)
                if !Self.idempotent.contains(attempt.method), !attempt.hasIdempotencyKey, !attempt.isGRPC,
                    Self.mayHaveHadAnEffect(attempt.outcome)
                {
                    self.find(
                        .unsafeRetry, .likely, [group[position], next],
                        "\(self.name(next)) was sent again \(gap) after \(Self.words(attempt.outcome)), though the first may have had its effect, and it has no idempotency key"
                    )
                    return
                }
                if case .answer(let status) = attempt.outcome, Self.refusals.contains(status), attempt.isInjected,
                    attempt.retryAfter == nil,
                    case .answer(status) = self.attempts[next].outcome
                {
                    self.find(
                        .unsafeRetry, .likely, [group[position], next],
                        "\(self.name(next)) was sent again \(gap) after an answer \(status), which the same request gets again")
                    return
                }
            }
        }

        /// Whether the server may have done what it was asked for.
        private static func mayHaveHadAnEffect(_ outcome: Attempt.Outcome) -> Bool {
            switch outcome {
            case .answer(let status): [500, 502, 504].contains(status)
            case .lost, .stalled, .cut, .garbage: true
            case .notSent: false
            }
        }

        private static func words(_ outcome: Attempt.Outcome) -> String {
            switch outcome {
            case .answer(let status): "an answer \(status)"
            case .notSent: "no connection was made"
            case .lost: "the connection was lost"
            case .stalled: "the answer stalled"
            case .cut: "the answer was cut"
            case .garbage: "the answer had garbage in it"
            }
        }

        // MARK: No retry

        private mutating func judgeMissingRetry(_ group: [Int]) {
            // Only the last of its kind has no other after it.
            guard let last = group.last else { return }
            let attempt = self.attempts[last]
            guard attempt.isInjected, attempt.hasWholeRequest, attempt.clientLeft == nil, let end = attempt.end,
                Self.isTransient(attempt.outcome)
            else { return }
            guard Self.idempotent.contains(attempt.method) || attempt.hasIdempotencyKey || !Self.mayHaveHadAnEffect(attempt.outcome) else {
                return
            }
            // An earlier retry shows that the client has given up.
            guard group.count == 1 else { return }
            // A cut answer may have been taken for whole, which is another finding.
            if case .cut = attempt.outcome, self.run.exitCode == 0 { return }
            // A client may decline to wait so long that the next request would not be a retry.
            guard (attempt.retryAfter ?? .zero) <= self.limits.retryWindow else { return }
            let wait = self.run.end - end
            guard self.run.hasEnded || wait >= self.limits.noRetryWait + (attempt.retryAfter ?? .zero) else { return }
            self.find(
                .noRetry, self.run.exitCode == nil ? .likely : .sure, [last],
                "\(self.name(last)) was not sent again after \(Self.words(attempt.outcome)), which may pass")
        }

        // MARK: Waits, cuts, connections

        private mutating func judgeWaits(_ order: [Int]) {
            for index in order {
                let attempt = self.attempts[index]
                let from: Duration? = if case .stalled(let from) = attempt.outcome { from } else { attempt.stalledFrom }
                guard let start = from else { continue }
                let left = [attempt.clientLeft, attempt.connectionEnd].compactMap { $0 }.min()
                let wait = (left ?? attempt.end ?? self.run.end) - start
                // Many clients give up after a minute: a limit that is the threshold is kept, though its timer fires late.
                guard wait >= self.limits.stallWait + (attempt.clientLeft == nil ? .zero : .seconds(1)) else { continue }
                let isOpen = left == nil
                self.find(
                    .endlessWait, .likely, [index],
                    "\(self.name(index)) waited \(Self.text(wait)) for an answer that had stalled\(isOpen ? ", and had not given up then" : "")"
                )
            }
        }

        private mutating func judgeCuts(_ order: [Int]) {
            guard self.run.exitCode == 0, let latest = order.last else { return }
            for index in order {
                let attempt = self.attempts[index]
                guard case .cut = attempt.outcome, let end = attempt.end, attempt.clientLeft == nil, self.attempts[latest].start < end
                else {
                    continue
                }
                self.find(
                    .cutAccepted, .likely, [index],
                    "\(self.name(index)) was answered by a body that was cut; the client sent no further request and exited with 0")
            }
        }

        private mutating func judgeConnections(_ order: [Int]) {
            var latest: [Int: Int] = [:]
            for index in order { latest[self.attempts[index].connection] = index }
            for index in order {
                let attempt = self.attempts[index]
                guard case .garbage(breaksFraming: true) = attempt.outcome, let end = attempt.end else { continue }
                if let next = latest[attempt.connection], self.attempts[next].start > end, next != index {
                    self.find(
                        .connectionKept, .sure, [index, next],
                        "\(self.name(next)) came on a connection whose framing had been broken \(Self.text(self.attempts[next].start - end)) before"
                    )
                    continue
                }
                let closed = [attempt.clientLeft, attempt.connectionEnd].compactMap { $0 }.min()
                let wait = (closed ?? self.run.end) - end
                guard wait >= self.limits.closeWait else { continue }
                self.find(
                    .connectionKept, .sure, [index],
                    "\(self.name(index)) got bytes that break the framing, and the connection was open for \(Self.text(wait)) after that")
            }
        }

        /// `1.25 s`, `40 ms`
        private static func text(_ duration: Duration) -> String {
            let milliseconds = Int((Quantity.seconds(duration) * 1000).rounded())
            guard milliseconds >= 1000 else { return "\(milliseconds) ms" }
            let hundredths = (milliseconds + 5) / 10
            let fraction = hundredths % 100
            return
                "\(hundredths / 100)\(fraction == 0 ? "" : fraction % 10 == 0 ? ".\(fraction / 10)" : fraction < 10 ? ".0\(fraction)" : ".\(fraction)") s"
        }
    }
}
