package import CassetteModel
package import CassettePlayback
package import TapeBytes

/// One exchange as shown in a list.
package struct ExchangeRow {
    /// Counted from 1 in order of request start; `inspect FILE N` takes this number.
    package var number: Int
    package var id: Int
    package var method: String
    package var url: String
    package var status: Int?
    /// How a gRPC call ended; nil if that is not given, or if it is not a gRPC call.
    package var grpc: GRPCStatus?
    /// The version used with the origin; nil if there is no response.
    package var version: HTTPVersion?
    package var outcome: Outcome
    /// The response's media type, or its Content-Type as it is; nil if it has no Content-Type.
    package var type: String?
    /// The TLS version used with the origin; nil if the connection has no TLS.
    package var tls: String?
    /// The size of the response's body on the wire in bytes; for a tunnel, the bytes received.
    package var size: Int?
    /// The size of both bodies in bytes.
    package var bodyBytes: Int
    package var started: Timestamp
    package var timing: Timing
    /// How many messages of a WebSocket were recorded; nil if it is not one.
    package var messages: Int?
    /// Whether its recording has not ended.
    package var isOpen: Bool
    /// How many defects the request's body has; nil if it is no upload, or was not checked.
    package var defects: Int?
    /// In milliseconds.
    package var total: Double? { self.timing.total }

    package init(number: Int, _ interaction: Interaction, isOpen: Bool = false) {
        let response = interaction.response
        self.number = number
        self.id = interaction.id
        self.method = interaction.request.method
        self.url = interaction.request.url
        self.status = response?.status
        self.grpc = GRPCStatus(response)
        self.version = response?.version
        self.outcome = interaction.outcome
        self.type = response.flatMap { Self.type($0.headers) }
        self.tls = interaction.connection?.tls?.version
        self.size = interaction.tunnel?.received ?? response?.body?.size
        self.bodyBytes = Self.sum(interaction.request.body?.size ?? 0, self.size ?? 0)
        self.started = interaction.started
        self.timing = interaction.timing
        self.messages = interaction.opensWebSocket ? interaction.webSocket?.count ?? 0 : nil
        self.isOpen = isOpen
    }

    /// The media type, or for a WebSocket a word that says so, with the number of its messages.
    package var typeWords: String? { self.messages.map { "websocket, \(Quantity.count($0, "message"))" } ?? self.type }

    /// Adds sizes without overflow: those in a cassette that no recorder wrote can be anything.
    package static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }

    package static func type(_ headers: HeaderFields) -> String? {
        guard let index = headers.firstIndex(of: "content-type") else { return nil }
        let essence = MediaType(headers.valueBytes(at: index)).essence
        return essence.isEmpty ? String(decoding: headers.valueBytes(at: index).prefix(64), as: UTF8.self) : essence
    }

    /// `complete`, `cut origin`, `failed refused`.
    package var outcomeWords: String {
        switch self.outcome {
        case .complete: "complete"
        case .cut(let cut): "cut \(cut.by.rawValue)"
        case .failed(let failure): "failed \(failure.kind.rawValue)"
        }
    }

    /// The status, followed by that of gRPC, and how the exchange ended if it is not complete.
    package var statusWords: String { self.statusWords { "\($0) \($1.name)" } }

    private func statusWords(_ grpc: (Int, GRPCStatus) -> String) -> String {
        let status = self.status.map { status in self.grpc.map { grpc(status, $0) } ?? "\(status)" }
        if self.isOpen { return status.map { "\($0) open" } ?? "open" }
        return switch self.outcome {
        case .complete: status ?? "-"
        case .cut: status.map { "\($0) cut" } ?? "cut"
        case .failed(let failure): "failed \(failure.kind.rawValue)"
        }
    }

    /// The same for narrow screens, on which red already marks a failure; gRPC nearly always has status 200.
    package var shortStatusWords: String {
        guard case .failed(let failure) = self.outcome else { return self.statusWords { "grpc \($1.code)" } }
        return failure.kind.rawValue
    }
}

/// The list of a cassette's exchanges for scripts: a JSON array with one object per line.
package struct ExchangeListJSON {
    private let write: (String) throws -> Void
    private var isEmpty = true
    private var writer = JSONWriter()

    package init(write: @escaping (String) throws -> Void) {
        self.write = write
    }

    package mutating func append(_ row: ExchangeRow) throws {
        self.writer.removeAll()
        self.writer.beginObject(.inline)
        self.member("number") { $0.integer(row.number) }
        self.member("id") { $0.integer(row.id) }
        self.member("method") { $0.string(row.method) }
        self.member("url") { $0.string(row.url) }
        self.optional("status", row.status) { $0.integer($1) }
        self.optional("grpcStatus", row.grpc) { $0.integer($1.code) }
        self.optional("version", row.version) { $0.string($1.description) }
        self.optional("type", row.type) { $0.string($1) }
        self.optional("size", row.size) { $0.integer($1) }
        self.optional("tls", row.tls) { $0.string($1) }
        self.member("started") { $0.timestamp(row.started) }
        self.optional("total", row.total) { $0.milliseconds($1) }
        self.member("outcome") { $0.string(row.outcomeWords) }
        self.optional("messages", row.messages) { $0.integer($1) }
        self.member("open") { $0.bool(row.isOpen) }
        self.optional("defects", row.defects) { $0.integer($1) }
        self.writer.endObject()
        try self.write((self.isEmpty ? "[\n  " : ",\n  ") + VisibleText.whole(self.writer.bytes, .json))
        self.isEmpty = false
    }

    package func finish() throws { try self.write(self.isEmpty ? "[]\n" : "\n]\n") }

    private mutating func member(_ name: StaticString, _ value: (inout JSONWriter) -> Void) {
        self.writer.member(name)
        value(&self.writer)
    }

    /// A missing value is null, so that all objects have the same members.
    private mutating func optional<Value>(_ name: StaticString, _ value: Value?, _ write: (inout JSONWriter, Value) -> Void) {
        self.writer.member(name)
        if let value { write(&self.writer, value) } else { self.writer.raw("null") }
    }
}

extension Interaction {
    /// What a person has written about the exchange in the inspector; nil if nothing.
    ///
    /// The format does not define this member: it is kept like any other that a reader does not know.
    package var comment: String? {
        self.unknown.first { $0.name == "comment" }.flatMap { try? JSONDocument($0.json).root.string }
    }
}
