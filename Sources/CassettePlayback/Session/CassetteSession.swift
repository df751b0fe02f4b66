public import CassetteModel
public import CassetteRedaction
public import CassetteStore
public import TapeBytes

/// Decides for each request of a run whether it is replayed, forwarded or refused.
///
/// Names recorded exchanges by their index in order of request start; sends nothing and keeps no clock. Each recorded exchange answers
/// one request. Among those that `MatchRules` find equal, the earliest recorded that is left answers. It is assigned in one atomic step
/// at the moment when everything the rules look at has come in: in `begin` where that is the head, in `decide` where the body counts.
/// What concurrent equal requests get together does not depend on their timing; which of them gets which does. A client that abandons
/// its request before anything of the answer was sent gives the exchange back, unless the recorded client left as well. Exchanges recorded during the run are not replayed in it.
public final class CassetteSession: Sendable {
    /// A verdict holds so many reports of each kind; further ones are counted.
    public static let reportLimit = 100

    public let mode: RecordMode
    public let rules: MatchRules
    public let repetition: Repetition
    public let order: ReplayOrder
    /// Nil where requests are compared as they come.
    let redaction: LiveRedactor?
    /// Nil where answers have the dates they were recorded with.
    let dates: LiveDates?
    let hasCassette: Bool
    /// For the next steps of refusals; nil where there is no file.
    let cassettePath: String?
    let damage: String?
    /// To whom refusals tell the next step.
    let audience: MissReport.Audience
    let keys: RecordedKeys
    let groups: KeyGroups
    /// Nil where no body has to be looked up.
    let source: (any RequestSource)?
    let digest: @Sendable () -> any ContentDigest
    let state: Guarded<State>

    struct State: Sendable {
        var assignments: AssignmentRule
        /// By key, for heads that decide alone.
        var turns: [AssignmentRule.Turn]
        /// By key, for heads whose bodies have been looked at.
        var bodies: [Int: BodyGroup] = [:]
        var verdict = Verdict()
        /// Exchanges that were given back and have not answered since, with the reason.
        var abandoned: [Int: String] = [:]
    }

    /// - Parameters:
    ///   - cassette: nil without one. In the modes that replay nothing it is not looked at.
    ///   - rules: nil for the cassette's own, or else the standard ones.
    ///   - redaction: the cassette's rules, to compare live requests as the recorded ones were kept.
    ///   - dates: takes the dates of conditional requests back to the recording's, where those of answers are moved.
    ///   - audience: to whom refusals tell the next step.
    ///   - digest: makes a SHA-256, for bodies in files.
    ///
    /// Throws `damaged` where the cassette's own rules are asked for and are none, and `damaged` or `unreadable` where the rules look at
    /// header fields and one of the requests cannot be read.
    public convenience init(
        mode: RecordMode, cassette: RecordedCassette? = nil, rules: MatchRules? = nil, repetition: Repetition = .never,
        order: ReplayOrder = .any, redaction: LiveRedactor? = nil, dates: LiveDates? = nil, audience: MissReport.Audience = .commandLine,
        digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }
    ) throws(CassetteError) {
        var rules = rules
        if rules == nil { rules = try cassette?.matchRules() }
        let compared = rules ?? .standard
        let keys = if let cassette, mode.replays { try cassette.keys(compared) } else { RecordedKeys() }
        self.init(
            mode: mode, keys: keys, hasCassette: cassette != nil, rules: compared, repetition: repetition, order: order,
            redaction: redaction, dates: dates, source: cassette, cassettePath: cassette?.path, damage: cassette?.damage?.summary,
            audience: audience, digest: digest)
    }

    /// - Parameter keys: made with the same rules.
    init(
        mode: RecordMode, keys: RecordedKeys, hasCassette: Bool, rules: MatchRules = .standard, repetition: Repetition = .never,
        order: ReplayOrder = .any, redaction: LiveRedactor? = nil, dates: LiveDates? = nil, source: (any RequestSource)? = nil,
        cassettePath: String? = nil, damage: String? = nil, audience: MissReport.Audience = .commandLine,
        digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }
    ) {
        let keys = hasCassette && mode.replays ? keys : RecordedKeys()
        self.mode = mode
        self.rules = redaction == nil ? rules : rules.keepingWholeValues()
        self.repetition = repetition
        self.order = order
        self.redaction = redaction
        self.dates = dates
        self.hasCassette = hasCassette
        self.cassettePath = cassettePath
        self.audience = audience
        self.damage = mode.replays ? damage : nil
        self.keys = keys
        self.groups = KeyGroups(keys)
        self.source = source
        self.digest = digest
        let assignments = AssignmentRule(
            isAnswerable: keys.keyNumbers.lazy.map { $0 != RecordedKeys.noKey }, repetition: repetition, order: order)
        self.state = Guarded(
            State(assignments: assignments, turns: Array(repeating: AssignmentRule.Turn(), count: keys.distinctCount)))
    }

    /// Whether recorded exchanges are looked up.
    public var looksUp: Bool { self.hasCassette && self.mode.replays }

    /// Whether there is any request that would be forwarded.
    public var mayForward: Bool {
        switch self.mode.missRule(hasCassette: self.hasCassette) {
        case .forward: true
        case .refuse: false
        }
    }

    // MARK: Deciding

    /// Decides on a request whose head has just come, or says that it takes the body. Can be called from any thread and never waits
    /// for anything.
    public func begin(method: String, url: String, headers: HeaderFields = HeaderFields(), hasBody: Bool = false) -> Opening {
        // Nothing is looked up: no key is needed.
        if !self.mode.replays, case .forward(let record) = self.mode.missRule(hasCassette: self.hasCassette) {
            return .decided(self.forward(record))
        }
        let redaction = self.redaction?.forOneRequest()
        let (comparedURL, redactedHeaders) = redaction?.redacted(url: url, headers: headers) ?? (url, headers)
        let comparedHeaders = self.recordedDates(redactedHeaders, method: method, url: comparedURL, redaction)
        return self.rules.withHeadKey(method: method, url: comparedURL, headers: comparedHeaders) { head in
            let key = self.key(of: head)
            if let key {
                if self.comparesHeadAlone(key, hasBody: hasBody) { return .decided(self.decide(head, key: key)) }
            } else {
                guard self.explainsBodies else { return .decided(self.nothingLeft(head)) }
                let matches = NearestRequests(in: self.keys).search(for: head)
                guard !matches.isEmpty, hasBody || matches.contains(where: { self.keys.mayHaveBodies($0.key) }) else {
                    return .decided(self.nothingLeft(head, heads: matches.map { self.nearHead($0) }))
                }
            }
            return .needsBody(
                PendingRequest(
                    method: method, url: comparedURL, headers: headers, comparedHeaders: comparedHeaders, rules: self.rules,
                    redaction: redaction, head: Array(head), key: key, digest: self.digest))
        }
    }

    /// The header fields as the recording's client would have sent them. A date that the client knows by itself was recorded as it is.
    private func recordedDates(_ headers: HeaderFields, method: String, url: String, _ redaction: LiveRedactor?) -> HeaderFields {
        guard let moved = self.dates?.recorded(headers) else { return headers }
        func isRecorded(_ headers: HeaderFields) -> Bool {
            self.rules.withHeadKey(method: method, url: url, headers: redaction?.redacted(headers: headers) ?? headers) {
                self.key(of: $0) != nil
            }
        }
        return isRecorded(moved) || !isRecorded(headers) ? moved : headers
    }

    /// Decides whether a tunnel may be opened whose contents stay unread. They are not in the cassette: a session that forwards nothing
    /// refuses.
    ///
    /// - Parameter url: of the authority, `https://host:port/`.
    public func beginTunnel(to url: String) -> Decision {
        switch self.mode.missRule(hasCassette: self.hasCassette) {
        case .forward(let record): self.forward(record)
        case .refuse: self.rules.withHeadKey(method: "CONNECT", url: url, headers: nil) { self.nothingLeft($0) }
        }
    }

    private func key(of head: UnsafeRawBufferPointer) -> Int? {
        guard self.mode.replays else { return nil }
        return self.keys.number(of: head) ?? self.keys.firstMarked(fitting: head)
    }

    /// Whether a refusal says in what bodies differ.
    private var explainsBodies: Bool {
        self.source != nil && self.rules.looksAtBody && self.mode.missRule(hasCassette: self.hasCassette) == .refuse
    }

    private func comparesHeadAlone(_ key: Int, hasBody: Bool) -> Bool {
        guard self.rules.custom.isEmpty else { return false }
        if !self.rules.looksAtBody { return true }
        return !hasBody && !self.rules.movesQueryToBody && !self.keys.mayHaveBodies(key)
    }

    func decide(_ head: UnsafeRawBufferPointer, key: Int) -> Decision {
        let assignment = self.state.withLock { state in
            let assignment = state.assignments.assign(self.groups.members(ofKey: key), turn: &state.turns[key])
            self.note(assignment, in: &state)
            return assignment
        }
        return self.decision(assignment) ?? self.nothingLeft(head, equalCount: self.groups.count(ofKey: key))
    }

    /// Takes note of an assignment; called under the lock.
    func note(_ assignment: AssignmentRule.Assignment, in state: inout State) {
        switch assignment {
        case .first(let index, let behind):
            state.verdict.hits += 1
            state.abandoned[index] = nil
            if let behind { self.note(index, other: behind, isRefused: false, in: &state.verdict) }
        case .again:
            state.verdict.hits += 1
            state.verdict.repeatedHits += 1
        case .outOfTurn(let index, let due): self.note(index, other: due, isRefused: true, in: &state.verdict)
        case .usedUp: break
        }
    }

    private func note(_ index: Int, other: Int, isRefused: Bool, in verdict: inout Verdict) {
        verdict.orderViolations += 1
        guard verdict.violations.count < Self.reportLimit else { return }
        verdict.violations.append(
            OrderViolation(
                index: index, request: self.text(ofExchange: index), other: other, otherRequest: self.text(ofExchange: other),
                isRefused: isRefused))
    }

    /// Nil where nothing was assigned.
    func decision(_ assignment: AssignmentRule.Assignment) -> Decision? {
        switch assignment {
        case .first(let index, _), .again(let index): .replay(index: index)
        case .outOfTurn(let index, let due):
            .refuse(
                MissReport(
                    request: self.text(ofExchange: index), mode: self.mode,
                    reason: .outOfOrder(index: index, due: due, dueRequest: self.text(ofExchange: due)), audience: self.audience))
        case .usedUp: nil
        }
    }

    func forward(_ record: Bool) -> Decision {
        self.state.withLock { $0.verdict.forwarded += 1 }
        return .forward(record: record)
    }

    /// An exchange's request as plain text.
    func text(ofExchange index: Int) -> String {
        let number = self.keys.keyNumbers[index]
        guard number != RecordedKeys.noKey else { return "CONNECT" }
        return self.keys.withBytes(ofKey: Int(number)) { MissReport.text($0) }
    }
}

/// What a session says of a request whose head has come.
public enum Opening: Sendable {
    /// The body cannot change this.
    case decided(Decision)
    /// It depends on the body: feed it to the pending request's `body`, then ask `CassetteSession.decide`.
    case needsBody(PendingRequest)
}

extension CassetteSession {
    /// What came of the replay so far, for reports.
    ///
    /// - Parameters:
    ///   - name: of the cassette, for people.
    ///   - cassette: the one that the session was made with.
    public func report(name: String, cassette: RecordedCassette?) -> ReplayReport {
        let (verdict, answered) = self.verdictAndAnswers()
        let exchanges = answered.enumerated().map { index, count in
            ReplayReport.Exchange(
                id: cassette?.id(at: index) ?? index + 1, request: self.text(ofExchange: index),
                answers: count == AssignmentRule.unanswerable ? nil : Int(count), started: count == 0 ? cassette?.start(at: index) : nil)
        }
        return ReplayReport(
            cassette: PlainText.escape(name.utf8, limit: MissReport.requestLimit), mode: self.mode, repetition: self.repetition,
            order: self.order, verdict: verdict, exchanges: exchanges)
    }
}

/// The recorded exchanges of each key, in recorded order.
struct KeyGroups: Sendable {
    /// Where each key's exchanges start in `order`, and the end of the last.
    private let starts: [UInt32]
    /// All indexes of exchanges that have a key, grouped by key, ascending within a key.
    private let order: [UInt32]

    init(_ keys: RecordedKeys) {
        var starts = [UInt32](repeating: 0, count: keys.distinctCount + 1)
        for number in keys.keyNumbers where number != RecordedKeys.noKey { starts[Int(number) + 1] += 1 }
        for number in 0..<keys.distinctCount { starts[number + 1] += starts[number] }
        var next = starts
        var order = [UInt32](repeating: 0, count: Int(starts[keys.distinctCount]))
        for (index, number) in keys.keyNumbers.enumerated() where number != RecordedKeys.noKey {
            order[Int(next[Int(number)])] = UInt32(index)
            next[Int(number)] += 1
        }
        self.starts = starts
        self.order = order
    }

    /// How many exchanges a key has; at least one.
    func count(ofKey number: Int) -> Int { Int(self.starts[number + 1] - self.starts[number]) }

    /// The index of a key's exchange; `position` counts from 0 among equals.
    func index(ofKey number: Int, at position: Int) -> Int { Int(self.order[Int(self.starts[number]) + position]) }

    /// The indexes of a key's exchanges, ascending.
    func members(ofKey number: Int) -> ArraySlice<UInt32> { self.order[Int(self.starts[number])..<Int(self.starts[number + 1])] }
}
