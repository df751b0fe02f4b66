internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

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
