internal import CassetteFormat
internal import CassetteModel

/// Removes the secrets from a body that is too large for memory, in passes over its source.
///
/// A body that cannot be searched to its end, or not by the rules, is left out: a missing body is noticed, a leaked secret is not.
struct SourceRedaction {
    let text: TextRedaction
    /// Whether a body may be loaded into memory if rules need all of it.
    var mayLoad = true
    /// Names of fields in gRPC messages.
    var schema = GRPCSchema()

    /// The largest body that is loaded for rules with places in JSON, XML or forms. With its views it takes some 200 MiB, most of the memory that the proxy
    /// may use.
    static let loadLimit = 32 << 20

    /// `deliver` receives the redacted bytes in pieces, and is not called if there is nothing to redact.
    func redact(
        _ source: ByteSource, headers: HeaderFields, isComplete: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        var outcome = RedactionOutcome()
        guard source.size > 0 else { return outcome }
        let type = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes))
        if self.needsWhole(type, headers) {
            if self.mayLoad, source.size <= Self.loadLimit { return try self.loaded(source, headers, isComplete, deliver) }
            if type.kind == .json || type.isForm, self.text.rules.rules.contains(where: { $0.place.isInContent }) {
                return Self.leftOut("\(source.size) bytes are too many for rules for places in such a body")
            }
            outcome.notes.append("rules for places in JSON, XML and forms are not applied to a body of \(source.size) bytes")
        }
        var names: [ContentEncoding.Name] = []
        switch ContentEncoding(headers) {
        case .none: break
        case .coded(let coded): names = coded
        case .other(let words): outcome.notes.append("not searched for secrets behind the content coding \"\(words)\"")
        }
        var beginning = [UInt8](repeating: 0, count: min(source.size, 16))
        try beginning.withUnsafeMutableBytes { try source.read(at: 0, into: $0) }
        if outcome.notes.isEmpty { names = SniffedCoding.names(names, beginning: beginning) }
        let known = self.text.vault.learned
        // The first pass learns secrets, so that the second knows them from the beginning.
        var pass = SourcePass(text: self.text, headers: headers, names: names, schema: self.schema)
        try pass.run(source) { _ in }
        if let problem = pass.problem {
            if problem.kind == .tooLong { return Self.leftOut("it cannot be searched for secrets: \(problem.reason)") }
            if isComplete { outcome.notes.append("searched for secrets only up to where \(problem)") }
        }
        var again = SourcePass(text: self.text, headers: headers, names: names, schema: self.schema)
        if pass.count == 0 {
            outcome.notes += pass.notes
            guard self.text.vault.learned != known else { return outcome }
            // A secret at the end of a body may occur at its beginning in another spelling.
            try again.run(source) { _ in }
            guard again.count > 0 else { return outcome }
            again = SourcePass(text: self.text, headers: headers, names: names, schema: self.schema)
            outcome.notes.removeLast(pass.notes.count)
        }
        try again.run(source, codings: pass.codings, deliver)
        outcome.notes += again.notes
        outcome.count = again.count
        outcome.isBodyChanged = true
        return outcome
    }

    /// Whether there are rules or exceptions for places that are only known once all of the body is. Parts and messages are searched one by
    /// one.
    private func needsWhole(_ type: MediaType, _ headers: HeaderFields) -> Bool {
        let rules = self.text.rules
        if MultipartType(headers)?.boundary != nil || MessageFraming(headers) != nil || type.isAmazonEventStream { return false }
        if type.isForm { return rules.hasFormPlaces || rules.hasJSONPlaces }
        return type.kind != .binary && (rules.hasJSONPlaces || rules.hasXMLPlaces)
    }

    private func loaded(
        _ source: ByteSource, _ headers: HeaderFields, _ isComplete: Bool, _ deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        var outcome = RedactionOutcome()
        let body = BodyRedaction(content: ContentRedaction(text: self.text), schema: self.schema)
        let wire = try source.load()
        guard var result = body.redacted(wire, headers: headers, isComplete: isComplete, notes: &outcome.notes) else { return outcome }
        // Secrets learned at the end may occur at the beginning.
        if let again = body.redacted(result.bytes, headers: headers, isComplete: isComplete, notes: &outcome.notes) {
            result = BodyRedaction.Result(bytes: again.bytes, count: result.count + again.count)
        }
        outcome.count = result.count
        outcome.isBodyChanged = true
        try result.bytes.withUnsafeBytes(deliver)
        return outcome
    }

    private static func leftOut(_ reason: String) -> RedactionOutcome {
        var outcome = RedactionOutcome()
        outcome.count = 1
        outcome.isBodyChanged = true
        outcome.notes = ["left out: \(reason)"]
        return outcome
    }
}

/// One pass over a body that is too large for memory: removes codings, removes secrets, and applies the codings again.
struct SourcePass {
    let text: TextRedaction
    let headers: HeaderFields
    /// In the order applied.
    let names: [ContentEncoding.Name]
    let schema: GRPCSchema
    private(set) var count = 0
    /// The parameters of the codings, in the order applied; known once a pass has finished.
    private(set) var codings: [ContentCoding] = []
    /// Where the codings broke.
    private(set) var problem: InflateProblem?
    /// What could not be searched in messages.
    private(set) var notes: [String] = []

    init(text: TextRedaction, headers: HeaderFields, names: [ContentEncoding.Name], schema: GRPCSchema = GRPCSchema()) {
        self.schema = schema
        self.text = text
        self.headers = headers
        self.names = names
    }

    /// - Parameter codings: the parameters found by an earlier pass, for encoding the delivered bytes; nil if nothing is delivered.
    mutating func run(_ source: ByteSource, codings: [ContentCoding]? = nil, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard !self.names.isEmpty, let chain = DecoderChain(self.names, limits: .search(codedSize: source.size)) else {
            return try self.plain(source, deliver)
        }
        chain.meter = self.text.budget?.meter(coded: source.size)
        var content: ContentStream?
        let encoder = try codings.map { try EncoderChain($0) }
        func write(_ piece: UnsafeRawBufferPointer) throws {
            if let encoder { try encoder.push(piece, deliver: deliver) } else { try deliver(piece) }
        }
        try source.forEachPiece(while: { piece in
            try chain.push(piece) { decoded in
                let stream = content ?? ContentStream(self.text, headers: self.headers, schema: self.schema, beginning: decoded)
                try stream.push(decoded) { try write($0) }
                content = stream
            }
        })
        let isWhole = chain.finish()
        self.codings = chain.found.reversed().map { $0.coding(nil) }
        if !isWhole { self.problem = chain.problem?.problem }
        try content?.finish { try write($0) }
        self.count = content?.count ?? 0
        self.notes = content?.notes ?? []
        // A stream that was broken gets no end.
        if isWhole { try encoder?.finish(deliver: deliver) }
    }

    private mutating func plain(_ source: ByteSource, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        var content: ContentStream?
        let meter = self.text.budget?.meter(coded: source.size)
        try source.forEachPiece { (piece) -> Void in
            try meter?(piece.count)
            let stream = content ?? ContentStream(self.text, headers: self.headers, schema: self.schema, beginning: piece)
            try stream.push(piece, deliver: deliver)
            content = stream
        }
        try content?.finish(deliver: deliver)
        self.count = content?.count ?? 0
        self.notes = content?.notes ?? []
    }
}

/// Redacts a content that arrives in pieces, by its media type.
enum ContentStream {
    case text(TextStream)
    case parts(PartStream)
    case messages(MessageStream)
    case frames(FrameStream)

    /// - Parameter beginning: the first bytes, which show whether it is text if the type does not.
    init(_ redaction: TextRedaction, headers: HeaderFields, schema: GRPCSchema = GRPCSchema(), beginning: UnsafeRawBufferPointer) {
        if let boundary = ContentRedaction.boundary(ofFirstLine: beginning) ?? MultipartType(headers)?.boundary {
            self = .parts(PartStream(redaction, boundary: boundary))
        } else if let messages = GRPCRedaction(ContentRedaction(text: redaction), headers: headers, schema: schema) {
            self = .messages(MessageStream(messages))
        } else if AmazonFrame.size(ofFrameIn: beginning) != nil {
            self = .frames(FrameStream(redaction))
        } else {
            var text = ReadableText()
            text.push(beginning)
            let kind = ContentRedaction.kind(headers, UnsafeRawBufferPointer(start: nil, count: 0))
            let type = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes))
            let isUnknown = type.kind == .unknown
            if let opaque = OpaqueContent(beginning, type, isBeginning: true) ?? OpaqueContent.charset(headers)
                ?? OpaqueContent(tooLong: beginning) ?? PromisedText.note(beginning, type)
            {
                redaction.vault.note(opaque)
            }
            var redaction = redaction
            redaction.isEventStream = type.isEventStream
            redaction.borders.formUnion(ContentRedaction.borders(headers))
            self = .text(TextStream(redaction, kind: isUnknown && kind != .form && !text.isReadable ? .binary : kind))
        }
    }

    var count: Int {
        switch self {
        case .text(let stream): stream.count
        case .parts(let stream): stream.count
        case .messages(let stream): stream.count
        case .frames(let stream): stream.count
        }
    }

    /// What could not be searched.
    var notes: [String] {
        switch self {
        case .text: []
        case .parts(let stream): stream.notes
        case .messages(let stream): stream.notes
        case .frames(let stream): stream.notes
        }
    }

    func push(_ piece: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self {
        case .text(let stream): try stream.push(piece, deliver: deliver)
        case .parts(let stream): try stream.push(piece, deliver: deliver)
        case .messages(let stream): try stream.push(piece, deliver: deliver)
        case .frames(let stream): try stream.push(piece, deliver: deliver)
        }
    }

    func finish(deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self {
        case .text(let stream): try stream.finish(deliver: deliver)
        case .parts(let stream): try stream.finish(deliver: deliver)
        case .messages(let stream): try stream.finish(deliver: deliver)
        case .frames(let stream): try stream.finish(deliver: deliver)
        }
    }
}
