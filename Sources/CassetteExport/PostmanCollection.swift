package import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes

/// A collection of Postman, format 2.1: each exchange is a request with its answer as an example.
package struct PostmanCollection: ExchangeWriter {
    private let target: ExportTarget
    private var writer = JSONWriter()

    package init(_ target: ExportTarget) { self.target = target }

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
        self.writer.element()
        self.writer.beginObject(.lines)
        self.member("name", "\(request.method) \(path.isEmpty ? "/" : String(path))")
        self.writer.member("request")
        try self.request(request, number)
        self.writer.member("response")
        self.writer.beginArray(.lines)
        if let response = interaction.response {
            self.writer.element()
            try self.response(response, to: request, number)
        }
        self.writer.endArray()
        self.writer.endObject()
        try self.flush()
    }

    private mutating func request(_ request: RecordedRequest, _ number: Int) throws {
        self.writer.beginObject(.lines)
        self.member("method", request.method)
        self.fields(request.headers, isDecoded: true)
        try self.body(request, number)
        self.url(request.url)
        self.writer.endObject()
    }

    private mutating func response(_ response: RecordedResponse, to request: RecordedRequest, _ number: Int) throws {
        let content = try self.target.content(response.body, response.headers, number: number)
        let type = MediaType(response.headers.firstIndex(of: "content-type").map { response.headers.valueBytes(at: $0) })
        self.writer.beginObject(.lines)
        self.member("name", "exchange \(number)")
        self.writer.member("originalRequest")
        try self.request(request, number)
        self.member("status", String(decoding: response.reason, as: UTF8.self))
        self.writer.member("code")
        self.writer.integer(response.status)
        self.member("_postman_previewlanguage", type.kind == .json ? "json" : type.essence.hasSuffix("html") ? "html" : "text")
        self.fields(response.headers, isDecoded: true)
        self.writer.member("cookie")
        self.writer.raw("[]")
        self.writer.member("body")
        // Postman has texts alone.
        self.text(content)
        self.writer.endObject()
    }

    private mutating func body(_ request: RecordedRequest, _ number: Int) throws {
        guard let body = request.body, body.size > 0 else { return }
        let content = try self.target.content(body, request.headers, number: number)
        self.writer.member("body")
        self.writer.beginObject(.lines)
        switch body.content {
        case .form(let form):
            self.member("mode", "urlencoded")
            self.writer.member("urlencoded")
            self.writer.beginArray(.lines)
            for field in form.fields {
                self.writer.element()
                self.pair(field.name, field.value ?? "")
            }
            self.writer.endArray()
        case .multipart(let parts) where MultipartType(request.headers)?.isFormData == true:
            self.member("mode", "formdata")
            self.writer.member("formdata")
            self.writer.beginArray(.lines)
            for part in parts.parts { self.part(part.headers.fields) }
            self.writer.endArray()
        case .empty, .text, .encodedText, .json, .lines, .events, .multipart, .grpc, .binary, .file, .raw:
            self.member("mode", "raw")
            self.writer.member("raw")
            self.text(content)
            let type = MediaType(request.headers.firstIndex(of: "content-type").map { request.headers.valueBytes(at: $0) })
            if type.kind == .json {
                self.writer.member("options")
                self.writer.raw(#"{ "raw": { "language": "json" } }"#)
            }
        }
        self.writer.endObject()
    }

    /// The data of a part are where whoever opens the collection has them.
    private mutating func part(_ fields: HeaderFields) {
        let disposition = ContentDisposition(fields, charset: nil)
        self.writer.element()
        self.writer.beginObject(.inline)
        self.member("key", disposition?.name ?? "")
        if let filename = disposition?.filename {
            self.member("type", "file")
            self.member("src", filename)
        } else {
            self.member("type", "text")
            self.member("value", "")
        }
        if let type = fields.first("content-type") { self.member("contentType", type) }
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

    private mutating func text(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { if UTF8Validator.isValid($0) { self.writer.string(utf8: $0) } else { self.writer.base64($0) } }
    }
}
