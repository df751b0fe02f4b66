internal import CassetteModel
internal import CassettePlayback
internal import TapeBytes

/// What draws are made of: the seed, the rule and what the request is, never when it comes.
///
/// A draw is the beginning of a SHA-256, so it is the same in each run and on each platform.
struct DrawSeed: Sendable {
    /// A request among others of a run: equal requests have equal identities.
    struct Identity: Sendable, Hashable {
        /// The first 16 bytes of a SHA-256: no two of a run's requests share them by accident.
        let high: UInt64
        let low: UInt64

        static let ofAll = Identity(high: 0, low: 0)

        private init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }

        /// - Parameters:
        ///   - head: the key of matching for the method, the URL and compared header fields. Placeholders have no numbers in it.
        ///   - body: the digest of the body, see `bodyDigest`.
        init(head: [UInt8], body: [UInt8]) {
            let digest = DrawSeed.digest([Array("request".utf8), head, body])
            self.high = DrawSeed.word(digest, 0)
            self.low = DrawSeed.word(digest, 8)
        }
    }

    let seed: UInt64
    let rule: String

    /// - Parameter purpose: what is drawn, so that draws of one request do not depend on each other.
    func draw(_ purpose: String, _ request: Identity, ordinal: Int) -> UInt64 {
        var message: [UInt8] = []
        message.reserveCapacity(128)
        Self.append(purpose.utf8, to: &message)
        Self.append(self.seed, to: &message)
        Self.append(self.rule.utf8, to: &message)
        for word in [request.high, request.low, UInt64(ordinal)] { Self.append(word, to: &message) }
        return Self.word(Self.digest(message), 0)
    }

    /// A part with its length, so that no two lists of parts have the same bytes.
    private static func append(_ part: some Collection<UInt8>, to message: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(part.count).bigEndian) { message.append(contentsOf: $0) }
        message.append(contentsOf: part)
    }

    private static func append(_ word: UInt64, to message: inout [UInt8]) {
        withUnsafeBytes(of: word.bigEndian) { self.append($0, to: &message) }
    }

    private static func digest(_ message: [UInt8]) -> [UInt8] {
        var digest = PortableSHA256()
        message.withUnsafeBytes { digest.update($0) }
        return digest.finalize()
    }

    private static func digest(_ parts: [[UInt8]]) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(parts.reduce(0) { $0 + 8 + $1.count })
        for part in parts { self.append(part, to: &message) }
        return self.digest(message)
    }

    private static func word(_ digest: [UInt8], _ start: Int) -> UInt64 {
        digest[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }

    // MARK: Requests and bodies

    /// Kinds whose facets show all that is compared.
    private static let wholeKinds: Set<BodyFacets.Kind> = [.json, .jsonLines, .xml, .form, .multipart, .graphQL, .text]

    /// The digest of a body as matching compares it: without codings, boundaries, the order of members and what rules ignore.
    ///
    /// A body with more facets than matching keeps, or longer values, has the digest of its content; a multipart body, that of its parts. One
    /// that was not read has that of its beginning and size, without a boundary.
    static func bodyDigest(_ facts: RequestFacts, rules: MatchRules) -> [UInt8] {
        if rules.looksAtBody, let (beginning, size) = facts.bodyBeginning {
            let field = facts.headers.firstIndex(of: "content-type").map(facts.headers.valueBytes)
            let boundary = field.flatMap { MIMEParameters($0)["boundary"]?.value } ?? []
            let bytes = boundary.isEmpty ? beginning : beginning.split(separator: boundary).flatMap { $0 }
            return self.digest([Array("beginning".utf8), Array("\(size ?? -1)".utf8), bytes])
        }
        guard let body = facts.body, !body.isEmpty, rules.looksAtBody else { return [] }
        var builder = BodyFacetBuilder(rules: rules, headers: facts.headers, url: facts.url)
        body.withUnsafeBytes { builder.push($0) }
        let facets = builder.finish()
        guard facets.count > 0 else { return [] }
        let isWhole =
            facets.facets.count == facets.count
            && facets.facets.allSatisfy { ($0.isContainer || $0.value.count == $0.size) && $0.name.count < BodyFacets.nameLimit }
        guard isWhole, self.wholeKinds.contains(facets.kind) else { return self.contentDigest(body, facts.headers) }
        let digests = facets.facets.map { facet in
            self.digest([
                Array("\(facet.place)".utf8), facet.within, facet.name, facet.value, facet.type, facet.filename ?? [],
                [facet.filename == nil ? 0 : 1, facet.isContainer ? 1 : 0],
            ])
        }
        return self.digest([Array("facets".utf8), Array(facets.kind.rawValue.utf8)] + self.sorted(digests))
    }

    private static func sorted(_ digests: [[UInt8]]) -> [[UInt8]] { digests.sorted { $0.lexicographicallyPrecedes($1) } }

    /// Of a multipart body, without its boundary, which clients make anew.
    private static func contentDigest(_ body: [UInt8], _ headers: HeaderFields) -> [UInt8] {
        let content = CodedBody.decoded(body, headers) ?? body
        guard let boundary = MultipartType(headers)?.boundary else { return self.digest([Array("content".utf8), content]) }
        var reader = MultipartReader(boundary: boundary)
        content.withUnsafeBytes { reader.push($0) }
        guard let parts = reader.finish()?.parts else { return self.digest([Array("content".utf8), content]) }
        let digests = parts.map { part in
            let data: [UInt8] =
                switch part.content {
                case .data(let range): Array(content[range])
                case .multipart(let inner): content.withUnsafeBytes { MultipartSerializer.bytes(inner, source: $0) } ?? []
                }
            return self.digest([part.headers.bytes, data])
        }
        return self.digest([Array("parts".utf8)] + self.sorted(digests))
    }
}

extension DrawSeed.Identity {
    /// What a request is for matching: its key with the redacted URL, and the digest of its body.
    init(_ facts: RequestFacts, rules: MatchRules, redactURL: (String) -> String) {
        let head = rules.withHeadKey(
            method: facts.method, url: redactURL(facts.url), headers: rules.looksAtHeaders ? facts.headers : nil
        ) { Array($0) }
        self.init(head: head, body: DrawSeed.bodyDigest(facts, rules: rules))
    }
}
