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
    /// A request as a command for a POSIX shell that sends the same request with curl: same method, target, header fields and body.
    ///
    /// Secrets are redacted by the rules of cassettes. A command does not contain files or streams: it refers to files by their paths, and
    /// `notes` lists what to do first.
    public struct CurlDescription: Sendable, Hashable, CustomStringConvertible {
        /// The longest body that is written into a command, in bytes. A longer one would be useless in a shell.
        public static let bodyLimit = 1_000_000

        public let command: String
        /// Steps to take before running the command, and its omissions; usually empty.
        public let notes: [String]

        /// The notes as commands that do nothing in a shell, then the command.
        public var description: String { (self.notes.map { ": \(ShellText.quoted($0))" } + [self.command]).joined(separator: "\n") }

        /// - Parameters:
        ///   - form: the form that the body was encoded from, which is shown as `-F` arguments.
        ///   - redaction: nil shows secrets.
        public init(_ request: TransportRequest, form: FormData? = nil, redaction: RedactionRules? = .standard) {
            var builder = CurlBuilder(request, form: form, redactor: redaction.map { LiveRedactor(Redactor(rules: $0)) })
            self.command = builder.command()
            self.notes = builder.notes
        }

        /// A request that was not sent yet, with its body; a stream is left out and noted.
        public init(_ request: URLRequest, form: FormData? = nil, redaction: RedactionRules? = .standard) {
            guard let url = request.url else {
                self.command = "curl"
                self.notes = ["the request has no URL: set one"]
                return
            }
            let body = request.httpBody.map { RequestBody.data($0) } ?? .none
            let sent = TransportRequest(method: request.httpMethod ?? "GET", url: url, headers: request.headers, body: body)
            var builder = CurlBuilder(sent, form: form, redactor: redaction.map { LiveRedactor(Redactor(rules: $0)) })
            if request.httpBodyStream != nil, request.httpBody == nil, form == nil {
                builder.note("the body is a stream, which can be read only once: save it to a file and add --data-binary @FILE")
            }
            self.command = builder.command()
            self.notes = builder.notes
        }
    }
}

/// Builds the curl command of one request.
struct CurlBuilder {
    private(set) var notes: [String] = []
    private let request: TransportRequest
    private let form: FormData?
    private let redactor: LiveRedactor?

    init(_ request: TransportRequest, form: FormData?, redactor: LiveRedactor?) {
        self.request = request
        self.form = form
        self.redactor = redactor
    }

    mutating func note(_ note: String) { self.notes.append(note) }

    mutating func command() -> String {
        let headers = self.sendable(self.request.headers)
        var (body, form) = self.bodyOrForm(headers)
        if self.request.method == "HEAD", body != nil || form != nil {
            self.note("curl sends no body with HEAD: it is left out")
            (body, form) = (nil, nil)
        }
        // Redact the head after the body: secrets found in the body are redacted in the head, too.
        let head = self.redactor?.redacted(url: self.request.url.absoluteString, headers: headers.headerFields)
        let url = head?.url ?? self.request.url.absoluteString
        let fields = head.map { HTTPSession.Headers($0.headers) } ?? headers
        var words = ["curl"]
        words += self.methodArguments(hasBody: body != nil || form != nil)
        words += self.fieldArguments(fields, hasBody: body != nil, isForm: form != nil)
        words += form?.arguments ?? body?.arguments ?? []
        // curl takes brackets and braces for ranges, and resolves dot segments.
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("--globoff") }
        if url.contains("/.") { words.append("--path-as-is") }
        words.append(ShellText.quoted(url))
        self.notes += form?.notes ?? []
        return (body?.source.map { "\($0) | " } ?? "") + words.joined(separator: " \\\n  ")
    }

    // MARK: Head

    /// The fields without those that would break the message, and without those that curl sends itself.
    private mutating func sendable(_ headers: HTTPSession.Headers) -> HTTPSession.Headers {
        var result = HTTPSession.Headers()
        for field in headers {
            guard (try? ([field] as HTTPSession.Headers).validated()) != nil else {
                self.note(
                    "a header field is left out because it contains a line break or another control character: \"\(PlainText.escape(field.name.utf8, limit: 200))\""
                )
                continue
            }
            if !field.isNamed("Content-Length"), !field.isNamed("Transfer-Encoding") { result.add(field) }
        }
        return result
    }

    private func methodArguments(hasBody: Bool) -> [String] {
        switch self.request.method {
        // With -X HEAD curl would wait for a body.
        case "HEAD": ["--head"]
        case "GET" where !hasBody, "POST" where hasBody: []
        case let method: ["-X \(ShellText.quoted(method))"]
        }
    }

    private func fieldArguments(_ fields: HTTPSession.Headers, hasBody: Bool, isForm: Bool) -> [String] {
        var arguments: [String] = []
        // curl sends the type with its own boundary.
        for field in fields where !isForm || !field.isNamed("Content-Type") {
            // A name with only a colon would remove one of curl's own fields.
            arguments.append("-H \(ShellText.quoted(field.value.isEmpty ? "\(field.name);" : field.description))")
        }
        if hasBody, !fields.contains(name: "Content-Type") { arguments.append("-H 'Content-Type:'") }
        let codings = fields.values(for: "Accept-Encoding").joined(separator: ",").lowercased()
        if ["gzip", "deflate", "br", "zstd"].contains(where: codings.contains) { arguments.append("--compressed") }
        return arguments
    }

    // MARK: Body

    private mutating func bodyOrForm(_ headers: HTTPSession.Headers) -> (CurlBody?, CurlForm?) {
        if let form = self.form {
            if let arguments = self.formArguments(form, savesRest: false) { return (nil, arguments) }
            if form.contentLength <= HTTPSession.CurlDescription.bodyLimit, let bytes = self.encoded(form) {
                return (CurlBody(self.redacted(bytes, headers)), nil)
            }
            return (nil, self.formArguments(form, savesRest: true))
        }
        switch self.request.body {
        case .none: return (nil, nil)
        case .file(let url, _): return (CurlBody(path: url.path), nil)
        case .unobservable:
            self.note("the body was given to another session and cannot be read here: add --data-binary @FILE")
            return (nil, nil)
        case .data(let data):
            guard data.count <= HTTPSession.CurlDescription.bodyLimit else {
                self.note("the body has \(data.count) bytes: save it as \"body\"")
                return (CurlBody(path: "body"), nil)
            }
            return (CurlBody(self.redacted([UInt8](data), headers)), nil)
        }
    }

    private func redacted(_ bytes: [UInt8], _ headers: HTTPSession.Headers) -> [UInt8] {
        guard let redactor = self.redactor else { return bytes }
        // Secrets in the head must be known before the body is searched.
        _ = redactor.redacted(url: self.request.url.absoluteString, headers: headers.headerFields)
        return redactor.redacted(body: bytes, headers: headers.headerFields) ?? bytes
    }

    /// Nil if there is a stream, because reading would consume it.
    private func encoded(_ form: FormData) -> [UInt8]? {
        for part in form.parts { if case .stream = part.source { return nil } }
        return try? form.encode(threshold: HTTPSession.CurlDescription.bodyLimit).source.load()
    }

    private func formArguments(_ form: FormData, savesRest: Bool) -> CurlForm? {
        let texts = self.texts(form)
        return CurlForm(form, text: { texts[$0] }, savesRest: savesRest)
    }

    /// The bytes of each text field, redacted, by the index of its part.
    private func texts(_ form: FormData) -> [Int: [UInt8]] {
        var fields = FormData(boundary: form.boundary)
        var places: [Int] = []
        for (index, part) in form.parts.enumerated() {
            guard case .bytes(let bytes) = part.source, bytes.count <= HTTPSession.CurlDescription.bodyLimit,
                (try? fields.append(part)) != nil
            else {
                continue
            }
            places.append(index)
        }
        guard let bytes = self.encoded(fields), let boundary = MultipartBoundary(form.boundary.text) else { return [:] }
        // The rules find fields by name only within a form.
        let shown = self.redacted(bytes, ["Content-Type": fields.contentType])
        let parsed = shown.withUnsafeBytes { MultipartBody.parse($0, boundary: boundary) }
        guard let parsed, parsed.parts.count == places.count else { return [:] }
        var texts: [Int: [UInt8]] = [:]
        for (place, part) in zip(places, parsed.parts) {
            guard case .data(let range) = part.content else { continue }
            texts[place] = Array(shown[range])
        }
        return texts
    }
}
