internal import CassetteModel
internal import CassetteRedaction
internal import Foundation
internal import TapeBytes

/// Puts a request's command together.
struct CurlBuilder {
    private(set) var notes: [String] = []
    private let request: TransportRequest
    private let form: MultipartFormData?
    private let redactor: LiveRedactor?

    init(_ request: TransportRequest, form: MultipartFormData?, redactor: LiveRedactor?) {
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
        // What the body taught is taken out of the head too.
        let head = self.redactor?.redacted(url: self.request.url.absoluteString, headers: headers.headerFields)
        let url = head?.url ?? self.request.url.absoluteString
        let fields = head.map { HTTPHeaders($0.headers) } ?? headers
        var words = ["curl"]
        words += self.methodArguments(hasBody: body != nil || form != nil)
        words += self.fieldArguments(fields, hasBody: body != nil, isForm: form != nil)
        words += form?.arguments ?? body?.arguments ?? []
        // Brackets and braces are ranges to curl, and dot segments are resolved.
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("--globoff") }
        if url.contains("/.") { words.append("--path-as-is") }
        words.append(ShellText.quoted(url))
        self.notes += form?.notes ?? []
        return (body?.source.map { "\($0) | " } ?? "") + words.joined(separator: " \\\n  ")
    }

    // MARK: Head

    /// Without what would break the message, and without what curl says itself.
    private mutating func sendable(_ headers: HTTPHeaders) -> HTTPHeaders {
        var result = HTTPHeaders()
        for field in headers {
            guard (try? ([field] as HTTPHeaders).validated()) != nil else {
                self.note(
                    "a header field with a line end or another control character cannot be sent, and is left out: \"\(PlainText.escape(field.name.utf8, limit: 200))\""
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

    private func fieldArguments(_ fields: HTTPHeaders, hasBody: Bool, isForm: Bool) -> [String] {
        var arguments: [String] = []
        // curl says the type of its own boundary.
        for field in fields where !isForm || !field.isNamed("Content-Type") {
            // A name and a colon alone take a field of curl's own out.
            arguments.append("-H \(ShellText.quoted(field.value.isEmpty ? "\(field.name);" : field.description))")
        }
        if hasBody, !fields.contains(name: "Content-Type") { arguments.append("-H 'Content-Type:'") }
        let codings = fields.values(for: "Accept-Encoding").joined(separator: ",").lowercased()
        if ["gzip", "deflate", "br", "zstd"].contains(where: codings.contains) { arguments.append("--compressed") }
        return arguments
    }

    // MARK: Body

    private mutating func bodyOrForm(_ headers: HTTPHeaders) -> (CurlBody?, CurlForm?) {
        if let form = self.form {
            if let arguments = self.formArguments(form, savesRest: false) { return (nil, arguments) }
            if form.contentLength <= CurlDescription.bodyLimit, let octets = self.encoded(form) {
                return (CurlBody(self.redacted(octets, headers)), nil)
            }
            return (nil, self.formArguments(form, savesRest: true))
        }
        switch self.request.body {
        case .none: return (nil, nil)
        case .file(let url, _): return (CurlBody(path: url.path), nil)
        case .unobservable:
            self.note("the body was given to a session of another and cannot be seen here: add --data-binary @FILE")
            return (nil, nil)
        case .data(let data):
            guard data.count <= CurlDescription.bodyLimit else {
                self.note("the body has \(data.count) octets: save it as \"body\"")
                return (CurlBody(path: "body"), nil)
            }
            return (CurlBody(self.redacted([UInt8](data), headers)), nil)
        }
    }

    private func redacted(_ octets: [UInt8], _ headers: HTTPHeaders) -> [UInt8] {
        guard let redactor = self.redactor else { return octets }
        // What the head has is known before the body is looked at.
        _ = redactor.redacted(url: self.request.url.absoluteString, headers: headers.headerFields)
        return redactor.redacted(body: octets, headers: headers.headerFields) ?? octets
    }

    /// Nil for a stream, which would be used up.
    private func encoded(_ form: MultipartFormData) -> [UInt8]? {
        for part in form.parts { if case .stream = part.source { return nil } }
        return try? form.encode(threshold: CurlDescription.bodyLimit).source.load()
    }

    private func formArguments(_ form: MultipartFormData, savesRest: Bool) -> CurlForm? {
        let texts = self.texts(form)
        return CurlForm(form, text: { texts[$0] }, savesRest: savesRest)
    }

    /// The octets of each text field as they are shown.
    private func texts(_ form: MultipartFormData) -> [Int: [UInt8]] {
        var fields = MultipartFormData(boundary: form.boundary)
        var places: [Int] = []
        for (index, part) in form.parts.enumerated() {
            guard case .octets(let octets) = part.source, octets.count <= CurlDescription.bodyLimit, (try? fields.append(part)) != nil
            else {
                continue
            }
            places.append(index)
        }
        guard let octets = self.encoded(fields), let boundary = MultipartBoundary(form.boundary.text) else { return [:] }
        // The rules know fields by their names only within a form.
        let shown = self.redacted(octets, ["Content-Type": fields.contentType])
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

/// A body as arguments of curl, with what has to be piped into it.
struct CurlBody: Sendable, Hashable {
    /// Linux takes 128 KiB for an argument; what a shell's own commands print has no limit.
    private static let argumentLimit = 100_000

    /// A command whose output curl reads; nil where it reads none.
    let source: String?
    let arguments: [String]

    /// Octets that curl reads from a file.
    init(path: String) {
        self.source = nil
        self.arguments = ["--data-binary \(ShellText.quoted("@" + path))"]
    }

    init(_ octets: [UInt8]) {
        guard let text = String(validating: octets, as: UTF8.self) else {
            self.source = "printf '%s' '\(Data(octets).base64EncodedString())' | base64 -d"
            self.arguments = ["--data-binary @-"]
            return
        }
        guard ShellText.isPlain(text), octets.count <= Self.argumentLimit else {
            self.source = ShellText.printing(text)
            self.arguments = ["--data-binary @-"]
            return
        }
        self.source = nil
        // Takes a text that begins with "@" for a text.
        self.arguments = ["--data-raw \(ShellText.quoted(text))"]
    }
}

/// A multipart form as `-F` arguments of curl, which makes a boundary of its own.
///
/// Texts are given as they are and files by their paths. What curl has no argument for (header fields of one's own, octets in memory with a
/// file name, streams) makes no such form, or is to be saved as a file first.
struct CurlForm: Sendable, Hashable {
    let arguments: [String]
    let notes: [String]

    /// - Parameters:
    ///   - text: what is shown in place of a text field's octets.
    ///   - savesRest: whether what curl has no argument for is to be saved by the reader; without, there is no such form then.
    init?(_ form: MultipartFormData, text: (Int) -> [UInt8]?, savesRest: Bool) {
        var arguments: [String] = []
        var notes: [String] = []
        for (index, part) in form.parts.enumerated() {
            let disposition = ContentDisposition(part.headers)
            let name = disposition?.name.flatMap { $0.contains("=") || !ShellText.isPlain($0) || $0.contains("\n") ? nil : $0 }
            if let name, let argument = Self.argument(part, name, disposition?.filename, text(index)) {
                arguments.append(argument)
                continue
            }
            guard savesRest else { return nil }
            let place = "part-\(index + 1)"
            notes.append("part \(index + 1) of the form has \(part.source.length) octets: save them as \"\(place)\"")
            let file = disposition?.filename.map { ";filename=\(Self.inQuotes($0))" } ?? ""
            arguments.append("-F \(ShellText.quoted("\(name ?? place)=@\"\(place)\"\(file)"))")
        }
        self.arguments = arguments
        self.notes = notes
    }

    /// Nil where curl has none for such a part.
    private static func argument(_ part: FormDataPart, _ name: String, _ filename: String?, _ text: [UInt8]?) -> String? {
        switch (part.source, filename) {
        case (.octets, nil):
            guard part.headers.count == 1, let text, let value = String(validating: text, as: UTF8.self), ShellText.isPlain(value) else {
                return nil
            }
            return "--form-string \(ShellText.quoted("\(name)=\(value)"))"
        case (.file(let file), let filename?):
            guard part.headers.count == 2, let type = part.headers.first("content-type"),
                type.utf8.allSatisfy({ HTTPHeaders.isTokenCharacter($0) || $0 == UInt8(ascii: "/") }),
                ShellText.isPlain(filename + file.path)
            else { return nil }
            return "-F \(ShellText.quoted("\(name)=@\(self.inQuotes(file.path));filename=\(self.inQuotes(filename));type=\(type)"))"
        case (.octets, _), (.file, _), (.stream, _): return nil
        }
    }

    /// As curl's form arguments have it.
    private static func inQuotes(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
