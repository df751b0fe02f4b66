public import CassetteModel
public import CassetteRedaction
public import CassetteStore
public import TapeBytes

/// Decides for each request of a run whether it is replayed, forwarded or refused.
///
/// Refers to recorded exchanges by their index in order of request start; sends nothing and has no clock. Each recorded exchange answers
/// one request. Among those that `MatchRules` find equal, `FieldChoice` chooses, and the earliest remaining one answers. It is assigned in
/// one atomic step as soon as everything that the rules compare has arrived: in `begin` if only the head is compared, in `decide` if the
/// body is as well. The set of exchanges that concurrent equal requests get does not depend on timing; which request gets which does. A
/// client that abandons its request before any of the answer was sent gives the exchange back, unless the recorded client left as well.
/// Exchanges recorded during a run are not replayed in it.
public final class CassetteSession: Sendable {
    /// A verdict holds at most this many reports of each kind; the rest are counted.
    public static let reportLimit = 100

    public let mode: RecordMode
    public let rules: MatchRules
    public let repetition: Repetition
    public let order: ReplayOrder
    public let conversationOrder: ConversationOrder
    public let ranges: RangeReplay
    /// Nil if requests are compared as they arrive.
    let redaction: LiveRedactor?
    /// Nil if answers keep their recorded dates.
    private let dates: LiveDates?
    private let hasCassette: Bool
    /// For the next steps of refusals; nil if there is no file.
    let cassettePath: String?
    private let damage: String?
    /// The reader of the next steps of refusals.
    let audience: MissReport.Audience
    let keys: RecordedKeys
    let nearestRequests: NearestRequests
    let groups: KeyGroups
    /// Nil if no body has to be looked up.
    let source: (any RequestSource)?
    /// Whether somebody logged in on a connection of the recording, so that `begin` compares logins.
    public let comparesLogins: Bool
    let digest: @Sendable () -> any ContentDigest
    /// Shared by the sessions of one run, each of which has its own rules.
    let state: Guarded<State>
    /// The position of this session among those of the run, which is the position of its `Keyed` as well.
    let generation: Int

    struct State: Sendable {
        var assignments: AssignmentRule
        /// For each session of the run: keys have other numbers under other rules.
        var keyed: [Keyed]
        var verdict = Verdict()
        /// The exchanges from which answers were computed.
        var computedFrom: Set<Int> = []
        /// Exchanges that were given back and have not answered since, with the reason.
        var abandoned: [Int: String] = [:]
        /// Whether a person has paused the recording.
        var isPaused = false
        /// How many more exchanges may be recorded; nil if any number may.
        var recordable: Int?

        /// Whether one more exchange may be recorded. Counts it either way.
        mutating func takesPlace() -> Bool {
            guard !self.isPaused, self.recordable != 0 else {
                self.verdict.unrecorded += 1
                return false
            }
            self.recordable = self.recordable.map { $0 - 1 }
            return true
        }
    }

    /// What a session knows about its keys.
    struct Keyed: Sendable {
        /// By key, for heads that are decided without a body.
        var turns: [AssignmentRule.Turn]
        /// By key, for heads whose bodies have been read.
        var bodies: [Int: BodyGroup] = [:]
        var conversations = ConversationShelf()

        init(count: Int) { self.turns = Array(repeating: AssignmentRule.Turn(), count: count) }
    }

    /// - Parameters:
    ///   - cassette: nil if there is none. Not read in modes without replay.
    ///   - rules: nil for the cassette's own rules, or the default ones if it has none.
    ///   - repeating: exchanges that may answer any number of times, by index, besides those that say so themselves.
    ///   - conversationOrder: whether client messages must come in the recorded order.
    ///   - ranges: whether ranges that were not recorded are computed.
    ///   - redaction: the cassette's rules, so that live requests are compared in the redacted form of the recorded ones.
    ///   - dates: moves the dates of conditional requests back to the time of the recording, if those of answers are moved.
    ///   - keepsLeft: whether an exchange that its client left answers in its turn, even if a complete one could: the replay takes as long as
    ///     the recording, so that this client leaves as well.
    ///   - audience: the reader of the next steps of refusals.
    ///   - digest: makes a SHA-256, for bodies in files.
    ///
    /// Throws `damaged` if the cassette's own rules are needed and invalid, and `damaged` or `unreadable` if the rules compare header
    /// fields and one of the requests cannot be read.
    public convenience init(
        mode: RecordMode, cassette: RecordedCassette? = nil, rules: MatchRules? = nil, repetition: Repetition = .never,
        repeating: Set<Int> = [], order: ReplayOrder = .any, conversationOrder: ConversationOrder = .strict,
        ranges: RangeReplay = .computed, redaction: LiveRedactor? = nil, dates: LiveDates? = nil, keepsLeft: Bool = false,
        audience: MissReport.Audience = .commandLine,
        digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }
    ) throws(CassetteError) {
        var rules = rules
        if rules == nil { rules = try cassette?.matchRules() }
        let compared = rules ?? .standard
        var keys = if let cassette, mode.replays { try cassette.keys(compared) } else { RecordedKeys() }
        keys.repeating.formUnion(repeating)
        self.init(
            mode: mode, keys: keys, hasCassette: cassette != nil, rules: compared, repetition: repetition, order: order,
            conversationOrder: conversationOrder, ranges: ranges, redaction: redaction, dates: dates, keepsLeft: keepsLeft,
            source: cassette, cassettePath: cassette?.path, damage: cassette?.damage?.summary, audience: audience, digest: digest)
    }

    /// - Parameter keys: must be made with the same rules.
    init(
        mode: RecordMode, keys: RecordedKeys, hasCassette: Bool, rules: MatchRules = .standard, repetition: Repetition = .never,
        order: ReplayOrder = .any, conversationOrder: ConversationOrder = .strict, ranges: RangeReplay = .computed,
        redaction: LiveRedactor? = nil, dates: LiveDates? = nil, keepsLeft: Bool = false, source: (any RequestSource)? = nil,
        cassettePath: String? = nil, damage: String? = nil, audience: MissReport.Audience = .commandLine,
        digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }
    ) {
        let keys = hasCassette && mode.replays ? keys : RecordedKeys()
        self.mode = mode
        let kept = redaction == nil ? rules : rules.keepingWholeValues()
        self.rules = keys.haveStubs ? kept.keepingContent() : kept
        self.repetition = repetition
        self.order = order
        self.conversationOrder = conversationOrder
        self.ranges = ranges
        self.redaction = redaction
        self.dates = dates
        self.hasCassette = hasCassette
        self.cassettePath = cassettePath
        self.audience = audience
        // A run that records repairs the cassette, and records the lost exchanges again.
        self.damage = mode == .newEpisodes || !mode.replays ? nil : damage
        self.keys = keys
        self.nearestRequests = NearestRequests(in: keys)
        self.groups = KeyGroups(keys)
        self.source = source
        self.comparesLogins = source?.hasLogins ?? false
        self.digest = digest
        let assignments = AssignmentRule(
            isAnswerable: keys.keyNumbers.lazy.map { $0 != RecordedKeys.noKey }, repetition: repetition, order: order,
            repeating: keys.repeating, keepsLeft: keepsLeft)
        self.generation = 0
        self.state = Guarded(State(assignments: assignments, keyed: [Keyed(count: keys.distinctCount)]))
        self.nearestRequests.makeSketchesAhead()
    }

    /// Continues a session with other rules.
    private init(_ before: CassetteSession, rules: MatchRules, keys: RecordedKeys) {
        self.mode = before.mode
        let kept = before.redaction == nil ? rules : rules.keepingWholeValues()
        self.rules = keys.haveStubs ? kept.keepingContent() : kept
        self.repetition = before.repetition
        self.order = before.order
        self.conversationOrder = before.conversationOrder
        self.ranges = before.ranges
        self.redaction = before.redaction
        self.dates = before.dates
        self.hasCassette = before.hasCassette
        self.cassettePath = before.cassettePath
        self.audience = before.audience
        self.damage = before.damage
        self.keys = keys
        self.nearestRequests = NearestRequests(in: keys)
        self.groups = KeyGroups(keys)
        self.source = before.source
        self.comparesLogins = before.comparesLogins
        self.digest = before.digest
        self.state = before.state
        self.generation = before.state.withLock { state in
            state.keyed.append(Keyed(count: keys.distinctCount))
            return state.keyed.count - 1
        }
        self.nearestRequests.makeSketchesAhead()
    }

    /// A session that goes on with more rules. Both know which exchanges have answered, and have one verdict. A request that this session has
    /// begun is decided by the rules under which it began, whichever session is asked.
    ///
    /// - Parameter cassette: the cassette of this session. Reads from disk.
    ///
    /// Throws `MatchRuleError` if the rules are invalid, and `CassetteError` if they compare what cannot be read.
    package func adding(_ texts: MatchRuleTexts, in cassette: RecordedCassette) throws -> CassetteSession {
        let rules = try self.rules.adding(texts)
        return CassetteSession(self, rules: rules, keys: self.mode.replays ? try cassette.keys(rules) : RecordedKeys())
    }

    // MARK: Pausing

    /// Whether requests are forwarded without being recorded, because a person has paused the recording.
    package var isPaused: Bool { self.state.withLock { $0.isPaused } }

    /// Pauses the recording, or goes on. Requests that have begun are not affected.
    package func pause(_ isPaused: Bool) { self.state.withLock { $0.isPaused = isPaused } }

    /// Records this many exchanges, and forwards later ones unrecorded.
    package func limitRecording(to count: Int) { self.state.withLock { $0.recordable = count } }

    public var looksUp: Bool { self.hasCassette && self.mode.replays }

    public var mayForward: Bool {
        switch self.mode.missRule(hasCassette: self.hasCassette) {
        case .forward: true
        case .refuse: false
        }
    }

    // MARK: Deciding

    /// Decides on a request whose head has arrived, or asks for its body. May be called from any thread and never blocks.
    ///
    /// - Parameter login: who has logged in on the client's connection; used only if `comparesLogins`.
    public func begin(
        method: String, url: String, headers: HeaderFields = HeaderFields(), hasBody: Bool = false, opensWebSocket: Bool = false,
        login: ConnectionLogin = .unknown
    ) -> Opening {
        // This mode looks nothing up, so no key is needed.
        if !self.mode.replays, case .forward(let record) = self.mode.missRule(hasCassette: self.hasCassette) {
            return .decided(self.forward(record))
        }
        let redaction = self.redaction?.forOneRequest()
        let (comparedURL, redactedHeaders) = redaction?.redacted(url: url, headers: headers) ?? (url, headers)
        let comparedHeaders = self.recordedDates(redactedHeaders, method: method, url: comparedURL, redaction)
        func pending(_ head: UnsafeRawBufferPointer, _ key: Int?) -> PendingRequest {
            PendingRequest(
                session: self, method: method, url: comparedURL, headers: headers, comparedHeaders: comparedHeaders, rules: self.rules,
                redaction: redaction, head: Array(head), key: key,
                fields: LiveFields(
                    method: method, comparedHeaders, rules: self.rules, url: comparedURL,
                    placeholders: HeldPlaceholders(self.comparesLogins ? login : .unknown)
                        + (redaction == nil ? HeldPlaceholders() : HeldPlaceholders(url: url, headers: headers, isRecorded: false)),
                    computesRanges: self.ranges == .computed, head: self.keys.haveStubs ? head : nil),
                digest: self.digest)
        }
        let isPreflight = Preflight.isAsked(method: method, headers)
        return self.rules.withHeadKey(method: method, url: comparedURL, headers: comparedHeaders) { head in
            let key = self.key(of: head)
            if let key {
                if !opensWebSocket || !self.rules.custom.isEmpty, self.comparesHeadAlone(key, hasBody: hasBody) {
                    if let decision = self.decide(head, key: key, headers: headers, isPreflight: isPreflight) {
                        guard case .replay(let index, var form) = decision else { return .decided(decision) }
                        form.echo = AnswerEcho(url: comparedURL, headers: comparedHeaders, values: [], rules: self.rules, redaction: nil)
                        return .decided(.replay(index: index, form: form))
                    }
                    let pending = pending(head, key)
                    return self.decide(pending, body: .none).map { .decided($0) } ?? .needsBody(pending)
                }
            } else {
                guard self.explainsBodies, !isPreflight else { return .decided(self.nothingLeft(head, isPreflight: isPreflight)) }
                let matches = self.keys.withKey(of: head) { self.nearestRequests.search(for: $0) }
                let mayDiffer = hasBody || DecidingFields.areIn(headers) || matches.contains { self.keys.mayHaveBodies($0.key) }
                guard !matches.isEmpty, mayDiffer else {
                    return .decided(self.nothingLeft(head, heads: matches.map { self.nearHead($0) }))
                }
            }
            return .needsBody(pending(head, key))
        }
    }

    /// The header fields as the recorded client would have sent them. A date that the client did not get from an answer was recorded
    /// unchanged, so it is not moved.
    private func recordedDates(_ headers: HeaderFields, method: String, url: String, _ redaction: LiveRedactor?) -> HeaderFields {
        guard let moved = self.dates?.recorded(headers) else { return headers }
        func isRecorded(_ headers: HeaderFields) -> Bool {
            self.rules.withHeadKey(method: method, url: url, headers: redaction?.redacted(headers: headers) ?? headers) {
                self.key(of: $0) != nil
            }
        }
        return isRecorded(moved) || !isRecorded(headers) ? moved : headers
    }

    /// Decides whether a tunnel may be opened whose contents are not read. The cassette does not contain them, so a session that forwards
    /// nothing refuses.
    ///
    /// - Parameter url: the URL of the authority, `https://host:port/`.
    public func beginTunnel(to url: String) -> Decision {
        switch self.mode.missRule(hasCassette: self.hasCassette) {
        case .forward(let record): self.forward(record)
        case .refuse: self.rules.withHeadKey(method: "CONNECT", url: url, headers: nil) { self.nothingLeft($0) }
        }
    }

    private func key(of head: UnsafeRawBufferPointer) -> Int? {
        guard self.mode.replays else { return nil }
        return self.keys.withKey(of: head) { self.keys.number(of: $0) ?? self.keys.firstMarked(fitting: $0) }
    }

    /// Whether a refusal explains how bodies differ.
    private var explainsBodies: Bool {
        self.source != nil && self.rules.looksAtBody && self.refuses
    }

    private func comparesHeadAlone(_ key: Int, hasBody: Bool) -> Bool {
        guard self.rules.custom.isEmpty else { return false }
        if !self.rules.looksAtBody { return true }
        return !hasBody && !self.rules.movesQueryToBody && !self.keys.mayHaveBodies(key)
    }

    /// Decides by order alone; nil if header fields may also decide.
    private func decide(_ head: UnsafeRawBufferPointer, key: Int, headers: HeaderFields, isPreflight: Bool) -> Decision? {
        let count = self.groups.count(ofKey: key)
        guard self.source == nil || !self.keys.isBound(key) && !DecidingFields.areIn(headers) else { return nil }
        let assignment: AssignmentRule.Assignment? = self.state.withLock { state in
            guard count == 1 || self.source == nil || state.keyed[self.generation].bodies[key]?.isUniform(count: count) == true else {
                return nil
            }
            let members = self.groups.members(ofKey: key)
            var assignment = state.assignments.assign(members, turn: &state.keyed[self.generation].turns[key])
            if assignment == .usedUp, isPreflight, self.refuses, let last = members.last { assignment = state.assignments.again(Int(last)) }
            self.note(assignment, in: &state)
            return assignment
        }
        return assignment.map { self.decision($0) ?? self.nothingLeft(head, isPreflight: isPreflight, equalCount: count) }
    }

    /// Whether a request that the cassette does not answer is refused.
    private var refuses: Bool { self.mode.missRule(hasCassette: self.hasCassette) == .refuse }

    /// Notes an assignment in the verdict; called under the lock.
    func note(_ assignment: AssignmentRule.Assignment, in state: inout State) {
        switch assignment {
        case .first(let index, let latest):
            state.verdict.hits += 1
            state.abandoned[index] = nil
            if let latest { self.note(index, other: latest, isRefused: false, in: &state.verdict) }
        case .again:
            state.verdict.hits += 1
            state.verdict.repeatedHits += 1
        case .instead(let index, let left):
            state.verdict.hits += 1
            state.abandoned[left] = nil
            // A second answer to a request that changes something may not be what the origin would say.
            let text = self.text(ofExchange: index)
            if !["GET ", "HEAD ", "OPTIONS "].contains(where: text.hasPrefix) {
                state.verdict.note(computed: "\(text): exchange \(index + 1) in place of exchange \(left + 1), which its client left")
            }
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

    /// Nil if nothing was assigned.
    func decision(_ assignment: AssignmentRule.Assignment, _ form: AnswerForm = .recorded) -> Decision? {
        switch assignment {
        case .first(let index, _), .again(let index), .instead(let index, _): .replay(index: index, form: form)
        case .outOfTurn(let index, let due):
            .refuse(
                MissReport(
                    request: self.text(ofExchange: index), mode: self.mode,
                    reason: .outOfOrder(index: index, due: due, dueRequest: self.text(ofExchange: due)), audience: self.audience))
        case .usedUp: nil
        }
    }

    private func forward(_ record: Bool) -> Decision {
        .forward(
            record: self.state.withLock { state in
                state.verdict.forwarded += 1
                return record && state.takesPlace()
            })
    }

    /// Whether an exchange that a traffic rule answers is recorded, if the rule says so.
    public func recordsRuleAnswer() -> Bool { self.state.withLock { $0.takesPlace() } }

    /// Notes that an exchange was not recorded after all, so that another one has its place.
    public func didNotRecord() { self.state.withLock { $0.recordable = $0.recordable.map { $0 + 1 } } }

    /// Notes that a request to be forwarded got no connection to its origin: the origin was not found or refused the connection, the
    /// connection led back to the proxy, or the client left first.
    public func didNotReachOrigin() {
        self.state.withLock {
            $0.verdict.forwarded -= 1
            $0.verdict.unreached += 1
        }
    }

    /// An exchange's request as plain text.
    func text(ofExchange index: Int) -> String {
        let number = self.keys.keyNumbers[index]
        guard number != RecordedKeys.noKey else { return "CONNECT" }
        if let text = self.keys.text(ofExchange: index) { return text.withUnsafeBytes { MissReport.text($0) } }
        return self.keys.withBytes(ofKey: Int(number)) { MissReport.text($0) }
    }

    // MARK: Deciding by the body

    /// Decides on a request whose body has ended. May be called from any thread and never blocks.
    ///
    /// Nil if the cassette must be read first. Then call `prepare` on a thread that may read from disk, and this again.
    public func decide(_ pending: PendingRequest, body: BodyFacets) -> Decision? {
        guard pending.session === self else { return pending.session.decide(pending, body: body) }
        let findings = pending.findings.withLock { $0 }
        guard let key = pending.key else {
            guard let heads = findings.heads else { return nil }
            return pending.head.withUnsafeBytes { self.nothingLeft($0, heads: heads) }
        }
        let count = self.groups.count(ofKey: key)
        let live = pending.live(body)
        var equalCount = 0
        var form = AnswerForm.recorded
        let assignment: AssignmentRule.Assignment? = self.withGroup(key) { group, state in
            var assignment: AssignmentRule.Assignment
            if self.rules.custom.isEmpty, group.isReady(body, live, state.assignments, count: count) {
                assignment = group.assign(body, live, &state.assignments)
                // Exchanges are left, but a field of the request is that of others: which one, is read from the cassette.
                if assignment == .usedUp, self.refuses, findings.nearest == nil {
                    pending.findings.withLock { $0.isExplained = true }
                    return nil
                }
            } else {
                guard group.seen == count, let others = findings.others else { return nil }
                let asksEquals = self.rules.custom.isEmpty
                assignment =
                    asksEquals
                    ? group.assign(body, live, &state.assignments, others: others)
                    : group.assign(among: others, live, &state.assignments)
                if assignment == .usedUp {
                    equalCount = group.count(asksEquals ? body : nil, live, others: others)
                    // Also if a recorded part is used up: the representation has not changed, or nothing is computed from it.
                    if equalCount == 0 || live.asksRange, let used = self.compute(body, live, &group, &state, form: &form) { return used }
                    if let whole = self.computeWhole(body, live, &group, &state, form: &form) { return whole }
                    if asksEquals, group.hasNext(body, live, state.assignments) { equalCount = 0 }
                }
                // In the recording, the browser had this preflight's answer in its cache.
                if assignment == .usedUp, pending.isPreflight, self.refuses, let index = group.again(body, for: live) {
                    assignment = state.assignments.again(index)
                }
                // A refusal includes an explanation, which is read from the cassette.
                if assignment == .usedUp, self.refuses, findings.nearest == nil { return nil }
            }
            self.note(assignment, in: &state)
            switch assignment {
            case .first(let index, _), .again(let index), .instead(let index, _):
                if form.ranges == nil, let ranges = group.laidOut(index, body, for: live) {
                    form.ranges = ranges
                    for source in ranges.sources { state.assignments.noteSent(source.index) }
                } else if form.ranges == nil, let ranges = group.continued(index, body, for: live) {
                    form.ranges = ranges
                    state.computedFrom.formUnion(ranges.sources.map(\.index))
                    state.verdict.note(
                        computed:
                            "\(self.text(ofExchange: index)): the rest of exchange \(index + 1) from \(ranges.sources.count) exchanges")
                } else if form.ranges == nil, let ranges = group.computed(unanswered: index, body, live, state.assignments),
                    let source = ranges.sources.first
                {
                    // Its client left before the answer came, but other requests got this part.
                    form.ranges = ranges
                    state.computedFrom.formUnion(ranges.sources.map(\.index))
                    state.verdict.note(computed: "\(self.text(ofExchange: index)): exchange \(index + 1) from exchange \(source.index + 1)")
                    return .again(index: source.index)
                }
            case .outOfTurn, .usedUp: break
            }
            return assignment
        }
        guard let assignment else { return nil }
        form.echo = pending.echo(body)
        if let decision = self.decision(assignment, form) { return decision }
        return pending.head.withUnsafeBytes {
            self.nothingLeft($0, isPreflight: pending.isPreflight, equalCount: equalCount, bodies: findings.nearest ?? [])
        }
    }

    /// Finds exchanges that contain the requested ranges, although none was recorded for them. They are not used up, since any number of
    /// answers can be computed from them. Called under the lock.
    private func compute(
        _ body: BodyFacets, _ live: LiveFields, _ group: inout BodyGroup, _ state: inout State, form: inout AnswerForm
    ) -> AssignmentRule.Assignment? {
        guard self.ranges == .computed, let outcome = group.computed(body, live, state.assignments) else { return nil }
        return self.use(outcome, as: PlainText.escape((live.range ?? "").utf8, limit: 80), &state, form: &form)
    }

    /// Lets a client have the whole representation again whose cache asked only for the rest when it was recorded. Called under the lock.
    private func computeWhole(
        _ body: BodyFacets, _ live: LiveFields, _ group: inout BodyGroup, _ state: inout State, form: inout AnswerForm
    ) -> AssignmentRule.Assignment? {
        guard self.ranges == .computed, let (outcome, rest) = group.computed(insteadOfRest: body, live, state.assignments) else {
            return nil
        }
        for index in rest { state.assignments.pass(index) }
        let parts = rest.count == 1 ? "exchange \(rest[0] + 1)" : "\(rest.count) exchanges"
        return self.use(outcome, as: "the whole, in place of \(parts) with the rest,", &state, form: &form)
    }

    private func use(
        _ outcome: RangeRule.Outcome, as text: String, _ state: inout State, form: inout AnswerForm
    ) -> AssignmentRule.Assignment? {
        let indexes: [Int]
        switch outcome {
        case .whole(let index): indexes = [index]
        case .computed(let ranges):
            indexes = ranges.sources.map(\.index)
            form.ranges = ranges
        }
        guard let first = indexes.first else { return nil }
        state.computedFrom.formUnion(indexes)
        state.assignments.noteSent(first)
        state.verdict.hits += 1
        let source = indexes.count == 1 ? "exchange \(first + 1)" : "\(indexes.count) exchanges"
        state.verdict.note(computed: "\(self.text(ofExchange: first)): \(text) from \(source)")
        return .again(index: first)
    }

    /// Notes that an answer was sent without its content codings, because the client does not accept them.
    public func noteDecoded(_ index: Int, coding: String) {
        let text = "\(self.text(ofExchange: index)): without \(PlainText.escape(coding.utf8, limit: 40)) from exchange \(index + 1)"
        self.state.withLock { $0.verdict.note(computed: text) }
    }

    /// Reads from the cassette what `decide` needs. Reads from disk.
    ///
    /// Throws if a recorded body cannot be read: without it, the right exchange is unknown.
    public func prepare(_ pending: PendingRequest, body: BodyFacets) throws(CassetteError) {
        guard pending.session === self else { return try pending.session.prepare(pending, body: body) }
        guard let source else { return pending.findings.withLock { $0 = PendingFindings(others: [], nearest: [], heads: []) } }
        guard let key = pending.key else {
            let heads = HeadLookup(session: self, source: source, pending: pending, body: body).nearest()
            return pending.findings.withLock { $0.heads = heads }
        }
        let reader = BodyLookup(session: self, source: source, pending: pending, key: key, body: body)
        let isExplained = pending.findings.withLock { $0.isExplained }
        // Also if a miss is to be explained: another request may have used up what was left, and then the rest has to be read.
        let hasEqual = try reader.findEqual()
        guard isExplained || !hasEqual else { return }
        let others = try reader.others()
        let nearest = self.mode.missRule(hasCassette: self.hasCassette) == .refuse ? reader.nearest() : []
        pending.findings.withLock { $0 = PendingFindings(others: others, nearest: nearest, isExplained: isExplained) }
    }

    /// Decides at once by calling `decide` and `prepare` in turn, for callers that may read from disk.
    public func resolve(_ pending: PendingRequest, body: BodyFacets) throws(CassetteError) -> Decision {
        while true {
            if let decision = self.decide(pending, body: body) { return decision }
            try self.prepare(pending, body: body)
        }
    }

    func withGroup<Result>(_ key: Int, _ body: (inout BodyGroup, inout State) -> Result) -> Result {
        self.state.withLock { state in
            // Moved out, so that its storage is not copied.
            var group =
                state.keyed[self.generation].bodies.removeValue(forKey: key)
                ?? BodyGroup(keepsTraits: !self.rules.custom.isEmpty, hasStubs: self.keys.hasStubs(key))
            defer { state.keyed[self.generation].bodies[key] = group }
            return body(&group, &state)
        }
    }

    /// At most this many recorded requests are read. It is unlikely that more than that were all refused.
    private static let unaskedLimit = 64

    /// Decides on a request whose client waits for 100 (Continue) before it sends its body (RFC 9110, 10.1.1), if every recorded request
    /// with its head was answered before the body. Nil if the body is needed. Reads from disk.
    ///
    /// Throws if a recorded request cannot be read.
    public func decideUnasked(_ pending: PendingRequest) throws(CassetteError) -> Decision? {
        guard pending.session === self else { return try pending.session.decideUnasked(pending) }
        guard let source, self.rules.custom.isEmpty else { return nil }
        // Whatever the body is, nothing would match, so it need not be sent.
        guard let key = pending.key else {
            return pending.head.withUnsafeBytes { head in
                self.nothingLeft(head, heads: self.nearHeads(head))
            }
        }
        let members = self.groups.members(ofKey: key)
        guard !members.isEmpty, members.count <= Self.unaskedLimit else { return nil }
        for index in members {
            let recorded = try source.comparedRequest(
                at: Int(index), rules: self.rules, detail: .digests, redaction: nil, digest: self.digest)
            guard !recorded.isComplete, recorded.facets.kind == .none else { return nil }
        }
        return try self.resolve(pending, body: .unsent)
    }

    /// Notes that a client left before the end of its request's body. An exchange with the same head whose recorded client left in the same
    /// way counts as replayed. Reads from disk.
    public func clientLeft(during pending: PendingRequest) {
        guard pending.session === self else { return pending.session.clientLeft(during: pending) }
        guard let source, let key = pending.key else { return }
        for index in self.groups.members(ofKey: key).prefix(Self.unaskedLimit).map(Int.init) {
            // An unreadable recorded request is reported when a request needs it.
            guard self.state.withLock({ $0.assignments.answered[index] == 0 }),
                let recorded = try? source.comparedRequest(
                    at: index, rules: self.rules, detail: .digests, redaction: nil, digest: self.digest),
                recorded.traits.isLeft, !recorded.isComplete
            else { continue }
            let isTaken = self.state.withLock { state in
                guard state.assignments.answered[index] == 0 else { return false }
                state.assignments.use(index)
                state.verdict.hits += 1
                return true
            }
            if isTaken { return }
        }
    }

    // MARK: Misses and the verdict

    /// Decides on a request for which no recorded exchange is left.
    ///
    /// - Parameters:
    ///   - equalCount: how many exchanges match, all of them used up.
    ///   - bodies: the nearest recorded requests with an equal head.
    ///   - heads: the nearest ones with another head; nil if they were not searched for.
    func nothingLeft(
        _ head: UnsafeRawBufferPointer, isPreflight: Bool = false, equalCount: Int = 0, bodies: [NearBody] = [], heads: [NearHead]? = nil
    ) -> Decision {
        switch self.mode.missRule(hasCassette: self.hasCassette) {
        case .forward(let record): self.forward(record)
        case .refuse where isPreflight && self.hasCassette: self.allowPreflight(head)
        case .refuse: .refuse(self.refuse(head, equalCount: equalCount, bodies: bodies, heads: heads))
        }
    }

    private func allowPreflight(_ head: UnsafeRawBufferPointer) -> Decision {
        let request = MissReport.text(head)
        self.state.withLock { $0.verdict.note(computed: "\(request): a preflight that was not recorded") }
        return .allowPreflight
    }

    /// Searches outside the lock: the recorded keys never change.
    ///
    /// - Parameter reason: nil to derive it from the other arguments.
    func refuse(
        _ head: UnsafeRawBufferPointer, equalCount: Int, bodies: [NearBody], heads: [NearHead]?, reason: MissReport.Reason? = nil
    ) -> MissReport {
        let heads = heads ?? self.nearHeads(head)
        let isUsedUp = self.state.withLock { state in
            (
                bodies: bodies.map { !state.assignments.isAvailable($0.index) },
                heads: heads.map { match in !self.groups.members(ofKey: match.key).contains { state.assignments.isAvailable(Int($0)) } }
            )
        }
        var nearest = zip(bodies, isUsedUp.bodies).map { body, isUsedUp in
            NearRequest(
                index: body.index, request: self.text(ofExchange: body.index), isUsedUp: isUsedUp,
                differences: body.differences.map(ShownSecrets.hidden(in:)))
        }
        nearest += zip(heads, isUsedUp.heads).map { match, isUsedUp in
            NearRequest(
                index: match.index, request: self.keys.withBytes(ofKey: match.key) { MissReport.text($0) },
                isUsedUp: isUsedUp, differences: match.differences.map(ShownSecrets.hidden(in:)))
        }
        let reason = reason ?? (!self.hasCassette ? .noCassette : equalCount > 0 ? .usedUp(count: equalCount) : .notRecorded)
        let report = MissReport(
            request: self.text(head, like: heads), mode: self.mode, reason: reason, nearest: Array(nearest.prefix(NearestRequests.limit)),
            cassette: self.cassettePath, audience: self.audience)
        self.state.withLock { state in
            state.verdict.misses += 1
            if state.verdict.reports.count < Self.reportLimit { state.verdict.reports.append(report) }
        }
        return report
    }

    /// A live head as plain text, without possible secrets: the parts where a recorded head that fits, or is near, has a placeholder.
    func text(_ head: UnsafeRawBufferPointer, like heads: [NearHead] = []) -> String {
        var numbers = heads.map(\.key)
        if let key = self.key(of: head) { numbers.append(key) }
        guard !numbers.isEmpty else { return MissReport.text(head) }
        let parts = RequestParts(head)
        let shown = numbers.reduce(parts) { parts, number in
            parts.hidingSecrets(where: self.keys.withBytes(ofKey: number) { RequestParts($0) })
        }
        return shown.key == parts.key ? MissReport.text(head) : shown.key.withUnsafeBytes { MissReport.text($0) }
    }

    private func nearHeads(_ head: UnsafeRawBufferPointer) -> [NearHead] {
        self.keys.withKey(of: head) { self.nearestRequests.search(for: $0).map { self.nearHead($0) } }
    }

    /// Includes the first exchange with the key that is left, or the first one if none is.
    func nearHead(_ match: NearestRequests.Match) -> NearHead {
        let members = self.groups.members(ofKey: match.key)
        let index = self.state.withLock { state in members.first { state.assignments.answered[Int($0)] == 0 } } ?? members.first ?? 0
        return NearHead(key: match.key, index: Int(index), differences: match.differences)
    }

    /// Reports that a replay could not be sent as recorded; it is not a hit.
    ///
    /// - Parameter problem: the reason, with the file and the next step.
    public func couldNotServe(_ index: Int, problem: String) {
        self.state.withLock { state in
            state.verdict.hits -= 1
            Self.noteUnserved(index, problem, in: &state.verdict)
        }
    }

    /// Reports a miss: the recorded client or the recorder left before the answer's end, but this client waits for the rest.
    ///
    /// - Parameter party: who cut the recorded exchange.
    public func clientStayed(_ index: Int, cutBy party: Cut.Party) -> MissReport {
        self.missed(index, party == .recorder ? .recorderEnded(index: index) : .clientStayed(index: index))
    }

    /// The complete exchange that answers a client that waits for more of one that its recorded client left: the client of an equal request
    /// has left in its place. Nil if there is none.
    public func wholeInstead(ofLeft index: Int) -> Int? {
        self.state.withLock { state in
            let key = self.keys.keyNumbers[index]
            guard key != RecordedKeys.noKey, let group = state.keyed[self.generation].bodies[Int(key)],
                let whole = group.wholes(like: index).map(Int.init).first(where: { state.abandoned[$0] != nil })
            else { return nil }
            state.assignments.use(whole)
            state.abandoned[whole] = nil
            state.verdict.hits += 1
            return whole
        }
    }

    /// Reports a miss: the origin switched protocols, and what passed after that is not in the cassette.
    public func switchedProtocols(_ index: Int) -> MissReport { self.missed(index, .switchedProtocols(index: index)) }

    /// Reports a miss: the recorded answer is of another server than the one that was asked.
    ///
    /// - Parameters:
    ///   - recorded: the address of the server that was recorded.
    ///   - asked: that of the client's connection.
    public func otherServer(_ index: Int, recorded: String, asked: String) -> MissReport {
        self.missed(index, .otherServer(index: index, recorded: recorded, asked: asked))
    }

    /// Reports a miss: the client does not accept the content coding of the recorded answer, which cannot be decoded for it.
    public func codingNotAccepted(_ index: Int, coding: String) -> MissReport {
        self.missed(index, .codingNotAccepted(index: index, coding: coding))
    }

    /// Reports a miss: the proxy cannot forward a request that came in a tunnel to another server.
    ///
    /// - Parameters:
    ///   - authority: the host that the request names, perhaps with a port or as a URL.
    ///   - tunnel: the authority of the tunnel's server.
    /// - Returns: false if misses are not refused, and nothing is reported.
    public func misdirected(method: String, authority: String, tunnel: String) -> Bool {
        guard self.refuses else { return false }
        let report = MissReport(
            request: "\(PlainText.escape(method.utf8, limit: 40)) \(PlainText.escape(authority.utf8, limit: 300))", mode: self.mode,
            reason: .misdirected(tunnel: tunnel), cassette: self.cassettePath, audience: self.audience)
        self.state.withLock { state in
            state.verdict.misses += 1
            if state.verdict.reports.count < Self.reportLimit { state.verdict.reports.append(report) }
        }
        return true
    }

    /// Reports a miss: the proxy answered with an error of its own, before anything could be looked up.
    ///
    /// - Parameters:
    ///   - request: what was answered, such as `a connection to "a.test"`.
    ///   - next: what to do about it.
    /// - Returns: false if misses are not refused, and nothing is reported.
    public func answeredItself(_ request: String, problem: String, next: String) -> Bool {
        guard self.refuses else { return false }
        let report = MissReport(
            request: PlainText.sentence(request, limit: 400), mode: self.mode, reason: .ownAnswer(problem: problem, next: next),
            cassette: self.cassettePath, audience: self.audience)
        self.state.withLock { state in
            state.verdict.misses += 1
            if state.verdict.reports.count < Self.reportLimit { state.verdict.reports.append(report) }
        }
        return true
    }

    /// Reports a miss: a request cannot be read.
    ///
    /// - Parameter server: the authority of the server that it was sent to.
    /// - Returns: false if misses are not refused, and nothing is reported.
    public func malformed(server: String, problem: String) -> Bool {
        guard self.refuses else { return false }
        let report = MissReport(
            request: "a malformed request to \"\(PlainText.escape(server.utf8, limit: 300))\"", mode: self.mode,
            reason: .malformed(problem: PlainText.sentence(problem, limit: 300)), cassette: self.cassettePath, audience: self.audience)
        self.state.withLock { state in
            state.verdict.misses += 1
            if state.verdict.reports.count < Self.reportLimit { state.verdict.reports.append(report) }
        }
        return true
    }

    /// An exchange that was assigned to a request does not answer it.
    private func missed(_ index: Int, _ reason: MissReport.Reason) -> MissReport {
        let report = MissReport(
            request: self.text(ofExchange: index), mode: self.mode, reason: reason, cassette: self.cassettePath, audience: self.audience)
        self.state.withLock { state in
            state.verdict.hits -= 1
            state.verdict.misses += 1
            if state.verdict.reports.count < Self.reportLimit { state.verdict.reports.append(report) }
        }
        return report
    }

    /// Reports that the client left before any of the replayed answer was sent. The exchange becomes available to another request, usually
    /// the client's own retry. If none comes, it counts as an unserved answer. With strict order, nothing is given back once a later
    /// exchange was requested.
    ///
    /// - Parameter problem: the reason, as plain text.
    public func giveBack(_ index: Int, problem: String) {
        self.state.withLock { state in
            let left = self.left(insteadOf: index, state)
            // The recorded client left this exchange as well.
            if left == index { return }
            switch state.assignments.giveBack(index) {
            case .free:
                // This client left where the recorded client left a different exchange.
                if let left { return state.assignments.use(left) }
                state.verdict.hits -= 1
                // The client has its bytes from another answer: a download in parts is complete before all of them have been answered.
                guard !state.computedFrom.contains(index) else { return }
                state.abandoned[index] = problem
            case .answered:
                state.verdict.hits -= 1
                state.verdict.repeatedHits -= 1
            case .usedUp:
                break
            }
        }
    }

    /// Reports that a traffic rule answered or ended a request, for which the session was not asked.
    public func answeredByRule() { self.state.withLock { $0.verdict.answeredByRules += 1 } }

    /// Reports that a traffic rule broke a recorded answer on its way. Once its equals are used up, the exchange answers the client's next
    /// attempt as well.
    public func brokenByRule(_ index: Int) { self.state.withLock { $0.assignments.brokenByRule(index) } }

    /// An exchange that the recorded client left and that has not answered, or the given one if it was also left; nil if there is none.
    private func left(insteadOf index: Int, _ state: State) -> Int? {
        let key = self.keys.keyNumbers[index]
        guard key != RecordedKeys.noKey, let group = state.keyed[self.generation].bodies[Int(key)] else { return nil }
        let left = group.leftMembers(equalTo: index).map(Int.init)
        return left.contains(index) ? index : left.first { state.assignments.answered[$0] == 0 }
    }

    /// Reports a request for which no exchange could be chosen because the cassette is unreadable. It is neither a hit nor a miss.
    ///
    /// - Parameter problem: the reason, with the file and the next step.
    public func couldNotDecide(problem: String) {
        self.state.withLock { Self.noteUnserved(nil, problem, in: &$0.verdict) }
    }

    private static func noteUnserved(_ index: Int?, _ problem: String, in verdict: inout Verdict) {
        verdict.unserved += 1
        guard verdict.unservedAnswers.count < Self.reportLimit else { return }
        verdict.unservedAnswers.append(UnservedAnswer(index: index, problem: PlainText.escape(problem.utf8, limit: 500)))
    }

    /// The decisions so far; may be called at any time.
    public func verdict() -> Verdict { self.verdictAndAnswers().verdict }

    /// Whether a recorded request is a preflight, which a browser omits while it has the answer in its cache.
    private func isPreflight(_ index: Int) -> Bool {
        guard let source, self.text(ofExchange: index).hasPrefix("OPTIONS ") else { return false }
        let request = try? source.comparedRequest(at: index, rules: self.rules, detail: .digests, redaction: nil, digest: self.digest)
        return request.map { Preflight.isAsked(method: $0.method, $0.headers) } ?? false
    }

    /// The verdict, and how often each exchange has answered (`AssignmentRule.answered`), both at the same moment.
    func verdictAndAnswers() -> (verdict: Verdict, answered: [UInt32]) {
        let (noted, assignments, abandoned, computedFrom) = self.state.withLock {
            ($0.verdict, $0.assignments, $0.abandoned, $0.computedFrom)
        }
        var verdict = noted
        for (index, problem) in abandoned.sorted(by: { $0.key < $1.key }) { Self.noteUnserved(index, problem, in: &verdict) }
        verdict.unused = assignments.unused.filter { !computedFrom.contains($0) && !self.isPreflight($0) }
        verdict.damage = self.damage
        return (verdict, assignments.answered)
    }
}

/// How to answer one request.
public enum Decision: Sendable, Hashable {
    /// Answer with the recorded exchange at this index of the cassette, in order of request start. No upstream connection is made. `form`
    /// tells how.
    case replay(index: Int, form: AnswerForm = .recorded)
    /// Forward it to the origin, and record the exchange or not.
    case forward(record: Bool)
    /// Allow the request that a browser asks about in advance (Fetch, 4.8): the recorded browser had the answer in its cache.
    case allowPreflight
    /// Answer with an error that explains why.
    case refuse(MissReport)
}

/// Distinguishes a browser's preflights from other requests (Fetch, 4.8).
enum Preflight {
    static func isAsked(method: String, _ headers: HeaderFields) -> Bool {
        method == "OPTIONS" && headers.contains("origin") && headers.contains("access-control-request-method")
    }
}
