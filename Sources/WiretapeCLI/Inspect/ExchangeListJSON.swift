internal import TapeBytes

/// The list of a cassette's exchanges for scripts: a JSON array with an object on a line per exchange.
struct ExchangeListJSON {
    private let write: (String) throws -> Void
    private let isForTerminal: Bool
    private var isEmpty = true
    private var writer = JSONWriter()

    init(isForTerminal: Bool, write: @escaping (String) throws -> Void) {
        self.isForTerminal = isForTerminal
        self.write = write
    }

    mutating func append(_ row: ExchangeRow) throws {
        self.writer.removeAll()
        self.writer.beginObject(.inline)
        self.member("number") { $0.integer(row.number) }
        self.member("id") { $0.integer(row.id) }
        self.member("method") { $0.string(row.method) }
        self.member("url") { $0.string(row.url) }
        self.optional("status", row.status) { $0.integer($1) }
        self.optional("type", row.type) { $0.string($1) }
        self.optional("size", row.size) { $0.integer($1) }
        self.optional("tls", row.tls) { $0.string($1) }
        self.member("started") { $0.timestamp(row.started) }
        self.optional("total", row.total) { $0.milliseconds($1) }
        self.member("outcome") { $0.string(row.outcomeWords) }
        self.writer.endObject()
        let object = self.writer.bytes
        let text = self.isForTerminal ? VisibleText.whole(object, .json) : String(decoding: object, as: UTF8.self)
        try self.write((self.isEmpty ? "[\n  " : ",\n  ") + text)
        self.isEmpty = false
    }

    func finish() throws { try self.write(self.isEmpty ? "[]\n" : "\n]\n") }

    private mutating func member(_ name: StaticString, _ value: (inout JSONWriter) -> Void) {
        self.writer.member(name)
        value(&self.writer)
    }

    /// What is not there is null, so that each object has the same members.
    private mutating func optional<Value>(_ name: StaticString, _ value: Value?, _ write: (inout JSONWriter, Value) -> Void) {
        self.writer.member(name)
        if let value { write(&self.writer, value) } else { self.writer.raw("null") }
    }
}
