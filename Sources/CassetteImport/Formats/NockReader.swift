internal import CassetteModel
internal import TapeBytes

/// Reads the output of nock's recorder (`nock.recorder.rec({ output_objects: true })`, `nock.back`): a list of definitions in JSON.
struct NockReader {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    static func isEntry(_ value: SourceValue) -> Bool {
        value["scope"]?.string != nil && value["path"]?.string != nil && value.first("status", "reply", "response", "method") != nil
    }

    func read(_ stream: some ValueStream, _ deliver: (ImportedExchange) throws -> Void) throws {
        try stream.forEachElement(self.context, "") { value in
            guard let exchange = try self.exchange(value) else { return }
            for exchange in [exchange, self.inBytes(exchange, value)].compactMap({ $0 }) {
                for _ in 0..<(try self.times(value)) { try deliver(exchange) }
            }
        }
        try stream.end()
    }

    private func exchange(_ value: SourceValue) throws(CassetteError) -> ImportedExchange? {
        let scope = try self.context.string(value, "scope", in: "")
        let path = try self.context.string(value, "path", in: "")
        let method = value["method"]?.string?.uppercased() ?? "GET"
        guard FieldBuilder.isToken(method) else { throw self.context.error(value, "method", "\"\(method.prefix(40))\" is not a method") }
        let address = Self.plainAuthority(try self.scope(scope, port: value["port"])) + path
        guard let url = AddressCheck.url(address, self.context, at: value) else { return nil }
        var exchange = ImportedExchange(request: RecordedRequest(method: method, url: url))
        var fields = FieldBuilder(self.context)
        try fields.append(value["reqheaders"], in: "reqheaders")
        exchange.request.headers = fields.fields
        exchange.requestBody = self.requestBody(value["body"], exchange.request.headers)
        // An asterisk is for any body.
        if value["body"]?.string == "*" {
            exchange.requestBody = nil
            self.context.lose(.matcher, at: value)
        }
        exchange.dropIncompleteRequestBody(self.context, at: value)
        let status = try self.status(value)
        var answer = FieldBuilder(self.context)
        try self.append(value.first("rawHeaders", "headers"), to: &answer)
        exchange.response = RecordedResponse(status: status, headers: answer.fields)
        exchange.responseBody = self.responseBody(value, answer.fields)
        exchange.cutIncompleteAnswer(self.context, at: value)
        let unknown = (value.members ?? []).filter { !Self.known.contains($0.name) && !$0.value.isNothing }.map(\.name)
        if !unknown.isEmpty { self.context.lose(.unknownPart, at: value, names: unknown) }
        self.context.lose(.timing, at: value)
        self.context.lose(.order, at: value)
        return exchange
    }

    /// What is read of a definition; all else is reported.
    private static let known: Set<String> = [
        "scope", "port", "method", "path", "body", "status", "reply", "response", "responseFile", "responseIsBinary", "rawHeaders",
        "headers",
        "reqheaders", "times",
    ]
    /// Answers to the same request.
    private static let timesLimit = 1000

    /// How often a definition answers.
    private func times(_ value: SourceValue) throws(CassetteError) -> Int {
        guard let times = value["times"] else { return 1 }
        guard let count = times.int, (1...Self.timesLimit).contains(count) else {
            throw self.context.error(times, "times", "expected a number from 1 to \(Self.timesLimit)")
        }
        return count
    }

    /// Definitions of old versions have the port on its own.
    private func scope(_ scope: String, port: SourceValue?) throws(CassetteError) -> String {
        guard let port else { return scope }
        guard let number = port.int, (1...65_535).contains(number) else {
            throw self.context.error(port, "port", "expected a number from 1 to 65535")
        }
        let authority = scope.drop { $0 != ":" }.dropFirst(3)
        let digits = authority.reversed().prefix { $0.isASCII && $0.isNumber }.reversed()
        guard !digits.isEmpty, authority.dropLast(digits.count).last == ":" else { return "\(scope):\(number)" }
        guard Int(String(digits)) == number else {
            throw self.context.error(port, "port", "the scope has a port other than \(number)")
        }
        return scope
    }

    /// Definitions of old versions have it as a text in `reply`. 200 if there is none.
    private func status(_ value: SourceValue) throws(CassetteError) -> Int {
        for name in ["reply", "status"] {
            guard let status = value[name] else { continue }
            guard let number = status.int, (100...999).contains(number) else {
                throw self.context.error(status, name, "expected a status from 100 to 999")
            }
            return number
        }
        return 200
    }

    /// Removes the default port, which nock always writes.
    private static func plainAuthority(_ scope: String) -> String {
        for (scheme, port) in [("http://", ":80"), ("https://", ":443")] where scope.hasPrefix(scheme) && scope.hasSuffix(port) {
            return String(scope.dropLast(port.utf8.count))
        }
        return scope
    }

    /// The same exchange with the bytes that its request's body may stand for; nil if it cannot stand for bytes.
    ///
    /// nock records a body that is not UTF-8 as hex digits, and compares such a body with these digits. The definition of a text that
    /// consists of such digits is the same, so that either of them matches.
    private func inBytes(_ exchange: ImportedExchange, _ value: SourceValue) -> ImportedExchange? {
        guard case .text(let text)? = value["body"]?.content, exchange.requestBody?.bytes == text, let bytes = Hex.decode(text),
            !UTF8Validator.isValid(bytes), !text.contains(where: { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "F") })
        else { return nil }
        var other = exchange
        other.requestBody = ImportedBody(bytes, .asSent)
        return other
    }

    /// Names and values in turn, as Node has them, or an object.
    private func append(_ value: SourceValue?, to fields: inout FieldBuilder) throws(CassetteError) {
        guard let list = value?.list, list.allSatisfy({ $0.data != nil }), let last = list.last else {
            return try fields.append(value, in: "rawHeaders")
        }
        // The name of a field whose value is missing.
        if !list.count.isMultiple(of: 2) { self.context.lose(.fields, at: last) }
        for index in stride(from: 0, to: list.count - 1, by: 2) {
            fields.append(list[index].string ?? "", list[index + 1].data ?? [], at: list[index])
        }
    }

    /// A JSON body is stored as its value.
    private func requestBody(_ value: SourceValue?, _ fields: HeaderFields) -> ImportedBody? {
        guard let value, !value.isNothing else { return nil }
        switch value.content {
        case .members, .list:
            // A form is stored as its fields.
            if fields.first("content-type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true,
                let members = value.members
            {
                let pairs = members.map { "\(StubRequest.encoded($0.name))=\(StubRequest.encoded($0.value.string ?? ""))" }
                return ImportedBody(Array(pairs.joined(separator: "&").utf8), .decoded)
            }
            return ImportedBody(value.json(), .decoded)
        case .text(let text), .bytes(let text):
            guard !text.isEmpty else { return nil }
            // nock writes binary bodies as hex digits.
            if fields.contains("content-encoding"), let bytes = Hex.decode(text) { return ImportedBody(bytes, .asSent) }
            return ImportedBody(text: text, .decoded, fields)
        case .word, .bool: return ImportedBody(value.json(), .decoded)
        case .nothing: return nil
        }
    }

    /// Incomplete if the definition names a file instead, or has no bytes where it should.
    private func responseBody(_ value: SourceValue, _ fields: HeaderFields) -> ImportedBody {
        guard let response = value["response"] else {
            return ImportedBody([], .decoded, isComplete: value["responseFile"] == nil)
        }
        let coding = fields.first("content-encoding")?.lowercased() ?? ""
        let isCoded = !coding.isEmpty && coding != "identity"
        if isCoded || value["responseIsBinary"]?.bool == true {
            // Bytes as hex digits; an encoded body has several pieces.
            let pieces = response.list ?? [response]
            var bytes: [UInt8] = []
            for piece in pieces {
                guard let text = piece.data, let decoded = Hex.decode(text) else {
                    // People write the text of a coded body in its place.
                    if value["responseIsBinary"]?.bool != true, pieces.count == 1, let text = piece.data {
                        return ImportedBody(text, .decoded)
                    }
                    self.context.lose(.encoding, at: piece)
                    return ImportedBody([], .asSent, isComplete: false)
                }
                bytes += decoded
            }
            return ImportedBody(bytes, .asSent)
        }
        if case .text(let text) = response.content { return ImportedBody(text: text, .decoded, fields) }
        return ImportedBody(response.json(), .decoded)
    }
}
