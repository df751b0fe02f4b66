package import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes

/// Writes stub mappings of WireMock, all in one document.
///
/// A stub contains its request's method, path with query, and body; it matches any host. Exchanges with the same request become the states
/// of a scenario, so that they answer in their order.
package struct WireMockMappings: ExchangeWriter {
    private struct Key: Hashable {
        var method: String
        var target: String
        var body: [UInt8]

        var withoutBody: Key { Key(method: self.method, target: self.target, body: []) }
    }

    package private(set) var notes: [String] = []
    private let target: ExportTarget
    private var writer = JSONWriter()
    /// For each request, the number of exchanges in total and the number already written.
    private var counts: [Key: (all: Int, written: Int, name: String)] = [:]
    private var stubs: [(key: Key, interaction: Interaction, number: Int)] = []
    /// The requests with a body, without it.
    private var withBody: Set<Key> = []

    package init(_ target: ExportTarget) { self.target = target.visibleJSON() }

    package mutating func begin() throws {
        self.writer.beginObject(.lines)
        self.writer.member("mappings")
        self.writer.beginArray(.lines)
    }

    /// Requests are compared before any stub is written; the bodies of responses are read only then.
    package mutating func append(_ interaction: Interaction, number: Int) throws {
        // A stub needs a response or a fault.
        if interaction.request.method == "CONNECT" { return }
        guard !interaction.opensWebSocket else {
            self.notes.append("exchange \(number) opens a WebSocket, which a stub cannot do: it is left out.")
            return
        }
        let rest = interaction.request.url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" && $0 != "?" }
        let body = try self.target.content(interaction.request.body, interaction.request.headers, number: number)
        let key = Key(method: interaction.request.method, target: rest.hasPrefix("/") ? String(rest) : "/\(rest)", body: body)
        let known = self.counts[key]
        self.counts[key] = ((known?.all ?? 0) + 1, 0, known?.name ?? "exchange \(number)")
        self.stubs.append((key, interaction, number))
        if !body.isEmpty { self.withBody.insert(key.withoutBody) }
    }

    package mutating func end() throws {
        for stub in self.stubs { try self.stub(stub.interaction, stub.key, stub.number) }
        self.writer.endArray()
        self.writer.endObject()
        self.writer.byte(10)
        try self.flush()
    }

    private mutating func flush() throws {
        try self.writer.withUnsafeBytes(self.target.sink)
        self.writer.drain()
    }

    private mutating func stub(_ interaction: Interaction, _ key: Key, _ number: Int) throws {
        self.writer.element()
        self.writer.beginObject(.lines)
        self.member("name", "exchange \(number)")
        if let count = self.counts[key], count.all > 1 {
            let written = count.written + 1
            self.counts[key]?.written = written
            self.member("scenarioName", count.name)
            self.member("requiredScenarioState", written == 1 ? "Started" : "\(written)")
            if written < count.all { self.member("newScenarioState", "\(written + 1)") }
        }
        self.writer.member("request")
        self.request(interaction.request, key)
        self.writer.member("response")
        try self.response(interaction, number)
        self.writer.endObject()
        try self.flush()
    }

    private mutating func request(_ request: RecordedRequest, _ key: Key) {
        self.writer.beginObject(.lines)
        self.member("method", key.method)
        self.member("url", key.target)
        if !key.body.isEmpty {
            self.writer.member("bodyPatterns")
            self.writer.beginArray(.inline)
            self.writer.element()
            self.writer.beginObject(.inline)
            let type = MediaType(request.headers.firstIndex(of: "content-type").map { request.headers.valueBytes(at: $0) })
            if !UTF8Validator.isValid(key.body) {
                self.writer.member("binaryEqualTo")
                key.body.withUnsafeBytes { self.writer.base64($0) }
            } else {
                let isJSON = type.kind == .json && (try? JSONDocument(key.body)) != nil
                self.writer.member(isJSON ? "equalToJson" : "equalTo")
                key.body.withUnsafeBytes { self.writer.string(utf8: $0) }
            }
            self.writer.endObject()
            self.writer.endArray()
        } else if self.withBody.contains(key) {
            // Without a condition, the stub would answer requests with a body as well.
            self.writer.member("bodyPatterns")
            self.writer.beginArray(.inline)
            self.writer.element()
            self.writer.beginObject(.inline)
            self.writer.member("absent")
            self.writer.bool(true)
            self.writer.endObject()
            self.writer.endArray()
        }
        self.writer.endObject()
    }

    private mutating func response(_ interaction: Interaction, _ number: Int) throws {
        self.writer.beginObject(.lines)
        defer { self.writer.endObject() }
        guard let response = interaction.response else {
            return self.member("fault", "CONNECTION_RESET_BY_PEER")
        }
        self.writer.member("status")
        self.writer.integer(response.status)
        if !response.reason.isEmpty { self.member("statusMessage", String(decoding: response.reason, as: UTF8.self)) }
        self.fields(response.headers)
        let content = try self.target.content(response.body, response.headers, number: number)
        guard !content.isEmpty else { return }
        content.withUnsafeBytes { bytes in
            if UTF8Validator.isValid(bytes) {
                self.writer.member("body")
                self.writer.string(utf8: bytes)
            } else {
                self.writer.member("base64Body")
                self.writer.base64(bytes)
            }
        }
    }

    /// Fields with the same name become a list.
    private mutating func fields(_ fields: HeaderFields) {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for index in 0..<fields.count where !FramingFields.contains(fields.name(at: index), isDecoded: true) {
            let name = names.first { $0.lowercased() == fields.name(at: index).lowercased() } ?? fields.name(at: index)
            if values[name] == nil { names.append(name) }
            values[name, default: []].append(fields.value(at: index))
        }
        guard !names.isEmpty else { return }
        self.writer.member("headers")
        self.writer.beginObject(.lines)
        for name in names {
            let list = values[name] ?? []
            self.writer.member(named: name)
            guard list.count > 1 else {
                self.writer.string(list[0])
                continue
            }
            self.writer.beginArray(.inline)
            for value in list {
                self.writer.element()
                self.writer.string(value)
            }
            self.writer.endArray()
        }
        self.writer.endObject()
    }

    private mutating func member(_ name: StaticString, _ value: String) {
        self.writer.member(name)
        self.writer.string(value)
    }
}
