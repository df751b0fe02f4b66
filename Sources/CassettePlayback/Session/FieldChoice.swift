internal import CassetteModel
internal import TapeBytes

/// The traits of a recorded exchange by which it is chosen among exchanges whose method, URL and body are equal.
struct ExchangeTraits: Sendable {
    var profile: RequestProfile
    /// Nil if there was no response.
    var status: Int?
    var kind: AnswerKind
    /// Equal for exchanges that got the same answer.
    var answer: UInt64
    /// What the request's preconditions are judged by.
    var validators: AnswerValidators
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
        self.kind = AnswerKind(interaction)
        self.ranges = RangeFacts(interaction)
        self.validators = AnswerValidators(response)
        self.isLeft = interaction.wasLeftByClient
        self.answer = Self.answer(response, isHead: request.method == "HEAD")
    }

    /// A hash of what makes answers different: their status, their body, and what their fields say about it. Where there is no body, all
    /// fields count that are not new in each answer.
    private static func answer(_ response: RecordedResponse?, isHead: Bool) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(response?.status)
        guard let response else { return UInt64(truncatingIfNeeded: hasher.finalize()) }
        hasher.combine(response.body?.content)
        let hasBody = response.body.map { $0.size > 0 } ?? false
        var sum = 0
        for index in 0..<response.headers.count {
            let name = response.headers.name(at: index).lowercased()
            guard AnswerFieldNames.tells(name, hasBody: hasBody, isHead: isHead) else { continue }
            var field = Hasher()
            field.combine(name)
            field.combine(response.headers.value(at: index))
            sum &+= field.finalize()
        }
        hasher.combine(sum)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}

/// The names of response header fields by which two answers are different ones.
private enum AnswerFieldNames {
    static func tells(_ name: String, hasBody: Bool, isHead: Bool) -> Bool {
        if self.telling.contains(name) { return true }
        if name == "content-length" || name == "last-modified" { return isHead }
        guard !hasBody, !self.volatile.contains(name) else { return false }
        return switch RequestFieldNames.role(of: name) {
        case .selecting, .other: true
        case .neverDecides, .ignored: false
        }
    }

    private static let telling: Set<String> = [
        "etag", "content-type", "content-language", "content-location", "content-range", "content-disposition", "location",
        "preference-applied", "upload-offset", "upload-length", "range", "allow", "dav", "lock-token", "memento-datetime", "link",
        "x-amz-version-id", "x-goog-generation", "x-total-count", "im", "tcn", "icy-name",
    ]

    private static let volatile: Set<String> = [
        "server", "set-cookie", "age", "expires", "retry-after", "server-timing", "alt-svc", "nel", "report-to", "reporting-endpoints",
        "x-runtime", "x-response-time", "x-cache", "x-cache-hits", "x-served-by", "x-timer", "cf-ray", "cf-cache-status", "x-amz-id-2",
        "x-amz-cf-id", "x-amz-cf-pop", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-used", "ratelimit", "ratelimit-remaining",
        "ratelimit-reset", "vary", "www-authenticate", "authentication-info", "content-security-policy",
    ]
}

/// What a recorded answer says about its representation, by which the preconditions of another request are judged (RFC 9110, 13.1).
struct AnswerValidators: Sendable, Hashable {
    /// A hash of the strong entity tag; nil if there is none.
    var strongTag: UInt64?
    var modified: Timestamp?

    init(_ response: RecordedResponse?) {
        guard let response else { return }
        if let tag = response.headers.first("etag"), tag.hasPrefix("\"") { self.strongTag = Self.hash(tag) }
        self.modified = response.headers.first("last-modified").flatMap { WrittenDate($0)?.time }
    }

    private static func hash(_ tag: String) -> UInt64 {
        var tag = tag
        let isMarked = tag.withUTF8 { MatchMark.isIn(UnsafeRawBufferPointer($0)) }
        return isMarked ? RequestProfile.anything : RequestProfile.hash(tag)
    }

    /// Whether `If-Match` holds: it is `*`, or one of its strong tags is the representation's (RFC 9110, 13.1.1).
    func fulfils(ifMatch: String) -> Bool {
        let members = ifMatch.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        if members == ["*"] { return true }
        guard let strongTag else { return false }
        return strongTag == RequestProfile.anything || members.contains { Self.hash($0) == strongTag }
    }

    /// Whether `If-Unmodified-Since` holds. It is ignored where it is no date, or where there is no date to compare (RFC 9110, 13.1.4).
    func fulfils(ifUnmodifiedSince: String) -> Bool {
        guard let modified, let date = WrittenDate(ifUnmodifiedSince)?.time else { return true }
        return modified <= date
    }
}

/// What the protocol says about the requests that a recorded answer is possible for (RFC 9110, 13.2.2 and 14.2).
enum AnswerKind: Sendable, Hashable {
    /// Answers only a request with the same preconditions or ranges.
    case partialContent, notModified, preconditionFailed, rangeNotSatisfiable
    /// A whole representation, which is no answer to a request for a part of it.
    case whole
    /// A whole representation that answered a request for a part: the origin ignores ranges.
    case wholeForRange
    /// Any other answer, or none.
    case other

    init(_ interaction: Interaction) {
        self.init(status: interaction.response?.status)
        guard let response = interaction.response, (200...299).contains(response.status) else { return }
        let request = interaction.request.headers
        let range = request.first("range")
        // Some origins send parts with a 200, and count in other units than bytes.
        let isOfBytes = range?.lowercased().hasPrefix("bytes=") ?? true
        if response.headers.contains("content-range") || !isOfBytes {
            self = .partialContent
        } else if self == .whole, range != nil, !request.contains("if-range") {
            self = .wholeForRange
        }
    }

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

    var isBound: Bool {
        switch self {
        case .partialContent, .notModified, .preconditionFailed, .rangeNotSatisfiable: true
        case .whole, .wholeForRange, .other: false
        }
    }

    /// Whether it is an answer only if the request's preconditions hold.
    var isConditional: Bool {
        switch self {
        case .partialContent, .whole, .wholeForRange: true
        case .notModified, .preconditionFailed, .rangeNotSatisfiable, .other: false
        }
    }

    /// The request fields that the answer depends on.
    var names: [String] {
        switch self {
        case .partialContent, .rangeNotSatisfiable: ["range", "if-range", "x-ms-range"]
        case .notModified: ["if-none-match", "if-modified-since"]
        case .preconditionFailed: ["if-match", "if-none-match", "if-unmodified-since", "if-modified-since"]
        case .whole, .wholeForRange, .other: []
        }
    }

    /// The fields of which a request needs at least one, whatever the rules ignore, if the recorded request had one: without them, the
    /// answer is not a possible one.
    var needed: [String] {
        switch self {
        case .partialContent, .rangeNotSatisfiable: ["range", "x-ms-range"]
        case .notModified, .preconditionFailed, .whole, .wholeForRange, .other: self.names
        }
    }
}

/// Chooses among recorded exchanges whose method, URL and body are equal by their requests' header fields.
///
/// Three rules, in this order. The protocol decides: a 206, 304, 412 or 416 answers only a request with the same preconditions or ranges,
/// and no answer is given to a request whose preconditions it does not fulfil.
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
    /// By exchange; none if there is nothing to judge by.
    private var validators: [UInt32: AnswerValidators] = [:]
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
        if traits.validators != AnswerValidators(nil) { self.validators[UInt32(index)] = traits.validators }
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
        var equalFields: Int
        /// Those of them that are the same text: a placeholder stands for any value, preferably for a secret.
        var sameFields: Int
        /// Fields of the recorded request that the live one lacks, or has with another value.
        var otherFields: Int

        private var order: (Int, Int, Int, Int, Int, Int) {
            (
                self.missingPlaceholders, self.isLeft ? 1 : 0, self.otherLastEventID ? 1 : 0, -self.equalFields, -self.sameFields,
                self.otherFields
            )
        }

        static func < (left: Rank, right: Rank) -> Bool {
            left.order < right.order
        }
    }

    /// Leaves out the exchanges whose answers do not fulfil the request's preconditions.
    private mutating func fulfilling<Result>(_ live: LiveFields, _ body: (inout FieldChoice) -> Result) -> Result {
        self.refresh()
        guard live.isJudged else { return body(&self) }
        var narrowed = self
        for number in narrowed.classes.indices where narrowed.classes[number].kind.isConditional {
            let profile = narrowed.classes[number].profile
            narrowed.classes[number].turn = AssignmentRule.Turn()
            narrowed.classes[number].members.removeAll {
                !live.isFulfilled(by: self.validators[$0] ?? AnswerValidators(nil), of: profile)
            }
        }
        narrowed.classes.removeAll { $0.members.isEmpty }
        defer { self.repetitions = narrowed.repetitions }
        return body(&narrowed)
    }

    /// Whether an exchange that may answer the request has not answered.
    mutating func hasNext(for live: LiveFields, _ rule: AssignmentRule) -> Bool {
        self.fulfilling(live) { choice in
            choice.classes.indices.contains { number in
                choice.allows(choice.classes[number], live)
                    && rule.next(of: choice.classes[number].members[...], turn: &choice.classes[number].turn) != nil
            }
        }
    }

    /// The same, if its turn has come.
    mutating func hasLeft(for live: LiveFields, _ rule: AssignmentRule) -> Bool {
        self.fulfilling(live) { choice in
            choice.classes.contains { choice.allows($0, live) && rule.canAssign($0.members[...], turn: $0.turn) }
        }
    }

    /// Whether the exchange that is due in a strict order may answer the request.
    mutating func hasDue(for live: LiveFields, _ rule: AssignmentRule) -> Bool {
        self.fulfilling(live) { choice in
            choice.classes.contains { $0.members.contains(UInt32(rule.due)) && choice.allows($0, live) }
        }
    }

    /// How many exchanges may answer the request, used up or not.
    mutating func count(for live: LiveFields) -> Int {
        self.fulfilling(live) { choice in choice.classes.reduce(0) { $0 + (choice.allows($1, live) ? $1.members.count : 0) } }
    }

    /// Assigns the exchange that fits best among those that may answer.
    mutating func assign(for live: LiveFields, _ rule: inout AssignmentRule) -> AssignmentRule.Assignment {
        self.fulfilling(live) { $0.assignFulfilling(live, &rule) }
    }

    private mutating func assignFulfilling(_ live: LiveFields, _ rule: inout AssignmentRule) -> AssignmentRule.Assignment {
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
        return self.fulfilling(live) { choice in
            var candidates: [(index: Int, facts: RangeFacts)] = []
            for one in choice.classes where one.kind == .whole || one.kind == .partialContent {
                guard choice.compared.allSatisfy({ live.accepts(.whole, of: one.profile, comparing: $0.key, $0.value) }) else { continue }
                for member in one.members { if let facts = choice.ranges[member] { candidates.append((Int(member), facts)) } }
            }
            candidates.sort { $0.index < $1.index }
            return RangeRule.outcome(range: range, ifRange: live.ifRange, candidates: candidates) { isSent($0) || rule.answered[$0] > 0 }
        }
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
        let equal = live.profile.equalFields(with: one.profile)
        return Rank(
            missingPlaceholders: live.placeholders.count { !one.profile.placeholders.contains($0) }, isLeft: one.isLeft,
            otherLastEventID: !live.profile.agrees(with: one.profile, on: LiveFields.lastEventID), equalFields: equal.count,
            sameFields: equal.same, otherFields: one.profile.fields.count - equal.count)
    }
}

/// The header fields of a live request, as they are compared with those of recorded ones.
struct LiveFields: Sendable {
    static let lastEventID = RequestProfile.hash("last-event-id")
    private static let conditions = Dictionary(
        uniqueKeysWithValues: RequestFieldNames.conditions.map { ($0, RequestProfile.hash($0)) })
    private static let ranges = ["range", "if-range", "x-ms-range"]

    let profile: RequestProfile
    /// The placeholders of the cassette that the request holds as it came: a client got them from an earlier replayed answer.
    var placeholders: [UInt64]
    /// Whether it asks for a part of the representation, which only a GET can (RFC 9110, 14.2), and the rules do not ignore that.
    let asksRange: Bool
    let asksEvents: Bool
    /// The value of `Range`; of several fields, all values, which is malformed. Azure's own field comes before it.
    let range: String?
    let ifRange: String?
    private let ifMatch: String?
    private let ifUnmodifiedSince: String?
    private let isRetrieval: Bool
    /// The preconditions that the request has, whether or not the rules ignore them.
    private let present: Set<String>
    private let ignored: Set<String>

    /// - Parameters:
    ///   - headers: redacted, as the cassette would hold them.
    ///   - placeholders: of the request as it came.
    init(method: String, _ headers: HeaderFields, rules: MatchRules, placeholders: [UInt64] = []) {
        self.profile = RequestProfile(headers, rules: rules, placeholders: [], isLive: true)
        self.placeholders = placeholders
        self.isRetrieval = method == "GET" || method == "HEAD"
        self.present = RequestFieldNames.conditions(in: headers)
        self.ignored = Set(RequestFieldNames.conditions.filter(rules.ignoresField))
        let ranges = ["x-ms-range", "range"].filter { [present, ignored] in present.contains($0) && !ignored.contains($0) }
        self.asksRange = method == "GET" && !ranges.isEmpty
        self.range = ranges.first.map { headers.values($0 == "range" ? "range" : "x-ms-range").joined(separator: ", ") }
        self.ifRange = self.present.contains("if-range") ? headers.first("if-range") : nil
        self.ifMatch = self.isRetrieval && !self.ignored.contains("if-match") ? headers.first("if-match") : nil
        let isDateJudged = self.isRetrieval && !self.ignored.contains("if-unmodified-since") && !self.present.contains("if-match")
        self.ifUnmodifiedSince = isDateJudged ? headers.first("if-unmodified-since") : nil
        self.asksEvents = EventStreamRequest.isAsked(by: headers)
    }

    /// Whether it has preconditions without which an origin refuses it with a 412 (RFC 9110, 13.2.2).
    var isJudged: Bool { self.ifMatch != nil || self.ifUnmodifiedSince != nil }

    /// Whether its preconditions hold for a recorded answer, as they did for a recorded request that had the same.
    func isFulfilled(by validators: AnswerValidators, of recorded: RequestProfile) -> Bool { self.failing(validators, recorded) == nil }

    /// The field that does not hold; nil if there is none.
    private func failing(_ validators: AnswerValidators, _ recorded: RequestProfile) -> String? {
        if let ifMatch, !self.agrees(with: recorded, on: "if-match"), !validators.fulfils(ifMatch: ifMatch) { return "if-match" }
        if let ifUnmodifiedSince, !self.agrees(with: recorded, on: "if-unmodified-since"),
            !validators.fulfils(ifUnmodifiedSince: ifUnmodifiedSince)
        {
            return "if-unmodified-since"
        }
        return nil
    }

    /// Whether a precondition or range is the same, or rules ignore it.
    private func agrees(with recorded: RequestProfile, on condition: String) -> Bool {
        guard !self.ignored.contains(condition), let hash = Self.conditions[condition] else { return true }
        return self.profile.agrees(with: recorded, on: hash)
    }

    /// The preconditions and ranges that keep a recorded answer from being a possible one for this request; empty if there are none.
    private func conflicts(_ kind: AnswerKind, _ recorded: RequestProfile) -> [String] {
        // What is done depends on them.
        guard self.isRetrieval else { return RequestFieldNames.conditions.filter { !self.agrees(with: recorded, on: $0) } }
        if kind.isBound { return kind.names.filter { !self.agrees(with: recorded, on: $0) } }
        guard kind == .whole, self.asksRange else { return [] }
        let differing = Self.ranges.filter { !self.agrees(with: recorded, on: $0) }
        return differing.isEmpty && !Self.ranges.contains { self.has(recorded, $0) } ? ["range"] : differing
    }

    private func has(_ recorded: RequestProfile, _ condition: String) -> Bool {
        Self.conditions[condition].map { recorded.value(of: $0) != nil } ?? false
    }

    /// Whether a recorded answer is a possible one for this request: the preconditions and ranges that it depends on are equal, but for
    /// those that rules ignore.
    func allows(_ kind: AnswerKind, of recorded: RequestProfile) -> Bool {
        !(kind.isBound && self.lacks(kind, recorded)) && self.conflicts(kind, recorded).isEmpty
    }

    /// Whether the request has none of the fields without which the answer is not a possible one. An origin that sent the status without
    /// any of them meant something else by it.
    private func lacks(_ kind: AnswerKind, _ recorded: RequestProfile) -> Bool {
        guard !kind.needed.contains(where: self.present.contains) else { return false }
        return kind.needed.contains { self.ignored.contains($0) || self.has(recorded, $0) }
    }

    /// Whether a field that decides in the recording is equal, or does not count for this answer.
    func accepts(_ kind: AnswerKind, of recorded: RequestProfile, comparing name: UInt64, _ text: String) -> Bool {
        // An event stream goes on where its client is; that is a preference (HTML, 9.2.3).
        if text == "last-event-id" { return true }
        // A whole representation answers any conditional request for it (RFC 9110, 13.2.2).
        if self.isRetrieval, !kind.isBound, Self.conditions[text] != nil { return true }
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
        var names = self.conflicts(kind, profile)
        if kind.isConditional, let failing = self.failing(recorded.traits.validators, profile) { names.append(failing) }
        names += compared.filter { !self.accepts(kind, of: profile, comparing: $0.key, $0.value) }.map(\.value).sorted()
        var shown: [String] = []
        for name in names where !shown.contains(name) { shown.append(name) }
        return shown.map { name in
            let known = Self.value(of: name, in: recorded.headers)
            let here = Self.value(of: name, in: headers).map { LiveSecrets.hidden($0, where: known) }
            return .header(name: name, here: here.map(Self.text), recorded: known.map(Self.text))
        }
    }

    private static func value(of name: String, in headers: HeaderFields) -> [UInt8]? {
        let values = (0..<headers.count).filter { headers.name(at: $0).lowercased() == name }.map { headers.value(at: $0) }
        return values.isEmpty ? nil : Array(values.joined(separator: ", ").utf8)
    }

    private static func text(_ value: [UInt8]) -> String { PlainText.escape(value, limit: RequestComparison.textLimit) }
}
