package import CassetteModel
package import CassettePlayback
package import CassetteRedaction
internal import TapeBytes

/// The rules of a run, with what became of them. Any thread may use it.
///
/// Decides by values alone: knows no sockets, and of time only what it is told.
package final class RuleEngine: Sendable {
    /// A rule in use: its counts go with it.
    private final class ActiveRule: Sendable {
        let rule: TrafficRule
        let seed: DrawSeed
        let counts: Guarded<Counts>

        init(_ rule: TrafficRule, seed: UInt64, counts: Guarded<Counts> = Guarded(Counts())) {
            self.rule = rule
            self.seed = DrawSeed(seed: rule.seed ?? seed, rule: rule.name)
            self.counts = counts
        }

        var report: RuleReport {
            let rule = self.rule
            // Not copied as a whole: the next request would have to copy all numbers of requests.
            return self.counts.withLock { counts in
                RuleReport(
                    name: rule.name, kind: rule.kind, condition: rule.condition, place: rule.place, isOn: rule.isOn,
                    draw: rule.draw.description, matched: counts.matched, applied: counts.applied, drawn: counts.drawn,
                    preceded: counts.preceded, displaced: counts.displaced, notes: counts.notes, remarks: counts.remarks)
            }
        }
    }

    private struct Counts: Sendable {
        var matched = 0
        var applied = 0
        var drawn = 0
        var preceded = 0
        var displaced = 0
        var notes: [String] = []
        var remarks: [String] = []
        /// How many equal requests came before.
        var ordinals: [DrawSeed.Identity: Int] = [:]
        var windows: [[UInt8]: Window] = [:]

        mutating func note(_ text: String) {
            guard self.notes.count < RuleEngine.noteLimit, !self.notes.contains(text) else { return }
            self.notes.append(text)
        }

        mutating func remark(_ text: String) {
            guard self.remarks.count < RuleEngine.noteLimit, !self.remarks.contains(text) else { return }
            self.remarks.append(text)
        }
    }

    /// A quota's requests since a time.
    private struct Window: Sendable {
        var start: Duration
        var count: Int
    }

    /// Texts of one rule; a report is for people.
    private static let noteLimit = 20
    /// Different requests whose numbers one rule keeps: some 50 MB. A run of tests has thousands.
    private static let ordinalLimit = 1 << 20
    /// Values whose requests a quota counts.
    private static let windowLimit = 1 << 16
    /// Rules that are reported though they are no longer in the list.
    private static let retiredLimit = 1000

    private let active: Guarded<[ActiveRule]>
    /// Counts the lists that were in use. Changed only with `active`.
    private let lists = Guarded(1)
    /// What became of rules that are no longer in the list and did something. Changed only with `active`.
    private let retired = Guarded<[RuleReport]>([])
    /// Rules that may come back, with their counts. Changed only with `active`.
    private let aside = Guarded<[ActiveRule]>([])
    /// By a request's identity: see `Planning.addInTurn`.
    private let turns = (0..<64).map { _ in Guarded(0) }
    private let seed: UInt64
    private let match: MatchRules
    private let redactURL: @Sendable (String) -> String
    private let redaction: LiveRedactor

    /// - Parameters:
    ///   - seed: for rules whose list has none.
    ///   - match: which bodies are equal for draws and numbers.
    ///   - redaction: for URLs that are shown.
    ///   - redactURL: makes a URL as the cassette has it, so that secrets that are new in each run change no draw.
    package init(
        _ rules: TrafficRules, seed: UInt64 = 0, match: MatchRules = .standard, redaction: RedactionRules = .standard,
        redactURL: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.redaction = LiveRedactor(Redactor(rules: redaction))
        self.seed = seed
        self.match = match
        self.redactURL = redactURL
        self.active = Guarded(rules.rules.map { ActiveRule($0, seed: seed) })
    }

    private init(_ rules: TrafficRules, like other: RuleEngine) {
        self.redaction = other.redaction
        self.seed = other.seed
        self.match = other.match
        self.redactURL = other.redactURL
        self.active = Guarded(rules.rules.map { ActiveRule($0, seed: other.seed) })
    }

    /// The rules in use.
    package var rules: TrafficRules {
        var rules = TrafficRules()
        rules.rules = self.active.withLock { $0 }.map(\.rule)
        return rules
    }

    /// What the plan for a request needs: its body, or the disk.
    package struct Needs: Sendable, Hashable {
        package var body: Bool
        package var disk: Bool

        package static let nothing = Needs(body: false, disk: false)
    }

    /// - Parameter head: whose `body` does not count.
    package func needs(for head: RequestFacts) -> Needs {
        let rules = self.rules
        return Needs(body: rules.needsBody(head), disk: rules.readsFiles)
    }

    package var isEmpty: Bool { self.active.withLock { $0.isEmpty } }

    /// The fault of TLS that a rule has for the tunnel to a host; nil if none has.
    ///
    /// - Parameter tunnel: with the method CONNECT and the URL of the host, as `https://example.com:443/`. Other conditions than `~d`, `~u`,
    ///   `~m` and `~all` do not hold for it.
    package func tlsFault(for tunnel: RequestFacts, now: Duration) -> Fault? {
        let rules = self.active.withLock { $0 }
        guard rules.contains(where: { $0.rule.isOn && $0.rule.breaksTLS }) else { return nil }
        var view = RequestView(tunnel)
        var matching: [Int] = []
        for (index, active) in rules.enumerated()
        where active.rule.isOn && active.rule.breaksTLS && active.rule.when?.holds(&view) != false {
            matching.append(index)
        }
        guard !matching.isEmpty else { return nil }
        var planning = Planning(engine: self, rules: rules, view: view, now: now)
        planning.add(matching)
        return planning.plan.fault
    }

    /// Uses other rules from now on. A rule that stays as it was, under the same name, keeps its counts and numbers.
    package func replace(_ rules: TrafficRules) { self.active.withLock { self.use(rules, in: &$0) } }

    /// The same for a time: those of these rules that leave the list are set aside for `restore`.
    package func replace(_ rules: TrafficRules, settingAside own: TrafficRules) {
        self.active.withLock { active in
            func byName(_ rules: TrafficRules) -> [String: RuleNode] {
                Dictionary(rules.rules.map { ($0.name, $0.node) }) { _, last in last }
            }
            let (old, new) = (byName(own), byName(rules))
            let leaving = active.filter { rule in
                let (name, node) = (rule.rule.name, rule.rule.node)
                return old[name]?.isSame(as: node) == true && new[name]?.isSame(as: node) != true
            }
            let names = Set(leaving.map(\.rule.name))
            self.aside.withLock { $0 = $0.filter { !names.contains($0.rule.name) } + leaving }
            active.removeAll { names.contains($0.rule.name) }
            self.use(rules, in: &active, keepsUnmatched: true)
        }
    }

    /// Uses rules again that were set aside. They keep their counts and numbers.
    package func restore(_ rules: TrafficRules) {
        self.active.withLock { active in
            let aside = self.aside.withLock { $0 }
            self.use(rules, in: &active, besides: aside, keepsUnmatched: true)
            self.aside.withLock { aside in
                aside.removeAll { old in active.contains { $0.counts === old.counts } }
            }
        }
    }

    /// - Parameter keepsUnmatched: whether rules that leave the list are reported though they matched nothing. Drafts of a page are not.
    private func use(
        _ rules: TrafficRules, in active: inout [ActiveRule], besides aside: [ActiveRule] = [], keepsUnmatched: Bool = false
    ) {
        self.lists.withLock { $0 += 1 }
        func byName(_ rules: [ActiveRule]) -> [String: ActiveRule] { Dictionary(rules.map { ($0.rule.name, $0) }) { _, last in last } }
        let (known, set) = (byName(active), byName(aside))
        var kept: Set<String> = []
        let new = rules.rules.map { rule in
            if let old = known[rule.name], old.rule.node.isSame(as: rule.node) {
                kept.insert(rule.name)
                return ActiveRule(rule, seed: self.seed, counts: old.counts)
            }
            guard let old = set[rule.name], old.rule.node.isSame(as: rule.node) else { return ActiveRule(rule, seed: self.seed) }
            return ActiveRule(rule, seed: self.seed, counts: old.counts)
        }
        var gone = active.filter { !kept.contains($0.rule.name) }.map(\.report).filter { keepsUnmatched || $0.matched > 0 }
        for index in gone.indices { gone[index].isRetired = true }
        self.retired.withLock { $0 = Array(($0 + gone).suffix(Self.retiredLimit)) }
        active = new
    }

    /// The rules in use and the number of their list, which is another one after each `replace`.
    package var numbered: (rules: TrafficRules, list: Int) {
        self.active.withLock { active in
            var rules = TrafficRules()
            rules.rules = active.map(\.rule)
            return (rules, self.lists.withLock { $0 })
        }
    }

    /// The number of the list in use.
    package var list: Int { self.lists.withLock { $0 } }

    /// Replaces the rules if the list with this number is still in use.
    ///
    /// - Returns: the number of the new list; nil if another list is in use by now, and nothing has changed.
    package func replace(_ rules: TrafficRules, after list: Int) -> Int? {
        self.active.withLock { active in
            guard self.list == list else { return nil }
            self.use(rules, in: &active)
            return self.list
        }
    }

    /// Rules have been written to a file: from now on they are reported with their places there.
    ///
    /// - Parameter places: by the names of the rules.
    package func relocate(_ places: [String: TrafficRule.Place]) {
        self.active.withLock { active in
            active = active.map { rule in
                guard let place = places[rule.rule.name] else { return rule }
                var moved = rule.rule
                moved.place = place
                return ActiveRule(moved, seed: self.seed, counts: rule.counts)
            }
        }
    }

    /// Bytes that are the same for requests that this run counts as equal.
    package func fingerprint(of request: RequestFacts) -> [UInt8] {
        let identity = DrawSeed.Identity(request, rules: self.match, redactURL: self.redactURL)
        return withUnsafeBytes(of: (identity.high, identity.low)) { Array($0) }
    }

    /// A URL for people, without the secrets that a recording would not have.
    package func shown(_ url: String) -> String {
        let drawn = DrawnURL.of(url)
        return self.redaction.forOneRequest().redacted(url: drawn) ?? drawn
    }

    /// Whether two requests with long bodies are equal only if their bytes are. Multipart bodies have another boundary each time, and match
    /// rules may leave places out.
    ///
    /// - Parameter headers: of the request.
    package func comparesBytes(of headers: HeaderFields) -> Bool {
        MultipartType(headers) == nil && !self.match.changesBodies
    }

    /// An engine with other rules that draws as this one does, for trials.
    package func copy(with rules: TrafficRules) -> RuleEngine {
        RuleEngine(rules, like: self)
    }

    /// What became of the rules in use, in their order, and then of those that were replaced.
    package func report() -> [RuleReport] {
        self.active.withLock { active in
            var aside = self.aside.withLock { $0 }.map(\.report)
            for index in aside.indices { aside[index].isRetired = true }
            return active.map(\.report) + aside + self.retired.withLock { $0 }
        }
    }

    /// A number that is another one when a report would be. Cheap, so that pages may ask for it often.
    package var activity: Int {
        let rules = self.active.withLock { $0 }
        return rules.reduce(self.list &* 1_000_003) { sum, active in
            sum &+ active.counts.withLock { $0.matched &+ $0.applied &+ $0.drawn &+ $0.preceded &+ $0.notes.count &+ $0.remarks.count }
        }
    }

    /// Remembers what was met while a plan was carried out: each text once, at most 20 of a rule.
    ///
    /// - Parameters:
    ///   - rule: its index in the plan; nothing happens if there is no such rule any more.
    ///   - isRemark: the rule does what it says, but something else is to be known.
    package func note(_ plan: ExchangePlan, rule: Int, _ text: String, isRemark: Bool = false) {
        guard let place = plan.rules.firstIndex(of: rule), plan.names.indices.contains(place) else { return }
        let name = plan.names[place]
        self.active.withLock { $0 }.first { $0.rule.name == name }?.counts.withLock { isRemark ? $0.remark(text) : $0.note(text) }
    }

    // MARK: Plans

    /// What the rules make of a request; nil if none applies, and the exchange runs as without rules.
    ///
    /// Counts the request: to be asked once for each. Waits for the disk if a rule answers with a file.
    ///
    /// - Parameter now: since the run began.
    package func plan(for request: RequestFacts, now: Duration) -> ExchangePlan? {
        let rules = self.active.withLock { $0 }
        guard !rules.isEmpty else { return nil }
        var view = RequestView(request)
        var matching: [Int] = []
        for (index, active) in rules.enumerated() where active.rule.isOn && !(request.tlsIsOpen && active.rule.breaksTLS) {
            if active.rule.breaksTLS, var tunnel = RequestView(tunnelOf: request) {
                if active.rule.when?.holds(&tunnel) != false { matching.append(index) }
            } else if Self.holds(active, &view) {
                matching.append(index)
            }
        }
        guard !matching.isEmpty else { return nil }
        var planning = Planning(engine: self, rules: rules, view: view, now: now)
        planning.addInTurn(matching)
        return planning.plan.rules.isEmpty && planning.plan.quotaValues.isEmpty ? nil : planning.plan
    }

    /// Whether the rule's condition holds. A body that was not read decides nothing, but its beginning tells requests apart.
    private static func holds(_ active: ActiveRule, _ view: inout RequestView) -> Bool {
        guard view.facts.bodyIsUnread else { return active.rule.when?.holds(&view) != false }
        switch active.rule.when?.likelihood(&view) ?? .yes {
        case .no: return false
        case .yes where !active.rule.actionNeedsBody || !active.rule.actionReadsBody && view.facts.bodyBeginning != nil: return true
        case .yes, .open:
            active.counts.withLock { $0.note("the body of a request is longer than a rule can look at, so the rule does not apply to it") }
            return false
        }
    }

    /// Whether a rule that is on pauses messages.
    package var pauses: Bool { self.active.withLock { $0 }.contains { $0.rule.isOn && $0.rule.kind == .pause } }

    /// What each rule would do with a request and why, in the order of the list.
    ///
    /// Counts the request as `plan` does: ask an engine that is used for nothing else.
    package func trial(of request: RequestFacts, now: Duration = .zero) -> (trials: [TrafficRuleTrial], plan: ExchangePlan?) {
        let rules = self.active.withLock { $0 }
        let request = request.withoutLongBody
        var view = RequestView(request)
        var outcomes: [Int: TrafficRuleTrial.Outcome] = [:]
        var matching: [Int] = []
        for (index, active) in rules.enumerated() {
            if !active.rule.isOn {
                outcomes[index] = .off
            } else if active.rule.breaksTLS, var tunnel = RequestView(tunnelOf: request) {
                if let failing = active.rule.when?.failing(&tunnel) {
                    outcomes[index] = .unmatched(failing)
                } else {
                    matching.append(index)
                }
            } else if request.bodyIsUnread {
                if Self.holds(active, &view) {
                    matching.append(index)
                } else if let when = active.rule.when, when.likelihood(&view) == .no {
                    outcomes[index] = .unmatched(when.failing(&view) ?? when.text)
                } else {
                    outcomes[index] = .notDrawn("the body of the request is longer than a rule can look at")
                }
            } else if let failing = active.rule.when?.failing(&view) {
                outcomes[index] = .unmatched(failing)
            } else {
                matching.append(index)
            }
        }
        var planning = Planning(engine: self, rules: rules, view: view, now: now)
        planning.keepsOutcomes = true
        planning.add(matching)
        let trials = rules.enumerated().map { index, active in
            TrafficRuleTrial(
                rule: index, name: active.rule.name, kind: active.rule.kind, condition: active.rule.condition, place: active.rule.place,
                outcome: outcomes[index] ?? planning.outcomes[index] ?? .off)
        }
        return (trials, planning.plan.rules.isEmpty ? nil : planning.plan)
    }

    /// The work on one plan.
    private struct Planning {
        let engine: RuleEngine
        let rules: [ActiveRule]
        var view: RequestView
        let now: Duration
        var plan = ExchangePlan()
        var keepsOutcomes = false
        private(set) var outcomes: [Int: TrafficRuleTrial.Outcome] = [:]
        private var knownIdentity: DrawSeed.Identity?
        /// The index of the rule that blocks.
        private var blocking: Int?

        init(engine: RuleEngine, rules: [ActiveRule], view: RequestView, now: Duration) {
            self.engine = engine
            self.rules = rules
            self.view = view
            self.now = now
        }

        private static let order: [TrafficRule.Kind] = [.block, .mapRemote, .edit, .pause, .mapLocal, .pace, .fault]

        /// As `add`. Each rule numbers equal requests by itself. If two of them come at the same time, one gets its numbers from all rules
        /// before the other, so that the effects on the second request of a kind go together in each run.
        mutating func addInTurn(_ matching: [Int]) {
            // Whatever decides about the request: its user is the same one.
            for index in matching {
                guard let by = self.rules[index].rule.draw.quota?.by else { continue }
                self.plan.quotaValues.append(by.value(of: &self.view)?.text ?? [])
            }
            guard matching.count > 1, matching.count(where: { self.rules[$0].rule.identifiesRequests }) > 1 else {
                return self.add(matching)
            }
            let turns = self.engine.turns
            turns[Int(self.identity().low % UInt64(turns.count))].withLock { _ in self.add(matching) }
        }

        /// In the order of effects. `respond` goes with `mapLocal`: both answer, and the first in the list wins.
        mutating func add(_ matching: [Int]) {
            for kind in Self.order {
                for index in matching {
                    let own = self.rules[index].rule.kind
                    guard own == kind || own == .respond && kind == .mapLocal else { continue }
                    self.add(index)
                }
            }
            self.plan.names = self.plan.rules.map { self.rules[$0].rule.name }
            self.displace()
        }

        /// A fault in place of the answer leaves nothing to rules that make or change the request or the answer.
        private mutating func displace() {
            guard let fault = self.plan.fault, fault.takesPlace(of: self.view.facts) else { return }
            for index in self.plan.rules {
                let rule = self.rules[index].rule
                switch rule.action {
                case .mapRemote, .mapLocal, .respond: break
                // A status of gRPC is an answer that edits see.
                case .edit(_, let response):
                    if case .grpc = fault.kind, !response.isEmpty { continue }
                case .block, .pause, .pace, .fault: continue
                }
                self.rules[index].counts.withLock { counts in
                    counts.applied -= 1
                    counts.displaced += 1
                }
                if self.keepsOutcomes { self.outcomes[index] = .preceded(by: self.rules[fault.rule].rule.name) }
            }
        }

        /// The rule that has taken what this one would do; nil if none has.
        private func predecessor(of rule: TrafficRule) -> Int? {
            if let blocking = self.blocking { return blocking }
            switch rule.action {
            case .block, .edit, .pace: return nil
            case .mapRemote: return self.plan.target?.rule
            case .mapLocal, .respond: return self.plan.answer?.rule
            case .fault: return self.plan.fault?.rule
            case .pause(let pause):
                switch pause.message {
                case .request: return self.plan.pausesRequest?.rule
                case .response: return self.plan.pausesResponse?.rule
                case .both: return self.plan.pausesRequest == nil ? nil : self.plan.pausesResponse?.rule
                case .events: return self.plan.pausesEvents?.rule
                case .messages: return self.plan.pausesMessages?.rule
                }
            }
        }

        private mutating func add(_ index: Int) {
            let active = self.rules[index]
            let rule = active.rule
            let predecessor = self.predecessor(of: rule)
            active.counts.withLock { counts in
                counts.matched += 1
                if predecessor != nil { counts.preceded += 1 }
            }
            if let predecessor {
                if self.keepsOutcomes { self.outcomes[index] = .preceded(by: self.rules[predecessor].rule.name) }
                return
            }
            switch self.decide(active) {
            case .skipped(let problem):
                if self.keepsOutcomes { self.outcomes[index] = .notDrawn(rule.draw.text(problem)) }
            case .taken(let draws):
                var notes: [String] = []
                let applies = self.apply(rule, index, draws, &notes)
                active.counts.withLock { counts in
                    counts.drawn += 1
                    if applies { counts.applied += 1 }
                    for note in notes { counts.note(note) }
                }
                if applies { self.plan.rules.append(index) }
                if self.keepsOutcomes { self.outcomes[index] = applies ? .applies : .notDrawn(notes.first ?? "") }
            }
        }

        private enum Decision {
            case taken(Draws)
            case skipped(RuleDraw.Problem)
        }

        /// What is drawn for a request that a rule applies to.
        struct Draws {
            let seed: DrawSeed
            let identity: DrawSeed.Identity
            let ordinal: Int
            /// Until the quota is reset, if it is what applies.
            var quota: (limit: Int, wait: Duration)?

            func draw(_ purpose: String) -> UInt64 { self.seed.draw(purpose, self.identity, ordinal: self.ordinal) }
        }

        /// Whether the rule's numbers, shares, times and quotas hold.
        private mutating func decide(_ active: ActiveRule) -> Decision {
            let rule = active.rule
            if let problem = rule.draw.problem(at: self.now) { return .skipped(problem) }
            let identity = rule.identifiesRequests ? self.identity() : .ofAll
            let quotaKey = rule.draw.quota.map { quota in quota.by.map { $0.value(of: &self.view)?.text ?? [] } ?? [] }
            let now = self.now
            return active.counts.withLock { counts -> Decision in
                var ordinal = 1
                if rule.identifiesRequests || rule.draw.countsRequests || rule.draw.counting == .rule {
                    if let count = counts.ordinals[identity] {
                        ordinal = count + 1
                        counts.ordinals[identity] = ordinal
                    } else if counts.ordinals.count < RuleEngine.ordinalLimit {
                        counts.ordinals[identity] = 1
                    } else {
                        counts.note(
                            "more than \(RuleEngine.ordinalLimit) different requests: each further one counts as the first of its kind")
                    }
                }
                var draws = Draws(seed: active.seed, identity: identity, ordinal: ordinal)
                if let problem = rule.draw.problem(ordinal: ordinal, draw: { draws.draw("share") }) { return .skipped(problem) }
                if let quota = rule.draw.quota, let quotaKey {
                    guard let wait = Self.wait(quota, quotaKey, now, &counts) else { return .skipped(.withinQuota) }
                    draws.quota = (quota.limit, wait)
                }
                return .taken(draws)
            }
        }

        /// Counts a request. Nil while the quota is not used up, or else the time until it is reset.
        private static func wait(_ quota: RuleDraw.Quota, _ key: [UInt8], _ now: Duration, _ counts: inout Counts) -> Duration? {
            var window = counts.windows[key] ?? Window(start: now, count: 0)
            if now >= window.start + quota.window { window = Window(start: now, count: 0) }
            window.count += 1
            if counts.windows[key] == nil, counts.windows.count >= RuleEngine.windowLimit {
                counts.windows = counts.windows.filter { now < $0.value.start + quota.window }
                guard counts.windows.count < RuleEngine.windowLimit else {
                    counts.note("more than \(RuleEngine.windowLimit) values of the quota at once: further ones have no quota")
                    return nil
                }
            }
            counts.windows[key] = window
            return window.count > quota.limit ? window.start + quota.window - now : nil
        }

        private mutating func identity() -> DrawSeed.Identity {
            if let identity = self.knownIdentity { return identity }
            let identity = DrawSeed.Identity(self.view.facts, rules: self.engine.match, redactURL: self.engine.redactURL)
            self.knownIdentity = identity
            return identity
        }

        /// Whether the rule changes anything.
        private mutating func apply(_ rule: TrafficRule, _ index: Int, _ draws: Draws, _ notes: inout [String]) -> Bool {
            switch rule.action {
            case .block(let block):
                self.plan.block = block
                self.blocking = index
                self.plan.records = rule.isRecorded
            case .mapRemote(let map):
                guard let url = map.url(for: self.view.facts.url) else {
                    notes.append("the URL of a request is not absolute, so it is not mapped")
                    return false
                }
                self.plan.target = MappedTarget(url: url, rule: index)
            case .mapLocal(let map):
                self.plan.answer = map.answer(self.view.facts, rule: index, ruleName: rule.name, notes: &notes)
                self.plan.records = rule.isRecorded
            case .respond(let respond):
                self.plan.answer = respond.answer(&self.view, rule: index, notes: &notes)
                self.plan.records = rule.isRecorded
            case .edit(let request, let response):
                Self.append(request, index, to: &self.plan.requestEdit)
                Self.append(response, index, to: &self.plan.responseEdit)
            case .pause(let pause):
                self.pause(pause, index)
            case .pace(let pace):
                self.pace(pace, index, draws)
            case .fault(let fault):
                self.plan.fault = Self.fault(fault, index, draws)
            }
            return true
        }

        private static func append(_ steps: [EditStep], _ index: Int, to edit: inout MessageEdit?) {
            guard !steps.isEmpty else { return }
            let own = steps.map { step in
                var step = step
                step.rule = index
                return step
            }
            edit = MessageEdit(steps: (edit?.steps ?? []) + own)
        }

        private mutating func pause(_ rule: PauseRule, _ index: Int) {
            let pause = Pause(rule: index, wait: rule.wait)
            switch rule.message {
            case .request: self.plan.pausesRequest = pause
            case .response: self.plan.pausesResponse = pause
            case .both:
                self.plan.pausesRequest = self.plan.pausesRequest ?? pause
                self.plan.pausesResponse = self.plan.pausesResponse ?? pause
            case .events: self.plan.pausesEvents = pause
            case .messages: self.plan.pausesMessages = pause
            }
        }

        private mutating func pace(_ rule: PaceRule, _ index: Int, _ draws: Draws) {
            var pace = self.plan.pace ?? Pace(latency: .zero, down: [], up: [], rules: [])
            pace.latency += rule.latency { draws.draw($0) }
            let host = self.view.host
            if let down = rule.rate(rule.down, rule: index, host: host) { pace.down.append(down) }
            if let up = rule.rate(rule.up, rule: index, host: host) { pace.up.append(up) }
            pace.rules.append(index)
            self.plan.pace = pace
        }

        private static func fault(_ rule: FaultRule, _ index: Int, _ draws: Draws) -> Fault {
            var kind = rule.kind
            if case .status(let status, var headers) = kind, let quota = draws.quota {
                // Whole seconds, never less than there are (RFC 9110, 10.2.3).
                let seconds = max(1, Int(Quantity.seconds(quota.wait).rounded(.up)))
                if !headers.contains("retry-after") { headers.append(name: "Retry-After", value: "\(seconds)") }
                headers.append(name: "RateLimit-Limit", value: "\(quota.limit)")
                headers.append(name: "RateLimit-Remaining", value: "0")
                headers.append(name: "RateLimit-Reset", value: "\(seconds)")
                kind = .status(status, headers: headers)
            }
            return Fault(kind: kind, after: rule.after, part: rule.part, rule: index, draw: draws.draw("fault"))
        }
    }
}
