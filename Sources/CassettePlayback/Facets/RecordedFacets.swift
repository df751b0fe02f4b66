internal import CassetteFormat
public import CassetteModel
public import CassetteRedaction
public import CassetteStore
public import TapeBytes

extension BodyFacets {
    /// How much of the files next to the cassette is read.
    public enum RecordedDetail: Sendable, Hashable {
        /// Only as much as is needed to compare. Bytes and parts in files are not read, since their digests are known. Placeholders in them
        /// do not become marks.
        case digests
        /// Also the beginnings of all values, to explain a difference, and the marks in files.
        case contents
    }

    /// The facets of a recorded body, equal to those of a live request that sends the same body. May read files next to the cassette.
    ///
    /// - Parameters:
    ///   - headers: the recorded request's header fields.
    ///   - reader: opens the cassette's files.
    ///   - redaction: redacts the body the way live ones are redacted. It may have been recorded with other rules, or by a version that
    ///     detected fewer secrets.
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
            throw CassetteError(.unreadable, "a recorded request body cannot be read (\(error)); record the exchange again", cause: error)
        }
    }
}

/// Makes the facets of a recorded body in the same way as those of a live one, except for files whose digests suffice.
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
        guard AWSChunks(self.headers) == nil else { return try self.wire(body) }
        let encoding = ContentEncoding(self.headers)
        if body.codings.isEmpty {
            guard encoding == .none else { return try self.wire(body) }
        } else if encoding != .none {
            // The coding is unknown, or the body is too large: a live request would not have been decoded either.
            let isDecoded = if case .coded = encoding { body.byteCount <= BodyFacetBuilder.limits.output } else { false }
            guard isDecoded else { return try self.undecoded(body) }
        }
        let content = ContentFacets(
            self.plan, headers: self.headers, messages: self.rules.schema?.types(ofURL: self.url)?.request, digest: self.digest)
        if let bytes = try self.heldBytes(of: body) {
            let placeholders = bytes.withUnsafeBytes { HeldPlaceholders(in: $0, isRecorded: true) }
            if let redacted = self.redacted(bytes) {
                redacted.withUnsafeBytes { content.push($0) }
                var facets = BodyFacets.make(content.finish(), url: self.url, self.plan)
                facets.placeholders = placeholders
                return facets
            }
            var facets = try self.facets(of: body, content)
            facets.placeholders = placeholders
            return facets
        }
        return try self.facets(of: body, content)
    }

    private func facets(of body: Body, _ content: ContentFacets) throws -> BodyFacets {
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

    /// The content, if live bodies are redacted and it has to be redacted as well.
    private func heldBytes(of body: Body) throws -> [UInt8]? {
        guard self.redaction != nil, body.byteCount <= PendingBody.redactionLimit else { return nil }
        var bytes: [UInt8] = []
        try self.read(body.content) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// The content, redacted like live bodies; nil if that changes nothing.
    private func redacted(_ bytes: [UInt8]) -> [UInt8]? {
        self.redaction?.forOneRequest().redacted(
            body: bytes, headers: self.headers.removing("content-encoding"), messages: self.rules.schema?.types(ofURL: self.url)?.request)
    }

    /// Reads the bytes as sent, which are declared as coded; decoding shows whether they are.
    private func wire(_ body: Body) throws -> BodyFacets {
        var builder = BodyFacetBuilder(rules: self.rules, headers: self.headers, url: self.url, digest: self.digest)
        try self.read(body.content) { builder.push($0) }
        return builder.finish()
    }

    /// The bytes as sent, as one facet.
    private func undecoded(_ body: Body) throws -> BodyFacets {
        var facet = ByteFacet(digest: self.digest(), keeping: self.plan.valueLimit)
        if let sha256 = body.sha256.flatMap({ Hex.decode($0.utf8) }), self.detail == .digests {
            facet.take(sha256: sha256, size: body.size)
        } else {
            _ = try BodyRestorer.streamWire(
                of: body, file: { try self.reader.source($0, digest: self.digest()) }, raw: { ByteSource(try self.reader.read($0)) },
                digest: self.digest(), deliver: { facet.push($0) })
        }
        return BodyFacets.make(ContentFacets.bytes(facet, self.plan), url: self.url, self.plan)
    }

    private func known(_ part: PartContent) -> (sha256: [UInt8], size: Int)? {
        guard self.detail == .digests, case .file(let sidecar) = part, let sha256 = Hex.decode(sidecar.sha256.utf8) else { return nil }
        return (sha256, sidecar.size)
    }

    private func read(_ content: BodyContent, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch content {
        case .empty: break
        case .text, .encodedText, .json, .form, .lines, .events, .binary: try content.inlineBytes?.withUnsafeBytes(deliver)
        case .file(let sidecar): try self.read(try self.reader.open(sidecar, digest: self.digest()), deliver)
        case .raw(let slice): try self.read(try self.reader.open(slice), deliver)
        case .grpc:
            try BodyRestorer.decoded(
                of: Body(size: 0, content: content), file: { try self.reader.source($0, digest: self.digest()) },
                raw: { ByteSource(try self.reader.read($0)) }
            ).forEachPiece(deliver)
        case .multipart(let parts):
            try MultipartSerializer.write(parts, to: deliver, data: { try self.read($0.bodyContent, deliver) })
        }
    }

    private func read(_ stream: BodyStream, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        while stream.remaining > 0 {
            let count = try stream.read(into: buffer)
            try deliver(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
