internal import CassetteModel
internal import TapeBytes

/// Reads Postman collections, formats 2.0 and 2.1: each saved response of a request is an exchange.
struct PostmanReader {
    /// For nested folders.
    private static let depthLimit = 32

    private let context: ImportContext
    private let placeholders: Placeholders

    init(_ context: ImportContext) {
        self.context = context
        self.placeholders = Placeholders(context.options.placeholders, use: context.losses.filled)
    }

    /// Whether a member of the outermost object is typical of a collection.
    static func isCollection(_ value: SourceValue, named name: String) -> Bool {
        switch name {
        case "info": value["schema"]?.string?.contains("getpostman.com") == true || value["_postman_id"] != nil
        case "collection": value["item"] != nil && value["info"] != nil
        default: false
        }
    }

    func read(_ stream: some ValueStream, _ deliver: (ImportedExchange) throws -> Void) throws {
        let document = try stream.value()
        try stream.end()
        let collection = document["item"] == nil ? document["collection"] ?? document : document
        guard let items = collection["item"]?.list else { throw self.context.error(document, "", "\"item\" is missing") }
        let variables = Variables(collection, placeholders: self.placeholders)
        try self.read(items, variables, auth: collection["auth"], depth: 0, deliver)
    }

    private func read(
        _ items: [SourceValue], _ variables: Variables, auth inherited: SourceValue?, depth: Int,
        _ deliver: (ImportedExchange) throws -> Void
    ) throws {
        for item in items {
            let auth = item["auth"] ?? item["request"]?["auth"] ?? inherited
            if let inner = item["item"]?.list {
                guard depth < Self.depthLimit else {
                    throw self.context.error(item, "item", "more than \(Self.depthLimit) nested folders")
                }
                try self.read(inner, variables, auth: auth, depth: depth + 1, deliver)
                continue
            }
            let answers = item["response"]?.list ?? []
            if answers.isEmpty { self.context.lose(.unanswered, at: item) }
            for answer in answers {
                self.context.entry += 1
                if let exchange = try self.exchange(answer, of: item, variables, auth: auth) { try deliver(exchange) }
            }
        }
    }

    private func exchange(
        _ answer: SourceValue, of item: SourceValue, _ variables: Variables, auth: SourceValue?
    ) throws(CassetteError) -> ImportedExchange? {
        guard let request = answer["originalRequest"] ?? item["request"] else {
            self.context.lose(.unanswered, at: answer)
            return nil
        }
        guard let status = answer["code"]?.int, (100...999).contains(status) else {
            self.context.lose(.status, at: answer)
            return nil
        }
        let address = Self.adding(
            request["auth"] ?? auth, to: variables.filled(Self.address(request.members == nil ? request : request["url"], variables)),
            variables)
        let unknown = variables.unknown(in: address)
        guard unknown.isEmpty else {
            self.context.lose(.placeholder, at: request, names: unknown)
            return nil
        }
        let method = request["method"]?.string ?? "GET"
        guard FieldBuilder.isToken(method) else {
            throw self.context.error(request, "request.method", "\"\(method.prefix(40))\" is not a method")
        }
        guard let url = SourceWords.url(address.contains("://") ? address : "http://\(address)") else {
            self.context.lose(.notHTTP, at: request)
            return nil
        }
        var exchange = ImportedExchange(request: RecordedRequest(method: method, url: url))
        let notes = item["description"]?.string ?? item["description"]?["content"]?.string ?? ""
        exchange.request.headers = self.fields(request["header"], variables)
        exchange.requestBody = self.requestBody(request["body"], &exchange.request, variables)
        if exchange.requestBody == nil, notes.contains("The body has ") {
            // Our own export writes this note for a body that is not text.
            exchange.requestBody = ImportedBody([], .asSent, isComplete: false)
        }
        if exchange.requestBody?.isComplete == false { self.context.lose(.requestBody, at: request) }
        var response = RecordedResponse(status: status, reason: SourceWords.reason(answer["status"]))
        response.headers = self.fields(answer["header"], variables)
        exchange.response = response
        let type = response.headers.first("content-type") ?? ""
        let text = DecodedText(variables.filled(answer["body"]?.data ?? []), type: type, context: self.context)
        exchange.responseBody = ImportedBody(text.bytes, .decoded)
        let length = response.headers.contains("content-encoding") ? nil : response.headers.first("content-length").flatMap { Int($0) }
        // People edit answers and leave the length, so that it proves a text and never refutes one.
        let isWhole = text.isWhole(size: nil, length: nil) || length == text.bytes.count
        let isBodiless = method == "HEAD" || status < 200 || status == 204 || status == 304
        if !isBodiless, !isWhole || text.bytes.isEmpty && self.lacksBody(answer, response, notes) || notes.contains("The answer was cut ") {
            exchange.cutAnswer("the collection does not have the whole body")
            self.context.lose(.responseBody, at: answer)
        }
        if let time = answer["responseTime"]?.double, time >= 0 {
            exchange.timing = Timing(send: 0, wait: time, receive: 0, total: time)
        } else {
            self.context.lose(.timing, at: answer)
        }
        return exchange
    }

    private func lacksBody(_ answer: SourceValue, _ response: RecordedResponse, _ notes: String) -> Bool {
        if notes.contains("The answer has ") { return true }
        return response.headers.first("content-length").flatMap { Int($0) } ?? 0 > 0
    }

    // MARK: A request

    private static func address(_ value: SourceValue?, _ variables: Variables) -> String {
        guard let value else { return "" }
        if let text = value.string ?? value["raw"]?.string { return self.filled(text, value["variable"]?.list ?? []) }
        let scheme = value["protocol"]?.string.map { "\($0)://" } ?? ""
        let host = value["host"]?.string ?? value["host"]?.list?.compactMap(\.string).joined(separator: ".") ?? ""
        let port = value["port"]?.string.map { ":\($0)" } ?? ""
        let path =
            value["path"]?.string ?? value["path"]?.list?.compactMap { $0.string ?? $0["value"]?.string }.joined(separator: "/") ?? ""
        let query = (value["query"]?.list ?? []).filter { $0["disabled"]?.bool != true }.map { pair in
            pair["value"]?.string.map { "\(pair["key"]?.string ?? "")=\($0)" } ?? pair["key"]?.string ?? ""
        }
        let target = path.hasPrefix("/") ? path : "/\(path)"
        let url = "\(scheme)\(host)\(port)\(target)\(query.isEmpty ? "" : "?\(query.joined(separator: "&"))")"
        return self.filled(url, value["variable"]?.list ?? [])
    }

    /// The URL with the values of its path variables: segments such as `:id`. One without a value stays as it is.
    private static func filled(_ url: String, _ variables: [SourceValue]) -> String {
        guard !variables.isEmpty else { return url }
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        let path = url[start...].prefix { $0 != "?" && $0 != "#" }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).enumerated().map { index, segment in
            guard index > 0, segment.first == ":" else { return String(segment) }
            let variable = variables.first { $0.first("key", "id")?.string == String(segment.dropFirst()) }
            return variable?["value"]?.string ?? String(segment)
        }
        return url[..<start] + segments.joined(separator: "/") + url[path.endIndex...]
    }

    /// The URL with a key that Postman adds to its query. It adds others to the header fields.
    private static func adding(_ auth: SourceValue?, to url: String, _ variables: Variables) -> String {
        guard auth?["type"]?.string == "apikey", let settings = auth?["apikey"] else { return url }
        // A list of pairs in format 2.1, an object in 2.0.
        func setting(_ name: String) -> String? {
            (settings.list?.first { $0["key"]?.string == name }?["value"] ?? settings[name])?.string
        }
        guard setting("in") == "query", let key = setting("key").map(variables.filled), !key.isEmpty else { return url }
        let pair = "\(StubRequest.encoded(key))=\(StubRequest.encoded(variables.filled(setting("value") ?? "")))"
        let plain = url.prefix { $0 != "#" }
        let items = plain.drop { $0 != "?" }.dropFirst().split(separator: "&")
        guard !items.contains(where: { $0.prefix { $0 != "=" } == StubRequest.encoded(key) }) else { return url }
        return "\(plain)\(plain.contains("?") ? "&" : "?")\(pair)\(url[plain.endIndex...])"
    }

    private func fields(_ value: SourceValue?, _ variables: Variables) -> HeaderFields {
        var fields = FieldBuilder(self.context)
        if let text = value?.data {
            for line in text.split(separator: 10) {
                guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
                let content = line[(colon + 1)...].drop { $0 == 32 }
                fields.append(
                    String(decoding: line[..<colon], as: UTF8.self), variables.filled(Array(content)),
                    at: value ?? SourceValue(line: 0, content: .nothing))
            }
        }
        for field in value?.list ?? [] where field["disabled"]?.bool != true {
            fields.append(field["key"]?.string ?? "", variables.filled(field["value"]?.data ?? []), at: field)
        }
        return fields.fields
    }

    /// Nil if there is none; incomplete if the collection names a file.
    private func requestBody(_ value: SourceValue?, _ request: inout RecordedRequest, _ variables: Variables) -> ImportedBody? {
        guard let value, value["disabled"]?.bool != true else { return nil }
        switch value["mode"]?.string {
        case "raw":
            let text = value["raw"]?.data ?? []
            if text.isEmpty { return nil }
            if value["options"]?["raw"]?["language"]?.string == "json", !request.headers.contains("content-type") {
                request.headers.append(name: "Content-Type", value: "application/json")
            }
            return ImportedBody(variables.filled(text), .decoded)
        case "urlencoded":
            let fields = (value["urlencoded"]?.list ?? []).filter { $0["disabled"]?.bool != true }
            let pairs = fields.map { field in
                let name = variables.filled(field["key"]?.string ?? "")
                return "\(StubRequest.encoded(name))=\(StubRequest.encoded(variables.filled(field["value"]?.string ?? "")))"
            }
            if !request.headers.contains("content-type") {
                request.headers.append(name: "Content-Type", value: "application/x-www-form-urlencoded")
            }
            return ImportedBody(Array(pairs.joined(separator: "&").utf8), .decoded)
        case "formdata": return self.form(value, &request, variables)
        case "graphql":
            guard let graph = value["graphql"] else { return nil }
            var members: [SourceValue.Member] = []
            if let query = graph["query"] { members.append(.init(name: "query", value: query)) }
            if let text = graph["variables"]?.data, let document = try? JSONDocument(text),
                let values = try? SourceValue(document, line: value.line, limit: SourceValue.countLimit, surrogates: {})
            {
                members.append(.init(name: "variables", value: values))
            }
            if !request.headers.contains("content-type") { request.headers.append(name: "Content-Type", value: "application/json") }
            return ImportedBody(variables.filled(SourceValue(line: value.line, content: .members(members)).json()), .decoded)
        case "file": return ImportedBody([], .asSent, isComplete: false)
        default: return nil
        }
    }

    /// Writes a multipart form with our own boundary, as Postman chooses one only when it sends.
    private func form(_ value: SourceValue, _ request: inout RecordedRequest, _ variables: Variables) -> ImportedBody {
        let boundary = "wiretape-\(self.context.entry)"
        request.headers = request.headers.removing("content-type")
        request.headers.append(name: "Content-Type", value: "multipart/form-data; boundary=\(boundary)")
        var bytes: [UInt8] = []
        for field in value["formdata"]?.list ?? [] where field["disabled"]?.bool != true {
            // The collection contains the names of files, not their contents.
            guard field["type"]?.string != "file" else { return ImportedBody([], .asSent, isComplete: false) }
            bytes += Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(HARForm.quoted(field["key"]?.string ?? ""))\"".utf8)
            if let type = field["contentType"]?.string, type.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) {
                bytes += Array("\r\nContent-Type: \(type)".utf8)
            }
            bytes += Array("\r\n\r\n".utf8) + variables.filled(field["value"]?.data ?? []) + [13, 10]
        }
        return ImportedBody(bytes + Array("--\(boundary)--\r\n".utf8), .decoded)
    }

    /// The values of names in braces.
    private struct Variables {
        private let filler: Placeholders
        /// Variables whose value is their own name in braces, as our own export writes the placeholders of secrets.
        private let literal: Set<String>

        init(_ collection: SourceValue, placeholders: Placeholders) {
            var values: [String: String] = [:]
            var literal: Set<String> = []
            for variable in collection["variable"]?.list ?? [] {
                guard let name = variable.first("key", "id")?.string, let value = variable["value"]?.string else { continue }
                if value == "{{\(name)}}" { literal.insert(name) } else if !value.isEmpty { values[name] = value }
            }
            self.literal = literal
            self.filler = placeholders.adding(values)
        }

        func filled(_ text: [UInt8]) -> [UInt8] { self.filler.filled(self.filler.filled(text)) }

        func filled(_ text: String) -> String { self.filler.filled(self.filler.filled(text)) }

        func unknown(in url: String) -> [String] {
            var names: [String] = []
            var rest = url[...]
            while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}") {
                let name = String(rest[open.upperBound..<close.lowerBound])
                if !self.literal.contains(name), !names.contains(name) { names.append(name) }
                rest = rest[close.upperBound...]
            }
            return names
        }
    }
}
