internal import CassetteFormat
public import CassetteModel
public import CassetteRedaction
public import CassetteStore
public import TapeBytes

/// What a request body is compared by: its kind and the multiset of its facets, as a digest of bounded size.
///
/// Bodies are equal when `==` says so. The facets themselves are kept up to a limit, to explain a difference; a digest sees them all.
public struct BodyFacets: Sendable {
    /// How a body was understood.
    public enum Kind: String, Sendable, Hashable {
        /// Absent, empty, or not looked at.
        case none
        case bytes, text, json, form, multipart
        case graphQL = "graphql"
    }

    /// So many facets are kept: more are not read by anyone, and a body of 16 MiB has millions.
    public static let facetLimit = 4096
    /// Where values are kept whole, so many are: a marked one far behind still has to find its partner.
    public static let wholeFacetLimit = 1 << 16
    /// Octets kept of a facet's name; pointers and names of forms are far shorter.
    public static let nameLimit = 512
    /// Octets kept of a value, unless it is kept whole for marks in it.
    public static let valueLimit = 64 << 10
    /// Octets kept of all names and values of a body.
    public static let keptLimit = 1 << 20
    /// A longer body of JSON, a form or text is compared octet by octet: it is held in memory while it comes in.
    public static let memoryLimit = 16 << 20

    public internal(set) var kind: Kind
    /// Facets in the order of the body, as far as they were kept.
    public internal(set) var facets: [BodyFacet]
    /// How many facets there are.
    public internal(set) var count: Int
    /// Whether a facet holds a mark.
    public internal(set) var hasMarks: Bool
    var sum: UInt64

    /// No body.
    public static let none = BodyFacets(kind: .none, facets: [], count: 0, hasMarks: false, sum: 0)

    /// The same without the facets: some ten octets, for comparing alone.
    public var digestOnly: BodyFacets {
        var facets = self
        facets.facets = []
        return facets
    }
}

extension BodyFacets: Hashable {
    public static func == (left: BodyFacets, right: BodyFacets) -> Bool {
        left.sum == right.sum && left.count == right.count && left.kind == right.kind
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.sum)
    }
}

extension BodyFacets {
    /// So many differences are listed; nobody reads more.
    public static let differenceLimit = 100

    /// In what a live body differs from a recorded one, in its order, up to a limit; empty where they are equal.
    ///
    /// Both should have their facets; `RecordedDetail.contents` tells most.
    public func differences(fromRecorded recorded: BodyFacets) -> [RequestDifference] {
        guard self != recorded else { return [] }
        guard self.kind == recorded.kind else {
            return [.bodyKind(here: self.kind.rawValue, recorded: recorded.kind.rawValue)]
        }
        let unequal = FacetDifference(live: self.facets, recorded: recorded.facets)
        var left = unequal.recorded
        var differences: [RequestDifference] = []
        for live in unequal.live where differences.count < Self.differenceLimit {
            let partner = FacetPairing.partner(of: live, among: left)
            differences += FacetPairing.differences(live, partner.map { left.remove(at: $0) })
        }
        for recorded in left where differences.count < Self.differenceLimit { differences += FacetPairing.differences(nil, recorded) }
        return differences.isEmpty ? [.bodyRemainder] : differences
    }
}

extension BodyFacets {
    /// How much of what lies beside the cassette is read.
    public enum RecordedDetail: Sendable, Hashable {
        /// What it takes to compare: octets and parts in files are not read, as their digests are known. Placeholders in them are not
        /// seen as marks.
        case digests
        /// The beginnings of all values too, to explain a difference, and marks in files.
        case contents
    }

    /// The facets of a recorded body, equal to those of a live request that sends the same. May read files beside the cassette.
    ///
    /// - Parameters:
    ///   - headers: of the recorded request.
    ///   - reader: opens the cassette's files.
    ///   - redaction: takes out of the body what is taken out of live ones. It may have been recorded by other rules, or by a version that
    ///     found less.
    ///   - digest: makes a SHA-256.
    public init(
        recorded body: Body?, headers: HeaderFields, url: String, rules: MatchRules, reader: BodyReader,
        detail: RecordedDetail = .digests, redaction: LiveRedactor? = nil, digest: @escaping () -> any ContentDigest = { PortableSHA256() }
    ) throws(CassetteError) {
        guard let body, body.content != .empty, rules.looksAtBody else {
            self = BodyFacetBuilder(rules: rules, headers: headers, url: url, digest: digest).finish()
            return
        }
        do {
            let recorded = RecordedFacets(
                headers: headers, url: url, rules: rules, reader: reader, detail: detail, redaction: redaction, digest: digest)
            self = try recorded.facets(of: body)
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(.unreadable, "a recorded request body cannot be read (\(error)); record the exchange again")
        }
    }
}

/// Which facets of two bodies belong together, and in what two of them differ.
enum FacetPairing {
    /// A value in a difference is cut to so many octets of text.
    static let textLimit = 120

    /// The recorded facet that a live one is compared with: of the same name, and of the same filename or type where there are several.
    static func partner(of live: BodyFacet, among recorded: [BodyFacet]) -> Int? {
        var best: (index: Int, rank: Int)?
        for (index, other) in recorded.enumerated() where other.place == live.place && other.name == live.name {
            let rank = (other.filename == live.filename ? 2 : 0) + (other.type == live.type ? 1 : 0)
            if rank > best?.rank ?? -1 { best = (index, rank) }
        }
        return best?.index
    }

    /// One of them may be missing.
    static func differences(_ live: BodyFacet?, _ recorded: BodyFacet?) -> [RequestDifference] {
        guard let facet = live ?? recorded else { return [] }
        let name = self.text(facet.name)
        switch facet.place {
        case .json: return [.json(pointer: name, here: live.map(self.json), recorded: recorded.map(self.json))]
        case .formField: return [.formField(name: name, here: live.map(self.value), recorded: recorded.map(self.value))]
        case .queryItem: return [.graphQLItem(name: name, here: live.map(self.value), recorded: recorded.map(self.value))]
        case .unclosed: return [.closingDelimiter(isHere: live == nil)]
        case .whole: return [self.whole(live, recorded)]
        case .part: return self.part(live, recorded).map { .part(name: name, $0) }
        }
    }

    private static func text(_ octets: some Collection<UInt8>) -> String { PlainText.escape(octets, limit: self.textLimit) }

    private static func value(_ facet: BodyFacet) -> String { self.text(facet.value) }

    private static func json(_ facet: BodyFacet) -> String {
        facet.type.elementsEqual("string".utf8) ? "\"\(self.value(facet))\"" : self.value(facet)
    }

    private static func whole(_ live: BodyFacet?, _ recorded: BodyFacet?) -> RequestDifference {
        guard let live, let recorded else { return .bodyRemainder }
        let octets = OctetDifference(live.value, recorded.value, here: live.size, recorded: recorded.size)
        guard live.type.elementsEqual("text".utf8), recorded.type == live.type, let offset = octets.offset else { return .octets(octets) }
        let line = live.value.prefix(offset).count { $0 == 10 } + 1
        return .text(line: line, here: self.line(live.value, around: offset), recorded: self.line(recorded.value, around: offset))
    }

    /// The line that an offset lies in; of a long one, what is near.
    private static func line(_ text: [UInt8], around offset: Int) -> String {
        let place = min(offset, text.count)
        let start = text[..<place].lastIndex(of: 10).map { $0 + 1 } ?? 0
        let end = text[place...].firstIndex(of: 10) ?? text.count
        let near = max(start, place - 40)
        return (near > start ? "…" : "") + self.text(text[near..<end])
    }

    private static func part(_ live: BodyFacet?, _ recorded: BodyFacet?) -> [PartDifference] {
        guard let live else { return recorded.map { [.removed(size: $0.size)] } ?? [] }
        guard let recorded else { return [.added(size: live.size)] }
        var differences: [PartDifference] = []
        if live.filename != recorded.filename {
            differences.append(.filename(here: live.filename.map(self.text), recorded: recorded.filename.map(self.text)))
        }
        if live.type != recorded.type { differences.append(.type(here: self.text(live.type), recorded: self.text(recorded.type))) }
        if live.size != recorded.size || live.value != recorded.value {
            differences.append(self.content(live, recorded))
        } else if differences.isEmpty {
            let isWhole = live.size == live.value.count
            differences.append(isWhole ? .place : .octets(OctetDifference(offset: nil, here: live.size, recorded: recorded.size)))
        }
        return differences
    }

    private static func content(_ live: BodyFacet, _ recorded: BodyFacet) -> PartDifference {
        let isText = [live, recorded].allSatisfy { facet in
            facet.size <= self.textLimit && facet.size == facet.value.count && facet.value.withUnsafeBytes { ReadableText.isReadable($0) }
        }
        if isText { return .text(here: self.value(live), recorded: self.value(recorded)) }
        return .octets(OctetDifference(live.value, recorded.value, here: live.size, recorded: recorded.size))
    }
}

/// Makes the facets of a body in a cassette by the way a live one takes, but for files whose digests tell enough.
struct RecordedFacets {
    let headers: HeaderFields
    let url: String
    let rules: MatchRules
    let reader: BodyReader
    let detail: BodyFacets.RecordedDetail
    var redaction: LiveRedactor?
    let digest: () -> any ContentDigest

    private var plan: BodyPlan { self.rules.body }

    func facets(of body: Body) throws -> BodyFacets {
        let encoding = ContentEncoding(self.headers)
        if body.codings.isEmpty {
            guard encoding == .none else { return try self.wire(body) }
        } else if encoding != .none {
            // What a live request would not have decoded.
            let isDecoded = if case .coded = encoding { body.octetCount <= BodyFacetBuilder.limits.output } else { false }
            guard isDecoded else { return try self.undecoded(body) }
        }
        let content = ContentFacets(self.plan, headers: self.headers, digest: self.digest)
        if let redacted = try self.redacted(body) {
            redacted.withUnsafeBytes { content.push($0) }
            return BodyFacets.make(content.finish(), url: self.url, self.plan)
        }
        if case .multipart(let parts) = body.content, let level = content.parts, level.boundary == parts.boundary {
            let outcome = try level.take(parts, known: self.known, read: { try self.read($0.bodyContent, $1) })
            return BodyFacets.make(ContentFacets.outcome(outcome, self.plan), url: self.url, self.plan)
        }
        if case .file(let sidecar) = body.content, self.detail == .digests, content.takesDigest(size: sidecar.size),
            let sha256 = Hex.decode(sidecar.sha256.utf8)
        {
            content.take(sha256: sha256, size: sidecar.size)
        } else {
            try self.read(body.content) { content.push($0) }
        }
        return BodyFacets.make(content.finish(), url: self.url, self.plan)
    }

    /// The content with what is taken out of live bodies taken out of it too; nil if that is nothing.
    private func redacted(_ body: Body) throws -> [UInt8]? {
        guard let redaction = self.redaction?.forOneRequest(), body.octetCount <= PendingBody.redactionLimit else { return nil }
        var bytes: [UInt8] = []
        try self.read(body.content) { bytes.append(contentsOf: $0) }
        return redaction.redacted(body: bytes, headers: self.headers.removing("content-encoding"))
    }

    /// Octets as they were sent, which say to be coded: whether they are, comes out on the way.
    private func wire(_ body: Body) throws -> BodyFacets {
        var builder = BodyFacetBuilder(rules: self.rules, headers: self.headers, url: self.url, digest: self.digest)
        try self.read(body.content) { builder.push($0) }
        return builder.finish()
    }

    /// The octets as they were sent, as one facet.
    private func undecoded(_ body: Body) throws -> BodyFacets {
        var facet = OctetFacet(digest: self.digest(), keeping: self.plan.valueLimit)
        if let sha256 = body.sha256.flatMap({ Hex.decode($0.utf8) }), self.detail == .digests {
            facet.take(sha256: sha256, size: body.size)
        } else {
            _ = try BodyRestorer.streamWire(
                of: body, file: { try self.reader.source($0, digest: self.digest()) }, raw: { OctetSource(try self.reader.read($0)) },
                digest: self.digest(), deliver: { facet.push($0) })
        }
        return BodyFacets.make(ContentFacets.octets(facet, self.plan), url: self.url, self.plan)
    }

    private func known(_ part: PartContent) -> (sha256: [UInt8], size: Int)? {
        guard self.detail == .digests, case .file(let sidecar) = part, let sha256 = Hex.decode(sidecar.sha256.utf8) else { return nil }
        return (sha256, sidecar.size)
    }

    private func read(_ content: BodyContent, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch content {
        case .empty: break
        case .text, .encodedText, .json, .form, .lines, .events, .binary: try content.inlineOctets?.withUnsafeBytes(deliver)
        case .file(let sidecar): try self.read(try self.reader.open(sidecar, digest: self.digest()), deliver)
        case .raw(let slice): try self.read(try self.reader.open(slice), deliver)
        case .multipart(let parts):
            try MultipartSerializer.write(parts, to: deliver, data: { try self.read($0.bodyContent, deliver) })
        }
    }

    private func read(_ stream: BodyStream, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: OctetSource.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        while stream.remaining > 0 {
            let count = try stream.read(into: buffer)
            try deliver(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
