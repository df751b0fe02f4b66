internal import CassetteModel
internal import TapeBytes

/// Reads session recordings of the Azure SDK's test-proxy.
struct TestProxyReader {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    func read(_ stream: some ValueStream, _ deliver: (ImportedExchange) throws -> Void) throws {
        guard try stream.enterMembers() else { throw self.context.error(line: 1, "", "expected an object with \"Entries\"") }
        var hasEntries = false
        while let name = try stream.nextName() {
            guard name == "Entries" else {
                try stream.skip()
                continue
            }
            hasEntries = true
            try stream.forEachElement(self.context, name) { if let exchange = try self.exchange($0) { try deliver(exchange) } }
        }
        try stream.end()
        guard hasEntries else { throw self.context.error(line: 0, "", "\"Entries\" is missing") }
    }

    /// Nil if the request's destination is unknown.
    private func exchange(_ entry: SourceValue) throws -> ImportedExchange? {
        let method = try self.context.string(entry, "RequestMethod", in: "")
        guard FieldBuilder.isToken(method) else {
            throw self.context.error(entry, "RequestMethod", "\"\(method.prefix(40))\" is not a method")
        }
        let address = try self.context.required(entry, "RequestUri")
        guard let address = address.string else { throw self.context.error(address, "RequestUri", "expected text, found \(address.kind)") }
        guard let url = AddressCheck.url(address, self.context, at: entry) else { return nil }
        let status = try self.context.int(entry, "StatusCode", in: "")
        guard (100...999).contains(status) else { throw self.context.error(entry, "StatusCode", "\(status) is not a status") }
        var exchange = ImportedExchange(
            request: RecordedRequest(method: method, url: url, headers: try self.fields(entry, "RequestHeaders")))
        exchange.response = RecordedResponse(status: status, headers: try self.fields(entry, "ResponseHeaders"))
        exchange.requestBody = try self.body(entry, "RequestBody", exchange.request.headers)
        exchange.responseBody =
            try self.body(entry, "ResponseBody", exchange.response?.headers ?? HeaderFields()) ?? ImportedBody([], .asSent)
        exchange.dropIncompleteRequestBody(self.context, at: entry)
        exchange.cutIncompleteAnswer(self.context, at: entry)
        self.context.lose(.order, at: entry)
        self.context.lose(.timing, at: entry)
        return exchange
    }

    private func fields(_ entry: SourceValue, _ name: String) throws(CassetteError) -> HeaderFields {
        var builder = FieldBuilder(self.context)
        try builder.append(entry[name], in: name)
        return builder.fields
    }

    /// Bodies are stored as JSON, as text in one string or a list of lines, as a list of parts, or else in base64.
    private func body(_ entry: SourceValue, _ name: String, _ headers: HeaderFields) throws(CassetteError) -> ImportedBody? {
        guard let value = entry[name] else { return nil }
        let type = MediaType(headers.firstIndex(of: "content-type").map { headers.valueBytes(at: $0) })
        switch value.content {
        case .members, .bool, .word: return ImportedBody(value.json(), .decoded)
        case .list(let list):
            let pieces = list.map { Self.piece($0) }
            let joined = pieces.reduce(into: [UInt8]()) { $0 += $1 ?? [] }
            // Lines of text, unless they form no JSON but the list itself does.
            let isLines = !pieces.contains { $0 == nil } && (type.kind != .json || (try? JSONDocument(joined)) != nil)
            return ImportedBody(text: isLines ? joined : value.json(), .decoded, headers)
        case .text(let text), .bytes(let text):
            let isText = type.kind == .text || type.kind == .json || type.isForm
            if !isText, let bytes = Base64.decode(text) { return ImportedBody(bytes, .either) }
            return ImportedBody(text: text, .decoded, headers)
        case .nothing: return nil
        }
    }

    private static func piece(_ value: SourceValue) -> [UInt8]? {
        guard case .text(let text) = value.content else { return nil }
        let prefix = Array("b64:".utf8)
        guard text.starts(with: prefix) else { return text }
        return LooseBase64.decode(text.dropFirst(prefix.count)) ?? text
    }
}
