package import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes

/// Writes a Postman collection, format 2.1: each exchange is a request with its response as an example.
package struct PostmanCollection: ExchangeWriter {
    private let target: ExportTarget
    private var writer = JSONWriter()
    /// Names in double braces in the requests, which Postman would fill in.
    private var variables = BracedNames()

    package init(_ target: ExportTarget) { self.target = target.visibleJSON() }

    package mutating func begin() throws {
        self.writer.beginObject(.lines)
        self.writer.member("info")
        self.writer.beginObject(.inline)
        self.member("name", self.target.name)
        self.member("schema", "https://schema.getpostman.com/json/collection/v2.1.0/collection.json")
        self.writer.endObject()
        self.writer.member("item")
        self.writer.beginArray(.lines)
    }

    package mutating func end() throws {
        self.writer.endArray()
        if !self.variables.all.isEmpty {
            // Each variable's value is its own name in braces. So Postman sends what was recorded, unless a person sets another value.
            self.writer.member("variable")
            self.writer.beginArray(.lines)
            for name in self.variables.all {
                self.writer.element()
                self.pair(name, "{{\(name)}}")
            }
            self.writer.endArray()
        }
        self.writer.endObject()
        self.writer.byte(10)
        try self.flush()
    }

    private mutating func flush() throws {
        try self.writer.withUnsafeBytes(self.target.sink)
        self.writer.drain()
    }

    package mutating func append(_ interaction: Interaction, number: Int) throws {
        let request = interaction.request
        let path = request.url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }.prefix { $0 != "?" }
        let payload = try self.payload(request, number)
        self.variables.find(in: request.url.utf8)
        self.variables.find(in: request.headers.bytes)
        payload.forEachText { self.variables.find(in: $0) }
        var answer: [UInt8] = []
        if let response = interaction.response { answer = try self.target.content(response.body, response.headers, number: number) }
        self.writer.element()
        self.writer.beginObject(.lines)
        self.member("name", "\(request.method) \(path.isEmpty ? "/" : String(path))")
        var notes = payload.notes
        // Postman has a text in the charset of its type.
        let type = interaction.response?.headers.first("content-type") ?? ""
        if !UTF8Validator.isValid(answer) || Charset.bytes(of: answer, type: type) != answer {
            notes.append("The answer has \(answer.count) bytes that are no text.")
            answer = []
        }
        if let body = interaction.response?.body, !body.isComplete { notes.append("The answer was cut after \(body.size) bytes.") }
        if !notes.isEmpty {
            self.member("description", "\(notes.joined(separator: " ")) See: wiretape show \(VisibleText.line(self.target.path)) \(number)")
        }
        self.writer.member("request")
        self.request(request, payload)
        self.writer.member("response")
        self.writer.beginArray(.lines)
        if let response = interaction.response {
            self.writer.element()
            self.response(response, answer, to: request, payload, number)
        }
        self.writer.endArray()
        self.writer.endObject()
        try self.flush()
    }

    private mutating func request(_ request: RecordedRequest, _ payload: Payload) {
        self.writer.beginObject(.lines)
        self.member("method", request.method)
        var headers = request.headers
        // Postman chooses the boundary.
        if case .parts = payload { headers = headers.removing("content-type") }
        self.fields(headers, isDecoded: true)
        self.body(payload)
        self.url(request.url)
        self.writer.endObject()
    }

    private mutating func response(
        _ response: RecordedResponse, _ content: [UInt8], to request: RecordedRequest, _ payload: Payload, _ number: Int
    ) {
        let type = MediaType(response.headers.firstIndex(of: "content-type").map { response.headers.valueBytes(at: $0) })
        self.writer.beginObject(.lines)
        self.member("name", "exchange \(number)")
        self.writer.member("originalRequest")
        self.request(request, payload)
        self.member("status", String(decoding: response.reason, as: UTF8.self))
        self.writer.member("code")
        self.writer.integer(response.status)
        self.member("_postman_previewlanguage", type.kind == .json ? "json" : type.essence.hasSuffix("html") ? "html" : "text")
        self.fields(response.headers, isDecoded: true)
        self.writer.member("cookie")
        self.writer.raw("[]")
        self.writer.member("body")
        // Postman only has text.
        self.writer.string(UTF8Validator.isValid(content) ? String(decoding: content, as: UTF8.self) : "")
        self.writer.endObject()
    }

    // MARK: Bodies

    /// A request's body in the forms that Postman supports.
    private enum Payload {
        case none
        case form([FormText.Field])
        case parts([Part])
        case text([UInt8], isJSON: Bool)
        /// The number of bytes.
        case binary(Int)

        func forEachText(_ body: ([UInt8]) -> Void) {
            switch self {
            case .none, .binary: return
            case .form(let fields):
                for field in fields { for text in [field.name, field.value ?? ""] { body(Array(text.utf8)) } }
            case .parts(let parts):
                for part in parts { for text in [Array(part.name.utf8), part.text ?? []] { body(text) } }
            case .text(let text, _): body(text)
            }
        }

        /// Notes about the parts of the body that are not in the collection.
        var notes: [String] {
            switch self {
            case .none, .form, .text: []
            case .binary(let size): ["The body has \(size) bytes that are no text."]
            case .parts(let parts):
                parts.contains { $0.filename == nil && $0.text == nil } ? ["Parts of the form that are no text are empty."] : []
            }
        }
    }

    private struct Part {
        var name: String
        var filename: String?
        var type: String?
        /// Nil if it is not text, or if it is a file, which the reader of the collection must provide.
        var text: [UInt8]?
    }

    private func payload(_ request: RecordedRequest, _ number: Int) throws -> Payload {
        guard let body = request.body, body.size > 0 else { return .none }
        if case .form(let form) = body.content { return .form(form.fields) }
        let content = try self.target.content(body, request.headers, number: number)
        if MultipartType(request.headers)?.isFormData == true,
            let parts = try BodyParts(BodyContents(content), headers: request.headers), !parts.all.contains(where: \.isMultipart)
        {
            return .parts(parts.all.map { self.part($0, content) })
        }
        guard UTF8Validator.isValid(content) else { return .binary(content.count) }
        let type = MediaType(request.headers.firstIndex(of: "content-type").map { request.headers.valueBytes(at: $0) })
        return .text(content, isJSON: type.kind == .json)
    }

    private func part(_ part: BodyPart, _ content: [UInt8]) -> Part {
        let data = Array(content[part.data])
        let text = part.filename == nil && UTF8Validator.isValid(data) ? data : nil
        return Part(name: part.name ?? "", filename: part.filename, type: part.fields.first("content-type"), text: text)
    }

    private mutating func body(_ payload: Payload) {
        switch payload {
        case .none, .binary: return
        case .form(let fields):
            self.begin("urlencoded")
            self.writer.beginArray(.lines)
            for field in fields {
                self.writer.element()
                self.pair(field.name, field.value ?? "")
            }
            self.writer.endArray()
        case .parts(let parts):
            self.begin("formdata")
            self.writer.beginArray(.lines)
            for part in parts { self.part(part) }
            self.writer.endArray()
        case .text(let text, let isJSON):
            self.begin("raw")
            text.withUnsafeBytes { self.writer.string(utf8: $0) }
            if isJSON {
                self.writer.member("options")
                self.writer.raw(#"{ "raw": { "language": "json" } }"#)
            }
        }
        self.writer.endObject()
    }

    private mutating func begin(_ mode: StaticString) {
        self.writer.member("body")
        self.writer.beginObject(.lines)
        self.member("mode", "\(mode)")
        self.writer.member(mode)
    }

    private mutating func part(_ part: Part) {
        self.writer.element()
        self.writer.beginObject(.inline)
        self.member("key", part.name)
        if let filename = part.filename {
            self.member("type", "file")
            self.member("src", filename)
        } else {
            self.member("type", "text")
            self.member("value", String(decoding: part.text ?? [], as: UTF8.self))
        }
        if let type = part.type { self.member("contentType", type) }
        self.writer.endObject()
    }

    private mutating func url(_ url: String) {
        let rest = url.drop { $0 != ":" }.dropFirst(3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest.dropFirst(authority.count)
        let path = target.prefix { $0 != "?" }
        let query = target.dropFirst(path.count).dropFirst()
        let port = authority.split(separator: ":").last.flatMap { Int($0) }
        let host = port == nil ? authority : authority.dropLast("\(port ?? 0)".count + 1)
        self.writer.member("url")
        self.writer.beginObject(.lines)
        self.member("raw", url)
        self.member("protocol", url.hasPrefix("https") ? "https" : "http")
        self.list("host", host.split(separator: "."))
        if let port { self.member("port", "\(port)") }
        self.list("path", path.dropFirst().split(separator: "/", omittingEmptySubsequences: false))
        if !query.isEmpty {
            self.writer.member("query")
            self.writer.beginArray(.lines)
            for item in query.split(separator: "&") {
                let name = item.prefix { $0 != "=" }
                self.writer.element()
                self.pair(String(name), String(item.dropFirst(name.count).dropFirst()))
            }
            self.writer.endArray()
        }
        self.writer.endObject()
    }

    // MARK: JSON

    private mutating func fields(_ fields: HeaderFields, isDecoded: Bool) {
        self.writer.member("header")
        self.writer.beginArray(.lines)
        for index in 0..<fields.count where !FramingFields.contains(fields.name(at: index), isDecoded: isDecoded) {
            self.writer.element()
            self.pair(fields.name(at: index), fields.value(at: index))
        }
        self.writer.endArray()
    }

    private mutating func pair(_ key: String, _ value: String) {
        self.writer.beginObject(.inline)
        self.member("key", key)
        self.member("value", value)
        self.writer.endObject()
    }

    private mutating func list(_ name: StaticString, _ parts: [Substring]) {
        self.writer.member(name)
        self.writer.beginArray(.inline)
        for part in parts {
            self.writer.element()
            self.writer.string(String(part))
        }
        self.writer.endArray()
    }

    private mutating func member(_ name: StaticString, _ value: String) {
        self.writer.member(name)
        self.writer.string(value)
    }
}

/// The names in double braces (`{{name}}`), without duplicates, in order of first appearance.
private struct BracedNames {
    private(set) var all: [String] = []
    private var known: Set<String> = []

    mutating func find(in text: some Sequence<UInt8>) {
        var opened = 0
        var isClosed = false
        var name: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "{"):
                opened = name.isEmpty ? opened + 1 : 1
                (isClosed, name) = (false, [])
            case UInt8(ascii: "}") where opened >= 2 && !name.isEmpty && !isClosed: isClosed = true
            case UInt8(ascii: "}"):
                if isClosed { self.insert(String(decoding: name, as: UTF8.self)) }
                (opened, isClosed, name) = (0, false, [])
            default:
                if isClosed { (opened, isClosed, name) = (0, false, []) }
                if opened >= 2 { name.append(byte) } else { opened = 0 }
            }
        }
    }

    private mutating func insert(_ name: String) {
        if self.known.insert(name).inserted { self.all.append(name) }
    }
}
