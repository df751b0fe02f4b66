internal import CassetteFormat
internal import CassetteModel
public import CassetteRedaction
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPSession {
    /// A request as text that is the same in every run, for comparison with a text that is checked in.
    ///
    ///     let sent = HTTPSession.RequestSnapshot(try #require(stub.requests.last))
    ///     #expect(sent.description == """
    ///         POST https://example.test/pets
    ///         Content-Type: application/json
    ///
    ///         {
    ///           "name": "초코"
    ///         }
    ///         """)
    ///
    /// Header fields are sorted by name. Content codings are removed from the body. JSON is indented, with sorted members. A form has a
    /// line for each field, decoded. A multipart body is shown part by part, without the boundary. Text is shown as it is, and anything
    /// else as its size and SHA-256. Secrets are redacted by the rules of cassettes.
    public struct RequestSnapshot: Sendable, Hashable, CustomStringConvertible {
        /// The longest body that is shown, in bytes. For a longer body or a longer file, only the size is shown.
        public static let bodyLimit = 1_000_000
        /// Names of the fields that differ from machine to machine, and Content-Length, which depends on what is redacted.
        public static let unstableFields = ["Accept-Encoding", "Accept-Language", "Content-Length", "User-Agent"]

        public let description: String

        /// - Parameters:
        ///   - fields: names of the header fields that are left out.
        ///   - redaction: nil shows secrets.
        public init(
            _ request: TransportRequest, leavingOut fields: [String] = RequestSnapshot.unstableFields,
            redaction: RedactionRules? = .standard
        ) {
            let redactor = redaction.map { LiveRedactor(Redactor(rules: $0)) }
            let (boundary, body) = SnapshotBody.text(of: request, redactor)
            // Redact the head after the body: secrets found in the body are redacted in the head, too.
            let head = redactor?.redacted(url: request.url.absoluteString, headers: request.headers.headerFields)
            let shown = head.map { HTTPSession.Headers($0.headers) } ?? request.headers
            var lines = ["\(request.method) \(head?.url ?? request.url.absoluteString)"]
            for field in shown.sorted() where !fields.contains(where: field.isNamed) {
                let value = field.isNamed("Content-Type") ? SnapshotBody.replacing(boundary, in: field.value) : field.value
                lines.append("\(field.name): \(value)")
            }
            if let body { lines += ["", body] }
            self.description = lines.joined(separator: "\n")
        }

        /// A request that was not sent yet, without anything that a session adds. A stream is not read.
        ///
        /// - Throws: `WiretapeError` if it has no URL.
        public init(
            _ request: URLRequest, leavingOut fields: [String] = RequestSnapshot.unstableFields, redaction: RedactionRules? = .standard
        ) throws {
            var sent = try TransportRequest(request)
            if request.httpBody == nil, request.httpBodyStream != nil { sent.body = .unobservable }
            self.init(sent, leavingOut: fields, redaction: redaction)
        }
    }
}

/// The body of a request as text, by its kind.
private enum SnapshotBody {
    private static let mark = "{{boundary}}"
    /// A shorter boundary may by chance be a word of a part's header section.
    private static let leastBoundary = 16

    /// Nil if there is no body; with the boundary if the body is multipart.
    static func text(of request: TransportRequest, _ redactor: LiveRedactor?) -> (boundary: String?, text: String?) {
        let bytes: [UInt8]
        switch request.body {
        case .none: return (nil, nil)
        case .unobservable: return (nil, "<a body that cannot be read here>")
        case .data(let data):
            guard data.count <= HTTPSession.RequestSnapshot.bodyLimit else { return (nil, "<\(data.count) bytes>") }
            bytes = [UInt8](data)
        case .file(let url, let size):
            guard size <= HTTPSession.RequestSnapshot.bodyLimit else { return (nil, "<\(size) bytes>") }
            guard let data = try? Data(contentsOf: url) else { return (nil, "<a file that cannot be read any more>") }
            bytes = [UInt8](data)
        }
        guard !bytes.isEmpty else { return (nil, nil) }
        let headers = request.headers.headerFields
        _ = redactor?.redacted(url: request.url.absoluteString, headers: headers)
        let shown = redactor?.redacted(body: bytes, headers: headers) ?? bytes
        guard
            let content = try? DecodedBeginning.read(
                ByteSource(shown), ContentEncoding(headers), limit: HTTPSession.RequestSnapshot.bodyLimit),
            content.isWhole
        else { return (nil, self.digest(shown)) }
        let field = headers.firstIndex(of: "content-type").map(headers.valueBytes)
        if MediaType(field).isMultipart, let boundary = MultipartType(headers)?.boundary,
            let form = content.bytes.withUnsafeBytes({ MultipartBody.parse($0, boundary: boundary) })
        {
            return (String(decoding: boundary.bytes, as: UTF8.self), self.text(form, content.bytes))
        }
        return (nil, self.text(content.bytes, MediaType(field)))
    }

    static func replacing(_ boundary: String?, in type: String) -> String {
        guard let boundary, let start = type.range(of: "boundary", options: .caseInsensitive)?.upperBound else { return type }
        return type[..<start] + type[start...].replacingOccurrences(of: boundary, with: self.mark)
    }

    private static func text(_ form: MultipartBody<Range<Int>>, _ bytes: [UInt8]) -> String {
        let boundary = String(decoding: form.boundary.bytes, as: UTF8.self)
        var lines: [String] = []
        for part in form.parts {
            lines.append("--\(self.mark)")
            for line in part.headers.fields.lines {
                let text = line
                lines.append(boundary.count < self.leastBoundary ? text : text.replacingOccurrences(of: boundary, with: self.mark))
            }
            lines.append("")
            let field = part.headers.fields.firstIndex(of: "content-type").map(part.headers.fields.valueBytes)
            switch part.content {
            case .data(let range): lines.append(self.text(Array(bytes[range]), MediaType(field)))
            case .multipart(let inner): lines.append(self.text(inner, bytes))
            }
        }
        return (lines + ["--\(self.mark)--"]).joined(separator: "\n")
    }

    private static func text(_ bytes: [UInt8], _ type: MediaType) -> String {
        if type.kind == .json || type.essence.isEmpty, let document = try? JSONDocument(bytes) { return self.text(document.root) }
        if type.isForm, let form = bytes.withUnsafeBytes({ FormText($0) }) {
            return form.fields.map { field in field.value.map { "\(field.name)=\($0)" } ?? field.name }.joined(separator: "\n")
        }
        let isText = type.kind != .binary && bytes.withUnsafeBytes { UTF8Validator.isValid($0) && ReadableText.isReadable($0) }
        return isText ? String(decoding: bytes, as: UTF8.self) : self.digest(bytes)
    }

    private static func digest(_ bytes: [UInt8]) -> String {
        var digest = PortableSHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        return "<\(bytes.count) bytes, SHA-256 \(Hex.encode(digest.finalize()))>"
    }

    /// Indented; members sorted by name.
    private static func text(_ value: JSONValue, indent: String = "") -> String {
        let inner = indent + "  "
        switch value.kind {
        case .object:
            let members = value.members.map { (name: self.quoted($0.name), value: $0.value) }.sorted { $0.name < $1.name }
            guard !members.isEmpty else { return "{}" }
            let lines = members.map { "\(inner)\($0.name): \(self.text($0.value, indent: inner))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
        case .array:
            let lines = value.elements.map { inner + self.text($0, indent: inner) }
            return lines.isEmpty ? "[]" : "[\n\(lines.joined(separator: ",\n"))\n\(indent)]"
        case .string: return self.quoted(value)
        case .number, .true, .false, .null: return String(decoding: value.raw, as: UTF8.self)
        }
    }

    /// With as few escapes as possible; as it was sent if it is not Unicode.
    private static func quoted(_ value: JSONValue) -> String {
        guard let text = value.string else { return String(decoding: value.raw, as: UTF8.self) }
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            default: scalar.value < 32 ? "\\u00" + Hex.encode([UInt8(scalar.value)]) : String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}
