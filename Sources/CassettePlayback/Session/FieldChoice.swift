internal import CassetteModel
internal import TapeBytes

/// The traits of a recorded exchange by which it is chosen among exchanges whose method, URL and body are equal.
struct ExchangeTraits: Sendable {
    var profile: RequestProfile
    /// Nil if there was no response.
    var status: Int?
    var kind: AnswerKind { AnswerKind(status: self.status) }
    /// Equal for exchanges that got the same answer.
    var answer: UInt64
    /// The recorded client left before the end of the answer.
    var isLeft: Bool
    /// What ranges can be computed from; nil if none can.
    var ranges: RangeFacts?
    /// The names by which the answer may vary: those of the fields that select, and of a recorded `Vary`.
    var names: [UInt64: String]

    /// - Parameter bodyPlaceholders: the placeholders in the request's body.
    init(_ interaction: Interaction, rules: MatchRules, bodyPlaceholders: [UInt64]) {
        let request = interaction.request
        let response = interaction.response
        let varying = Set(response.map { RequestFieldNames.varying(in: $0.headers) } ?? [])
        var names: [UInt64: String] = [:]
        self.profile = RequestProfile(
            request.headers, rules: rules,
            placeholders: HeldPlaceholders.all(url: request.url, headers: request.headers) + bodyPlaceholders
        ) { name, hash in
            if varying.contains(name) || RequestFieldNames.role(of: name) == .selecting { names[hash] = name }
        }
        // A field that the recorded request lacks can decide as well.
        for name in varying where !rules.ignoresField(name) { names[RequestProfile.hash(name)] = name }
        self.names = names
        self.status = response?.status
        self.ranges = RangeFacts(interaction)
        self.isLeft = interaction.wasLeftByClient
        var hasher = Hasher()
        hasher.combine(response?.status)
        hasher.combine(response?.headers.first("content-type"))
        hasher.combine(response?.headers.first("location"))
        hasher.combine(response?.body?.content)
        self.answer = UInt64(truncatingIfNeeded: hasher.finalize())
    }
}

/// What the protocol says about the requests that a recorded answer is possible for (RFC 9110, 13.2.2 and 14.2).
enum AnswerKind: Sendable, Hashable {
    /// Answers only a request with the same preconditions or ranges.
    case partialContent, notModified, preconditionFailed, rangeNotSatisfiable
    /// A whole representation, which is no answer to a request for a part of it.
    case whole
    /// Any other answer, or none.
    case other

    init(status: Int?) {
        self =
            switch status {
            case 200: .whole
            case 206: .partialContent
            case 304: .notModified
            case 412: .preconditionFailed
            case 416: .rangeNotSatisfiable
            default: .other
            }
    }

    var isBound: Bool { self != .whole && self != .other }

    /// The request fields that the answer depends on.
    var names: [String] {
        switch self {
        case .partialContent, .rangeNotSatisfiable: ["range", "if-range"]
        case .notModified: ["if-none-match", "if-modified-since"]
        case .preconditionFailed: ["if-match", "if-none-match", "if-unmodified-since", "if-modified-since"]
        case .whole, .other: []
        }
    }

    /// The fields of which a request needs at least one, whatever the rules ignore, if the recorded request had one: without them, the
    /// answer is not a possible one.
    var needed: [String] {
        switch self {
        case .partialContent, .rangeNotSatisfiable: ["range"]
        case .notModified, .preconditionFailed, .whole, .other: self.names
        }
    }
}

/// Chooses among recorded exchanges whose method, URL and body are equal by their requests' header fields.
///
/// Three rules, in this order. The protocol decides: a 206, 304, 412 or 416 answers only a request with the same preconditions or ranges.
/// The cassette decides: a field that selects an operation or a representation, or that a recorded `Vary` names, is compared if requests
/// that are equal but for it got different answers. All other fields break ties. See docs/decisions/0078-fields-that-decide.md.
///
/// Knows exchanges by their index, and no bodies. Which exchanges have answered is known to `AssignmentRule`.
struct FieldChoice: Sendable {
    /// Exchanges that are alike in all that counts here.
    private struct Class: Sendable {
        var profile: RequestProfile
        var kind: AnswerKind
        var isLeft: Bool
        /// Ascending.
        var members: [UInt32] = []
        var turn = AssignmentRule.Turn()
        var answers: Set<UInt64> = []
    }

    private struct ClassKey: Sendable, Hashable {
        var profile: RequestProfile
        var kind: AnswerKind
        var isLeft: Bool
    }

    private var classes: [Class] = []
    private var numbers: [ClassKey: Int] = [:]
    private var names: [UInt64: String] = [:]
    /// The fields that decide in this recording.
    private(set) var compared = FieldChoice.operations
    private static let operations = Dictionary(uniqueKeysWithValues: RequestFieldNames.operations.map { (RequestProfile.hash($0), $0) })
    /// By exchange.
    private var ranges: [UInt32: RangeFacts] = [:]
    /// How often exchanges that are all used up have answered again, by their first one.
    private(set) var repetitions: [UInt32: AssignmentRule.Turn]

    /// So many recorded answers are kept in mind for ranges.
    private static let rangeLimit = 1 << 12

    init(repetitions: [UInt32: AssignmentRule.Turn] = [:]) {
        self.repetitions = repetitions
    }

    /// The exchanges that the recorded client left, ascending.
    var leftMembers: [UInt32] { self.classes.filter(\.isLeft).flatMap(\.members).sorted() }

    /// Ascending.
    var members: [UInt32] { self.classes.count == 1 ? self.classes[0].members : self.classes.flatMap(\.members).sorted() }

    /// Whether all exchanges are alike, so that their order alone decides.
    var isUniform: Bool { self.classes.count == 1 && !self.classes[0].kind.isBound }

    mutating func append(_ traits: ExchangeTraits, index: Int) {
        let key = ClassKey(profile: traits.profile, kind: traits.kind, isLeft: traits.isLeft)
        let number = self.numbers[key] ?? self.classes.count
        let hasNames = traits.names.contains { self.names[$0.key] == nil }
        if number == self.classes.count {
            self.numbers[key] = number
            self.classes.append(Class(profile: traits.profile, kind: traits.kind, isLeft: traits.isLeft))
        }
        self.names.merge(traits.names) { known, _ in known }
        if self.ranges.count < Self.rangeLimit { self.ranges[UInt32(index)] = traits.ranges }
        self.classes[number].members.append(UInt32(index))
        let hasAnswer = self.classes[number].answers.insert(traits.answer).inserted
        if self.classes.count > 1, hasNames || hasAnswer || number == self.classes.count - 1 { self.isStale = true }
    }

    // MARK: The fields that decide

    /// Whether `compared` lacks what the exchanges appended last have shown.
    private var isStale = false

    private mutating func refresh() {
        guard self.isStale else { return }
        self.isStale = false
        self.compared = Self.operations
        for (name, text) in self.names.sorted(by: { $0.value < $1.value }) where self.decidesAlone(name) { self.compared[name] = text }
        while let together = self.decidingTogether() { self.compared.merge(together) { known, _ in known } }
    }

    /// Whether requests that are equal but for one field got different answers.
    private func decidesAlone(_ name: UInt64) -> Bool {
        let others = self.names.keys.filter { $0 != name }.sorted()
        var answers: [[UInt64?]: [UInt64?: Set<UInt64>]] = [:]
        for one in self.classes {
            let rest = others.map { one.profile.value(of: $0) }
            answers[rest, default: [:]][one.profile.value(of: name), default: []].formUnion(one.answers)
        }
        return answers.values.contains { Set($0.values).count > 1 }
    }

    /// Several fields in which two requests differ that got different answers, and of which none is compared yet; nil if there are none.
    private func decidingTogether() -> [UInt64: String]? {
        let compared = self.compared.keys.sorted()
        var firsts: [[UInt64?]: Class] = [:]
        for one in self.classes {
            let key = compared.map { one.profile.value(of: $0) }
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

    /// How well a class fits a request; the least is best.
    private struct Rank: Comparable {
        var missingPlaceholders: Int
        var isLeft: Bool
        var otherLastEventID: Bool
        var differences: Int

        static func < (left: Rank, right: Rank) -> Bool {
            (left.missingPlaceholders, left.isLeft ? 1 : 0, left.otherLastEventID ? 1 : 0, left.differences)
                < (right.missingPlaceholders, right.isLeft ? 1 : 0, right.otherLastEventID ? 1 : 0, right.differences)
        }
    }

    /// Whether an exchange that may answer the request has not answered.
    mutating func hasNext(for live: LiveFields, _ rule: AssignmentRule) -> Bool {
        self.refresh()
        return self.classes.indices.contains { number in
            self.allows(self.classes[number], live)
                && rule.next(of: self.classes[number].members[...], turn: &self.classes[number].turn) != nil
        }
    }

    /// The same, if its turn has come.
    mutating func hasLeft(for live: LiveFields, _ rule: AssignmentRule) -> Bool {
        self.refresh()
        return self.classes.indices.contains { number in
            self.allows(self.classes[number], live)
                && rule.canAssign(self.classes[number].members[...], turn: self.classes[number].turn)
        }
    }

    /// Whether the exchange that is due in a strict order may answer the request.
    mutating func hasDue(for live: LiveFields, _ rule: AssignmentRule) -> Bool {
        self.refresh()
        return self.classes.contains { $0.members.contains(UInt32(rule.due)) && self.allows($0, live) }
    }

    /// How many exchanges may answer the request, used up or not.
    mutating func count(for live: LiveFields) -> Int {
        self.refresh()
        return self.classes.reduce(0) { $0 + (self.allows($1, live) ? $1.members.count : 0) }
    }

    /// Assigns the exchange that fits best among those that may answer.
    mutating func assign(for live: LiveFields, _ rule: inout AssignmentRule) -> AssignmentRule.Assignment {
        self.refresh()
        var allowed = self.classes.indices.filter { self.allows(self.classes[$0], live) }
        guard !allowed.isEmpty else { return .usedUp }
        if rule.order == .strict { return self.assignStrictly(allowed, &rule) }
        if live.asksEvents, rule.repetition != .never {
            // A repeated stream is the same one.
            let resumed = allowed.filter { live.profile.agrees(with: self.classes[$0].profile, on: LiveFields.lastEventID) }
            if !resumed.isEmpty { allowed = resumed }
        }
        let ranks = allowed.map { self.rank(self.classes[$0], for: live) }
        var best: (index: Int, rank: Rank)?
        for (number, rank) in zip(allowed, ranks) {
            guard let next = rule.next(of: self.classes[number].members[...], turn: &self.classes[number].turn) else { continue }
            var rank = rank
            // One that is answered by a whole one keeps its turn: the request that followed it has a turn of its own.
            if rank.isLeft, !live.asksEvents, self.whole(after: next, Array(zip(allowed, ranks)), rank) != nil { rank.isLeft = false }
            if let known = best, (known.rank, known.index) <= (rank, next) { continue }
            best = (next, rank)
        }
        var turn = AssignmentRule.Turn()
        if let best {
            let isLeft = zip(allowed, ranks).contains { $1.isLeft && self.classes[$0].members.contains(UInt32(best.index)) }
            if isLeft, !live.asksEvents, let whole = self.whole(after: best.index, Array(zip(allowed, ranks)), best.rank) {
                return rule.answer(with: whole, insteadOf: best.index)
            }
            return rule.assign([], turn: &turn, others: [best.index])
        }
        guard rule.repetition != .never, let least = ranks.min() else { return .usedUp }
        let repeated = zip(allowed, ranks).filter { $1 == least }.flatMap { self.classes[$0.0].members }.sorted()
        turn = self.repetitions[repeated[0]] ?? turn
        defer { self.repetitions[repeated[0]] = turn }
        return rule.assign([], turn: &turn, others: repeated.map(Int.init))
    }

    /// The next whole exchange after one that its client left, as an effect that runs twice sends a request, aborts it, and sends it again. In a
    /// replay, the first request may get the answer before it is aborted, and the second one would wait for nothing.
    private func whole(after left: Int, _ allowed: [(number: Int, rank: Rank)], _ rank: Rank) -> Int? {
        var rank = rank
        rank.isLeft = false
        let classes = allowed.filter { $0.rank <= rank }.map { self.classes[$0.number] }
        return classes.flatMap(\.members).map(Int.init).filter { $0 > left }.min()
    }

    /// What answers a request for ranges that were not recorded; nil if the recording does not hold them.
    ///
    /// - Parameter isSent: whether an answer was computed from an exchange before.
    mutating func computed(for live: LiveFields, _ rule: AssignmentRule, isSent: (Int) -> Bool) -> RangeRule.Outcome? {
        guard live.asksRange, let range = live.range else { return nil }
        self.refresh()
        var candidates: [(index: Int, facts: RangeFacts)] = []
        for one in self.classes where !one.isLeft && (one.kind == .whole || one.kind == .partialContent) {
            guard self.compared.allSatisfy({ live.accepts(.whole, of: one.profile, comparing: $0.key, $0.value) }) else { continue }
            for member in one.members { if let facts = self.ranges[member] { candidates.append((Int(member), facts)) } }
        }
        candidates.sort { $0.index < $1.index }
        return RangeRule.outcome(range: range, ifRange: live.ifRange, candidates: candidates) { isSent($0) || rule.answered[$0] > 0 }
    }

    /// The order decides between all that may answer.
    private mutating func assignStrictly(_ allowed: [Int], _ rule: inout AssignmentRule) -> AssignmentRule.Assignment {
        let members = allowed.flatMap { self.classes[$0].members }.sorted().map(Int.init)
        var turn = self.repetitions[UInt32(members[0])] ?? AssignmentRule.Turn()
        defer { self.repetitions[UInt32(members[0])] = turn }
        return rule.assign([], turn: &turn, others: members)
    }

    private func allows(_ one: Class, _ live: LiveFields) -> Bool {
        live.allows(one.kind, of: one.profile)
            && self.compared.allSatisfy { live.accepts(one.kind, of: one.profile, comparing: $0.key, $0.value) }
    }

    private func rank(_ one: Class, for live: LiveFields) -> Rank {
        Rank(
            missingPlaceholders: live.placeholders.count { !one.profile.placeholders.contains($0) }, isLeft: one.isLeft,
            otherLastEventID: !live.profile.agrees(with: one.profile, on: LiveFields.lastEventID),
            differences: live.profile.differences(from: one.profile))
    }
}

/// The header fields of a live request, as they are compared with those of recorded ones.
struct LiveFields: Sendable {
    static let lastEventID = RequestProfile.hash("last-event-id")
    private static let range = RequestProfile.hash("range")
    private static let conditions = Set(RequestFieldNames.conditions)

    let profile: RequestProfile
    /// The placeholders of the cassette that the request holds as it came: a client got them from an earlier replayed answer.
    var placeholders: [UInt64]
    /// Whether it asks for a part of the representation, which only a GET can (RFC 9110, 14.2), and the rules do not ignore that.
    let asksRange: Bool
    let asksEvents: Bool
    /// The value of `Range`; of several fields, all values, which is malformed.
    let range: String?
    let ifRange: String?
    private let isRetrieval: Bool
    /// The preconditions that the request has, whether or not the rules ignore them.
    private let present: Set<String>
    private let ignored: Set<String>

    /// - Parameters:
    ///   - headers: redacted, as the cassette would hold them.
    ///   - placeholders: of the request as it came.
    init(method: String, _ headers: HeaderFields, rules: MatchRules, placeholders: [UInt64] = []) {
        self.profile = RequestProfile(headers, rules: rules, placeholders: [])
        self.placeholders = placeholders
        self.isRetrieval = method == "GET" || method == "HEAD"
        self.present = RequestFieldNames.conditions(in: headers)
        self.ignored = Set(RequestFieldNames.conditions.filter(rules.ignoresField))
        self.asksRange = method == "GET" && self.present.contains("range") && !self.ignored.contains("range")
        self.range = self.present.contains("range") ? headers.values("range").joined(separator: ", ") : nil
        self.ifRange = self.present.contains("if-range") ? headers.first("if-range") : nil
        self.asksEvents = EventStreamRequest.isAsked(by: headers)
    }

    /// Whether a recorded answer is a possible one for this request: the preconditions and ranges that it depends on are equal, but for
    /// those that rules ignore.
    func allows(_ kind: AnswerKind, of recorded: RequestProfile) -> Bool {
        guard kind.isBound else {
            // The origin ignored a range that the recorded client asked for, so it ignores this one.
            return kind != .whole || !self.asksRange || recorded.value(of: Self.range) != nil
        }
        guard !self.lacks(kind, recorded) else { return false }
        return kind.names.allSatisfy { self.ignored.contains($0) || self.profile.agrees(with: recorded, on: RequestProfile.hash($0)) }
    }

    /// Whether the request has none of the fields without which the answer is not a possible one. An origin that sent the status without
    /// any of them meant something else by it.
    private func lacks(_ kind: AnswerKind, _ recorded: RequestProfile) -> Bool {
        guard !kind.needed.contains(where: self.present.contains) else { return false }
        return kind.needed.contains { self.ignored.contains($0) || recorded.value(of: RequestProfile.hash($0)) != nil }
    }

    /// Whether a field that decides in the recording is equal, or does not count for this answer.
    func accepts(_ kind: AnswerKind, of recorded: RequestProfile, comparing name: UInt64, _ text: String) -> Bool {
        // An event stream goes on where its client is; that is a preference (HTML, 9.2.3).
        if text == "last-event-id" { return true }
        // A whole representation answers any conditional request for it (RFC 9110, 13.2.2).
        if self.isRetrieval, !kind.isBound, Self.conditions.contains(text) { return true }
        return self.profile.agrees(with: recorded, on: name)
    }

    /// What of these fields keeps a recorded exchange from answering.
    ///
    /// - Parameters:
    ///   - compared: the fields that decide in the recording.
    ///   - headers: of this request, redacted.
    func differences(from recorded: ComparedRequest, comparing compared: [UInt64: String], live headers: HeaderFields)
        -> [RequestDifference]
    {
        let (kind, profile) = (recorded.traits.kind, recorded.traits.profile)
        if kind.isBound, self.lacks(kind, profile), let status = recorded.traits.status {
            return [.precondition(names: kind.needed, status: status)]
        }
        var names: [String] = []
        if !self.allows(kind, of: profile) {
            names = (kind.isBound ? kind.names : ["range"]).filter {
                !self.ignored.contains($0) && !self.profile.agrees(with: profile, on: RequestProfile.hash($0))
            }
        }
        names += compared.filter { !self.accepts(kind, of: profile, comparing: $0.key, $0.value) }.map(\.value).sorted()
        var shown: [String] = []
        for name in names where !shown.contains(name) { shown.append(name) }
        return shown.map { name in
            .header(name: name, here: Self.text(of: name, in: headers), recorded: Self.text(of: name, in: recorded.headers))
        }
    }

    private static func text(of name: String, in headers: HeaderFields) -> String? {
        let values = (0..<headers.count).filter { headers.name(at: $0).lowercased() == name }.map { headers.value(at: $0) }
        guard !values.isEmpty else { return nil }
        return PlainText.escape(values.joined(separator: ", ").utf8, limit: RequestComparison.textLimit)
    }
}
