internal import CassetteFormat
package import CassetteModel
package import CassetteStore
internal import TapeBytes

/// The curl command that sends a recorded request again, for sh.
///
/// Leaves out data that only concerned the recorded connection: hop-by-hop fields, the length, and proxy credentials.
package struct CurlCommand {
    /// What the user should know before running it, one line each.
    package var notes: [String] = []
    /// Options with their values, after the URL.
    package private(set) var words: [[String]] = []
    /// The files that the command reads, by name.
    package private(set) var files: [(name: String, contents: Contents)] = []

    package enum Contents {
        case bytes(BodyContents)
        /// The bytes of the request's body as sent.
        case wire(Body)

        /// - Returns: whether the body was edited after it was recorded, so that the file differs from what was received.
        package func write(to name: String, in folder: ExtractFolder, reader: BodyReader) throws -> Bool {
            switch self {
            case .bytes(let bytes):
                try folder.write(name, bytes)
                return false
            case .wire(let body):
                var isEdited = false
                _ = try folder.write(name) { write in
                    isEdited = try BodyRestorer.streamWire(
                        of: body, file: { try reader.source($0, digest: PortableSHA256()) }, raw: { ByteSource(try reader.read($0)) },
                        digest: PortableSHA256(), deliver: write)
                }
                return isEdited
            }
        }
    }

    package let url: String
    private let folder: String
    private let reader: BodyReader

    /// - Parameters:
    ///   - folder: the folder in which the command expects its files.
    package init(_ interaction: Interaction, number: Int, folder: String, reader: BodyReader) throws {
        self.folder = folder
        self.reader = reader
        self.url = interaction.request.url
        let request = interaction.request
        guard FieldNames.isToken(request.method), request.method != "CONNECT", !ShellWord.hasControls(request.url),
            request.url.hasPrefix("http://") || request.url.hasPrefix("https://")
        else {
            throw InspectError(
                .noCommand, "curl cannot send exchange \(number) again, \"\(request.method) \(request.url)\": it is not a plain request.")
        }
        let payload = try self.payload(request, number)
        self.start(request, hasBody: !payload.isEmpty)
        self.fields(request, payload)
        if request.connectProtocol != nil { self.handshake() }
        self.words += payload
        if request.version == .http2, GRPCType(request.headers) != nil { self.notes += Self.notesOnCall(interaction) }
        if interaction.opensWebSocket {
            self.words.append(["--include"])
            self.words.append(["--no-buffer"])
            self.notes.append(
                "this opens a WebSocket: curl sends none of its messages, and shows those of the server as raw frames (end it with Ctrl-C)")
            let url = Self.socketURL(request.url)
            if VisibleText.line(url) == url {
                self.notes.append("to talk to it, use a WebSocket client: websocat \(ShellWord.quoted(url))")
            }
        }
        if request.trailers?.isEmpty == false { self.notes.append("the trailers are omitted: curl cannot send them") }
        if request.body?.isComplete == false { self.notes.append("the recorded body was cut short: this sends what was received") }
    }

    /// `ws://…` for `http://…`.
    private static func socketURL(_ url: String) -> String { url.hasPrefix("http") ? "ws" + url.dropFirst(4) : url }

    /// Notes on how curl handles a gRPC call.
    private static func notesOnCall(_ interaction: Interaction) -> [String] {
        var notes = [
            "the answer consists of messages with a prefix of five bytes each: add --output FILE; with --verbose, grpc-status is shown too"
        ]
        if interaction.response?.body?.conversationMarks != nil || interaction.response?.after != nil {
            notes.append("the recorded client waited for answers between its messages: curl sends all of them at once")
        }
        return notes
    }

    /// Can be executed; each note is a comment before it.
    package var text: String {
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
        // curl does not open WebSockets in HTTP/2.
        let version = request.connectProtocol == nil ? request.version : .http11
        let isSecure = request.url.hasPrefix("https://")
        if version == .http10 { self.words.append(["--http1.0"]) }
        if version == .http2 { self.words.append([isSecure ? "--http2" : "--http2-prior-knowledge"]) }
        if version == .http11, isSecure { self.words.append(["--http1.1"]) }
        if request.url.utf8.contains(where: "[]{}".utf8.contains) { self.words.append(["--globoff"]) }
        if request.url.contains("/.") { self.words.append(["--path-as-is"]) }
        if let target = request.target, !ShellWord.hasControls(target) { self.words.append(["--request-target", target]) }
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
            guard FieldNames.isToken(name), UTF8Validator.isValid(line), !ShellWord.hasControls(text) else {
                self.notes.append("omitted, because a command line cannot hold it: \(VisibleText.line(line))")
                continue
            }
            // curl drops a field with a colon and no value.
            self.words.append(["-H", value.isEmpty ? "\(name);" : text])
        }
        // Fields that curl adds on its own.
        for (field, name) in [("user-agent" as StaticString, "User-Agent"), ("accept", "Accept")] where !headers.contains(field) {
            self.words.append(["-H", "\(name):"])
        }
        if !payload.isEmpty, !isForm, !headers.contains("content-type") { self.words.append(["-H", "Content-Type:"]) }
        if !payload.isEmpty, !headers.contains("expect"), (request.body?.size ?? 0) > 1 << 20 { self.words.append(["-H", "Expect:"]) }
    }

    /// The fields that open a WebSocket in HTTP/1.1 (RFC 6455, 4.1) and are absent in HTTP/2 (RFC 8441, 5).
    private mutating func handshake() {
        for field in ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: d2lyZXRhcGUgbm9uY2UuLg=="] {
            self.words.append(["-H", field])
        }
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
            self.files = form.files.map { ($0.name, .bytes(contents.part($0.part.data))) }
            var lint = MultipartLint(headers: request.headers)
            try contents.forEachPiece { lint.push($0) }
            let problems = lint.finish()
            if !form.isExact || !problems.isEmpty {
                self.notes.append("curl writes these parts in its own way: their data is as recorded, but the lines around it may differ")
            }
            return form.arguments.map { ["-F", $0] }
        }
        if !isCoded, let bytes = try contents.load(limit: CurlForm.inlineLimit), UTF8Validator.isValid(bytes), !bytes.contains(13) {
            let text = String(decoding: bytes, as: UTF8.self)
            if VisibleText.whole(bytes, .lines) == text { return [["--data-raw", text]] }
        }
        let name = "\(stem).bytes"
        self.files = [(name, .wire(body))]
        return [["--data-binary", "@\(self.folder)/\(name)"]]
    }
}

/// The arguments of curl's `-F` that send the parts of a recorded form again.
///
/// curl chooses its own boundary. Knows how curl writes everything else, so that it can tell whether the parts are sent as recorded.
package struct CurlForm {
    /// The longest value on the command line in bytes; a longer one is read from a file.
    fileprivate static let inlineLimit = 4096

    package var arguments: [String] = []
    /// Parts whose data is read from files, by the names in the arguments.
    package var files: [(name: String, part: BodyPart)] = []
    /// Whether the bytes are the recorded ones, except for the boundary.
    package var isExact = true

    /// Nil if curl cannot send the parts: because of nested parts, or a name that it cannot express.
    ///
    /// - Parameters:
    ///   - stem: the beginning of the filenames.
    ///   - folder: the folder of the files.
    package init?(_ parts: BodyParts, in body: BodyContents, stem: String, folder: String) throws {
        guard !parts.all.isEmpty, !parts.isOfOtherBoundary else { return nil }
        for part in parts.all {
            guard let disposition = part.disposition, disposition.type == "form-data", !part.isMultipart, let name = disposition.name,
                !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")), Self.isPlain(name), disposition.filename.map(Self.isPlain) != false
            else { return nil }
            let data = body.part(part.data)
            var argument = "\(name)="
            let text = try Self.inline(data)
            if let text {
                argument += Self.quoted(text)
            } else {
                let file = "\(stem)-\(part.label)\(BodyExtraction.plainEnding(part))"
                self.files.append((file, part))
                // `<` sends the file as a value, `@` as an upload, which always has a filename.
                argument += "\(disposition.filename == nil ? "<" : "@")\(Self.quoted("\(folder)/\(file)"))"
            }
            if let filename = disposition.filename { argument += ";filename=\(Self.quoted(filename))" }
            guard let options = self.options(part) else { return nil }
            self.arguments.append(argument + options)
            self.isExact = self.isExact && Self.isAsCurlWrites(part, name, disposition.filename)
        }
    }

    /// The type and the other header lines; nil if one cannot be passed to curl.
    private func options(_ part: BodyPart) -> String? {
        var options = ""
        for index in 0..<part.fields.count where !part.fields.isNamed("content-disposition", at: index) {
            let line = String(decoding: part.fields.line(at: index), as: UTF8.self)
            guard Self.isPlain(line) else { return nil }
            let value = part.fields.value(at: index)
            if part.fields.isNamed("content-type", at: index), !options.contains(";type="), Self.isSimpleType(value) {
                options += ";type=\(value)"
            } else {
                options += ";headers=\(Self.quoted(line))"
            }
        }
        return options
    }

    // MARK: Words

    /// Text that is suitable for a command line and a terminal: it may contain line feeds and tabs, but no other control characters.
    private static func inline(_ data: BodyContents) throws -> String? {
        guard let bytes = try data.load(limit: self.inlineLimit), UTF8Validator.isValid(bytes), !bytes.contains(13) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return VisibleText.whole(bytes, .lines) == text ? text : nil
    }

    private static func isPlain(_ text: String) -> Bool { VisibleText.line(text) == text }

    /// A quoted word in curl's form syntax; within quotes, `;`, `,`, `@` and `<` have no special meaning.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(character)
        }
        return quoted + "\""
    }

    /// `text/plain; charset=utf-8` and the like, without anything that curl would parse as the next word.
    private static func isSimpleType(_ value: String) -> Bool {
        let words = value.split(separator: ";", omittingEmptySubsequences: false).map { $0.drop { $0 == " " } }
        func isToken(_ text: Substring) -> Bool {
            !text.isEmpty && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"\"',;\\()<>@[]{}".utf8.contains($0) }
        }
        guard let first = words.first, isToken(first), first.split(separator: "/", omittingEmptySubsequences: false).count == 2 else {
            return false
        }
        return words.dropFirst().allSatisfy {
            isToken($0) && $0.contains("=") && !["type=", "filename=", "headers=", "encoder="].contains(where: $0.hasPrefix)
        }
    }

    // MARK: Exactness

    /// Whether the part is as curl 7.88 writes it: name, filename, type, other lines, in this order, with quotes in names as `%22`.
    private static func isAsCurlWrites(_ part: BodyPart, _ name: String, _ filename: String?) -> Bool {
        func escaped(_ text: String) -> String {
            String(decoding: text.utf8.flatMap { $0 == UInt8(ascii: "\"") ? Array("%22".utf8) : [$0] }, as: UTF8.self)
        }
        var first = "Content-Disposition: form-data; name=\"\(escaped(name))\""
        if let filename { first += "; filename=\"\(escaped(filename))\"" }
        guard part.fields.count > 0, Array(part.fields.line(at: 0)) == Array(first.utf8) else { return false }
        let type = part.fields.firstIndex(of: "content-type")
        // curl adds a type to a file that has none, by its extension.
        guard type != nil || filename == nil else { return false }
        guard let type else { return true }
        return type == 1 && Array(part.fields.line(at: 1)) == Array("Content-Type: \(part.fields.value(at: 1))".utf8)
    }
}

/// The request fields that a command line repeats.
package enum FieldNames {
    /// RFC 9110, 5.6.2.
    package static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// - Parameters:
    ///   - name: the name in lower case.
    ///   - isForm: whether curl writes a multipart type with its own boundary.
    package static func isLeftOut(_ name: String, _ value: String, isForm: Bool) -> Bool {
        switch name {
        case "content-length", "proxy-connection", "proxy-authorization", "keep-alive": true
        case "connection": value.lowercased() == "keep-alive"
        case "content-type": isForm
        default: false
        }
    }

    /// The part between the scheme and the path, without user information.
    package static func authority(of url: String) -> String {
        guard let colon = url.firstIndex(of: ":") else { return "" }
        let authority = url[colon...].dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return String(authority.split(separator: "@", omittingEmptySubsequences: false).last ?? "")
    }
}

/// A word of a command line to be copied into a shell.
package enum ShellWord {
    /// Whether there are ASCII control characters, which a command line should not contain.
    package static func hasControls(_ text: String) -> Bool { text.utf8.contains { $0 < 0x20 || $0 == 0x7F } }

    /// A word split alternately into runs of visible characters and of characters that `VisibleText` escapes. The first run may be empty.
    package static func runs(_ word: String) -> [String] {
        var runs = [""]
        var isHidden = false
        for scalar in word.unicodeScalars {
            if VisibleText.isHidden(scalar) != isHidden {
                isHidden.toggle()
                runs.append("")
            }
            runs[runs.count - 1].unicodeScalars.append(scalar)
        }
        return runs
    }

    /// For any POSIX shell. Hidden characters are produced by printf, so that nobody runs anything invisible.
    package static func quoted(_ word: String) -> String {
        let runs = self.runs(word)
        return runs.indices.map { place in
            guard place % 2 == 1 else { return runs[place].isEmpty && runs.count > 1 ? "" : self.quotedVisible(runs[place]) }
            let bytes = runs[place].utf8.map { "\\\(String($0, radix: 8))" }.joined()
            return "\"$(printf '\(bytes)')\""
        }.joined()
    }

    private static func quotedVisible(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: ","), 0x80...:
                true
            default: false
            }
        }
        guard !isPlain || word.isEmpty else { return word }
        // Byte by byte: a quote with a combining accent is a different character in Swift, but a shell still ends the word there.
        var quoted = Array("'".utf8)
        for byte in word.utf8 {
            if byte == UInt8(ascii: "'") { quoted += Array(#"'\'"#.utf8) }
            quoted.append(byte)
        }
        return String(decoding: quoted, as: UTF8.self) + "'"
    }
}
