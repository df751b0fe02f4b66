internal import CassetteModel
internal import TapeBytes
internal import TapeExchange

/// Reads the cassettes of the VCR family, which are lists of interactions in YAML or JSON: VCR of Ruby with betamax, vcrpy, go-vcr and
/// cassetter. They differ in the names of members.
struct InteractionListReader {
    private let context: ImportContext
    private let kind: ImportKind

    init(_ context: ImportContext, _ kind: ImportKind) {
        self.context = context
        self.kind = kind
    }

    func read(_ stream: some ValueStream, _ deliver: (ImportedExchange) throws -> Void) throws {
        // vcrpy before version 1.0 wrote only the list.
        guard try stream.enterMembers() else {
            try stream.forEachElement(self.context, "") { if let exchange = try self.exchange($0) { try deliver(exchange) } }
            return try stream.end()
        }
        var hasList = false
        while let name = try stream.nextName() {
            switch name {
            case "interactions", "http_interactions":
                hasList = true
                try stream.forEachElement(self.context, name) { if let exchange = try self.exchange($0) { try deliver(exchange) } }
            case "ws_interactions":
                hasList = true
                try stream.forEachElement(self.context, name) { if let exchange = try self.webSocket($0) { try deliver(exchange) } }
            case "grpc_interactions":
                hasList = true
                try stream.forEachElement(self.context, name) { self.context.lose(.unknownPart, at: $0) }
            default: try stream.skip()
            }
        }
        try stream.end()
        guard hasList else { throw self.context.error(line: 0, "", "the list of interactions is missing") }
    }

    /// Nil if the request's destination is unknown.
    private func exchange(_ value: SourceValue) throws -> ImportedExchange? {
        let request = try self.context.required(value, "request")
        let response = try self.context.required(value, "response")
        guard let address = Self.address(request) else { throw self.context.error(request, "request", "\"uri\" is missing") }
        guard let url = AddressCheck.url(address, self.context, at: request) else { return nil }
        var exchange = try self.request(request, url: url)
        try self.respond(response, &exchange)
        exchange.cutIncompleteAnswer(self.context, at: response)
        self.reportPlaceholders(exchange, address: address, at: value)
        exchange.started = value["recorded_at"]?.string.flatMap { SourceWords.time($0) ?? SourceWords.time(httpDate: $0) }
        // Fields in a map have lost their order and repetitions.
        self.context.lose(.order, at: value)
        if self.kind == .cassetter { self.context.lose(.nameCase, at: value) }
        if let duration = response["duration"]?.string.flatMap(GoDuration.milliseconds) {
            exchange.timing = Timing(send: 0, wait: duration, receive: 0, total: duration)
        } else {
            self.context.lose(.timing, at: value)
        }
        return exchange
    }

    /// Reports the remaining placeholders: they are replayed as they are, which a program may not understand.
    private func reportPlaceholders(_ exchange: ImportedExchange, address: String, at value: SourceValue) {
        var names = Placeholders.names(inURL: address)
        for fields in [exchange.request.headers, exchange.response?.headers ?? HeaderFields()] {
            for line in fields.lines { names += Placeholders.names(in: Array(line.utf8), isMarkup: false) }
        }
        for (body, fields) in [
            (exchange.requestBody, exchange.request.headers), (exchange.responseBody, exchange.response?.headers ?? HeaderFields()),
        ] {
            let type = fields.first("content-type")?.lowercased() ?? ""
            names += Placeholders.names(in: body?.bytes ?? [], isMarkup: type.contains("html") || type.contains("xml"))
        }
        if !names.isEmpty { self.context.lose(.placeholderKept, at: value, names: names) }
    }

    private func request(_ value: SourceValue, url: String) throws(CassetteError) -> ImportedExchange {
        // Ruby writes the method as a symbol in lower case.
        let method = try self.context.string(value, "method", in: "request").drop { $0 == ":" }.uppercased()
        guard FieldBuilder.isToken(method) else {
            throw self.context.error(value, "request.method", "\"\(method.prefix(40))\" is not a method")
        }
        var exchange = ImportedExchange(request: RecordedRequest(method: method, url: url))
        exchange.request.version = SourceWords.version(value["proto"]?.string).version
        exchange.request.headers = try self.fields(value["headers"], in: "request.headers")
        exchange.requestBody = try self.body(value["body"], exchange.request.headers, in: "request.body")
        if exchange.requestBody?.bytes.isEmpty != false {
            let length = exchange.request.headers.first("content-length").flatMap { Int($0) }
            if let length, length > 0 {
                self.context.lose(.requestBody, at: value)
                exchange.requestBody = ImportedBody([], .asSent, isComplete: false)
            } else if length == nil {
                exchange.requestBody = nil
            }
        } else {
            exchange.dropIncompleteRequestBody(self.context, at: value)
        }
        exchange.request.trailers = try self.trailers(value, in: "request.trailer")
        if exchange.requestBody == nil, self.kind == .goVCR, let form = value["form"]?.members, !form.isEmpty {
            // The form's fields accompany a body; without a body, they are all there is.
            self.context.lose(.requestBody, at: value)
        }
        return exchange
    }

    /// vcrpy before version 1.0 stored the address in parts.
    private static func address(_ request: SourceValue) -> String? {
        if let address = request.first("uri", "url") { return address.string }
        guard let host = request["host"]?.string else { return nil }
        let scheme = request["protocol"]?.string ?? "http"
        let port = request["port"]?.int.map { ":\($0)" } ?? ""
        let isDefault = port == (scheme == "https" ? ":443" : ":80")
        return "\(scheme)://\(host)\(isDefault ? "" : port)\(request["path"]?.string ?? "/")"
    }

    private func respond(_ value: SourceValue, _ exchange: inout ImportedExchange) throws(CassetteError) {
        guard let status = value["status"]?["code"] ?? value.first("status_code", "code") ?? value["status"], let code = status.int,
            (100...999).contains(code)
        else { throw self.context.error(value, "response.status", "expected a status from 100 to 999") }
        var response = RecordedResponse(status: code, reason: SourceWords.reason(value["status"]?["message"]))
        if self.kind == .goVCR, let text = value["status"]?.string {
            // For `200 OK`, the number is in another member.
            response.reason = Array(text.utf8.drop { $0 >= 48 && $0 <= 57 }.drop { $0 == 32 }).filter { $0 >= 32 && $0 != 127 }
        }
        let version = value.first("proto", "http_version")?.string ?? value["protocol"]?.string
        response.version = SourceWords.version(version.map { $0.first?.isNumber == true ? "HTTP/\($0)" : $0 }).version
        if response.version.major >= 2 { response.reason = [] }
        response.headers = try self.fields(value["headers"], in: "response.headers")
        response.trailers = try self.trailers(value, in: "response.trailer")
        exchange.responseBody =
            try self.body(value["body"] ?? value["content"], response.headers, in: "response.body") ?? ImportedBody([], .asSent)
        if value["uncompressed"]?.bool == true { exchange.responseBody?.form = .decoded }
        exchange.response = response
    }

    private func fields(_ value: SourceValue?, in path: String) throws(CassetteError) -> HeaderFields {
        var builder = FieldBuilder(self.context)
        try builder.append(value, in: path)
        return builder.fields
    }

    /// Only go-vcr has trailers; nil if there are none.
    private func trailers(_ value: SourceValue, in path: String) throws(CassetteError) -> HeaderFields? {
        guard self.kind == .goVCR, let trailers = value["trailer"], trailers.members?.isEmpty == false else { return nil }
        return try self.fields(trailers, in: path)
    }

    // MARK: Bodies

    private func body(_ value: SourceValue?, _ headers: HeaderFields, in path: String) throws(CassetteError) -> ImportedBody? {
        guard let value else { return nil }
        if let data = value.data {
            if case .bytes = value.content { return ImportedBody(data, .either) }
            return self.text(data, headers)
        }
        guard value.members != nil else {
            // vcrpy stores a streamed body as a list of its chunks.
            guard let list = value.list else { throw self.context.error(value, path, "expected a body, found \(value.kind)") }
            return ImportedBody(list.flatMap { $0.data ?? [] }, .either)
        }
        if self.kind == .cassetter { return try self.typed(value, headers, path) }
        if let text = value["base64_string"] {
            guard let bytes = text.data.flatMap({ LooseBase64.decode($0[...]) }) else {
                throw self.context.error(text, path, "this is not base64")
            }
            return ImportedBody(self.context.placeholders.filled(bytes), .either)
        }
        guard let text = value["string"] else { return ImportedBody([], .asSent) }
        if let inner = text.members, let base64 = inner.first(where: { $0.name == "base64_string" })?.value {
            guard let bytes = base64.data.flatMap({ LooseBase64.decode($0[...]) }) else {
                throw self.context.error(base64, path, "this is not base64")
            }
            return ImportedBody(self.context.placeholders.filled(bytes), .either)
        }
        guard let data = text.data else { throw self.context.error(text, path, "expected text, found \(text.kind)") }
        if case .bytes = text.content { return ImportedBody(data, .either) }
        guard case .text = text.content, let encoding = value["encoding"]?.string, data.contains(where: { $0 >= 128 }) else {
            return self.text(data, headers)
        }
        return self.text(data, as: self.encoded(data, encoding, headers), headers)
    }

    /// A body that is stored as text. Only betamax stores any bytes as text: it replaces those that are not in the charset.
    ///
    /// - Parameter bytes: the text in its encoding; nil for UTF-8.
    private func text(_ text: [UInt8], as bytes: [UInt8]? = nil, _ headers: HeaderFields) -> ImportedBody {
        let bytes = bytes ?? text
        let lacksBytes = DecodedText.lacksBytes(text, size: bytes.count, headers, replacesBytes: self.kind == .betamax)
        return ImportedBody(bytes, .either, isComplete: !lacksBytes)
    }

    /// Converts a text back to the bytes that the tool decoded, with the given encoding.
    private func encoded(_ text: [UInt8], _ encoding: String, _ headers: HeaderFields) -> [UInt8] {
        let charsets = Charset.candidates(label: encoding.lowercased(), beginning: UnsafeRawBufferPointer(start: nil, count: 0))
        guard !charsets.isEmpty else { return text }
        if let bytes = charsets.lazy.compactMap({ $0.encode(text) }).first { return bytes }
        self.context.lose(.charset)
        return text
    }

    /// A body of cassetter, which declares the type of its content.
    private func typed(_ value: SourceValue, _ headers: HeaderFields, _ path: String) throws(CassetteError) -> ImportedBody? {
        let content = value["content"]
        switch value["type"]?.string {
        case "none", nil: return nil
        case "json":
            return ImportedBody(content?.json() ?? Array("null".utf8), .decoded)
        case "binary":
            guard let content, let text = content.data else { return ImportedBody([], .asSent) }
            if case .bytes = content.content { return ImportedBody(text, .either) }
            guard let bytes = Hex.decode(text) ?? LooseBase64.decode(text[...]) else {
                throw self.context.error(content, path, "this is neither hex nor base64")
            }
            return ImportedBody(bytes, .either)
        default: return ImportedBody(text: content?.data ?? [], .decoded, headers)
        }
    }

    // MARK: WebSockets

    /// Nil if the destination is unknown.
    private func webSocket(_ value: SourceValue) throws -> ImportedExchange? {
        let address = value.first("uri", "url") ?? value["request"]?.first("uri", "url")
        guard let address = address?.string else { throw self.context.error(value, "ws_interactions", "\"uri\" is missing") }
        guard let url = AddressCheck.url(address, self.context, at: value) else { return nil }
        var exchange = ImportedExchange(request: RecordedRequest(method: "GET", url: url))
        exchange.request.headers = try self.fields(value.first("headers", "request_headers") ?? value["request"]?["headers"], in: "headers")
        exchange.response = RecordedResponse(
            status: 101, reason: Array("Switching Protocols".utf8), headers: HeaderFields(["Upgrade: websocket", "Connection: Upgrade"]))
        exchange.started = value["recorded_at"]?.string.flatMap { SourceWords.time($0) }
        var messages: [ImportedMessage] = []
        for frame in value["frames"]?.list ?? [] {
            let isClient = ["client", "send", "sent", "outgoing", "out", "client_to_server"].contains(
                frame["direction"]?.string?.lowercased() ?? "")
            let type = frame["frame_type"]?.string?.lowercased() ?? "text"
            var bytes: [UInt8] = []
            if let body = frame["body"] { bytes = try body.data ?? self.typed(body, HeaderFields(), "frames.body")?.bytes ?? [] }
            let kind: TapedMessage.Kind
            switch type {
            case "binary":
                kind = .binary
                if case .text? = frame["body"]?.content { bytes = Hex.decode(bytes) ?? bytes }
            case "ping": kind = .ping
            case "pong": kind = .pong
            case "close":
                let code = frame["code"]?.int ?? 1000
                kind = .close
                bytes = WebSocketClose(code: UInt16(clamping: code), reason: Array(bytes.prefix(123))).payload
            default: kind = .text
            }
            let at = frame["offset_ms"]?.double.map { max(0, $0) } ?? messages.last?.at ?? 0
            messages.append(ImportedMessage(at: at, from: isClient ? .client : .server, kind: kind, bytes: bytes))
        }
        exchange.messages = messages
        return exchange
    }
}

/// Durations as Go writes them: `1m2.5s`, `83.98ms`.
enum GoDuration {
    private static let units: [(name: String, milliseconds: Double)] = [
        ("ns", 1e-6), ("µs", 1e-3), ("μs", 1e-3), ("us", 1e-3), ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
    ]

    /// Nil for anything else. A bare number is nanoseconds, as in older versions.
    static func milliseconds(_ text: String) -> Double? {
        if let number = Double(text) { return number >= 0 && number.isFinite ? (number / 1000).rounded() / 1000 : nil }
        var rest = text[...]
        var sum = 0.0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(digits.count)
            let name = rest.prefix { !($0.isASCII && $0.isNumber) }
            guard let number = Double(digits), let unit = self.units.first(where: { $0.name == name }) else { return nil }
            sum += number * unit.milliseconds
            rest = rest.dropFirst(name.count)
        }
        return (sum * 1000).rounded() / 1000
    }
}
