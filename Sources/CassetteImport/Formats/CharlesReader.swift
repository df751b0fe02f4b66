internal import CassetteModel
internal import TapeBytes

/// Reads sessions that Charles exports as JSON (`.chlsj`): a list of transactions.
struct CharlesReader {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    static func isEntry(_ value: SourceValue) -> Bool {
        value["host"]?.string != nil && value["method"] != nil && value.first("actualPort", "protocolVersion", "durations", "tunnel") != nil
    }

    func read(_ stream: some ValueStream, _ deliver: (ImportedExchange) throws -> Void) throws {
        try stream.forEachElement(self.context, "") { if let exchange = try self.exchange($0) { try deliver(exchange) } }
        try stream.end()
    }

    private func exchange(_ value: SourceValue) throws(CassetteError) -> ImportedExchange? {
        let method = try self.context.string(value, "method", in: "")
        guard method != "CONNECT", value["tunnel"]?.bool != true, let url = SourceWords.url(Self.url(value)) else {
            self.context.lose(.notHTTP, at: value)
            return nil
        }
        guard FieldBuilder.isToken(method) else { throw self.context.error(value, "method", "\"\(method.prefix(40))\" is not a method") }
        let (version, isLater) = SourceWords.version(value["protocolVersion"]?.string)
        if isLater { self.context.lose(.http3, at: value) }
        var exchange = ImportedExchange(request: RecordedRequest(method: method, url: url, version: version))
        exchange.started = value["times"]?["start"]?.string.flatMap { SourceWords.time($0) }
        exchange.timing = Self.timing(value["durations"])
        exchange.request.headers = try self.fields(value["request"], in: "request.header")
        exchange.requestBody = try self.body(value["request"], exchange.request.headers, in: "request.body")
        if exchange.requestBody?.isComplete == false { self.context.lose(.requestBody, at: value) }
        let state = value["status"]?.string ?? "COMPLETE"
        guard let answer = value["response"], let status = answer["status"]?.int, status > 0 else {
            exchange.outcome = .failed(
                HARReader.failure(value.first("errorMessage", "error")?.string ?? "the session has no answer (\(state))"))
            return exchange
        }
        guard (100...999).contains(status) else { throw self.context.error(answer, "response.status", "\(status) is not a status") }
        var response = RecordedResponse(status: status, reason: Self.reason(answer), version: version)
        response.headers = try self.fields(answer, in: "response.header")
        exchange.response = response
        exchange.responseBody = try self.body(answer, response.headers, in: "response.body")
        let isBodiless = method == "HEAD" || status < 200 || status == 204 || status == 304
        if exchange.responseBody == nil { exchange.responseBody = ImportedBody([], .asSent) }
        if !isBodiless, exchange.responseBody?.isComplete == false {
            self.context.lose(.responseBody, at: value)
            exchange.cutAnswer("the session does not have the whole body")
        } else if state != "COMPLETE", !isBodiless {
            exchange.cutAnswer(value["errorMessage"]?.string ?? "the session ends with \(state)")
        }
        if value["webSocket"].map({ $0.bool != false && !$0.isNothing }) == true || status == 101 {
            self.context.lose(.unknownPart, at: value)
        }
        return exchange
    }

    private static func url(_ value: SourceValue) -> String {
        let scheme = value["scheme"]?.string ?? "http"
        let host = value["host"]?.string ?? ""
        let port = value.first("port", "actualPort")?.int ?? 0
        let isDefault = port <= 0 || port == (scheme == "https" ? 443 : 80)
        let authority = (host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host) + (isDefault ? "" : ":\(port)")
        let path = value["path"]?.string ?? "/"
        let query = value["query"]?.string.map { "?\($0)" } ?? ""
        return "\(scheme)://\(authority)\(path.hasPrefix("/") ? path : "/\(path)")\(query)"
    }

    private static func reason(_ answer: SourceValue) -> [UInt8] {
        let line = answer["header"]?["firstLine"]?.data ?? []
        let parts = line.split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 ? parts[2].filter { $0 >= 32 && $0 != 127 } : []
    }

    private func fields(_ message: SourceValue?, in path: String) throws(CassetteError) -> HeaderFields {
        var builder = FieldBuilder(self.context)
        try builder.append(message?["header"]?["headers"], in: path)
        return builder.fields
    }

    /// Nil if there is no body; incomplete if the session mentions a body but does not contain it.
    private func body(_ message: SourceValue?, _ fields: HeaderFields, in path: String) throws(CassetteError) -> ImportedBody? {
        if let body = message?["body"], body.members != nil {
            if let text = body.first("encoded", "data")?.data {
                guard let bytes = LooseBase64.decode(text[...]) else {
                    self.context.lose(.base64, at: body)
                    return ImportedBody([], .asSent, isComplete: false)
                }
                return ImportedBody(bytes, .either, isComplete: bytes.count >= Self.size(message, fields) ?? 0)
            }
            if let text = body["text"] {
                guard let data = text.data else { throw self.context.error(text, path, "expected text, found \(text.kind)") }
                if body["encoding"]?.string == "base64", let bytes = LooseBase64.decode(data[...]) {
                    return ImportedBody(bytes, .either, isComplete: bytes.count >= Self.size(message, fields) ?? 0)
                }
                let text = DecodedText(data, type: Self.type(message, fields), context: self.context)
                let isCoded = fields.contains("content-encoding")
                // The size of an encoded body says nothing about the text.
                let length = isCoded ? nil : fields.first("content-length").flatMap { Int($0) }
                let isWhole = text.isWhole(size: body["decodedSize"]?.int ?? Self.size(message, fields), length: length)
                return ImportedBody(text.bytes, .decoded, isComplete: isWhole)
            }
        }
        let size = message?["sizes"]?["body"]?.int ?? fields.first("content-length").flatMap { Int($0) } ?? 0
        return size > 0 ? ImportedBody([], .asSent, isComplete: false) : nil
    }

    /// The size of a body without codings, in bytes; nil if unknown.
    private static func size(_ message: SourceValue?, _ fields: HeaderFields) -> Int? {
        guard !fields.contains("content-encoding") else { return nil }
        if let length = fields.first("content-length").flatMap({ Int($0) }) { return length }
        // Here, `sizes` may count the lines of chunks, or the heads of frames.
        let line = message?["header"]?["firstLine"]?.string ?? ""
        guard !fields.contains("transfer-encoding"), line.contains("HTTP/1") else { return nil }
        return message?["sizes"]?["body"]?.int
    }

    /// The type, with the charset that Charles detected if the field names none.
    private static func type(_ message: SourceValue?, _ fields: HeaderFields) -> String {
        let type = fields.first("content-type") ?? message?["mimeType"]?.string ?? ""
        guard MIMEParameters(type.utf8)["charset"] == nil, let charset = message?["charset"]?.string, !charset.isEmpty else { return type }
        return "\(type.isEmpty ? "text/plain" : type); charset=\(charset)"
    }

    /// Charles's durations are in milliseconds too.
    private static func timing(_ durations: SourceValue?) -> Timing {
        func phase(_ name: String) -> Double? { durations?[name]?.double.flatMap { $0 >= 0 ? $0 : nil } }
        return Timing(
            dns: phase("dns"), connect: phase("connect"), tls: phase("ssl"), send: phase("request"), wait: phase("latency"),
            receive: phase("response"), total: phase("total"))
    }
}
