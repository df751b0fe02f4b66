internal import CassetteModel

/// How a replay answers requests for ranges.
public enum RangeReplay: String, Sendable, Hashable, CaseIterable {
    /// Ranges that were not recorded are computed from a recorded whole representation, or from recorded parts of it.
    case computed
    /// Only recorded ranges are answered.
    case exact
}

/// The ranges that a request asks for (RFC 9110, 14.1.2 and 14.2).
package struct RangeRequest: Sendable, Hashable {
    /// More ranges in one request are most likely an attack (RFC 9110, 14.2).
    static let limit = 128

    private enum Spec: Sendable, Hashable {
        case from(Int, last: Int?)
        case suffix(Int)
    }

    private var specs: [Spec] = []

    /// Nil if the field has another unit or is malformed; an origin then ignores it.
    package init?(_ value: String) {
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        for text in parts[1].split(separator: ",") {
            let text = text.filter { $0 != " " && $0 != "\t" }
            guard !text.isEmpty else { continue }
            let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard ends.count == 2, self.specs.count < Self.limit else { return nil }
            if ends[0].isEmpty {
                guard let count = Self.number(ends[1]) else { return nil }
                self.specs.append(.suffix(count))
            } else {
                guard let first = Self.number(ends[0]) else { return nil }
                let last = ends[1].isEmpty ? nil : Self.number(ends[1])
                guard ends[1].isEmpty || last.map({ $0 >= first }) == true else { return nil }
                self.specs.append(.from(first, last: last))
            }
        }
        guard !self.specs.isEmpty else { return nil }
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 18, text.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return nil }
        return Int(text)
    }

    /// The satisfiable ranges of a representation, in the order requested; empty if there are none. Nil if they add up to more than twice
    /// the representation, as an origin may ignore such a request.
    package func ranges(of length: Int) -> [Range<Int>]? {
        let ranges = self.specs.compactMap { spec -> Range<Int>? in
            switch spec {
            case .from(let first, let last): first < length ? first..<min(last ?? length - 1, length - 1) + 1 : nil
            case .suffix(let count): count > 0 && length > 0 ? max(0, length - count)..<length : nil
            }
        }
        return ranges.reduce(0) { $0 + $1.count } <= 2 * length ? ranges : nil
    }
}

/// The part of a representation that a recorded answer contains, from which ranges can be computed.
struct RangeFacts: Sendable, Hashable {
    /// The answer is a 200: the whole representation.
    var isWhole: Bool
    /// The offsets within the representation, in bytes.
    var bytes: Range<Int>
    /// What the answer would have contained, had it not been cut.
    var announced: Range<Int>
    /// The length of the whole representation, in bytes.
    var length: Int
    /// The answer is a 206.
    var isPart: Bool
    /// When the exchange ran.
    var span: ExchangeSpan
    /// Nil if it is weak or absent.
    var strongTag: String?
    /// `Last-Modified`, if it is strong, that is, the answer was sent in a later second (RFC 9110, 8.8.2.2). Nil otherwise.
    var strongDate: String?
    /// `ETag`, or `Last-Modified` if there is none, whether weak or strong.
    var anyValidator: String?
    var coding: String?
    /// Whether a secret in it may have been replaced by a text of a different length.
    var mayBeRedacted: Bool

    /// Nil if the answer is not a 200, or a 206 of one range, to a GET. A cut answer has the bytes that arrived.
    init?(_ interaction: Interaction) {
        guard interaction.request.method == "GET", let response = interaction.response, let body = response.body,
            body.size <= ComputedAnswer.sourceLimit || Self.isPlainFile(body)
        else { return nil }
        let isComplete = interaction.outcome == .complete && body.isComplete
        guard isComplete || Self.isAsSent(body, response.headers) else { return nil }
        switch response.status {
        case 200:
            // Some origins send parts with status 200.
            guard !response.headers.contains("content-range"), AnswerKind(interaction) != .partialContent,
                let length = isComplete ? body.size : response.headers.first("content-length").flatMap(Int.init), length >= body.size
            else { return nil }
            self.bytes = 0..<body.size
            self.announced = 0..<length
            self.length = length
        case 206:
            guard let range = response.headers.first("content-range").flatMap(Self.contentRange),
                isComplete ? range.bytes.count == body.size : range.bytes.count > body.size
            else { return nil }
            self.bytes = range.bytes.lowerBound..<range.bytes.lowerBound + body.size
            self.announced = range.bytes
            self.length = range.length
        default: return nil
        }
        guard !self.bytes.isEmpty || self.length == 0 else { return nil }
        self.isWhole = response.status == 200 && isComplete
        self.isPart = response.status == 206
        self.span = ExchangeSpan(interaction)
        let tag = response.headers.first("etag")
        self.strongTag = tag?.hasPrefix("\"") == true ? tag : nil
        let modified = response.headers.first("last-modified")
        let date = response.headers.first("date")
        self.strongDate = date == nil || date == modified ? nil : modified
        self.coding = response.headers.first("content-encoding")
        self.anyValidator = tag ?? modified
        self.mayBeRedacted = self.anyValidator != nil && Self.mayBeRedacted(body)
    }

    private static func mayBeRedacted(_ body: Body) -> Bool {
        switch body.content {
        case .binary, .empty: false
        case .text(let bytes), .json(let bytes, _): bytes.withUnsafeBytes { MatchMark.placeholder(in: $0, from: 0) != nil }
        case .file(let sidecar): sidecar.path.hasSuffix(".txt") || sidecar.path.hasSuffix(".json")
        case .encodedText, .form, .lines, .events, .multipart, .grpc, .raw: true
        }
    }

    /// Whether the bytes of a cut body are at their original offsets: it is not coded, and no secret in it was replaced by a text of a
    /// different length.
    private static func isAsSent(_ body: Body, _ headers: HeaderFields) -> Bool {
        guard body.codings.isEmpty, body.original == nil else { return false }
        switch body.content {
        case .binary, .empty: return true
        case .text(let bytes): return bytes.withUnsafeBytes { !MatchMark.isIn($0) && MatchMark.placeholder(in: $0, from: 0) == nil }
        case .file(let sidecar):
            // In binary content, a secret is replaced by a text of the same length.
            let type = MediaType(headers.firstIndex(of: "content-type").map { headers.valueBytes(at: $0) })
            return switch type.kind {
            case .binary: true
            case .unknown: !sidecar.path.hasSuffix(".txt") && !sidecar.path.hasSuffix(".json")
            default: false
            }
        case .encodedText, .json, .form, .lines, .events, .multipart, .grpc, .raw: return false
        }
    }

    /// A file can be read from any offset.
    private static func isPlainFile(_ body: Body) -> Bool {
        if case .file = body.content { body.codings.isEmpty && body.original == nil } else { false }
    }

    /// `bytes 0-9/100` (RFC 9110, 14.4); nil for an unknown length.
    private static func contentRange(_ value: String) -> (bytes: Range<Int>, length: Int)? {
        guard value.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, ends.count == 2, let first = Int(ends[0]), let last = Int(ends[1]), let length = Int(parts[1]), first >= 0,
            first <= last, last < length
        else { return nil }
        return (first..<last + 1, length)
    }

    /// Whether both are parts of the same representation, which takes a strong validator (RFC 9110, 8.8.1).
    func isOfSame(as other: RangeFacts) -> Bool {
        guard self.length == other.length, self.coding == other.coding, self.strongTag == other.strongTag else { return false }
        return self.strongTag != nil || self.strongDate != nil && self.strongDate == other.strongDate
    }

    /// Equal for parts of the same representation; nil if there is no strong validator.
    var validator: String? { self.strongTag ?? self.strongDate }

    /// Whether an `If-Range` condition holds (RFC 9110, 13.1.5): the strong tag or the strong date is the same.
    func fulfils(ifRange: String?) -> Bool {
        guard let ifRange else { return true }
        return ifRange.hasPrefix("\"") ? ifRange == self.strongTag : ifRange == self.strongDate
    }
}

/// When an exchange ran, in microseconds since 1970.
struct ExchangeSpan: Sendable, Hashable {
    /// In microseconds.
    let start: Int64
    let end: Int64

    init(_ interaction: Interaction) {
        self.start = interaction.started.microseconds
        let total = min(max(interaction.timing.total ?? 0, 0), 1e12)
        self.end = self.start + Int64(total * 1000)
    }

    func overlaps(_ other: ExchangeSpan) -> Bool { self.start < other.end && other.start < self.end }
}

/// Computes the answer to a request for ranges that was not recorded.
enum RangeRule {
    enum Outcome: Sendable, Hashable {
        /// The recorded representation as a whole, since the request's condition does not hold, or its ranges are to be ignored.
        case whole(Int)
        case computed(ComputedRanges)
    }

    /// - Parameters:
    ///   - candidates: recorded answers, those that fit the request best first.
    ///   - sent: when an exchange was last sent; 0 if it was not. Ranges come from the representation that was sent last, so that the parts
    ///     of one download never come from two versions.
    static func outcome(
        range: String, ifRange: String?, candidates: [(index: Int, facts: RangeFacts)], sent: (Int) -> UInt32
    ) -> Outcome? {
        let wholes = candidates.filter(\.facts.isWhole)
        let latest = candidates.filter { sent($0.index) > 0 }.max { sent($0.index) < sent($1.index) }
        let whole =
            latest.map { latest in wholes.first { $0.index == latest.index || $0.facts.isOfSame(as: latest.facts) } } ?? wholes.first
        if let whole {
            guard let request = RangeRequest(range), let ranges = request.ranges(of: whole.facts.length),
                whole.facts.fulfils(ifRange: ifRange)
            else { return .whole(whole.index) }
            let source = ComputedRanges.Source(index: whole.index, bytes: whole.facts.bytes)
            return .computed(ComputedRanges(length: whole.facts.length, ranges: ranges, sources: [source]))
        }
        guard let request = RangeRequest(range), let first = latest ?? candidates.first else {
            return nil
        }
        let parts = candidates.filter { $0.index == first.index || $0.facts.isOfSame(as: first.facts) }
            .sorted { ($0.facts.bytes.lowerBound, $0.index) < ($1.facts.bytes.lowerBound, $1.index) }
        guard first.facts.fulfils(ifRange: ifRange), let ranges = request.ranges(of: first.facts.length),
            ranges.allSatisfy({ Self.covers($0, parts.map(\.facts.bytes)) })
        else { return nil }
        let needed = parts.filter { part in ranges.isEmpty || ranges.contains { $0.overlaps(part.facts.bytes) } }
        return .computed(
            ComputedRanges(
                length: first.facts.length, ranges: ranges,
                sources: needed.map { ComputedRanges.Source(index: $0.index, bytes: $0.facts.bytes) }))
    }

    /// The whole representation, as it was recorded or from its parts; nil if a part is missing, or if no answer with status 200 tells how
    /// it begins.
    ///
    /// - Parameter candidates: of one representation.
    static func whole(_ candidates: [(index: Int, facts: RangeFacts)]) -> Outcome? {
        if let whole = candidates.first(where: { $0.facts.isWhole }) { return .whole(whole.index) }
        guard let head = candidates.first(where: { !$0.facts.isPart }), head.facts.length <= ComputedAnswer.limit else { return nil }
        let parts = candidates.filter(\.facts.isPart).sorted {
            ($0.facts.bytes.lowerBound, $0.index) < ($1.facts.bytes.lowerBound, $1.index)
        }
        let all = 0..<head.facts.length
        guard self.covers(all, [head.facts.bytes] + parts.map(\.facts.bytes)) else { return nil }
        return .computed(
            ComputedRanges(
                length: all.count, ranges: [all],
                sources: ([head] + parts).map { ComputedRanges.Source(index: $0.index, bytes: $0.facts.bytes) }, isRepresentation: true))
    }

    /// The whole of an answer that its client left, from it and other parts of the same representation; nil if they lack some of it.
    ///
    /// Download managers split a download that is running, and close the connections whose rest another one takes. A client that left, and
    /// asked for the rest later or never, is not replayed with more than it got: it may be one that pauses, or gives up.
    static func continued(_ own: RangeFacts, candidates: [(index: Int, facts: RangeFacts)]) -> ComputedRanges? {
        let parts = candidates.filter { $0.facts.isOfSame(as: own) }
            .sorted { ($0.facts.bytes.lowerBound, $0.index) < ($1.facts.bytes.lowerBound, $1.index) }
        guard own.bytes != own.announced, own.announced.count <= ComputedAnswer.limit,
            parts.contains(where: { $0.facts.isPart && $0.facts.bytes != own.bytes && $0.facts.span.overlaps(own.span) }),
            self.covers(own.announced, parts.map(\.facts.bytes))
        else { return nil }
        return ComputedRanges(
            length: own.length, ranges: [own.announced],
            sources: parts.filter { $0.facts.bytes.overlaps(own.announced) }.map {
                ComputedRanges.Source(index: $0.index, bytes: $0.facts.bytes)
            }, isRepresentation: !own.isPart)
    }

    /// - Parameter parts: sorted by their first byte.
    private static func covers(_ range: Range<Int>, _ parts: [Range<Int>]) -> Bool {
        var next = range.lowerBound
        for part in parts where part.lowerBound <= next { next = max(next, part.upperBound) }
        return next >= range.upperBound
    }
}
