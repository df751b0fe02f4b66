public import CassetteModel
public import TapeBytes

/// Converts the wire bytes of a body to the most readable form that restores them exactly.
///
/// Holds at most a few times `memoryLimit`, whatever the sizes of the body and of its decoded content. Trusts neither header fields nor
/// bytes: a body that contradicts its fields is kept as received, with a note. Must be used by a single thread.
public struct WireBodyDecoder: ~Copyable {
    /// The most wire or decoded bytes held in memory; longer data passes through in pieces. Far above the limits of `ContentForm`, since
    /// the search for parameters is faster in memory.
    public static let memoryLimit = 1 << 20

    private let makeDigest: () -> any ContentDigest
    private let inflater = InflatingDecoder(format: .gzip)
    private var restorer = DeflateRestorer()
    private var memo = DecodedMemo()

    /// `makeDigest` makes a SHA-256.
    public init(makeDigest: @escaping () -> any ContentDigest) {
        self.makeDigest = makeDigest
    }

    /// What was learned about the origins' compressors. Setting it forgets the bodies that were decoded before.
    public var memory: RestorationMemory {
        get { self.restorer.memory }
        set {
            self.restorer.memory = newValue
            self.memo = DecodedMemo()
        }
    }

    /// A body that is decoded later; its wire bytes are in the raw spool.
    public static func undecoded(_ slice: RawSlice, isComplete: Bool = true) -> Body {
        Body(size: slice.size, isComplete: isComplete, content: slice.size == 0 ? .empty : .raw(slice))
    }

    /// Decodes a body in memory. `origin` (`host:port`) is the server whose compressor is remembered.
    ///
    /// - Parameter messages: the type of a gRPC body's messages, which supplies names.
    public mutating func decode(
        _ wire: [UInt8], headers: HeaderFields, origin: String, isComplete: Bool = true, messages: ProtoType? = nil,
        sink: inout some SidecarSink
    ) throws -> Body {
        try self.decode(ByteSource(wire), headers: headers, origin: origin, isComplete: isComplete, messages: messages, sink: &sink)
    }

    /// Decodes a body that may be too large for memory. Throws only errors of the source and the sink.
    public mutating func decode(
        _ source: ByteSource, headers: HeaderFields, origin: String, isComplete: Bool = true, messages: ProtoType? = nil,
        sink: inout some SidecarSink
    ) throws -> Body {
        guard source.size > 0 else { return Body(size: 0, isComplete: isComplete, content: .empty) }
        let wire = source.memory == nil && source.size <= Self.memoryLimit ? ByteSource(try source.load()) : source
        let encoding = ContentEncoding(headers)
        let contents = WireContentDecoder(headers: headers, isComplete: isComplete, schema: messages)
        var body =
            switch encoding {
            case .none: try self.plain(wire, contents, origin, &sink)
            case .coded(let names): try self.coded(wire, names, headers, contents, origin, &sink)
            case .other(let names): try self.kept(wire, headers, note: ContentEncoding.noteOfUnknown(names), &sink)
            }
        body.isComplete = isComplete
        return body
    }

    /// Decodes a body that was left for later, and keeps the record of its arrival.
    public mutating func decode(
        _ body: Body, from source: ByteSource, headers: HeaderFields, origin: String, messages: ProtoType? = nil,
        sink: inout some SidecarSink
    ) throws -> Body {
        var decoded = try self.decode(
            source, headers: headers, origin: origin, isComplete: body.isComplete, messages: messages, sink: &sink)
        decoded.arrival = body.arrival
        decoded.take(body.conversationMarks)
        decoded.unknown = body.unknown
        return decoded
    }

    /// Splits a body into parts that was recorded in one piece, by an earlier version or because it was too large to be decoded at once.
    ///
    /// - Parameter content: the body's content, without codings.
    public mutating func decodeParts(
        of body: Body, from content: ByteSource, headers: HeaderFields, origin: String, messages: ProtoType? = nil,
        sink: inout some SidecarSink
    ) throws -> Body {
        var body = body
        let contents = WireContentDecoder(headers: headers, isComplete: body.isComplete, schema: messages)
        let (form, note) = try self.form(of: content, contents, origin, &sink)
        // Any other form would be no better than the present one.
        switch form {
        case .multipart: body.content = form
        case .grpc(let messages):
            let marks = body.marks
            if body.sha256 == nil, messages.hasCodings { body.sha256 = Hex.encode(try self.digest(content)) }
            body.content = form
            body.take(marks)
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .binary, .file, .raw: break
        }
        body.note = body.note ?? note
        return body
    }

    /// The extension of a file with wire bytes as received, judging by the header fields and the first bytes.
    public static func fileExtension(headers: HeaderFields, beginning: [UInt8]) -> String {
        let field = headers.firstIndex(of: "content-type").map(headers.valueBytes)
        let form = ContentForm(field: field, codedExtension: ContentEncoding(headers).fileExtension)
        return beginning.withUnsafeBytes { form.fileExtension(prefix: $0) }
    }

    /// A body that stays coded.
    private func kept(_ wire: ByteSource, _ headers: HeaderFields, note: String, _ sink: inout some SidecarSink) throws -> Body {
        let field = headers.firstIndex(of: "content-type").map(headers.valueBytes)
        let form = ContentForm(field: field, codedExtension: ContentEncoding(headers).fileExtension)
        return Body(size: wire.size, content: try form.content(wire, sink: &sink), note: note)
    }

    private mutating func plain(
        _ wire: ByteSource, _ contents: WireContentDecoder, _ origin: String, _ sink: inout some SidecarSink
    ) throws -> Body {
        let (content, note) = try self.form(of: wire, contents, origin, &sink)
        var body = Body(size: wire.size, content: content, note: note)
        if case .grpc(let messages) = content, messages.hasCodings { body.sha256 = Hex.encode(try self.digest(wire)) }
        return body
    }

    // MARK: Messages of gRPC

    /// The form of a content without codings, and what is wrong with it.
    private mutating func form(
        of bytes: ByteSource, _ contents: WireContentDecoder, _ origin: String, _ sink: inout some SidecarSink
    ) throws -> (content: BodyContent, note: String?) {
        guard let messages = contents.messages, bytes.size > 0 else { return try contents.content(bytes, &sink) }
        var room = InflateLimits.file(codedSize: bytes.size).output
        let charge = self.restorer.charge + Self.searchesOfBody * DeflateRestorer.searchLimit
        let (body, note) = try messages.body(
            bytes,
            unpack: { payload in
                guard let coding = contents.messageCoding, room > 0 else { return nil }
                let unpacked = try self.unpacked(payload, coding, origin, mayRestore: self.restorer.charge < charge)
                room -= unpacked?.content.count ?? 0
                return unpacked
            }, &sink)
        guard let body else { return (try contents.content(bytes, &sink).content, note) }
        return (.grpc(body), note)
    }

    /// How many full searches all compressed messages of a body may cost together, as there may be thousands of them.
    private static let searchesOfBody = 4

    /// Nil for a message that is not in its declared coding, or too long for memory.
    private mutating func unpacked(
        _ payload: ByteSource, _ name: ContentEncoding.Name, _ origin: String, mayRestore: Bool
    ) throws -> WireGRPCDecoder.Unpacked? {
        guard payload.size > 0, payload.size <= Self.memoryLimit else { return nil }
        let result: ContentCodingsDecoder.Result
        do {
            result = try ContentCodingsDecoder(self.inflater).decode(payload, [name])
        } catch is ContentCodingsDecoder.Undecodable {
            return nil
        }
        guard case .whole(let content, let layers) = result, let layer = layers.first?.layer, layer.leftOver == 0 else { return nil }
        var found: [DeflateParameters]?
        if mayRestore, layer.mayBeRestored {
            found = self.parameters(of: layer, try payload.load(), content, origin, try self.digest(payload))
        }
        return WireGRPCDecoder.Unpacked(content: content, coding: layer.coding(found), isRestorable: found != nil)
    }

    private mutating func coded(
        _ wire: ByteSource, _ names: [ContentEncoding.Name], _ headers: HeaderFields, _ contents: WireContentDecoder, _ origin: String,
        _ sink: inout some SidecarSink
    ) throws -> Body {
        let type = headers.firstIndex(of: "content-type").map { Array(headers.valueBytes(at: $0)) }
        let key = DecodedMemo.Key(identity: try self.digest(wire), encoding: .coded(names), type: type, isComplete: contents.isComplete)
        if let known = self.memo[key] { return known }
        var body: Body
        do {
            switch try ContentCodingsDecoder(self.inflater).decode(wire, names) {
            case .whole(let content, let layers):
                body = try self.restorable(wire, content, contents, layers, origin, key.identity, &sink)
            case .large(let beginning, let codings):
                body = try self.restorable(wire, beginningWith: beginning, contents, codings, origin, key.identity, &sink)
            }
        } catch let error as ContentCodingsDecoder.Undecodable {
            let which = names.count > 1 ? " \"\(error.name.rawValue)\"" : ""
            body = try self.kept(wire, headers, note: "content coding\(which) is not taken off: \(error.problem)", &sink)
        }
        self.memo.remember(body, for: key)
        return body
    }

    /// Searches for the parameters that restore a body's codings, without storing anything: for `RestorationProofs`. Finds nothing for a
    /// body that is too large for memory, or that contradicts its fields.
    public mutating func search(_ wire: [UInt8], _ encoding: ContentEncoding, origin: String) -> [RestorationMemory.Finding] {
        guard case .coded(let names) = encoding, !wire.isEmpty, wire.count <= Self.memoryLimit else { return [] }
        self.restorer.memory.keepNews()
        defer { self.restorer.memory.forgetNews() }
        // The only other errors come from sources in files, and this source is in memory.
        guard let result = try? ContentCodingsDecoder(self.inflater).decode(ByteSource(wire), names),
            case .whole(let content, let layers) = result
        else { return [] }
        _ = try? self.parameters(of: layers, content, origin, self.digest(ByteSource(wire)))
        return self.restorer.memory.news ?? []
    }

    private func digest(_ wire: ByteSource) throws -> [UInt8] {
        var digest = self.makeDigest()
        try wire.forEachPiece { digest.update($0) }
        return digest.finalize()
    }

    // MARK: Proving that the codings can be restored

    /// Handles contents in memory. Searches for the parameters of each coding, or of none if one cannot be restored anyway.
    private mutating func restorable(
        _ wire: ByteSource, _ content: [UInt8], _ contents: WireContentDecoder, _ layers: [(layer: DecodedLayer, wire: ByteSource)],
        _ origin: String, _ identity: [UInt8], _ sink: inout some SidecarSink
    ) throws -> Body {
        let found = try self.parameters(of: layers, content, origin, identity)
        let (form, note) = try self.form(of: ByteSource(content), contents, origin, &sink)
        var body = try self.body(wire, form, layers.map(\.layer), found, identity, &sink)
        body.note = body.note ?? note
        return body
    }

    /// The parameters of each coding from the outermost inwards, up to the first that has none.
    private mutating func parameters(
        of layers: [(layer: DecodedLayer, wire: ByteSource)], _ content: [UInt8], _ origin: String, _ identity: [UInt8]
    ) throws -> [[DeflateParameters]?] {
        guard layers.allSatisfy(\.layer.mayBeRestored) else { return [] }
        var found: [[DeflateParameters]?] = []
        for (index, (layer, wire)) in layers.enumerated() {
            let inner = index + 1 < layers.count ? try layers[index + 1].wire.load() : content
            let identity = index == 0 ? identity : try self.digest(wire)
            let parameters = self.parameters(of: layer, try wire.load(), inner, origin, identity)
            found.append(parameters)
            if parameters == nil { break }
        }
        return found
    }

    /// The parameters of each member; nil if one is not found.
    private mutating func parameters(
        of layer: DecodedLayer, _ wire: [UInt8], _ content: [UInt8], _ origin: String, _ identity: [UInt8]
    ) -> [DeflateParameters]? {
        guard let format = layer.format else { return nil }
        var found: [DeflateParameters] = []
        var (wireStart, contentStart) = (0, 0)
        for (index, member) in layer.members.enumerated() {
            let (wireEnd, contentEnd) = (wireStart + member.codedSize, contentStart + member.size)
            guard wireEnd <= wire.count, contentEnd <= content.count else { return nil }
            let parameters = wire[wireStart..<wireEnd].withUnsafeBytes { wire in
                content[contentStart..<contentEnd].withUnsafeBytes { content in
                    self.restorer.parameters(
                        producing: wire, from: content, format: format, header: member.header, origin: origin,
                        identity: layer.members.count == 1 ? identity : identity + [UInt8(truncatingIfNeeded: index)],
                        limit: DeflateRestorer.searchLimit / layer.members.count)
                }
            }
            guard let parameters else { return nil }
            found.append(parameters)
            (wireStart, contentStart) = (wireEnd, contentEnd)
        }
        return found
    }

    private mutating func restorable(
        _ wire: ByteSource, beginningWith beginning: [UInt8], _ contents: WireContentDecoder, _ codings: [ContentCodingsDecoder.Coding],
        _ origin: String,
        _ identity: [UInt8], _ sink: inout some SidecarSink
    ) throws -> Body {
        var layers: [DecodedLayer] = []
        let file = try sink.store(fileExtension: contents.fileExtension(beginning: beginning)) { write in
            layers = try ContentCodingsDecoder.stream(wire, codings, write)
        }
        var found: [[DeflateParameters]?] = []
        // The bytes between several codings or members are not stored, so they cannot be read again.
        if layers.count == 1, let layer = layers.first, layer.members.count == 1, layer.mayBeRestored, let format = layer.format {
            let parameters = try self.restorer.parameters(
                producing: wire, contentSize: file.size, format: format, header: layer.header, origin: origin, identity: identity)
            found = [parameters.map { [$0] }]
        }
        return try self.body(wire, .file(file), layers, found, identity, &sink)
    }

    /// `layers` and `found` are ordered from the outermost to the innermost.
    private func body(
        _ wire: ByteSource, _ content: BodyContent, _ layers: [DecodedLayer], _ found: [[DeflateParameters]?], _ identity: [UInt8],
        _ sink: inout some SidecarSink
    ) throws -> Body {
        let codings = layers.enumerated().map { $1.coding(found.indices.contains($0) ? found[$0] : nil) }
        var body = Body(size: wire.size, codings: codings.reversed(), content: content, sha256: Hex.encode(identity))
        body.note = layers.lazy.compactMap(\.note).first
        if found.contains(where: { $0 == nil }) || found.count < layers.count {
            let fileExtension = layers.first?.fileExtension ?? "bin"
            body.original = try sink.store(fileExtension: fileExtension) { try wire.forEachPiece($0) }
        }
        return body
    }
}

/// Converts the content of a message to its most readable form, including its parts, however long it is.
///
/// Does not decode codings, and leaves gRPC messages to the caller.
struct WireContentDecoder {
    private let form: ContentForm
    private let parts: WireMultipartDecoder?
    /// For a gRPC body, whose messages may have their own coding.
    let messages: WireGRPCDecoder?
    let messageCoding: ContentEncoding.Name?
    let isComplete: Bool

    init(headers: HeaderFields, isComplete: Bool, schema: ProtoType? = nil) {
        self.form = ContentForm(field: headers.firstIndex(of: "content-type").map(headers.valueBytes))
        self.parts = self.form.type.isMultipart ? WireMultipartDecoder(headers: headers) : nil
        self.messages = WireGRPCDecoder(headers: headers, isComplete: isComplete, schema: schema)
        self.messageCoding = GRPCType.coding(headers).flatMap(ContentEncoding.Name.init(rawValue:)).flatMap { $0.isSupported ? $0 : nil }
        self.isComplete = isComplete
    }

    /// The form, and what is wrong with a multipart body that contradicts its declaration.
    func content(_ bytes: ByteSource, _ sink: inout some SidecarSink) throws -> (content: BodyContent, note: String?) {
        guard let parts = self.parts, bytes.size > 0 else { return (try self.form.content(bytes, sink: &sink), nil) }
        let (body, note) = try parts.body(bytes, isComplete: self.isComplete, &sink)
        guard let body else { return (try self.form.content(bytes, sink: &sink), note) }
        return (.multipart(body), note)
    }

    func fileExtension(beginning: [UInt8]) -> String {
        beginning.withUnsafeBytes(self.form.fileExtension(prefix:))
    }
}

/// The bodies decoded last, so that recurring bytes, as in polling, are not decoded again.
///
/// Only for bodies in the cassette itself, as one with a sidecar has to be passed to the sink each time.
struct DecodedMemo {
    /// With contents of at most 64 KiB, the memo stays below 1 MiB.
    static let limit = 16

    struct Key: Hashable {
        /// SHA-256 of the wire bytes.
        var identity: [UInt8]
        var encoding: ContentEncoding
        /// The value of Content-Type, including its charset.
        var type: [UInt8]?
        /// Problems of parts depend on whether the body is complete.
        var isComplete: Bool
    }

    private var entries: [(key: Key, body: Body)] = []
    private var next = 0

    subscript(key: Key) -> Body? {
        self.entries.first { $0.key == key }?.body
    }

    mutating func remember(_ body: Body, for key: Key) {
        guard body.original == nil, body.content.sidecars.isEmpty else { return }
        if self.entries.count < Self.limit {
            self.entries.append((key, body))
        } else {
            self.entries[self.next] = (key, body)
            self.next = (self.next + 1) % Self.limit
        }
    }
}
