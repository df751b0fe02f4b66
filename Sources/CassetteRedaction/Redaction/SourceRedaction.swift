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

    /// The largest body that is loaded for rules with JSON places. With its views it takes some 200 MiB, most of the memory that the proxy
    /// may use.
    static let loadLimit = 32 << 20

    /// `deliver` receives the redacted bytes in pieces, and is not called if there is nothing to redact.
    func redact(
        _ source: ByteSource, headers: HeaderFields, isComplete: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        var outcome = RedactionOutcome()
        guard source.size > 0 else { return outcome }
        let kind = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes)).kind
        if self.text.rules.hasJSONPlaces, kind == .json || kind == .text {
            if self.mayLoad, source.size <= Self.loadLimit { return try self.loaded(source, headers, isComplete, deliver) }
            if kind == .json, self.text.rules.rules.contains(where: \.isJSON) {
                return Self.leftOut("\(source.size) bytes are too many for rules for places in JSON")
            }
            outcome.notes.append("rules for places in JSON are not applied to a body of \(source.size) bytes")
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

    /// - Parameter beginning: the first bytes, which show whether it is text if the type does not.
    init(_ redaction: TextRedaction, headers: HeaderFields, schema: GRPCSchema = GRPCSchema(), beginning: UnsafeRawBufferPointer) {
        if let boundary = ContentRedaction.boundary(ofFirstLine: beginning) ?? MultipartType(headers)?.boundary {
            self = .parts(PartStream(redaction, boundary: boundary))
        } else if let messages = GRPCRedaction(ContentRedaction(text: redaction), headers: headers, schema: schema) {
            self = .messages(MessageStream(messages))
        } else {
            var text = ReadableText()
            text.push(beginning)
            let kind = ContentRedaction.kind(headers, UnsafeRawBufferPointer(start: nil, count: 0))
            let isUnknown = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes)).kind == .unknown
            self = .text(TextStream(redaction, kind: isUnknown && kind != .form && !text.isReadable ? .binary : kind))
        }
    }

    var count: Int {
        switch self {
        case .text(let stream): stream.count
        case .parts(let stream): stream.count
        case .messages(let stream): stream.count
        }
    }

    /// What could not be searched.
    var notes: [String] {
        switch self {
        case .text, .parts: []
        case .messages(let stream): stream.notes
        }
    }

    func push(_ piece: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self {
        case .text(let stream): try stream.push(piece, deliver: deliver)
        case .parts(let stream): try stream.push(piece, deliver: deliver)
        case .messages(let stream): try stream.push(piece, deliver: deliver)
        }
    }

    func finish(deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self {
        case .text(let stream): try stream.finish(deliver: deliver)
        case .parts(let stream): try stream.finish(deliver: deliver)
        case .messages(let stream): try stream.finish(deliver: deliver)
        }
    }
}

/// Redacts a multipart body that arrives in pieces, part by part. Nested parts are treated as text.
final class PartStream {
    /// How to treat the data of the current part.
    private enum Data {
        case text(TextStream)
        /// The whole part is a secret, unless it grows too long for one.
        case secret(kind: String, isSure: Bool, isRuled: Bool, [UInt8])
        case none
    }

    private let redaction: TextRedaction
    private var parser: MultipartParser
    private var headers: [UInt8] = []
    private var data = Data.none
    private var found = 0

    init(_ redaction: TextRedaction, boundary: MultipartBoundary) {
        self.redaction = redaction
        self.parser = MultipartParser(boundary: boundary)
    }

    var count: Int { self.found }

    func push(_ piece: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        try self.parser.push(piece) { try self.take($0, deliver) }
    }

    func finish(deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        try self.parser.finish { try self.take($0, deliver) }
        try self.endHeaders(deliver)
        try self.endData(deliver)
    }

    private func take(_ event: MultipartEvent, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch event.kind {
        case .headers:
            self.headers.append(contentsOf: event.bytes)
        case .data:
            try self.endHeaders(deliver)
            try self.takeData(event.bytes, deliver)
        case .delimiter:
            try self.endHeaders(deliver)
            try self.endData(deliver)
            try deliver(event.bytes)
        case .preamble, .epilogue, .opaque:
            if case .none = self.data {
                try self.endHeaders(deliver)
                self.data = .text(TextStream(self.redaction, kind: .plain))
            }
            try self.takeData(event.bytes, deliver)
        }
    }

    private func endHeaders(_ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard !self.headers.isEmpty else { return }
        let fields = PartHeaderSection(bytes: self.headers).fields
        let edits = self.headers.withUnsafeBytes { self.redaction.edits(in: $0, as: .fields) }
        self.found += edits.count
        try edits.applied(to: self.headers).withUnsafeBytes(deliver)
        self.headers = []
        switch PartMeaning(fields, rules: self.redaction.rules) {
        case .secret(let kind, let isSure, let isRuled) where !self.redaction.rules.keeps(kind: kind):
            self.data = .secret(kind: kind, isSure: isSure, isRuled: isRuled, [])
        case .secret, .kept, .content:
            let type = MediaType(fields.firstIndex(of: "content-type").map(fields.valueBytes))
            self.data = .text(TextStream(self.redaction, kind: type.kind == .binary ? .binary : .plain))
        }
    }

    private func takeData(_ bytes: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self.data {
        case .none: try deliver(bytes)
        case .text(let stream): try stream.push(bytes, deliver: deliver)
        case .secret(let kind, let isSure, let isRuled, let held):
            self.data = .none
            let all = held + bytes
            guard all.count > NamedValue.limit else {
                self.data = .secret(kind: kind, isSure: isSure, isRuled: isRuled, all)
                return
            }
            let stream = TextStream(self.redaction, kind: .plain)
            try all.withUnsafeBytes { try stream.push($0, deliver: deliver) }
            self.data = .text(stream)
        }
    }

    private func endData(_ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let data = self.data
        self.data = .none
        switch data {
        case .none: return
        case .text(let stream):
            try stream.finish(deliver: deliver)
            self.found += stream.count
        case .secret(let kind, let isSure, let isRuled, let bytes):
            guard !bytes.isEmpty else { return }
            guard !Placeholder.isAll(bytes) else { return try bytes.withUnsafeBytes(deliver) }
            self.found += 1
            let placeholder = self.redaction.vault.placeholder(
                for: bytes, kind: kind, isSure: isSure, isRuled: isRuled, under: self.redaction.rules)
            try placeholder.bytes.withUnsafeBytes(deliver)
        }
    }
}

/// Redacts a text that arrives in pieces. Each byte is examined together with as many bytes before and after it as a secret can be long.
final class TextStream {
    /// How many bytes are collected before they are searched.
    private static let blockSize = 1 << 20
    /// How many bytes at the end wait for more, so that a secret that begins before them ends within them.
    private static let overlap = 2 * NamedValue.limit
    /// How many delivered bytes are kept as context, for the names of values that follow and the beginning of a query.
    private static let contextLimit = 4096

    private let redaction: TextRedaction
    private let kind: TextKind
    private var buffer: [UInt8] = []
    /// How many bytes at the buffer's beginning were delivered.
    private var context = 0
    private(set) var count = 0
    /// Columns with secrets in the text delivered so far; nil if there are none.
    private var columns: ColumnSurvey?
    private var isFirst = true

    init(_ redaction: TextRedaction, kind: TextKind) {
        self.redaction = redaction
        self.kind = kind
    }

    func push(_ piece: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        self.buffer.append(contentsOf: piece)
        guard self.buffer.count >= self.context + Self.blockSize else { return }
        try self.process(isLast: false, deliver)
    }

    func finish(deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try self.process(isLast: true, deliver)
    }

    private func process(isLast: Bool, _ deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        let (redaction, context, kind) = (self.redaction, self.context, self.kind)
        // After the first block, the buffer no longer begins with a header row.
        if self.isFirst, kind == .plain { self.columns = self.buffer.withUnsafeBytes { ColumnSurvey($0) } }
        self.isFirst = false
        var columns = self.columns
        let edits = self.buffer.withUnsafeBytes { text in
            let findings =
                columns?.findings(in: text, from: context, to: text.count, hasMore: !isLast, budget: redaction.budget) ?? []
            return redaction.edits(in: text, as: kind, findings: findings, hasMore: !isLast).edits
        }
        .filter { $0.range.upperBound > context && !$0.range.isEmpty }
        .map { Edit(range: max($0.range.lowerBound, context)..<$0.range.upperBound, bytes: $0.bytes) }
        var cut = isLast ? self.buffer.count : max(context, self.buffer.count - Self.overlap)
        for edit in edits where edit.range.lowerBound < cut && edit.range.upperBound > cut { cut = edit.range.upperBound }
        let ready = edits.filter { $0.range.upperBound <= cut }
        self.count += ready.count
        let moved = ready.map { Edit(range: $0.range.lowerBound - context..<$0.range.upperBound - context, bytes: $0.bytes) }
        try self.buffer.withUnsafeBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[context..<cut])
            if moved.isEmpty {
                if !part.isEmpty { try deliver(part) }
            } else {
                try EditList(moved).applied(to: part).withUnsafeBytes(deliver)
            }
        }
        self.buffer.withUnsafeBytes { _ = self.columns?.findings(in: $0, from: context, to: cut, hasMore: true, budget: nil) }
        let keep = min(cut, Self.contextLimit)
        self.buffer.removeFirst(cut - keep)
        self.context = keep
    }
}
