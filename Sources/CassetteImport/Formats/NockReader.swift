internal import CassetteModel
internal import TapeBytes

/// Reads what nock's recorder writes (`nock.recorder.rec({ output_objects: true })`, `nock.back`): a list of definitions in JSON.
struct NockReader {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    static func isEntry(_ value: SourceValue) -> Bool {
        value["scope"]?.string != nil && value["path"]?.string != nil && value.first("status", "response", "method") != nil
    }

    func read(_ stream: some ValueStream, _ deliver: (ImportedExchange) throws -> Void) throws {
        try stream.forEachElement(self.context, "") { if let exchange = try self.exchange($0) { try deliver(exchange) } }
        try stream.end()
    }

    private func exchange(_ value: SourceValue) throws(CassetteError) -> ImportedExchange? {
        let scope = try self.context.string(value, "scope", in: "")
        let path = try self.context.string(value, "path", in: "")
        let method = value["method"]?.string?.uppercased() ?? "GET"
        guard FieldBuilder.isToken(method) else { throw self.context.error(value, "method", "\"\(method.prefix(40))\" is no method") }
        guard let url = SourceWords.url(Self.plainAuthority(scope) + path) else {
            self.context.lose(.notHTTP, at: value)
            return nil
        }
        var exchange = ImportedExchange(request: RecordedRequest(method: method, url: url))
        var fields = FieldBuilder(self.context)
        try fields.append(value["reqheaders"], in: "reqheaders")
        exchange.request.headers = fields.fields
        exchange.requestBody = self.requestBody(value["body"], exchange.request.headers)
        let status = value["status"]?.int ?? 200
        guard (100...999).contains(status) else { throw self.context.error(value, "status", "\(status) is no status") }
        var answer = FieldBuilder(self.context)
        try self.append(value.first("rawHeaders", "headers"), to: &answer)
        exchange.response = RecordedResponse(status: status, headers: answer.fields)
        exchange.responseBody = try self.responseBody(value, answer.fields)
        self.context.lose(.timing, at: value)
        self.context.lose(.order, at: value)
        return exchange
    }

    /// nock names the port always.
    private static func plainAuthority(_ scope: String) -> String {
        for (scheme, port) in [("http://", ":80"), ("https://", ":443")] where scope.hasPrefix(scheme) && scope.hasSuffix(port) {
            return String(scope.dropLast(port.utf8.count))
        }
        return scope
    }

    /// Names and values in turn, as Node has them, or an object.
    private func append(_ value: SourceValue?, to fields: inout FieldBuilder) throws(CassetteError) {
        guard let list = value?.list, list.allSatisfy({ $0.data != nil }), list.count.isMultiple(of: 2) else {
            return try fields.append(value, in: "rawHeaders")
        }
        for index in stride(from: 0, to: list.count, by: 2) {
            fields.append(list[index].string ?? "", list[index + 1].data ?? [], at: list[index])
        }
    }

    /// A body that is JSON is there as its value.
    private func requestBody(_ value: SourceValue?, _ fields: HeaderFields) -> ImportedBody? {
        guard let value, !value.isNothing else { return nil }
        switch value.content {
        case .members, .list:
            // A form is there as its fields.
            if fields.first("content-type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true,
                let members = value.members
            {
                let pairs = members.map { "\(StubRequest.encoded($0.name))=\(StubRequest.encoded($0.value.string ?? ""))" }
                return ImportedBody(Array(pairs.joined(separator: "&").utf8), .decoded)
            }
            return ImportedBody(value.json(), .decoded)
        case .text(let text), .bytes(let text):
            guard !text.isEmpty else { return nil }
            // Of bytes that are no text, nock writes the hex digits.
            if fields.contains("content-encoding"), let bytes = Hex.decode(text) { return ImportedBody(bytes, .asSent) }
            return ImportedBody(text, .decoded)
        case .word, .bool: return ImportedBody(value.json(), .decoded)
        case .nothing: return nil
        }
    }

    private func responseBody(_ value: SourceValue, _ fields: HeaderFields) throws(CassetteError) -> ImportedBody {
        guard let response = value["response"] else { return ImportedBody([], .decoded) }
        let coding = fields.first("content-encoding")?.lowercased() ?? ""
        let isCoded = !coding.isEmpty && coding != "identity"
        if isCoded || value["responseIsBinary"]?.bool == true {
            // Bytes as hex digits, those of a coded body piece by piece.
            let pieces = response.list ?? [response]
            var bytes: [UInt8] = []
            for piece in pieces {
                guard let text = piece.data, let decoded = Hex.decode(text) else {
                    if pieces.count == 1, let text = piece.data { return ImportedBody(text, .decoded) }
                    throw self.context.error(piece, "response", "expected bytes in hexadecimal, found \(piece.kind)")
                }
                bytes += decoded
            }
            return ImportedBody(bytes, .asSent)
        }
        if case .text(let text) = response.content { return ImportedBody(text, .decoded) }
        return ImportedBody(response.json(), .decoded)
    }
}
