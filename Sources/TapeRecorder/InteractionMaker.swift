internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes
internal import TapeExchange

/// Makes an interaction of a taped exchange: takes the secrets out, then gives each body its readable form, or keeps it raw while there
/// is no time for that.
///
/// Not Sendable: lives on the recorder thread.
struct InteractionMaker: ~Copyable {
    private struct SpoolKey: Hashable {
        var exchange: Int
        var side: Tap.Side
    }

    let store: BodyStore
    /// Nil if secrets are kept.
    let redaction: ExchangeRedaction?
    let digest: @Sendable () -> any ContentDigest
    private var developer: WireBodyDecoder
    private var spools: [SpoolKey: OpenSpool] = [:]
    /// Exchanges of which a block could not be written, and why: not recorded.
    private var broken: [Int: RecorderProblem] = [:]
    /// Why no file of a body is begun at present; nil if one may be.
    var obstacle: RecorderProblem?
    /// Files of bodies that were begun.
    private(set) var begun = 0

    /// Says that an exchange is lost for a failure that was reported before: nothing was tried for it now.
    struct NotTried: Error {
        var problem: RecorderProblem
    }

    /// - Parameter digest: makes a SHA-256.
    init(store: BodyStore, redactor: Redactor? = nil, digest: @escaping @Sendable () -> any ContentDigest) {
        self.store = store
        self.redaction = redactor.map { ExchangeRedaction(redactor: $0, store: store, digest: digest) }
        self.digest = digest
        self.developer = WireBodyDecoder(makeDigest: digest)
    }

    /// Takes a block of a large body. One that would begin a file while none is to be begun is dropped with its exchange.
    mutating func block(exchange: Int, side: Tap.Side, bytes: [UInt8]) throws(CassetteError) {
        guard self.broken[exchange] == nil else { return }
        let key = SpoolKey(exchange: exchange, side: side)
        do throws(CassetteError) {
            if let obstacle, self.spools[key] == nil {
                self.broken[exchange] = obstacle
                return
            }
            try self.spool(key).write(bytes)
        } catch {
            self.broken[exchange] = RecorderProblem(error)
            self.spools[key]?.discard()
            self.spools[key] = nil
            throw error
        }
    }

    private mutating func spool(_ key: SpoolKey) throws(CassetteError) -> OpenSpool {
        if let spool = self.spools[key] { return spool }
        self.begun += 1
        let spool = OpenSpool(try self.store.makeSpool(), digest: self.digest())
        self.spools[key] = spool
        return spool
    }

    /// Forgets an exchange, and what was written of its bodies.
    mutating func drop(_ exchange: Int) {
        self.broken[exchange] = nil
        for side in [Tap.Side.request, .response] { self.spools.removeValue(forKey: SpoolKey(exchange: exchange, side: side))?.discard() }
    }

    /// - Parameter mayDecode: whether there is time to take codings off.
    mutating func interaction(of exchange: TapedExchange, mayDecode: Bool) throws -> Interaction {
        var loose = try self.loose(exchange)
        if let redaction { _ = try redaction.redact(&loose.interaction, request: &loose.request, response: &loose.response) }
        return try self.interaction(of: loose, mayDecode: mayDecode)
    }

    /// The exchange with its bodies as they came. Throws as well what kept an earlier block of them from being written.
    mutating func loose(_ exchange: TapedExchange) throws -> LooseExchange {
        let id = exchange.interaction.id
        let request = self.spools.removeValue(forKey: SpoolKey(exchange: id, side: .request))
        let response = self.spools.removeValue(forKey: SpoolKey(exchange: id, side: .response))
        if let problem = self.broken.removeValue(forKey: id) { throw NotTried(problem: problem) }
        return LooseExchange(
            interaction: exchange.interaction, request: try exchange.requestBody.map { try LooseBody($0, request) },
            response: try exchange.responseBody.map { try LooseBody($0, response) },
            notes: (exchange.requestBody?.note, exchange.responseBody?.note))
    }

    /// The interaction of an exchange that is redacted.
    mutating func interaction(of loose: LooseExchange, mayDecode: Bool) throws -> Interaction {
        var interaction = loose.interaction
        let origin = interaction.connection?.remote ?? ""
        if let request = loose.request {
            interaction.request.body = try self.body(request, interaction.request.headers, origin: "", mayDecode: mayDecode)
        }
        if let response = loose.response, let headers = interaction.response?.headers {
            interaction.response?.body = try self.body(response, headers, origin: origin, mayDecode: mayDecode)
        }
        if let note = loose.notes.request { interaction.request.body?.add(note: note) }
        if let note = loose.notes.response { interaction.response?.body?.add(note: note) }
        return interaction
    }

    /// The readable form of a body, or the raw one.
    mutating func body(_ loose: LooseBody, _ headers: HeaderFields, origin: String, mayDecode: Bool) throws -> Body {
        var body: Body
        let isCoded = headers.contains("content-encoding")
        var sink = BodyStoreSink(store: self.store, digest: self.digest, obstacle: self.obstacle)
        defer { self.begun += sink.begun }
        switch loose.place {
        case .spool(let spool):
            let isMultipart = MediaType(headers.firstIndex(of: "content-type").map { headers.valueBytes(at: $0) }).isMultipart
            if isCoded ? mayDecode : isMultipart, spool.size <= WireBodyDecoder.memoryLimit {
                body = try self.developer.develop(spool.source, headers: headers, origin: origin, isComplete: loose.isComplete, sink: &sink)
                spool.discard()
            } else {
                let name = WireBodyDecoder.fileExtension(headers: headers, beginning: spool.beginning)
                let size = spool.size
                body = Body(size: size, isComplete: loose.isComplete, content: .file(try spool.finish(fileExtension: name)))
            }
        case .memory(let octets) where isCoded && !mayDecode && !octets.isEmpty:
            if let obstacle { throw NotTried(problem: obstacle) }
            self.begun += 1
            body = WireBodyDecoder.undeveloped(try self.store.rawSpool().append(octets), isComplete: loose.isComplete)
        case .memory(let octets):
            body = try self.developer.develop(octets, headers: headers, origin: origin, isComplete: loose.isComplete, sink: &sink)
        }
        body.arrival = loose.arrival
        if let note = loose.note { body.note = body.note.map { "\($0); \(note)" } ?? note }
        return body
    }

    /// The readable form of bodies that were kept raw.
    mutating func developed(_ interaction: Interaction, reader: BodyReader) throws -> Interaction {
        var interaction = interaction
        if let body = interaction.request.body {
            interaction.request.body = try self.developed(body, interaction.request.headers, origin: "", reader: reader)
        }
        if let response = interaction.response, let body = response.body {
            interaction.response?.body = try self.developed(
                body, response.headers, origin: interaction.connection?.remote ?? "", reader: reader)
        }
        return interaction
    }

    private mutating func developed(_ body: Body, _ headers: HeaderFields, origin: String, reader: BodyReader) throws -> Body {
        guard body.isUndecoded(headers) else { return body }
        var sink = BodyStoreSink(store: self.store, digest: self.digest)
        var body = body
        if case .raw(let slice) = body.content {
            let source = OctetSource(try reader.read(slice))
            let note = body.note
            body = try self.developer.develop(body, from: source, headers: headers, origin: origin, sink: &sink)
            body.note = [note, body.note].compactMap { $0 }.joined(separator: "; ")
            if body.note == "" { body.note = nil }
        } else if body.hasCodingsLeft(headers), let source = try self.octets(of: body, reader) {
            body = try self.developer.develop(body, from: source, headers: headers, origin: origin, sink: &sink)
        }
        guard body.hasPartsLeft(headers), let source = try self.octets(of: body, reader) else { return body }
        return try self.developer.decodeParts(of: body, from: source, headers: headers, sink: &sink)
    }

    /// A body in one piece.
    private func octets(of body: Body, _ reader: BodyReader) throws -> OctetSource? {
        if case .file(let sidecar) = body.content { return try reader.source(sidecar, digest: self.digest()) }
        return body.content.inlineOctets.map { OctetSource($0) }
    }
}

extension Body {
    /// In front of what the recorder has to say itself.
    fileprivate mutating func add(note: String) { self.note = self.note.map { "\(note); \($0)" } ?? note }
}

/// Puts bodies that are too large for the cassette into the folder beside it.
struct BodyStoreSink: SidecarSink {
    let store: BodyStore
    /// Makes a SHA-256.
    let digest: () -> any ContentDigest
    /// Why no file is begun at present; nil if one may be.
    var obstacle: RecorderProblem?
    /// Files that were begun.
    private(set) var begun = 0

    init(store: BodyStore, digest: @escaping () -> any ContentDigest, obstacle: RecorderProblem? = nil) {
        self.store = store
        self.digest = digest
        self.obstacle = obstacle
    }

    mutating func store(
        fileExtension: String, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Sidecar {
        if let obstacle { throw InteractionMaker.NotTried(problem: obstacle) }
        self.begun += 1
        let spool = try self.store.makeSpool()
        var digest = self.digest()
        do {
            try write { piece in
                try spool.write(piece)
                digest.update(piece)
            }
        } catch {
            spool.discard()
            throw error
        }
        return try spool.finish(sha256: Hex.encode(digest.finalize()), ext: fileExtension)
    }
}

/// An exchange that is in a cassette already, with what is known of secrets by now.
extension InteractionMaker {
    /// The exchange without the secrets in it, its bodies not yet made readable again.
    struct Redacted {
        var interaction: Interaction
        var request: LooseBody?
        var response: LooseBody?
        var outcome: ExchangeRedaction.Outcome

        var count: Int { self.outcome.request.count + self.outcome.response.count }
    }

    /// Nil where nothing is to be done. Writes nothing.
    func redacted(_ interaction: Interaction, reader: BodyReader) throws -> Redacted? {
        guard let redaction = self.redaction else { return nil }
        var redacted = interaction
        var request = try self.loose(interaction.request.body, reader)
        var response = try self.loose(interaction.response?.body, reader)
        let outcome = try redaction.redact(&redacted, request: &request, response: &response)
        guard outcome.request.isChanged || outcome.response.isChanged else { return nil }
        return Redacted(interaction: redacted, request: request, response: response, outcome: outcome)
    }

    /// The exchange with those bodies made readable that were changed; the others stay as they are.
    mutating func made(_ redacted: Redacted) throws -> Interaction {
        var interaction = redacted.interaction
        if redacted.outcome.request.isBodyChanged, let loose = redacted.request, let old = interaction.request.body {
            var body = try self.body(loose, interaction.request.headers, origin: "", mayDecode: true)
            body.unknown = old.unknown
            interaction.request.body = body
        }
        if redacted.outcome.response.isBodyChanged, let loose = redacted.response, let message = interaction.response,
            let old = message.body
        {
            var body = try self.body(loose, message.headers, origin: interaction.connection?.remote ?? "", mayDecode: true)
            body.unknown = old.unknown
            interaction.response?.body = body
        }
        return interaction
    }

    /// The wire octets of a recorded body, in a file where they are many.
    private func loose(_ body: Body?, _ reader: BodyReader) throws -> LooseBody? {
        guard let body else { return nil }
        guard body.size > ExchangeRedaction.memoryLimit || body.octetCount > ExchangeRedaction.memoryLimit * 4 else {
            let octets = try reader.wireBytes(of: body, digest: self.digest).octets
            return LooseBody(.memory(octets), arrival: body.arrival, isComplete: body.isComplete)
        }
        let stream = try reader.restoredStream(of: body, digest: self.digest)
        let spool = OpenSpool(try self.store.makeSpool(), digest: self.digest())
        while !stream.isEnded { try spool.write(try stream.next()) }
        return LooseBody(.spool(spool), arrival: body.arrival, isComplete: body.isComplete)
    }
}
