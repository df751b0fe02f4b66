internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Reads simulations of Hoverfly, which are pairs of matchers and responses.
struct HoverflyReader {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    func read(_ stream: some ValueStream, _ deliver: (ImportedExchange) throws -> Void) throws {
        let simulation = self.context.placeholders.filled(try stream.value())
        try stream.end()
        let data = try self.context.required(simulation, "data")
        let list = try self.context.required(data, "pairs", in: "data")
        guard let pairs = list.list else { throw self.context.error(list, "data.pairs", "expected a list, found \(list.kind)") }
        let delays = data["globalActions"]?["delays"]?.list ?? []
        for pair in pairs {
            self.context.entry += 1
            let exchanges = try self.exchanges(pair, delays)
            if exchanges.isEmpty { self.context.lose(.refused, at: pair) }
            for exchange in exchanges { try deliver(exchange) }
        }
    }

    /// The members of a request that a recorded request can represent; any other member is a matcher that is lost.
    private static let known = [
        "path", "method", "destination", "scheme", "query", "deprecatedQuery", "headers", "body", "requiresState", "requestType",
    ]

    /// One exchange for each encoding of the query; none if no recorded request can match the pair.
    private func exchanges(_ pair: SourceValue, _ delays: [SourceValue]) throws(CassetteError) -> [ImportedExchange] {
        let value = try self.context.required(pair, "request")
        let response = try self.context.required(pair, "response")
        var words = StubRequest(pair, self.context)
        let wantedMethod = words.needed(value["method"])
        let method = wantedMethod ?? "GET"
        guard FieldBuilder.isToken(method) else {
            throw self.context.error(value, "request.method", "\"\(method.prefix(40))\" is not a method")
        }
        let wantedPath = words.needed(value["path"])
        let path = wantedPath ?? "/"
        let destination = words.needed(value["destination"])
        let wantedScheme = words.needed(value["scheme"])
        guard !words.isRefused else { return [] }
        // Without them, the pair answers any method and any path.
        if wantedMethod == nil || wantedPath == nil { self.context.lose(.matcher, at: pair) }
        let said = value.first("query", "deprecatedQuery")
        var query: [(name: String, value: String)] = []
        // Hoverfly joins the values of a repeated name by semicolons before it compares them with a text.
        var repeated: [(name: String, value: String)] = []
        if let members = said?.members, members.first(where: { $0.name == "exactMatch" || $0.name == "matcher" }) == nil {
            for member in members {
                guard let values = words.equals(member.value) else { continue }
                query += values.map { (member.name, $0) }
                let parts = values.count == 1 ? values[0].split(separator: ";", omittingEmptySubsequences: false).map(String.init) : values
                repeated += parts.map { (member.name, $0) }
            }
        } else if let text = words.equal(said), !text.isEmpty {
            // Pairs of decoded names and values.
            query = text.split(separator: "&").map { pair in
                let name = pair.prefix { $0 != "=" }
                return (Self.decoded(name), Self.decoded(pair.dropFirst(name.count).dropFirst()))
            }
        }
        if destination == nil { self.context.lose(.host, at: pair) }
        let base =
            destination.map { "\(words.scheme(wantedScheme))://\($0)" }
            ?? StubRequest.base(self.context.options.base, scheme: wantedScheme?.lowercased(), port: nil)
        let address = base + Self.encoded(path: path.hasPrefix("/") ? path : "/\(path)")
        guard let url = SourceWords.url(address) else { return [] }
        var exchange = ImportedExchange(request: RecordedRequest(method: method, url: url))
        var fields = FieldBuilder(self.context)
        for header in value["headers"]?.members ?? [] {
            for text in words.equals(header.value) ?? [] { fields.append(header.name, Array(text.utf8), at: header.value) }
        }
        if let form = StubRequest.only(value["body"], "form") {
            if let pairs = words.fields(of: form) {
                let text = pairs.map { "\(StubRequest.encoded($0.name))=\(StubRequest.encoded($0.value))" }.joined(separator: "&")
                exchange.requestBody = ImportedBody(Array(text.utf8), .decoded)
                // The matcher reads only bodies of this type.
                if !fields.fields.contains("content-type") {
                    fields.append("Content-Type", Array("application/x-www-form-urlencoded".utf8), at: form)
                }
            }
        } else if let body = words.equal(value["body"]), !body.isEmpty {
            exchange.requestBody = ImportedBody(Array(body.utf8), .decoded)
        }
        exchange.request.headers = fields.fields
        guard !words.isRefused else { return [] }
        for member in value.members ?? [] where !Self.known.contains(member.name) && !member.value.isNothing {
            self.context.lose(.matcher, at: member.value)
        }
        if value["requiresState"]?.members?.isEmpty == false { self.context.lose(.scenario, at: pair) }
        try self.respond(response, &exchange)
        exchange.cutIncompleteAnswer(self.context, at: pair)
        self.delay(&exchange, response, delays, at: pair)
        self.context.lose(.order, at: pair)
        self.context.lose(.repeated, at: pair)
        return QuerySpelling.all(of: exchange, queries: repeated.count > query.count ? [query, repeated] : [query]) { spelling, query in
            SourceWords.url(address + spelling.query(query, after: address))
        }
    }

    /// Simulations before version 5 contain queries as they were sent.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let decoded = Hex.decode(Array(rest.prefix(2))) {
                bytes += decoded
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A decoded path, with the characters escaped that would end it.
    private static func encoded(path: String) -> String {
        var encoded = ""
        for character in path.unicodeScalars {
            switch character {
            case "?", "#", "%": encoded += StubRequest.encoded(String(character))
            default: encoded.unicodeScalars.append(character)
            }
        }
        return encoded
    }

    private func respond(_ value: SourceValue, _ exchange: inout ImportedExchange) throws(CassetteError) {
        let status = try self.context.int(value, "status", in: "response")
        guard (100...999).contains(status) else { throw self.context.error(value, "response.status", "\(status) is not a status") }
        var fields = FieldBuilder(self.context)
        try fields.append(value["headers"], in: "response.headers")
        exchange.response = RecordedResponse(status: status, headers: fields.fields)
        if value["templated"]?.bool == true { self.context.lose(.template, at: value) }
        if let name = value["bodyFile"], name.data?.isEmpty == false {
            let bytes = try self.context.file(name, "response.bodyFile", below: FileLocation(self.context.file).folder)
            exchange.responseBody = ImportedBody(bytes, .either)
            return
        }
        let body = value["body"]?.data ?? []
        guard value["encodedBody"]?.bool == true else {
            exchange.responseBody = ImportedBody(text: body, .either, fields.fields)
            return
        }
        guard let bytes = LooseBase64.decode(body[...]) else { throw self.context.error(value, "response.body", "this is not base64") }
        exchange.responseBody = ImportedBody(bytes, .either)
    }

    /// Applies the delay for all responses, or for URLs that contain a plain pattern.
    private func delay(_ exchange: inout ImportedExchange, _ response: SourceValue, _ delays: [SourceValue], at pair: SourceValue) {
        let url = exchange.request.url
        let method = exchange.request.method
        let fitting = delays.first { delay in
            let pattern = delay["urlPattern"]?.string ?? ""
            let isForAll = [".", ".*", ""].contains(pattern)
            let methods = ["", method]
            return methods.contains(delay["httpMethod"]?.string ?? "")
                && (isForAll || StubRequest.isPlain(pattern.filter { $0 != "." }) && url.contains(pattern))
        }
        guard let time = response["fixedDelay"]?.double ?? fitting?["delay"]?.double, time >= 0 else {
            return self.context.lose(.timing, at: pair)
        }
        exchange.timing = Timing(send: 0, wait: time, receive: 0, total: time)
    }
}
