internal import TapeCore
internal import TapeExchange

/// Makes an interaction of a taped exchange: gives each body its readable form, or keeps it raw while there is no time for that.
///
/// Not Sendable: lives on the recorder thread.
struct InteractionMaker: ~Copyable {
    private struct SpoolKey: Hashable {
        var exchange: Int
        var side: Tap.Side
    }

    private let store: BodyStore
    private var developer = BodyDeveloper(makeDigest: { FastSHA256() })
    private var spools: [SpoolKey: OpenSpool] = [:]
    /// Exchanges of which a block could not be written: not recorded.
    private var broken: Set<Int> = []

    init(store: BodyStore) {
        self.store = store
    }

    /// Takes a block of a large body.
    mutating func block(exchange: Int, side: Tap.Side, bytes: [UInt8]) throws(CassetteError) {
        guard !self.broken.contains(exchange) else { return }
        let key = SpoolKey(exchange: exchange, side: side)
        do throws(CassetteError) {
            try self.spool(key).write(bytes)
        } catch {
            self.broken.insert(exchange)
            self.spools[key]?.discard()
            self.spools[key] = nil
            throw error
        }
    }

    private mutating func spool(_ key: SpoolKey) throws(CassetteError) -> OpenSpool {
        if let spool = self.spools[key] { return spool }
        let spool = OpenSpool(try self.store.makeSpool())
        self.spools[key] = spool
        return spool
    }

    /// - Parameter mayDevelop: whether there is time to take codings off.
    /// - Returns: nil for an exchange of which a part was lost before.
    mutating func interaction(of exchange: TapedExchange, mayDevelop: Bool) throws -> Interaction? {
        var interaction = exchange.interaction
        let id = interaction.id
        defer {
            self.spools[SpoolKey(exchange: id, side: .request)] = nil
            self.spools[SpoolKey(exchange: id, side: .response)] = nil
        }
        guard self.broken.remove(id) == nil else { return nil }
        let origin = interaction.connection?.remote ?? ""
        if let body = exchange.requestBody {
            interaction.request.body = try self.body(
                body, interaction.request.headers, key: SpoolKey(exchange: id, side: .request), origin: "", mayDevelop: mayDevelop)
        }
        if let body = exchange.responseBody, let headers = interaction.response?.headers {
            interaction.response?.body = try self.body(
                body, headers, key: SpoolKey(exchange: id, side: .response), origin: origin, mayDevelop: mayDevelop)
        }
        return interaction
    }

    private mutating func body(
        _ taped: TapedBody, _ headers: HeaderFields, key: SpoolKey, origin: String, mayDevelop: Bool
    ) throws -> Body {
        var body: Body
        let isCoded = headers.contains("content-encoding")
        var sink = BodyStoreSink(store: self.store)
        if taped.isSpilled, let spool = self.spools[key] {
            try spool.write(taped.bytes)
            let isMultipart = MediaType(headers.firstIndex(of: "content-type").map { headers.valueBytes(at: $0) }).isMultipart
            if isCoded ? mayDevelop : isMultipart, spool.size <= BodyDeveloper.memoryLimit {
                body = try self.developer.develop(spool.source, headers: headers, origin: origin, isComplete: taped.isComplete, sink: &sink)
                spool.discard()
            } else {
                let name = BodyDeveloper.fileExtension(headers: headers, beginning: spool.beginning)
                body = Body(size: taped.size, isComplete: taped.isComplete, content: .file(try spool.finish(fileExtension: name)))
            }
        } else if isCoded, !mayDevelop, !taped.bytes.isEmpty {
            body = BodyDeveloper.undeveloped(try self.store.rawSpool().append(taped.bytes), isComplete: taped.isComplete)
        } else {
            body = try self.developer.develop(taped.bytes, headers: headers, origin: origin, isComplete: taped.isComplete, sink: &sink)
        }
        body.arrival = taped.arrival
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
        guard body.isUndeveloped(headers) else { return body }
        var sink = BodyStoreSink(store: self.store)
        var body = body
        if case .raw(let slice) = body.content {
            let source = OctetSource(try reader.read(slice))
            body = try self.developer.develop(body, from: source, headers: headers, origin: origin, sink: &sink)
        } else if body.hasCodingsLeft(headers), let source = try Self.octets(of: body, reader) {
            body = try self.developer.develop(body, from: source, headers: headers, origin: origin, sink: &sink)
        }
        guard body.hasPartsLeft(headers), let source = try Self.octets(of: body, reader) else { return body }
        return try self.developer.developParts(of: body, from: source, headers: headers, sink: &sink)
    }
    /// A body in one piece.
    private static func octets(of body: Body, _ reader: BodyReader) throws -> OctetSource? {
        if case .file(let sidecar) = body.content { return try reader.source(sidecar, digest: FastSHA256()) }
        return body.content.inlineOctets.map { OctetSource($0) }
    }
}
