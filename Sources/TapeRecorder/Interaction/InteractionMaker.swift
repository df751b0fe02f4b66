internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes
internal import TapeExchange

/// Turns a taped exchange into an interaction: redacts it, then decodes each body or, if there is no time for that, keeps it raw.
///
/// Not Sendable: lives on the recorder thread.
struct InteractionMaker: ~Copyable {
    private struct SpoolKey: Hashable {
        var exchange: Int
        var side: Tap.Side
    }

    private let store: BodyStore
    /// nil if secrets are kept.
    let redaction: ExchangeRedaction?
    private let digest: @Sendable () -> any ContentDigest
    /// Names the fields of gRPC messages.
    private let schema: ProtoSchema?
    private var decoder: WireBodyDecoder
    private var spools: [SpoolKey: OpenSpool] = [:]
    /// Exchanges with a block that could not be written, and the reason. They are not recorded.
    private var broken: [Int: RecorderProblem] = [:]
    /// Why no body file can be started now; nil if one can.
    var obstacle: RecorderProblem?
    /// The number of body files that were started.
    private(set) var begun = 0

    /// An exchange is lost because of a failure that has already been reported. Nothing was attempted for it.
    struct NotTried: Error {
        var problem: RecorderProblem
    }

    /// - Parameter digest: makes a SHA-256.
    init(store: BodyStore, redactor: Redactor? = nil, schema: ProtoSchema? = nil, digest: @escaping @Sendable () -> any ContentDigest) {
        self.store = store
        self.redaction = redactor.map { redactor in
            var redactor = redactor
            redactor.schema = schema
            return ExchangeRedaction(redactor: redactor, store: store, digest: digest)
        }
        self.digest = digest
        self.schema = schema
        self.decoder = WireBodyDecoder(makeDigest: digest)
    }

    /// What is known about origins' compressors: see `WireBodyDecoder`.
    var memory: RestorationMemory {
        get { self.decoder.memory }
        set { self.decoder.memory = newValue }
    }

    /// Writes a block of a large body. If that would start a file while there is an `obstacle`, the exchange is dropped.
    mutating func block(exchange: Int, side: Tap.Side, bytes: any HeldBytes) throws(CassetteError) {
        guard self.broken[exchange] == nil else { return }
        let key = SpoolKey(exchange: exchange, side: side)
        do throws(CassetteError) {
            if let obstacle, self.spools[key] == nil {
                self.broken[exchange] = obstacle
                return
            }
            let spool = try self.spool(key)
            try bytes.withHeldBytes { bytes throws(CassetteError) in try spool.write(bytes) }
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

    /// Where a message of a conversation is written. Throws `NotTried` if a block that begins the message could not be written.
    mutating func place(of message: any ConversationMessage, in exchange: Int) throws -> MessagePlace {
        var place = MessagePlace(redactor: self.redaction?.redactor, store: self.store, digest: self.digest)
        if message.needsRequest, let spool = self.spools[SpoolKey(exchange: exchange, side: .request)] {
            // A copy, since another thread may read it while the exchange ends.
            let copy = OpenSpool(try self.store.makeSpool(), digest: NoDigest())
            try spool.source.forEachPiece { try copy.write($0) }
            place.spool = copy
        }
        guard let side = message.blocks else { return place }
        place.spool = self.spools.removeValue(forKey: SpoolKey(exchange: exchange, side: side))
        if let problem = self.broken.removeValue(forKey: exchange) { throw NotTried(problem: problem) }
        return place
    }

    /// Discards an exchange and its body files.
    mutating func drop(_ exchange: Int) {
        self.broken[exchange] = nil
        for side in [Tap.Side.request, .response] { self.spools.removeValue(forKey: SpoolKey(exchange: exchange, side: side))?.discard() }
    }

    /// - Parameter mayDecode: whether there is time to decode bodies.
    mutating func interaction(of exchange: TapedExchange, mayDecode: Bool) throws -> Interaction {
        var captured = try self.captured(exchange)
        if let redaction { _ = try redaction.redact(&captured.interaction, request: &captured.request, response: &captured.response) }
        try self.makeReadable(&captured, mayDecode: mayDecode)
        return captured.interaction
    }

    /// The exchange with bodies in wire form. Throws `NotTried` if an earlier block of them could not be written.
    mutating func captured(_ exchange: TapedExchange) throws -> CapturedExchange {
        let id = exchange.interaction.id
        let request = self.spools.removeValue(forKey: SpoolKey(exchange: id, side: .request))
        let response = self.spools.removeValue(forKey: SpoolKey(exchange: id, side: .response))
        if let problem = self.broken.removeValue(forKey: id) { throw NotTried(problem: problem) }
        return CapturedExchange(
            interaction: exchange.interaction, request: try exchange.requestBody.map { try CapturedBody($0, request) },
            response: try exchange.responseBody.map { try CapturedBody($0, response) },
            notes: (exchange.requestBody?.note, exchange.responseBody?.note))
    }

    /// Adds the bodies of a redacted exchange to its interaction.
    mutating func makeReadable(_ captured: inout CapturedExchange, mayDecode: Bool) throws {
        let types = self.schema?.types(ofURL: captured.interaction.request.url)
        if let request = captured.request.take() {
            var body = try self.body(
                request, captured.interaction.request.headers, origin: "", messages: types?.request, mayDecode: mayDecode)
            if let note = captured.notes.request { body.add(note: note) }
            captured.interaction.request.body = body
        }
        if let response = captured.response.take(), let headers = captured.interaction.response?.headers {
            let origin = captured.interaction.connection?.remote ?? ""
            var body = try self.body(response, headers, origin: origin, messages: types?.response, mayDecode: mayDecode)
            if let note = captured.notes.response { body.add(note: note) }
            captured.interaction.response?.body = body
        }
    }

    /// The decoded form of a body, or the raw form.
    ///
    /// - Parameter messages: the type of the messages in a gRPC body.
    mutating func body(
        _ captured: CapturedBody, _ headers: HeaderFields, origin: String, messages: ProtoType? = nil, mayDecode: Bool
    ) throws -> Body {
        var body: Body
        let isCoded = headers.hasCodings
        var sink = BodyStoreSink(store: self.store, digest: self.digest, obstacle: self.obstacle)
        defer { self.begun += sink.begun }
        switch captured.place {
        case .spool(let spool):
            let type = MediaType(headers.firstIndex(of: "content-type").map { headers.valueBytes(at: $0) })
            if isCoded ? mayDecode : type.isMultipart || GRPCType(type) != nil, spool.size <= WireBodyDecoder.memoryLimit {
                body = try self.decoder.decode(
                    spool.source, headers: headers, origin: origin, isComplete: captured.isComplete, messages: messages, sink: &sink)
                spool.discard()
            } else {
                let name = WireBodyDecoder.fileExtension(headers: headers, beginning: spool.beginning)
                let size = spool.size
                body = Body(size: size, isComplete: captured.isComplete, content: .file(try spool.finish(fileExtension: name)))
            }
        case .memory(let bytes) where isCoded && !mayDecode && !bytes.isEmpty:
            if let obstacle { throw NotTried(problem: obstacle) }
            self.begun += 1
            body = WireBodyDecoder.undecoded(try self.store.rawSpool().append(bytes), isComplete: captured.isComplete)
        case .memory(let bytes):
            body = try self.decoder.decode(
                bytes, headers: headers, origin: origin, isComplete: captured.isComplete, messages: messages, sink: &sink)
        }
        body.arrival = captured.arrival
        body.take(captured.marks)
        if let note = captured.note { body.note = body.note.map { "\($0); \(note)" } ?? note }
        return body
    }

    /// Decodes the bodies that were kept raw.
    mutating func decoded(_ interaction: Interaction, reader: BodyReader) throws -> Interaction {
        var interaction = interaction
        let types = self.schema?.types(ofURL: interaction.request.url)
        if let body = interaction.request.body {
            interaction.request.body = try self.decoded(
                body, interaction.request.headers, origin: "", messages: types?.request, reader: reader)
        }
        if let response = interaction.response, let body = response.body {
            interaction.response?.body = try self.decoded(
                body, response.headers, origin: interaction.connection?.remote ?? "", messages: types?.response, reader: reader)
        }
        return interaction
    }

    private mutating func decoded(
        _ body: Body, _ headers: HeaderFields, origin: String, messages: ProtoType?, reader: BodyReader
    ) throws -> Body {
        guard body.isUndecoded(headers) else { return body }
        var sink = BodyStoreSink(store: self.store, digest: self.digest)
        var body = body
        if case .raw(let slice) = body.content {
            let source = ByteSource(try reader.read(slice))
            let note = body.note
            body = try self.decoder.decode(body, from: source, headers: headers, origin: origin, messages: messages, sink: &sink)
            body.note = [note, body.note].compactMap { $0 }.joined(separator: "; ")
            if body.note == "" { body.note = nil }
        } else if body.hasCodingsLeft(headers), let source = try self.bytes(of: body, reader) {
            body = try self.decoder.decode(body, from: source, headers: headers, origin: origin, messages: messages, sink: &sink)
        }
        guard body.hasPartsLeft(headers), let source = try self.bytes(of: body, reader) else { return body }
        return try self.decoder.decodeParts(of: body, from: source, headers: headers, origin: origin, messages: messages, sink: &sink)
    }

    /// The bytes of a body that is in one piece.
    private func bytes(of body: Body, _ reader: BodyReader) throws -> ByteSource? {
        if case .file(let sidecar) = body.content { return try reader.source(sidecar, digest: self.digest()) }
        return body.content.inlineBytes.map { ByteSource($0) }
    }

    // MARK: Exchanges that are already in a cassette

    /// The exchange without secrets. Its bodies have not been decoded again yet.
    struct Redacted {
        var interaction: Interaction
        var request: CapturedBody?
        var response: CapturedBody?
        var outcome: ExchangeRedaction.Outcome
        /// The findings in the messages of its WebSocket, which have not been redacted yet; nil if there are none.
        var messages: ConversationRedaction.Found?

        var count: Int { self.outcome.request.count + self.outcome.response.count + (self.messages?.outcome.count ?? 0) }
    }

    /// Removes the secrets that are known by now; nil if there are none. Writes no interaction.
    func redacted(_ interaction: Interaction, reader: BodyReader) throws -> Redacted? {
        var notes: [String] = []
        return try self.redacted(interaction, reader: reader, notes: &notes)
    }

    /// The same, and collects notes on anything that could not be searched.
    func redacted(_ interaction: Interaction, reader: BodyReader, notes: inout [String]) throws -> Redacted? {
        guard let redaction = self.redaction else { return nil }
        var redacted = interaction
        var request = try self.captured(interaction.request.body, reader)
        var response = try self.captured(interaction.response?.body, reader)
        let outcome = try redaction.redact(&redacted, request: &request, response: &response)
        notes += outcome.request.notes + outcome.response.notes
        var messages: ConversationRedaction.Found?
        if let conversation = interaction.webSocket {
            let found = try ConversationRedaction(redactor: redaction.redactor, reader: reader, digest: self.digest).search(conversation)
            if found.outcome.isChanged { messages = found }
        }
        guard outcome.request.isChanged || outcome.response.isChanged || messages != nil else { return nil }
        return Redacted(interaction: redacted, request: request, response: response, outcome: outcome, messages: messages)
    }

    /// Decodes the changed bodies and rewrites changed messages. Everything else stays as it is.
    mutating func made(_ redacted: Redacted, reader: BodyReader) throws -> Interaction {
        var interaction = redacted.interaction
        if redacted.messages != nil, let messages = interaction.webSocket, let redactor = self.redaction?.redactor {
            let redaction = ConversationRedaction(redactor: redactor, reader: reader, digest: self.digest)
            interaction.webSocket = try redaction.redacted(messages, into: self.store)
        }
        let types = self.schema?.types(ofURL: interaction.request.url)
        if redacted.outcome.request.isBodyChanged, let captured = redacted.request, let old = interaction.request.body {
            var body = try self.body(
                captured, interaction.request.headers, origin: "", messages: types?.request, mayDecode: true)
            body.unknown = old.unknown
            if self.schema == nil { body.takeLabels(from: old) }
            interaction.request.body = body
        }
        if redacted.outcome.response.isBodyChanged, let captured = redacted.response, let message = interaction.response,
            let old = message.body
        {
            var body = try self.body(
                captured, message.headers, origin: interaction.connection?.remote ?? "", messages: types?.response, mayDecode: true)
            body.unknown = old.unknown
            if self.schema == nil { body.takeLabels(from: old) }
            interaction.response?.body = body
        }
        return interaction
    }

    /// The wire bytes of a recorded body, in a file if it is large.
    private func captured(_ body: Body?, _ reader: BodyReader) throws -> CapturedBody? {
        guard let body else { return nil }
        guard body.size > ExchangeRedaction.memoryLimit || body.byteCount > ExchangeRedaction.memoryLimit * 4 else {
            let bytes = try reader.wireBytes(of: body, digest: self.digest).bytes
            return CapturedBody(
                .memory(bytes), arrival: body.arrival, marks: body.conversationMarks, isComplete: body.isComplete)
        }
        let stream = try reader.restoredStream(of: body, digest: self.digest)
        let spool = OpenSpool(try self.store.makeSpool(), digest: self.digest())
        while !stream.isEnded { try spool.write(try stream.next()) }
        return CapturedBody(.spool(spool), arrival: body.arrival, marks: body.conversationMarks, isComplete: body.isComplete)
    }
}

extension Body {
    /// Adds the tap's note before the recorder's own.
    fileprivate mutating func add(note: String) { self.note = self.note.map { "\(note); \($0)" } ?? note }
}

/// Stores bodies that are too large for the cassette in the folder next to it.
struct BodyStoreSink: SidecarSink {
    let store: BodyStore
    /// Makes a SHA-256.
    let digest: () -> any ContentDigest
    /// Why no file can be started now; nil if one can.
    var obstacle: RecorderProblem?
    /// The number of files that were started.
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
