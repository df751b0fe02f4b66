internal import CassetteModel
internal import TapeBytes

/// The header fields of a live request, in the form in which they are compared with recorded ones.
struct LiveFields: Sendable {
    static let lastEventID = RequestProfile.hash("last-event-id")
    private static let conditions = Dictionary(
        uniqueKeysWithValues: (RequestFieldNames.conditions + AnswerKind.negotiated).map { ($0, RequestProfile.hash($0)) })
    private static let ranges = ["range", "if-range", "x-ms-range"]
    private static let ifRange = RequestProfile.hash("if-range")
    /// The hashes of the names.
    static let rangeNames = Set(ranges.map(RequestProfile.hash))

    /// The hashes of the names of fields that negotiate the type of a representation (RFC 9110, 12.5; RFC 9530, 4).
    static let negotiationNames = Set(
        ["accept", "accept-charset", "accept-language", "want-digest", "want-content-digest", "want-repr-digest"].map(RequestProfile.hash))

    var profile: RequestProfile
    /// The cassette's placeholders in the request as it arrived, which the client got from an earlier replayed answer, and the marks of its
    /// login.
    var placeholders: HeldPlaceholders
    /// The hashes of its own values (`OwnValues`).
    var own: Set<UInt64>
    /// Whether it asks for a part of the representation, which only a GET can (RFC 9110, 14.2), and the rules do not ignore that.
    let asksRange: Bool
    /// Whether it asks for the whole representation: a GET without a range.
    let asksWhole: Bool
    /// Whether ranges are computed from a whole representation.
    let computesRanges: Bool
    let asksEvents: Bool
    /// The value of `Range`. If there are several fields, all their values, which is malformed. Azure's own field takes precedence.
    let range: String?
    let ifRange: String?
    /// The content codings it accepts; nil if it does not say.
    private let codings: AcceptedCodings?
    private let ifMatch: [String]?
    private let ifNoneMatch: [String]?
    private let ifUnmodifiedSince: String?
    private let isRetrieval: Bool
    /// The key with its query; empty if the cassette has no stubs.
    let head: [UInt8]
    /// Nil if the cassette has no stubs.
    let parts: StubParts?
    /// The content of the body, in a cassette with stubs; nil if there is none.
    var content: HeldContent?
    /// The preconditions in the request, whether or not the rules ignore them.
    private let present: Set<String>
    private let ignored: Set<String>

    /// - Parameters:
    ///   - headers: redacted, as the cassette would contain them.
    ///   - url: redacted, too.
    ///   - placeholders: the placeholders in the request as it arrived, and the marks of its login.
    ///   - head: the key with its query, for a cassette with stubs; nil for others.
    init(
        method: String, _ headers: HeaderFields, rules: MatchRules, url: String = "", placeholders: HeldPlaceholders = HeldPlaceholders(),
        computesRanges: Bool = true, head: UnsafeRawBufferPointer? = nil
    ) {
        self.head = head.map(Array.init) ?? []
        self.parts = head == nil ? nil : StubParts(url: url, headers, rules)
        self.profile = RequestProfile(headers, rules: rules, placeholders: HeldPlaceholders(), url: url, isLive: true)
        self.placeholders = placeholders
        self.own = OwnValues.hashes(url: url, [], rules)
        self.isRetrieval = method == "GET" || method == "HEAD"
        self.present = RequestFieldNames.conditions(in: headers)
        self.ignored = Set((RequestFieldNames.conditions + AnswerKind.negotiated).filter(rules.ignoresField))
        let ranges = ["x-ms-range", "range"].filter { [present, ignored] in present.contains($0) && !ignored.contains($0) }
        self.asksRange = method == "GET" && !ranges.isEmpty
        self.asksWhole = method == "GET" && self.present.isDisjoint(with: Self.ranges)
        self.computesRanges = computesRanges
        self.range = ranges.first.map { headers.values($0 == "range" ? "range" : "x-ms-range").joined(separator: ", ") }
        self.codings = AcceptedCodings(headers)
        self.ifRange = self.present.contains("if-range") ? headers.first("if-range") : nil
        let judged = self.isRetrieval ? self.present.subtracting(self.ignored) : []
        self.ifMatch = judged.contains("if-match") ? headers.values("if-match") : nil
        self.ifNoneMatch = judged.contains("if-none-match") ? headers.values("if-none-match") : nil
        let isDateJudged = judged.contains("if-unmodified-since") && !self.present.contains("if-match")
        self.ifUnmodifiedSince = isDateJudged ? headers.first("if-unmodified-since") : nil
        self.asksEvents = EventStreamRequest.isAsked(by: headers)
    }

    /// Whether it has a recorded head, or one whose marks fit.
    func hasHead(_ recorded: [UInt8]) -> Bool {
        self.head == recorded
            || self.head.withUnsafeBytes { live in recorded.withUnsafeBytes { MatchMark.isIn($0) && MatchMark.headKey($0, fits: live) } }
    }

    private static let acceptEncoding = RequestProfile.hash("accept-encoding")

    /// Whether a recorded request asked for the rest of a representation of which its client had a part (RFC 9110, 13.1.5).
    static func asksRest(_ recorded: RequestProfile) -> Bool { recorded.value(of: Self.ifRange) != nil }

    /// Whether the client can read a body with this content coding: it accepts it, or asks as the recorded client did.
    func reads(_ coding: String?, of recorded: RequestProfile) -> Bool {
        guard let coding else { return true }
        return self.codings?.accepts(coding) == true || self.profile.agrees(with: recorded, on: Self.acceptEncoding)
    }

    /// Whether it has preconditions that are evaluated against a recorded answer's validators (RFC 9110, 13.2.2).
    var isJudged: Bool { self.ifMatch != nil || self.ifNoneMatch != nil || self.ifUnmodifiedSince != nil }

    /// Whether a recorded answer is correct under the request's preconditions, or the recorded request had the same ones.
    func allows(_ kind: AnswerKind, with validators: AnswerValidators, of recorded: RequestProfile) -> Bool {
        self.failing(kind, validators, recorded) == nil
    }

    /// The field because of which the answer is not correct; nil if there is none.
    private func failing(_ kind: AnswerKind, _ validators: AnswerValidators, _ recorded: RequestProfile) -> String? {
        guard kind != .notModified else {
            // `If-Match` takes precedence (RFC 9110, 13.2.2).
            if let ifMatch, !self.agrees(with: recorded, on: "if-match"), !validators.fulfils(ifMatch: ifMatch) { return "if-match" }
            guard let ifNoneMatch, self.areTagsJudged(recorded), !self.agrees(with: recorded, on: "if-none-match") else { return nil }
            return validators.isNamed(byIfNoneMatch: ifNoneMatch) ? nil : "if-none-match"
        }
        if let ifMatch, !self.agrees(with: recorded, on: "if-match"), !validators.fulfils(ifMatch: ifMatch) { return "if-match" }
        if let ifUnmodifiedSince, !self.agrees(with: recorded, on: "if-unmodified-since"),
            !validators.fulfils(ifUnmodifiedSince: ifUnmodifiedSince)
        {
            return "if-unmodified-since"
        }
        return nil
    }

    /// Whether a precondition, a range, or a field that the answer depends on is the same, or is ignored by rules.
    private func agrees(with recorded: RequestProfile, on condition: String) -> Bool {
        guard !self.ignored.contains(condition), let hash = Self.conditions[condition] else { return true }
        return self.profile.agrees(with: recorded, on: hash)
    }

    /// The preconditions and ranges that make a recorded answer impossible for this request; empty if there are none.
    private func conflicts(_ kind: AnswerKind, _ recorded: RequestProfile) -> [String] {
        // The effect of such a request depends on its preconditions.
        guard self.isRetrieval else {
            let names = RequestFieldNames.conditions + (kind.isNegotiated ? kind.names : [])
            return names.filter { !self.agrees(with: recorded, on: $0) }
        }
        if kind == .notModified, self.areTagsJudged(recorded) { return [] }
        if kind.isBound { return kind.names.filter { !self.agrees(with: recorded, on: $0) } }
        guard kind == .whole, self.asksRange else { return [] }
        let differing = Self.ranges.filter { !self.agrees(with: recorded, on: $0) }
        return differing.isEmpty && !Self.ranges.contains { self.has(recorded, $0) } ? ["range"] : differing
    }

    /// Whether the tags of both requests decide on a 304. Dates are ignored then (RFC 9110, 13.1.3).
    private func areTagsJudged(_ recorded: RequestProfile) -> Bool { self.ifNoneMatch != nil && self.has(recorded, "if-none-match") }

    private func has(_ recorded: RequestProfile, _ condition: String) -> Bool {
        Self.conditions[condition].map { recorded.value(of: $0) != nil } ?? false
    }

    /// Whether a recorded answer is possible for this request: the preconditions and ranges it depends on are equal, or are ignored by
    /// rules.
    func allows(_ kind: AnswerKind, of recorded: RequestProfile) -> Bool {
        !(kind.isBound && self.lacks(kind, recorded)) && self.conflicts(kind, recorded).isEmpty
    }

    /// Whether the request has none of the fields that the answer presupposes. An origin that sent the status without any of them meant
    /// something else by it.
    private func lacks(_ kind: AnswerKind, _ recorded: RequestProfile) -> Bool {
        guard !kind.needed.contains(where: self.present.contains) else { return false }
        return kind.needed.contains { self.ignored.contains($0) || self.has(recorded, $0) }
    }

    /// Whether a field that decides in the recording is equal, or is irrelevant to this answer.
    func accepts(_ kind: AnswerKind, of recorded: RequestProfile, comparing name: UInt64, _ text: String) -> Bool {
        // An event stream continues where its client stopped, so the field is only a preference (HTML, 9.2.3).
        if text == "last-event-id" { return true }
        // A whole representation answers any conditional request for it (RFC 9110, 13.2.2).
        if self.isRetrieval, !kind.isBound, RequestFieldNames.conditions.contains(text) { return true }
        return self.profile.agrees(with: recorded, on: name)
    }

    /// The differences in these fields that keep a recorded exchange from answering.
    ///
    /// - Parameters:
    ///   - compared: the fields that decide in the recording.
    ///   - headers: the redacted header fields of this request.
    func differences(from recorded: ComparedRequest, comparing compared: [UInt64: String], live headers: HeaderFields)
        -> [RequestDifference]
    {
        let (kind, profile, demands) = (recorded.traits.kind, recorded.traits.profile, recorded.traits.demands)
        guard !demands.isStub else {
            let fields = demands.fields(unmetBy: self, profile).map { name in
                let known = Self.value(of: name, in: recorded.headers)
                let here = Self.value(of: name, in: headers).map { LiveSecrets.hidden($0, where: known) }
                return RequestDifference.header(name: name, here: here.map(Self.text), recorded: known.map(Self.text))
            }
            return demands.differences(from: self) + fields
        }
        let others = demands.differences(from: self)
        guard others.isEmpty else { return others }
        if kind.isBound, self.lacks(kind, profile), let status = recorded.traits.status {
            return [.precondition(names: kind.needed, status: status)]
        }
        var names = self.conflicts(kind, profile)
        var failing = kind.isConditional ? self.failing(kind, recorded.traits.validators, profile) : nil
        // A part of a coded body cannot be decoded.
        if kind == .partialContent, !self.reads(recorded.traits.ranges?.coding, of: profile) { failing = failing ?? "accept-encoding" }
        if let failing { names.append(failing) }
        names += compared.filter { !self.accepts(kind, of: profile, comparing: $0.key, $0.value) }.map(\.value).sorted()
        var shown: [String] = []
        for name in names where !shown.contains(name) { shown.append(name) }
        return shown.map { name in
            let known = Self.value(of: name, in: recorded.headers)
            let here = Self.value(of: name, in: headers).map { LiveSecrets.hidden($0, where: known) }
            // Without the same condition, the answer would be wrong.
            if kind.isBound && !kind.isNegotiated && kind.names.contains(name) || name == failing, let status = recorded.traits.status {
                return .condition(name: name, here: here.map(Self.text), recorded: known.map(Self.text), status: status)
            }
            return .header(name: name, here: here.map(Self.text), recorded: known.map(Self.text))
        }
    }

    private static func value(of name: String, in headers: HeaderFields) -> [UInt8]? {
        let values = (0..<headers.count).filter { headers.name(at: $0).lowercased() == name }.map { headers.value(at: $0) }
        return values.isEmpty ? nil : Array(values.joined(separator: ", ").utf8)
    }

    private static func text(_ value: [UInt8]) -> String { PlainText.escape(value, limit: RequestComparison.textLimit) }
}
