internal import CassetteModel
internal import TapeBytes

/// Chooses by header fields among recorded exchanges whose requests have the same method, URL and body.
///
/// Three rules, in this order. The protocol decides: a 206, 304, 412 or 416 answers only a request with the same preconditions or ranges,
/// and a request never gets an answer that violates its preconditions. The cassette decides: a field that selects an operation or a
/// representation, or that a recorded `Vary` names, is compared if requests that are equal except for it got different answers. All other
/// fields break ties. See docs/decisions/0078-fields-that-decide.md.
///
/// Knows exchanges by their index, and no bodies. `AssignmentRule` knows which exchanges have answered.
struct FieldChoice: Sendable {
    /// Exchanges that are alike in everything that matters here.
    private struct Class: Sendable {
        var profile: RequestProfile
        var kind: AnswerKind
        var isLeft: Bool
        var demands: ExchangeDemands
        /// Ascending.
        var members: [UInt32] = []
        var turn = AssignmentRule.Turn()
        var answers: Set<UInt64> = []

        func has(_ index: UInt32) -> Bool {
            var range = 0..<self.members.count
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                if self.members[middle] == index { return true }
                range = self.members[middle] < index ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            return false
        }
    }

    private struct ClassKey: Sendable, Hashable {
        var profile: RequestProfile
        var kind: AnswerKind
        var isLeft: Bool
        var demands: ExchangeDemands
    }

    private var classes: [Class] = []
    private var numbers: [ClassKey: Int] = [:]
    private var names: [UInt64: String] = [:]
    /// The fields that decide in this recording.
    private(set) var compared = FieldChoice.operations
    private static let operations = Dictionary(uniqueKeysWithValues: RequestFieldNames.operations.map { (RequestProfile.hash($0), $0) })
    /// By exchange index.
    private var ranges: [UInt32: RangeFacts] = [:]
    /// By exchange index; only those whose client left before an answer to a request for a part have an entry.
    private var unanswered: [UInt32: ExchangeSpan] = [:]
    /// Complete exchanges that began before one that its client left, and ended after that, by its index. Which of them came first was chance.
    private var outlasting: [UInt32: [UInt32]] = [:]
    /// Complete exchanges that may still have been running when the next one began.
    private var running: [(index: UInt32, span: ExchangeSpan)] = []
    /// By exchange index; only exchanges with validators have an entry.
    private var validators: [UInt32: AnswerValidators] = [:]
    private var own = OwnValues()
    /// How often exchanges that are all used up have answered again, by the first of them.
    private(set) var repetitions: [UInt32: AssignmentRule.Turn]

    /// How many recorded answers are remembered for ranges.
    private static let rangeLimit = 1 << 12
    /// How many equal requests at the same time are remembered.
    private static let runningLimit = 256

    init(repetitions: [UInt32: AssignmentRule.Turn] = [:]) {
        self.repetitions = repetitions
    }

    /// The exchanges that the recorded client left, ascending.
    var leftMembers: [UInt32] { self.classes.filter(\.isLeft).flatMap(\.members).sorted() }

    /// Ascending.
    var members: [UInt32] { self.classes.count == 1 ? self.classes[0].members : self.classes.flatMap(\.members).sorted() }

    /// Whether all exchanges are alike, so that only their order decides.
    var isUniform: Bool { self.own.isEmpty && self.classes.count == 1 && !self.classes[0].kind.isBound && self.classes[0].demands == .none }

    mutating func append(_ traits: ExchangeTraits, index: Int) {
        let key = ClassKey(profile: traits.profile, kind: traits.kind, isLeft: traits.isLeft, demands: traits.demands)
        let number = self.numbers[key] ?? self.classes.count
        let hasNames = traits.names.contains { self.names[$0.key] == nil }
        if number == self.classes.count {
            self.numbers[key] = number
            self.classes.append(Class(profile: traits.profile, kind: traits.kind, isLeft: traits.isLeft, demands: traits.demands))
        }
        // What a stub compares is said in its demands.
        if !traits.demands.isStub { self.names.merge(traits.names) { known, _ in known } }
        if self.ranges.count < Self.rangeLimit, let facts = traits.ranges {
            self.ranges[UInt32(index)] = facts
        }
        if traits.isLeft, traits.status == nil, traits.kind == .partialContent { self.unanswered[UInt32(index)] = traits.span }
        if traits.validators != .none { self.validators[UInt32(index)] = traits.validators }
        self.running.removeAll { $0.span.end <= traits.span.start }
        if !traits.isLeft {
            if self.running.count < Self.runningLimit { self.running.append((UInt32(index), traits.span)) }
        } else {
            let outlasting = self.running.filter { $0.span.end > traits.span.end }.map(\.index)
            if !outlasting.isEmpty { self.outlasting[UInt32(index)] = outlasting }
        }
        self.classes[number].members.append(UInt32(index))
        self.own.append(traits.own, index: UInt32(index))
        let hasAnswer = self.classes[number].answers.insert(traits.answer).inserted
        if self.classes.count > 1, hasNames || hasAnswer || number == self.classes.count - 1 { self.isStale = true }
    }

    // MARK: The fields that decide

    /// Whether `compared` does not yet reflect the exchanges appended last.
    private var isStale = false

    private mutating func refresh() {
        guard self.isStale else { return }
        self.isStale = false
        self.compared = Self.operations
        for (name, text) in self.names.sorted(by: { $0.value < $1.value }) where self.decidesAlone(name) { self.compared[name] = text }
        while let together = self.decidingTogether() { self.compared.merge(together) { known, _ in known } }
    }

    /// What the requests have in common of which some fields are compared.
    private struct Rest: Hashable {
        var demands: ExchangeDemands
        var values: [UInt64?]
    }

    /// Whether requests that are equal except for this field got different answers.
    private func decidesAlone(_ name: UInt64) -> Bool {
        let others = self.names.keys.filter { $0 != name }.sorted()
        var answers: [Rest: [UInt64?: Set<UInt64>]] = [:]
        for one in self.classes where !one.demands.isStub {
            let rest = Rest(demands: one.demands, values: others.map { one.profile.value(of: $0) })
            answers[rest, default: [:]][one.profile.value(of: name), default: []].formUnion(one.answers)
        }
        return answers.values.contains { Set($0.values).count > 1 }
    }

    /// The fields in which two requests with different answers differ, none of which is compared yet; nil if there are no such requests.
    private func decidingTogether() -> [UInt64: String]? {
        let compared = self.compared.keys.sorted()
        var firsts: [Rest: Class] = [:]
        for one in self.classes where !one.demands.isStub {
            let key = Rest(demands: one.demands, values: compared.map { one.profile.value(of: $0) })
            guard let first = firsts[key] else {
                firsts[key] = one
                continue
            }
            guard first.answers != one.answers else { continue }
            let differing = self.names.filter { !first.profile.agrees(with: one.profile, on: $0.key) }
            if !differing.isEmpty { return differing }
        }
        return nil
    }

    // MARK: Choosing

    /// How well a class fits a request; smaller is better.
    private struct Rank: Comparable {
        var isLeft: Bool
        /// The recorded request is another requester's. Known only where one of the exchanges was left.
        var isOther = false
        /// Repeated items of the query or the body are in another order.
        var otherItems: Bool
        var otherLastEventID: Bool
        /// How well the fields fit, whether or not the recorded client left.
        var fit: Fit

        private var order: (Int, Int, Int) {
            // A complete exchange of another requester is no better than one that this requester left.
            ((self.isLeft ? 1 : 0) + (self.isOther ? 1 : 0), self.otherItems ? 1 : 0, self.otherLastEventID ? 1 : 0)
        }

        static func < (left: Rank, right: Rank) -> Bool {
            left.order != right.order ? left.order < right.order : left.fit < right.fit
        }
    }

    /// How well the fields of a recorded request fit a live one; smaller is better.
    struct Fit: Comparable, Sendable {
        private let fields: RequestProfile.SharedFields

        init(_ fields: RequestProfile.SharedFields) { self.fields = fields }

        /// A nonce or a date is another one in each run, so a field with a different value is nearer than none.
        private var order: (Int, Int, Int, Int) {
            (-self.fields.equal, -self.fields.same, self.fields.ofOne, self.fields.different)
        }

        static func < (left: Fit, right: Fit) -> Bool { left.order < right.order }
    }

    /// Exchanges that may answer a request.
    struct Suitable: Sendable {
        /// Ascending.
        var members: [UInt32]
        /// The placeholders of the live request that these lack.
        var missing: HeldPlaceholders.Lack
        var fit: Fit
    }

    /// The exchanges that may answer, whether or not they have answered, for a caller that compares bodies itself.
    mutating func suitable(for live: LiveFields) -> [Suitable] {
        self.fulfilling(live) { choice in
            choice.classes.filter { choice.allows($0, live) }.map { one in
                Suitable(members: one.members, missing: choice.missingPlaceholders(one, live), fit: choice.rank(one, for: live).fit)
            }
        }
    }

    /// Leaves out exchanges whose answers violate the request's preconditions.
    private mutating func fulfilling<Result>(_ live: LiveFields, _ body: (inout FieldChoice) -> Result) -> Result {
        self.refresh()
        guard live.isJudged || live.asksRange else { return body(&self) }
        func fails(_ member: UInt32, _ one: Class) -> Bool {
            // A part of a coded body cannot be decoded.
            !live.allows(one.kind, with: self.validators[member] ?? .none, of: one.profile)
                || one.kind == .partialContent && !live.reads(self.ranges[member]?.coding, of: one.profile)
        }
        let failing = self.classes.indices.filter { number in
            let one = self.classes[number]
            return !one.demands.isStub && one.kind.isConditional && one.members.contains { fails($0, one) }
        }
        guard !failing.isEmpty else { return body(&self) }
        var narrowed = self
        for number in failing {
            narrowed.classes[number].turn = AssignmentRule.Turn()
            narrowed.classes[number].members.removeAll { fails($0, self.classes[number]) }
        }
        narrowed.classes.removeAll { $0.members.isEmpty }
        defer { self.repetitions = narrowed.repetitions }
        return body(&narrowed)
    }

    /// The classes that may answer a request. A placeholder of the cassette in the request identifies the client. If some classes have it,
    /// the others belong to another client, even when those that have it are used up.
    private func candidates(_ live: LiveFields) -> [Int] {
        let allowed = self.classes.indices.filter { number in
            self.allows(self.classes[number], live)
                && !(live.asksRange && live.computesRanges && self.prefersComputed(to: self.classes[number], for: live))
        }
        guard !live.placeholders.isEmpty, allowed.count > 1, !self.haveStub(allowed) else { return allowed }
        return Self.least(allowed) { self.missingPlaceholders(self.classes[$0], live) }
    }

    private func haveStub(_ classes: [Int]) -> Bool { classes.contains { self.classes[$0].demands.isStub } }

    private func missingPlaceholders(_ one: Class, _ live: LiveFields) -> HeldPlaceholders.Lack {
        live.placeholders.lack(in: one.profile.placeholders)
    }

    private static func least<Value: Comparable>(_ classes: [Int], by value: (Int) -> Value) -> [Int] {
        let values = classes.map(value)
        guard let least = values.min() else { return [] }
        return zip(classes, values).filter { $1 == least }.map(\.0)
    }

    /// Whether an exchange that may answer the request has not answered yet.
    mutating func hasNext(for live: LiveFields, _ rule: AssignmentRule) -> Bool {
        self.fulfilling(live) { choice in
            choice.candidates(live).contains { number in
                rule.next(of: choice.classes[number].members[...], turn: &choice.classes[number].turn) != nil
            }
        }
    }

    /// The same, and its turn has come.
    mutating func hasLeft(for live: LiveFields, _ rule: AssignmentRule) -> Bool {
        self.fulfilling(live) { choice in
            choice.candidates(live).contains { rule.canAssign(choice.classes[$0].members[...], turn: choice.classes[$0].turn) }
        }
    }

    /// Whether the exchange that strict order requires next may answer the request.
    mutating func hasDue(for live: LiveFields, _ rule: AssignmentRule) -> Bool {
        self.fulfilling(live) { choice in
            choice.candidates(live).contains { choice.classes[$0].members.contains(UInt32(rule.due)) }
        }
    }

    /// How many exchanges may answer the request, used up or not.
    mutating func count(for live: LiveFields) -> Int {
        self.fulfilling(live) { choice in choice.candidates(live).reduce(0) { $0 + choice.classes[$1].members.count } }
    }

    /// Assigns the exchange that fits best among those that may answer.
    mutating func assign(for live: LiveFields, _ rule: inout AssignmentRule) -> AssignmentRule.Assignment {
        self.fulfilling(live) { $0.assignFulfilling(live, &rule) }
    }

    private mutating func assignFulfilling(_ live: LiveFields, _ rule: inout AssignmentRule) -> AssignmentRule.Assignment {
        var allowed = self.candidates(live)
        guard !allowed.isEmpty else { return .usedUp }
        if rule.order == .strict { return self.assignStrictly(allowed, &rule) }
        if self.haveStub(allowed) { return self.assignFirst(allowed, &rule) }
        if live.asksEvents, rule.repetition != .never {
            // A repeated stream is resumed at the same event.
            let resumed = allowed.filter { live.profile.agrees(with: self.classes[$0].profile, on: LiveFields.lastEventID) }
            if !resumed.isEmpty { allowed = resumed }
        }
        // A used-up exchange that answers again fits better than an unused one of another client.
        if rule.repetition != .never { allowed = Self.least(allowed) { self.rank(self.classes[$0], for: live).fit } }
        let hasLeft = allowed.contains { self.classes[$0].isLeft }
        let ranks = allowed.map { number in
            var rank = self.rank(self.classes[number], for: live)
            if hasLeft { rank.isOther = !live.profile.mayBeOfRequester(of: self.classes[number].profile) }
            // This client leaves as the recorded one did.
            if rule.keepsLeft, !live.asksEvents { rank.isLeft = false }
            return rank
        }
        var best: (index: Int, rank: Rank)?
        for (number, rank) in zip(allowed, ranks) {
            guard let next = rule.next(of: self.classes[number].members[...], turn: &self.classes[number].turn) else { continue }
            var rank = rank
            // If a complete exchange can answer in place of one that was left, that one keeps its turn: the request that followed it has
            // its own.
            if rank.isLeft, !live.asksEvents, self.whole(after: next, Array(zip(allowed, ranks)), rank) != nil { rank.isLeft = false }
            if let known = best, (known.rank, known.index) <= (rank, next) { continue }
            best = (next, rank)
        }
        if let known = best, !live.own.isEmpty, !self.own.isEmpty {
            let equal = zip(allowed, ranks).filter { $1 == known.rank }.map(\.0)
            let nearest = self.own.nearest(live.own) { index in
                rule.answered[Int(index)] == 0 && equal.contains { self.classes[$0].has(index) }
            }
            if let nearest { best = (Int(nearest), known.rank) }
        }
        var turn = AssignmentRule.Turn()
        if let best {
            guard rule.repetition != .never || self.recurringFields(best.index, live, allowed, rule).isEmpty else { return .usedUp }
            let isLeft = zip(allowed, ranks).contains { $1.isLeft && self.classes[$0].members.contains(UInt32(best.index)) }
            if isLeft, !live.asksEvents, let whole = self.whole(after: best.index, Array(zip(allowed, ranks)), best.rank) {
                return rule.answer(with: whole, insteadOf: best.index)
            }
            return rule.assign([], turn: &turn, others: [best.index])
        }
        for (number, _) in zip(allowed, ranks).sorted(by: { $0.1 < $1.1 }) {
            if let index = self.classes[number].members.last(where: { rule.isAvailable(Int($0)) }) { return rule.again(Int(index)) }
        }
        guard rule.repetition != .never, let least = ranks.min() else { return .usedUp }
        let repeated = zip(allowed, ranks).filter { $1 == least }.flatMap { self.classes[$0.0].members }.sorted()
        turn = self.repetitions[repeated[0]] ?? turn
        defer { self.repetitions[repeated[0]] = turn }
        return rule.assign([], turn: &turn, others: repeated.map(Int.init))
    }

    /// The hashes of the names of fields by which an unused exchange is not the answer to the request, although no rule compares them: the
    /// request's value is that of exchanges that are used up and had other answers. A value that recurs is not new in each request.
    mutating func recurringFields(_ index: Int, for live: LiveFields, _ rule: AssignmentRule) -> Set<UInt64> {
        guard rule.repetition == .never else { return [] }
        return self.fulfilling(live) { $0.recurringFields(index, live, $0.candidates(live), rule) }
    }

    private func recurringFields(_ index: Int, _ live: LiveFields, _ allowed: [Int], _ rule: AssignmentRule) -> Set<UInt64> {
        guard allowed.count > 1, let chosen = allowed.first(where: { self.classes[$0].members.contains(UInt32(index)) }) else { return [] }
        let best = self.classes[chosen]
        let unused = Set(
            allowed.filter { number in
                var turn = self.classes[number].turn
                return rule.next(of: self.classes[number].members[...], turn: &turn) != nil
            })
        let recurring = live.profile.fields.filter { field in
            guard !field.isFresh, best.profile.value(of: field.name) != nil, !live.profile.agrees(with: best.profile, on: field.name) else {
                return false
            }
            let equal = allowed.filter { live.profile.agrees(with: self.classes[$0].profile, on: field.name) }
            return !equal.isEmpty && unused.isDisjoint(with: equal) && equal.contains { self.classes[$0].answers != best.answers }
        }
        return Set(recurring.map(\.name))
    }

    /// The next complete exchange after one that its client left. An effect that runs twice sends a request, aborts it, and sends it again.
    /// In a replay, the first request may get the answer before it is aborted, and the second one would wait in vain.
    private func whole(after left: Int, _ allowed: [(number: Int, rank: Rank)], _ rank: Rank) -> Int? {
        var rank = rank
        rank.isLeft = false
        let classes = allowed.filter { $0.rank <= rank }.map { self.classes[$0.number] }
        let outlasting = self.outlasting[UInt32(left)] ?? []
        return classes.flatMap(\.members).filter { Int($0) > left || outlasting.contains($0) }.min().map(Int.init)
    }

    /// The complete exchanges whose requests were equal to one that its client left, ascending.
    func wholes(like left: Int) -> [UInt32] {
        guard let one = self.classes.first(where: { $0.isLeft && $0.members.contains(UInt32(left)) }) else { return [] }
        return self.classes.filter { !$0.isLeft && $0.profile == one.profile && $0.demands == one.demands }.flatMap(\.members).sorted()
    }

    /// The exchange that answers a request once more although all are used up: the last of those that fit best.
    mutating func again(for live: LiveFields) -> Int? {
        self.fulfilling(live) { choice in
            let best = Self.least(choice.candidates(live)) { choice.rank(choice.classes[$0], for: live).fit }
            return best.flatMap { choice.classes[$0].members }.max().map(Int.init)
        }
    }

    // MARK: Ranges

    /// The answer to a request for ranges that were not recorded; nil if the recording does not contain them.
    ///
    /// Comes from the answers to one requester: those whose requests fit best. Others are used only if they differ in the types that they
    /// accept and have the same strong validator, because an entity tag such as "1" may belong to another user's representation. If several
    /// requesters fit equally well, none answers.
    mutating func computed(for live: LiveFields, _ rule: AssignmentRule) -> RangeRule.Outcome? {
        guard live.asksRange, let range = live.range else { return nil }
        return self.fulfilling(live) { choice in
            let sources = choice.rangeSources(for: live)
            guard let first = sources.first else { return nil }
            let fitting = sources.filter { $0.fit == first.fit }
            guard fitting.allSatisfy({ choice.areInterchangeable($0, first) }) else { return nil }
            let candidates = choice.joined(first, sources)
            return RangeRule.outcome(range: range, ifRange: live.ifRange, candidates: candidates, sent: rule.sent)
        }
    }

    /// The whole representation for a client of whose recorded requests only those for its rest are left, with these requests; nil if there
    /// are none.
    ///
    /// A browser's cache asks for the rest of what it has (RFC 9110, 13.1.5). What it has depends on when a download was cancelled, so the
    /// same page may ask for the whole the next time.
    mutating func computed(insteadOfRest live: LiveFields, _ rule: AssignmentRule) -> (outcome: RangeRule.Outcome, rest: [Int])? {
        guard live.asksWhole, live.computesRanges else { return nil }
        return self.fulfilling(live) { choice in
            let sources = choice.rangeSources(for: live)
            guard let first = sources.first else { return nil }
            let fitting = sources.filter { $0.fit == first.fit }
            guard fitting.allSatisfy({ choice.areInterchangeable($0, first) }) else { return nil }
            let candidates = choice.joined(first, sources)
            let rest = candidates.filter { candidate in
                rule.answered[candidate.index] == 0 && candidate.facts.isPart
                    && choice.classes.contains { $0.members.contains(UInt32(candidate.index)) && LiveFields.asksRest($0.profile) }
            }
            guard let part = rest.map(\.facts).first else { return nil }
            let same = candidates.filter { $0.facts.isOfSame(as: part) }
            guard let outcome = RangeRule.whole(same) else { return nil }
            return (outcome, rest.filter { $0.facts.isOfSame(as: part) }.map(\.index))
        }
    }

    /// Recorded answers from which ranges may be computed.
    private struct RangeSource {
        var number: Int
        /// Without ranges.
        var profile: RequestProfile
        var fit: Fit
    }

    /// Those that fit best come first.
    private func rangeSources(for live: LiveFields) -> [RangeSource] {
        let numbers = self.classes.indices.filter { number in
            let one = self.classes[number]
            return !one.demands.isStub && one.demands.areMet(by: live, one.profile)
                && (one.kind == .whole || one.kind == .partialContent) && one.members.contains { self.ranges[$0] != nil }
                && self.compared.allSatisfy { live.accepts(.whole, of: one.profile, comparing: $0.key, $0.value) }
        }
        let placed = Self.least(numbers) { self.missingPlaceholders(self.classes[$0], live) }
        let sources = placed.map { number in
            var one = self.classes[number]
            one.profile = one.profile.without(LiveFields.rangeNames)
            return RangeSource(number: number, profile: one.profile, fit: self.rank(one, for: live).fit)
        }
        // Without credentials, a request gets what others without credentials got, and the other way around.
        let alike = sources.filter { live.profile.hasCredentials(like: $0.profile) }
        return (alike.isEmpty ? sources : alike).sorted { ($0.fit, $0.number) < ($1.fit, $1.number) }
    }

    /// Whether both are answers to one requester, or have the same bytes.
    private func areInterchangeable(_ one: RangeSource, _ other: RangeSource) -> Bool {
        if one.profile.isOfSameRequester(as: other.profile) { return true }
        let (left, right) = (self.classes[one.number], self.classes[other.number])
        if left.kind == .whole, right.kind == .whole, left.answers == right.answers { return true }
        guard Self.isSameButForTypes(one, other), let facts = self.facts(one).first?.facts else { return false }
        return (self.facts(one) + self.facts(other)).allSatisfy { $0.facts.isOfSame(as: facts) }
    }

    /// Whether the requests differ in nothing but the types that they accept.
    private static func isSameButForTypes(_ one: RangeSource, _ other: RangeSource) -> Bool {
        one.profile.without(LiveFields.negotiationNames).isOfSameRequester(as: other.profile.without(LiveFields.negotiationNames))
    }

    private func facts(_ source: RangeSource) -> [(index: Int, facts: RangeFacts)] {
        self.classes[source.number].members.compactMap { member in self.ranges[member].map { (Int(member), $0) } }
    }

    /// Those that fit as well as one of them, then other answers to its requester, and then those that certainly are of the same
    /// representation, each in order of request start.
    private func joined(_ first: RangeSource, _ sources: [RangeSource]) -> [(index: Int, facts: RangeFacts)] {
        let coding = self.facts(first).first?.facts.coding
        func candidates(_ sources: [RangeSource]) -> [(index: Int, facts: RangeFacts)] {
            sources.flatMap(self.facts).sorted { $0.index < $1.index }
        }
        let own = sources.filter { $0.profile.isOfSameRequester(as: first.profile) }
        let ownCandidates = (candidates(own.filter { $0.fit == first.fit }) + candidates(own.filter { $0.fit != first.fit }))
            .filter { $0.facts.coding == coding }
        let others = sources.filter { !$0.profile.isOfSameRequester(as: first.profile) && Self.isSameButForTypes($0, first) }
        return ownCandidates + candidates(others).filter { other in ownCandidates.contains { $0.facts.isOfSame(as: other.facts) } }
    }

    /// Whether ranges of this requester's own answers are to be preferred to a recorded part, since that is another requester's.
    private func prefersComputed(to part: Class, for live: LiveFields) -> Bool {
        let recorded = part.profile.without(LiveFields.rangeNames)
        let asked = live.profile.without(LiveFields.rangeNames)
        guard part.kind == .partialContent, !asked.mayBeOfRequester(of: recorded) else { return false }
        return self.rangeSources(for: live).contains { asked.mayBeOfRequester(of: $0.profile) }
    }

    /// The bytes of the whole representation in place of a recorded part of it, if they may differ because a secret in one of them was
    /// replaced. A client that combined pieces of both would get a broken file.
    func laidOut(_ index: Int, for live: LiveFields) -> ComputedRanges? {
        guard live.asksRange, live.computesRanges, let part = self.ranges[UInt32(index)], !part.isWhole, part.anyValidator != nil,
            let own = self.classes.first(where: { $0.members.contains(UInt32(index)) })
        else { return nil }
        let profile = own.profile
        let requester = profile.without(LiveFields.rangeNames)
        var best: (index: Int, facts: RangeFacts, equal: Int)?
        for one in self.classes where one.kind == .whole && one.demands == own.demands {
            for member in one.members {
                guard let facts = self.ranges[member], facts.isWhole, facts.coding == part.coding else { continue }
                // Even a strong entity tag such as "1" may belong to another user's representation.
                guard part.validator.map({ $0 == facts.validator }) ?? (facts.anyValidator == part.anyValidator),
                    requester.isOfSameRequester(as: one.profile.without(LiveFields.rangeNames))
                else { continue }
                let equal = profile.sharedFields(with: one.profile).equal
                if best.map({ $0.equal < equal }) ?? true { best = (Int(member), facts, equal) }
            }
        }
        guard let whole = best, whole.facts.length != part.length || whole.facts.mayBeRedacted || part.mayBeRedacted,
            let ranges = live.range.flatMap(RangeRequest.init)?.ranges(of: whole.facts.length), !ranges.isEmpty
        else { return nil }
        return ComputedRanges(
            length: whole.facts.length, ranges: ranges, sources: [ComputedRanges.Source(index: whole.index, bytes: whole.facts.bytes)])
    }

    /// The part that a recorded client asked for and left before its answer came, if other requests were getting that part at the same time.
    mutating func computed(unanswered index: Int, for live: LiveFields, _ rule: AssignmentRule) -> ComputedRanges? {
        guard live.computesRanges, let span = self.unanswered[UInt32(index)], case .computed(let ranges)? = self.computed(for: live, rule),
            ranges.sources.contains(where: { self.ranges[UInt32($0.index)]?.span.overlaps(span) == true })
        else { return nil }
        return ranges
    }

    /// The rest of an answer that the recorded client left, from other parts that the same requester got; nil if they do not contain it.
    func continued(_ index: Int, for live: LiveFields) -> ComputedRanges? {
        guard live.computesRanges, let own = self.ranges[UInt32(index)], own.validator != nil,
            let left = self.classes.first(where: { $0.isLeft && $0.members.contains(UInt32(index)) })
        else { return nil }
        // Representations of other types have other strong validators (RFC 9110, 8.8.1).
        let others = LiveFields.rangeNames.union(LiveFields.negotiationNames)
        let requester = left.profile.without(others)
        var candidates: [(index: Int, facts: RangeFacts)] = []
        for one in self.classes where one.demands == left.demands && requester.isOfSameRequester(as: one.profile.without(others)) {
            for member in one.members { if let facts = self.ranges[member] { candidates.append((Int(member), facts)) } }
        }
        return RangeRule.continued(own, candidates: candidates)
    }

    /// The earliest exchange answers that is not used up, whatever fits better: stubs have the order in which their tool chooses.
    private mutating func assignFirst(_ allowed: [Int], _ rule: inout AssignmentRule) -> AssignmentRule.Assignment {
        let members = allowed.flatMap { self.classes[$0].members }.sorted().map(Int.init)
        guard let first = members.first(where: rule.isAvailable) else { return self.assignStrictly(allowed, &rule) }
        var turn = AssignmentRule.Turn()
        let assignment = rule.assign([], turn: &turn, others: [first])
        // The order of stubs is no order of requests, so none comes too early.
        if case .first(let index, _) = assignment { return .first(index: index, after: nil) }
        return assignment
    }

    /// Order decides among all exchanges that may answer.
    private mutating func assignStrictly(_ allowed: [Int], _ rule: inout AssignmentRule) -> AssignmentRule.Assignment {
        let members = allowed.flatMap { self.classes[$0].members }.sorted().map(Int.init)
        var turn = self.repetitions[UInt32(members[0])] ?? AssignmentRule.Turn()
        defer { self.repetitions[UInt32(members[0])] = turn }
        return rule.assign([], turn: &turn, others: members)
    }

    private func allows(_ one: Class, _ live: LiveFields) -> Bool {
        guard one.demands.areMet(by: live, one.profile) else { return false }
        if one.demands.isStub { return true }
        return live.allows(one.kind, of: one.profile)
            && self.compared.allSatisfy { live.accepts(one.kind, of: one.profile, comparing: $0.key, $0.value) }
    }

    private func rank(_ one: Class, for live: LiveFields) -> Rank {
        Rank(
            isLeft: one.isLeft, otherItems: live.profile.repeatedItems != one.profile.repeatedItems,
            otherLastEventID: !live.profile.agrees(with: one.profile, on: LiveFields.lastEventID),
            fit: Fit(live.profile.sharedFields(with: one.profile)))
    }
}
