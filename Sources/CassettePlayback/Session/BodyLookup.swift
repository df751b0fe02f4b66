internal import CassetteModel
internal import TapeBytes

/// Reads the recorded requests with the head of a pending one, as many as are needed to answer it. Reads from disk.
struct BodyLookup {
    /// At most this many recorded bodies are read at once, so that one disk access also serves the following requests.
    static let batch = 64
    /// At most this many bodies are read to find the nearest.
    static let candidateLimit = 12
    /// The choice by header fields considers at least this many recorded requests that have not answered, if there are that many.
    static let window = 128
    /// At least this many are read once a request finds fewer than `window`, so that the following requests need not wait for the disk.
    static let readAhead = 256

    let session: CassetteSession
    let source: any RequestSource
    let pending: PendingRequest
    let key: Int
    let body: BodyFacets

    /// Reads bodies until an equal one is left to answer, or all have been read. Returns whether one is left.
    func findEqual() throws(CassetteError) -> Bool {
        let members = self.session.groups.members(ofKey: self.key)
        try self.compareHeads(members)
        while true {
            let (seen, isReady) = self.session.withGroup(self.key) { group, state in
                // If all of them are needed, choosing among the first ones would be a waste of time.
                guard !group.readsAll || group.seen == members.count else { return (group.seen, false) }
                let isReady = group.isReady(
                    self.body, self.pending.live(self.body), state.assignments, count: members.count, open: Self.readAhead)
                return (group.seen, isReady)
            }
            if isReady, self.session.rules.custom.isEmpty { return true }
            guard seen < members.count else { return false }
            let first = members.startIndex + seen
            let indexes = members[first..<min(first + Self.batch, members.endIndex)]
            let recorded: [ComparedRequest]
            do {
                recorded = try self.readable(indexes)
            } catch {
                // Earlier exchanges can answer without it.
                let isReady = self.session.withGroup(self.key) { group, state in
                    group.isBlocked = true
                    return group.isReady(self.body, self.pending.live(self.body), state.assignments, count: members.count, open: 0)
                }
                guard isReady, self.session.rules.custom.isEmpty else { throw error }
                return true
            }
            self.session.withGroup(self.key) { group, _ in
                // Another thread may have been faster.
                guard group.seen == seen else { return }
                for (index, request) in zip(indexes, recorded) { group.append(request, index: Int(index)) }
            }
        }
    }

    /// Finds out whether header fields may decide within a large group. If so, the whole group must be read, since the exchange that fits
    /// best may be the last one.
    private func compareHeads(_ members: ArraySlice<UInt32>) throws(CassetteError) {
        guard members.count > Self.readAhead, self.session.withGroup(self.key, { group, _ in group.areHeadsAlike == nil }),
            let first = members.first
        else { return }
        let fields = try self.source.comparedFields(at: Int(first))
        var areAlike = true
        for member in members.dropFirst() where areAlike { areAlike = try self.source.comparedFields(at: Int(member)) == fields }
        self.session.withGroup(self.key) { group, _ in group.areHeadsAlike = areAlike }
    }

    /// The leading requests that can be read; throws if there are none. An unreadable request blocks only those after it.
    private func readable(_ indexes: ArraySlice<UInt32>) throws(CassetteError) -> [ComparedRequest] {
        var recorded: [ComparedRequest] = []
        for index in indexes {
            do {
                recorded.append(try self.recorded(Int(index), .digests))
            } catch {
                guard !recorded.isEmpty else { throw error }
                break
            }
        }
        return recorded
    }

    /// The exchanges that match in spite of other facets, or by a custom rule, ascending.
    func others() throws(CassetteError) -> [Int] {
        let custom = self.session.rules.custom
        let fields = self.pending.live(self.body)
        let (equals, inexact, anyBody) = self.session.withGroup(self.key) { group, _ in
            let inexact = group.inexact(for: self.body).filter { group.mayAnswer($0, fields) }
            return (group.members(self.body), inexact, custom.isEmpty ? Set(inexact.filter(group.ignoresBody)) : [])
        }
        let isEqual = Set(equals.map(Int.init))
        let candidates = custom.isEmpty ? inexact : (inexact.filter { !isEqual.contains($0) } + isEqual).sorted()
        let live = self.pending.matched(self.body)
        var found: [Int] = []
        for index in candidates where !custom.isEmpty || !isEqual.contains(index) {
            guard !anyBody.contains(index) else {
                found.append(index)
                continue
            }
            let recorded = try self.inFull(index)
            guard isEqual.contains(index) || self.fits(recorded) else { continue }
            if custom.allSatisfy({ $0.difference(recorded.matched, live) == nil }) { found.append(index) }
        }
        return found
    }

    /// A body that was cut fits every body, as its rest is unknown. A missing body may also have been absent.
    private func fits(_ recorded: ComparedRequest) -> Bool {
        let demands = recorded.traits.demands
        if demands.ignoresBody || demands.takesType && recorded.facets == self.body { return true }
        guard recorded.isComplete else { return recorded.isMissing || self.body.kind != .none }
        return recorded.facets.mayFit && recorded.facets.fits(live: self.body)
    }

    /// The recorded bodies that differ least, the nearest first. Unreadable ones are left out.
    func nearest() -> [NearBody] {
        let sketch = BodySketch(self.body)
        let sketches = self.session.withGroup(self.key) { group, _ in group.sketches }
        let members = self.session.groups.members(ofKey: self.key)
        let distances = zip(members, sketches).map { (index: Int($0), distance: $1.distance(to: sketch)) }
        let candidates = distances.sorted { ($0.distance, $0.index) < ($1.distance, $1.index) }.prefix(Self.candidateLimit)
        var found: [NearBody] = []
        for candidate in candidates {
            guard let recorded = try? self.inFull(candidate.index) else { continue }
            let demands = recorded.traits.demands
            let bodies =
                demands.bodyDifferences(from: self.pending.live(self.body))
                ?? (demands.ignoresBody ? [] : self.body.differences(fromRecorded: recorded.facets))
            let differences =
                self.fieldDifferences(recorded, at: candidate.index) + bodies + self.customDifferences(recorded)
            if !differences.isEmpty { found.append(NearBody(index: candidate.index, differences: differences)) }
        }
        found.sort { ($0.differences.count, $0.index) < ($1.differences.count, $1.index) }
        return Array(found.prefix(NearestRequests.limit))
    }

    /// The header fields that keep an exchange from answering.
    private func fieldDifferences(_ recorded: ComparedRequest, at index: Int) -> [RequestDifference] {
        var compared = self.session.withGroup(self.key) { group, _ in group.comparedFields(recorded.facets) }
        let recurring = self.session.withGroup(self.key) { group, state in
            group.recurringFields(index, recorded.facets, self.pending.live(self.body), state.assignments)
        }
        if !recurring.isEmpty {
            let headers = self.pending.comparedHeaders
            for name in (0..<headers.count).map({ headers.name(at: $0).lowercased() }) where recurring.contains(RequestProfile.hash(name)) {
                compared[RequestProfile.hash(name)] = name
            }
        }
        return self.pending.fields.differences(from: recorded, comparing: compared, live: self.pending.comparedHeaders)
    }

    private func customDifferences(_ recorded: ComparedRequest) -> [RequestDifference] {
        guard !self.session.rules.custom.isEmpty, recorded.facets == self.body else { return [] }
        let live = self.pending.matched(self.body)
        return self.session.rules.custom.compactMap { rule in
            rule.difference(recorded.matched, live).map { reason in
                .custom(
                    name: PlainText.escape(rule.name.utf8, limit: RequestComparison.textLimit),
                    reason: PlainText.escape(reason.utf8, limit: RequestComparison.textLimit))
            }
        }
    }

    private func recorded(_ index: Int, _ detail: BodyFacets.RecordedDetail) throws(CassetteError) -> ComparedRequest {
        // The digest of a redacted file says nothing about the bytes between its placeholders.
        let detail: BodyFacets.RecordedDetail = self.session.redaction == nil ? detail : .contents
        return try self.source.comparedRequest(
            at: index, rules: self.session.rules, detail: detail, redaction: self.session.redaction, digest: self.session.digest)
    }

    /// A recorded request with its whole content, which a stub may have in any type.
    private func inFull(_ index: Int) throws(CassetteError) -> ComparedRequest {
        let recorded = try self.recorded(index, .contents)
        guard recorded.traits.demands.takesType else { return recorded }
        return try self.source.comparedStub(
            at: index, typedLike: self.pending.headers, rules: self.session.rules, redaction: self.session.redaction,
            digest: self.session.digest)
    }
}

/// Finds the nearest requests if no recorded request has the head, with the differences of their header fields and bodies. Reads from disk.
struct HeadLookup {
    /// At most this many recorded bodies are read for each near head.
    static let bodyLimit = 4

    let session: CassetteSession
    let source: any RequestSource
    let pending: PendingRequest
    let body: BodyFacets

    func nearest() -> [NearHead] {
        let matches = self.pending.head.withUnsafeBytes { head in
            self.session.keys.withKey(of: head) { self.session.nearestRequests.search(for: $0) }
        }
        return matches.map { match in
            let head = self.session.nearHead(match)
            guard let (index, bodies) = self.nearestBody(ofKey: match.key, from: head.index) else { return head }
            return NearHead(key: match.key, index: index, differences: match.differences + bodies)
        }
    }

    /// Looks at the exchanges from `first` on; nil if none can be read.
    private func nearestBody(ofKey key: Int, from first: Int) -> (index: Int, differences: [RequestDifference])? {
        let candidates = self.session.groups.members(ofKey: key).drop { Int($0) < first }.prefix(Self.bodyLimit)
        var best: (index: Int, differences: [RequestDifference])?
        for index in candidates.map(Int.init) {
            guard
                var recorded = try? self.source.comparedRequest(
                    at: index, rules: self.session.rules, detail: .contents, redaction: self.session.redaction, digest: self.session.digest)
            else { continue }
            recorded.traits.demands = recorded.traits.demands.withoutHead
            let fits = recorded.traits.demands.ignoresBody || !recorded.isComplete || recorded.facets.fits(live: self.body)
            // Which other fields decide is only known where the head is equal.
            let fields = self.pending.fields.differences(
                from: recorded, comparing: FieldChoice().compared, live: self.pending.comparedHeaders)
            let bodies = recorded.traits.demands.bodyDifferences(from: self.pending.live(self.body)) ?? []
            let differences = fields + bodies + (fits ? [] : self.body.differences(fromRecorded: recorded.facets))
            if differences.count < best?.differences.count ?? .max { best = (index, differences) }
        }
        return best
    }
}

/// The recorded requests with one head, grouped by those of their bodies that have been read.
///
/// Bodies are read in recorded order and only as far as needed: the first of a hundred thousand requests to one URL is answered without
/// reading the others. Does not keep bodies. Among requests with equal bodies, `FieldChoice` chooses.
struct BodyGroup: Sendable {
    private var equals: [FieldChoice] = []
    private var numbers: [BodyFacets: Int] = [:]
    /// The exchanges that can answer a request with another body, since theirs was cut or has marks. Ascending.
    private var inexact: [Int] = []
    /// The exchanges of which a value may be missing, by what has to be there. Ascending.
    private var cores: [FacetSum: [Int]] = [:]
    /// The traits of exchanges that may be chosen without an equal body, by index.
    private var traits: [Int: ExchangeTraits] = [:]
    /// A sketch of each body that has been read, in recorded order.
    private(set) var sketches: [BodySketch] = []
    /// The exchanges that have been read, ascending.
    private var read: [UInt32] = []
    /// How far the exchanges that have been read have answered.
    private var turn = AssignmentRule.Turn()
    /// How often used-up exchanges without an equal body have answered again.
    private var repetitions: [UInt32: AssignmentRule.Turn] = [:]
    private let keepsTraits: Bool
    /// Whether the key has no query, because some of the exchanges may be stubs. All of them have to be read before one is chosen, since the
    /// earliest stub that matches answers.
    private let hasStubs: Bool
    /// Whether the next request cannot be read, so that the choice is limited to those that have been.
    var isBlocked = false
    /// Whether header fields distinguish none of the key's requests; nil if that was not checked.
    var areHeadsAlike: Bool?
    /// Whether all of the key's requests have to be read before one is chosen.
    var readsAll: Bool { self.areHeadsAlike == false && !self.isBlocked }

    /// - Parameter keepsTraits: custom rules choose among all exchanges.
    init(keepsTraits: Bool = false, hasStubs: Bool = false) {
        self.keepsTraits = keepsTraits || hasStubs
        self.hasStubs = hasStubs
    }

    /// How many of the key's requests have been read.
    var seen: Int { self.sketches.count }

    /// Whether all of the key's requests have been read, and are so alike that only their order decides.
    func isUniform(count: Int) -> Bool {
        self.seen == count && self.equals.count == 1 && self.inexact.isEmpty && self.cores.isEmpty && self.equals[0].isUniform
    }

    /// Adds the next of the key's requests.
    mutating func append(_ recorded: ComparedRequest, index: Int) {
        var recorded = recorded
        // The key has the whole head.
        recorded.traits.demands = self.hasStubs ? recorded.traits.demands.forComparison : .none
        self.sketches.append(BodySketch(recorded.facets))
        self.read.append(UInt32(index))
        let isInexact =
            !recorded.isComplete || recorded.facets.hasMarks || recorded.traits.demands.ignoresBody
            || recorded.traits.demands.takesType
        if isInexact {
            self.inexact.append(index)
        } else if recorded.facets.mayLack {
            self.cores[recorded.facets.core, default: []].append(index)
        }
        if isInexact || recorded.facets.mayLack || self.keepsTraits { self.traits[index] = recorded.traits }
        guard recorded.isComplete else { return }
        let number = self.numbers[recorded.facets] ?? self.equals.count
        if number == self.equals.count {
            self.numbers[recorded.facets.digestOnly] = number
            self.equals.append(FieldChoice())
        }
        self.equals[number].append(recorded.traits, index: index)
    }

    /// The exchanges read so far that may match this body although theirs is unequal, ascending.
    func inexact(for body: BodyFacets) -> [Int] {
        guard body.mayLack, let others = self.cores[body.core] else { return self.inexact }
        return (self.inexact + others).sorted()
    }

    /// Whether an exchange's demands are met by a request, so that only its body may make a difference.
    func mayAnswer(_ index: Int, _ live: LiveFields) -> Bool {
        guard self.hasStubs, let traits = self.traits[index] else { return true }
        return traits.demands.areMet(by: live, traits.profile)
    }

    /// Whether an exchange answers requests with any body.
    func ignoresBody(_ index: Int) -> Bool { self.traits[index]?.demands.ignoresBody == true }

    /// The exchanges read so far that have this body, ascending.
    func members(_ body: BodyFacets) -> [UInt32] { self.numbers[body].map { self.equals[$0].members } ?? [] }

    /// The exchanges that the recorded client left and whose body equals that of this one, ascending.
    func leftMembers(equalTo index: Int) -> [UInt32] {
        self.equals.first { $0.members.contains(UInt32(index)) }?.leftMembers ?? []
    }

    /// The complete exchanges whose requests were equal to one that its client left, ascending.
    func wholes(like left: Int) -> [UInt32] { self.equals.first { $0.members.contains(UInt32(left)) }?.wholes(like: left) ?? [] }

    /// The header fields that decide between the exchanges with this body.
    func comparedFields(_ body: BodyFacets) -> [UInt64: String] { self.numbers[body].map { self.equals[$0].compared } ?? [:] }

    /// Whether an exchange with this body that may answer has not answered yet.
    mutating func hasNext(_ body: BodyFacets, _ live: LiveFields, _ rule: AssignmentRule) -> Bool {
        self.numbers[body].map { self.equals[$0].hasNext(for: live, rule) } ?? false
    }

    /// The fields by which an unused exchange with this body is not the answer to a request, although no rule compares them.
    mutating func recurringFields(_ index: Int, _ body: BodyFacets, _ live: LiveFields, _ rule: AssignmentRule) -> Set<UInt64> {
        guard rule.answered[index] == 0 else { return [] }
        return self.numbers[body].map { self.equals[$0].recurringFields(index, for: live, rule) } ?? []
    }

    /// Whether an exchange with this body is left, its turn has come, and enough others have been read to choose.
    ///
    /// - Parameters:
    ///   - count: the number of the key's requests.
    ///   - open: how many exchanges that have not answered are enough.
    mutating func isReady(
        _ body: BodyFacets, _ live: LiveFields, _ rule: AssignmentRule, count: Int, open: Int = BodyLookup.window
    ) -> Bool {
        guard !self.hasStubs, let number = self.numbers[body], self.equals[number].hasLeft(for: live, rule) else { return false }
        guard self.seen < count, !self.isBlocked else { return true }
        guard !self.readsAll else { return false }
        _ = rule.next(of: self.read[...], turn: &self.turn)
        return self.seen - self.turn.position >= open
    }

    /// How many of the exchanges with this body, and of some others, may answer a request, used up or not.
    ///
    /// - Parameter body: nil to count only the others.
    mutating func count(_ body: BodyFacets?, _ live: LiveFields, others: [Int]) -> Int {
        var choice = self.choice(among: others)
        var count = choice.count(for: live)
        if let body, let number = self.numbers[body] { count += self.equals[number].count(for: live) }
        return count
    }

    /// Assigns an exchange with this body, or otherwise one of the others.
    mutating func assign(
        _ body: BodyFacets, _ live: LiveFields, _ rule: inout AssignmentRule, others: [Int] = []
    ) -> AssignmentRule.Assignment {
        guard let number = self.numbers[body] else { return self.assign(among: others, live, &rule) }
        guard !self.hasStubs else {
            let equals = self.equals[number].members.map(Int.init).filter { self.mayAnswer($0, live) }
            return self.assign(among: Set(others + equals).sorted(), live, &rule)
        }
        guard !others.isEmpty else { return self.equals[number].assign(for: live, &rule) }
        var choice = self.choice(among: others)
        if rule.order == .strict, !self.equals[number].hasDue(for: live, rule), choice.hasDue(for: live, rule) {
            return choice.assign(for: live, &rule)
        }
        if !self.equals[number].hasNext(for: live, rule), choice.hasNext(for: live, rule) { return choice.assign(for: live, &rule) }
        let assignment = self.equals[number].assign(for: live, &rule)
        return assignment == .usedUp ? self.assign(among: others, live, &rule) : assignment
    }

    /// The answer to a request for ranges that were not recorded.
    mutating func computed(_ body: BodyFacets, _ live: LiveFields, _ rule: AssignmentRule) -> RangeRule.Outcome? {
        self.numbers[body].flatMap { self.equals[$0].computed(for: live, rule) }
    }

    /// The whole representation for a client of whose recorded requests only those for its rest are left.
    mutating func computed(
        insteadOfRest body: BodyFacets, _ live: LiveFields, _ rule: AssignmentRule
    ) -> (outcome: RangeRule.Outcome, rest: [Int])? {
        self.numbers[body].flatMap { self.equals[$0].computed(insteadOfRest: live, rule) }
    }

    /// The bytes of a whole representation in place of a recorded part of it, if they may differ.
    func laidOut(_ index: Int, _ body: BodyFacets, for live: LiveFields) -> ComputedRanges? {
        self.numbers[body].flatMap { self.equals[$0].laidOut(index, for: live) }
    }

    /// The part that a recorded client asked for and left before its answer came.
    mutating func computed(unanswered index: Int, _ body: BodyFacets, _ live: LiveFields, _ rule: AssignmentRule) -> ComputedRanges? {
        self.numbers[body].flatMap { self.equals[$0].computed(unanswered: index, for: live, rule) }
    }

    /// The rest of an answer that the recorded client left.
    func continued(_ index: Int, _ body: BodyFacets, for live: LiveFields) -> ComputedRanges? {
        self.numbers[body].flatMap { self.equals[$0].continued(index, for: live) }
    }

    /// The exchange that answers a request once more although all are used up.
    mutating func again(_ body: BodyFacets, for live: LiveFields) -> Int? {
        self.numbers[body].flatMap { self.equals[$0].again(for: live) }
    }

    /// Assigns one of these exchanges only.
    mutating func assign(among others: [Int], _ live: LiveFields, _ rule: inout AssignmentRule) -> AssignmentRule.Assignment {
        var choice = self.choice(among: others)
        defer { self.repetitions = choice.repetitions }
        return choice.assign(for: live, &rule)
    }

    private func choice(among others: [Int]) -> FieldChoice {
        var choice = FieldChoice(repetitions: self.repetitions)
        for index in others { if let traits = self.traits[index] { choice.append(traits, index: index) } }
        return choice
    }
}

/// A compact summary of a body, enough to estimate how much it shares with another.
///
/// Facets are a set of 64 bits; shared ones cancel out.
package struct BodySketch: Sendable, Hashable {
    private var bits: UInt64 = 0

    package init(_ facets: BodyFacets) {
        for facet in facets.facets { self.bits |= 1 << (facet.hash >> 58) }
    }

    package func distance(to other: BodySketch) -> Int { (self.bits ^ other.bits).nonzeroBitCount }
}
