internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// The command line of curl that sends a recorded request again, for sh.
///
/// Leaves out what concerned the recorded connection alone: hop-by-hop fields, the length, and credentials for a proxy.
struct CurlCommand {
    /// What to know before it is run, a line each.
    var notes: [String] = []
    /// Options with their values, behind the URL.
    private(set) var words: [[String]] = []
    /// What has to be in files, by the names that the command has.
    private(set) var files: [(name: String, contents: Contents)] = []

    enum Contents {
        case octets(BodyContents)
        /// The octets of the request's body as they crossed the wire.
        case wire(Body)
    }

    private let url: String
    private let folder: String
    private let reader: BodyReader

    /// - Parameters:
    ///   - folder: where the command looks for its files.
    init(_ interaction: Interaction, number: Int, folder: String, reader: BodyReader) throws {
        self.folder = folder
        self.reader = reader
        self.url = interaction.request.url
        let request = interaction.request
        guard FieldNames.isToken(request.method), request.method != "CONNECT", VisibleText.line(request.url) == request.url,
            request.url.hasPrefix("http://") || request.url.hasPrefix("https://")
        else {
            throw InspectError(
                .noCommand, "curl cannot send exchange \(number) again, \"\(request.method) \(request.url)\": it is no plain request.")
        }
        let payload = try self.payload(request, number)
        self.start(request, hasBody: !payload.isEmpty)
        self.fields(request, payload)
        self.words += payload
        if request.trailers?.isEmpty == false { self.notes.append("the trailers are left out: curl sends none") }
        if request.body?.isComplete == false { self.notes.append("the recorded body was cut short: this sends what came") }
    }

    /// Runnable, with a comment for each note in front.
    var text: String {
        let lines = ([["curl", self.url]] + self.words).map { $0.map(ShellWord.quoted).joined(separator: " ") }
        let notes = self.notes.map { "# \(VisibleText.line($0))\n" }.joined()
        return notes + lines.joined(separator: " \\\n  ") + "\n"
    }

    // MARK: Head

    private mutating func start(_ request: RecordedRequest, hasBody: Bool) {
        switch (request.method, hasBody) {
        case ("GET", false), ("POST", true): break
        case ("HEAD", false): self.words.append(["--head"])
        default: self.words.append(["-X", request.method])
        }
        if request.version == .http10 { self.words.append(["--http1.0"]) }
        if request.version == .http11, request.url.hasPrefix("https://") { self.words.append(["--http1.1"]) }
        if request.url.utf8.contains(where: "[]{}".utf8.contains) { self.words.append(["--globoff"]) }
        if request.url.contains("/.") { self.words.append(["--path-as-is"]) }
        if let target = request.target, VisibleText.line(target) == target { self.words.append(["--request-target", target]) }
        if request.headers.contains("accept-encoding") { self.words.append(["--compressed"]) }
    }

    private mutating func fields(_ request: RecordedRequest, _ payload: [[String]]) {
        let headers = request.headers
        let isForm = payload.first?.first == "-F"
        for index in 0..<headers.count {
            let name = headers.name(at: index)
            let value = headers.value(at: index)
            guard !FieldNames.isLeftOut(name.lowercased(), value, isForm: isForm) else { continue }
            if headers.isNamed("host", at: index), FieldNames.authority(of: request.url) == value { continue }
            let line = Array(headers.line(at: index))
            let text = String(decoding: line, as: UTF8.self)
            guard FieldNames.isToken(name), UTF8Validator.isValid(line), VisibleText.line(text) == text else {
                self.notes.append("left out, since a command line cannot hold it: \(VisibleText.line(line))")
                continue
            }
            // With a colon and nothing behind it curl would send no such field.
            self.words.append(["-H", value.isEmpty ? "\(name);" : text])
        }
        // What curl adds by itself.
        for (field, name) in [("user-agent" as StaticString, "User-Agent"), ("accept", "Accept")] where !headers.contains(field) {
            self.words.append(["-H", "\(name):"])
        }
        if !payload.isEmpty, !isForm, !headers.contains("content-type") { self.words.append(["-H", "Content-Type:"]) }
        if !payload.isEmpty, !headers.contains("expect"), (request.body?.size ?? 0) > 1 << 20 { self.words.append(["-H", "Expect:"]) }
    }

    // MARK: Body

    private mutating func payload(_ request: RecordedRequest, _ number: Int) throws -> [[String]] {
        guard let body = request.body else { return [] }
        guard body.size > 0 || body.content != .empty else { return [["--data-raw", ""]] }
        let contents = try BodyContents(body, headers: request.headers, reader: self.reader)
        let isCoded = !body.codings.isEmpty || contents.inflated != nil
        let stem = "\(number)-request"
        if !isCoded, MultipartType(request.headers)?.isFormData == true, let parts = try BodyParts(contents, headers: request.headers),
            let form = try CurlForm(parts, in: contents, stem: stem, folder: self.folder)
        {
            self.files = form.files.map { ($0.name, .octets(contents.part($0.part.data))) }
            let findings = try BodyLint(contents, headers: request.headers)?.findings ?? []
            if !form.isExact || !findings.isEmpty {
                self.notes.append("curl writes these parts in its own way: their data are the recorded ones, lines around them may differ")
            }
            return form.arguments.map { ["-F", $0] }
        }
        if !isCoded, let octets = try contents.load(limit: CurlForm.inlineLimit), UTF8Validator.isValid(octets), !octets.contains(13) {
            let text = String(decoding: octets, as: UTF8.self)
            if VisibleText.whole(octets, .lines) == text { return [["--data-raw", text]] }
        }
        let name = "\(stem).octets"
        self.files = [(name, .wire(body))]
        return [["--data-binary", "@\(self.folder)/\(name)"]]
    }
}
