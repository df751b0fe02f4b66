internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes

/// One exchange as JSON for the page, without the bytes of its bodies.
struct ExchangeJSON {
    /// Larger bodies are not decoded to describe them.
    static let describedSize = 64 << 20

    private let interaction: Interaction
    private let reader: BodyReader
    private var writer = JSONWriter()

    init(_ interaction: Interaction, reader: BodyReader) {
        self.interaction = interaction
        self.reader = reader
    }

    struct Place {
        var key: Int
        var number: Int
        var file: Range<Int>
        var opening: (key: Int, tls: TLSDetails)?
    }

    consuming func bytes(_ place: Place, text: [UInt8]) -> [UInt8] {
        let interaction = self.interaction
        self.writer.beginObject(.inline)
        self.number("key", place.key)
        self.number("number", place.number)
        self.number("id", interaction.id)
        self.text("started", interaction.started.formatted)
        self.number("from", place.file.lowerBound)
        self.number("length", place.file.count)
        self.request(interaction.request)
        self.interim(interaction.interim)
        if let response = interaction.response { self.response(response) }
        self.outcome(interaction.outcome)
        self.timing(interaction.timing)
        if let tunnel = interaction.tunnel {
            self.object("tunnel") {
                $0.number("sent", tunnel.sent)
                $0.number("received", tunnel.received)
            }
        }
        if let connection = interaction.connection { self.connection(connection, place.opening) }
        if let modified = interaction.modified {
            self.object("modified") {
                $0.array("rules", modified.rules)
                $0.text("forwardedTo", modified.forwardedTo)
            }
        }
        if interaction.opensWebSocket { self.number("webSocket", interaction.webSocket?.count ?? 0) }
        self.redactions(text)
        let unknown = interaction.unknown + interaction.request.unknown + (interaction.response?.unknown ?? [])
        self.array("unknown", unknown.map(\.name).filter { $0 != ChosenExchanges.comment })
        if let comment = interaction.comment { self.text("comment", comment) }
        self.writer.endObject()
        return self.writer.bytes
    }

    // MARK: Messages

    private mutating func request(_ request: RecordedRequest) {
        self.object("request") {
            $0.text("method", request.method)
            $0.text("url", request.url)
            $0.text("target", request.target)
            $0.text("version", request.version.description)
            $0.fields("headers", request.headers)
            if let trailers = request.trailers { $0.fields("trailers", trailers) }
            if let body = request.body { $0.body(body, request.headers, .request) }
        }
    }

    private mutating func response(_ response: RecordedResponse) {
        self.object("response") {
            $0.number("status", response.status)
            $0.text("reason", VisibleText.line(response.reason))
            $0.text("version", response.version.description)
            $0.fields("headers", response.headers)
            if let coded = response.codedHeaders { $0.fields("codedHeaders", coded) }
            if let trailers = response.trailers { $0.fields("trailers", trailers) }
            if let body = response.body { $0.body(body, response.headers, .response) }
            if GRPCType(response.headers) != nil {
                let status = GRPCStatus(response)
                $0.object("grpc") {
                    if let status { $0.number("code", status.code) }
                    $0.text("name", status?.name ?? "no grpc-status")
                    $0.text("message", GRPCStatus.words(response))
                    if let after = response.after { $0.number("after", after) }
                    if let end = response.endAfter { $0.number("endAfter", end) }
                }
            }
        }
    }

    private mutating func interim(_ all: [InterimResponse]) {
        self.writer.member("interim")
        self.writer.beginArray(.inline)
        for interim in all {
            self.writer.element()
            self.writer.beginObject(.inline)
            self.number("status", interim.status)
            self.text("reason", VisibleText.line(interim.reason))
            self.text("version", interim.version.description)
            self.milliseconds("at", interim.at)
            self.fields("headers", interim.headers)
            self.writer.endObject()
        }
        self.writer.endArray()
    }

    private mutating func body(_ body: Body, _ headers: HeaderFields, _ side: MessageChoice) {
        let isLarge = max(body.size, body.byteCount) > Self.describedSize
        var problem: String?
        var contents: BodyContents?
        var events: BodyEvents?
        if !isLarge {
            do {
                let read = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
                contents = read
                events = try BodyEvents(body, headers: headers, contents: read)
            } catch let error as CassetteError {
                problem = error.message
            } catch {
                problem = "\(error)"
            }
        }
        let reader = self.reader
        self.object("body") {
            $0.number("size", body.size)
            $0.bool("complete", body.isComplete)
            $0.bool("large", isLarge)
            $0.text("type", ExchangeRow.type(headers))
            $0.text("problem", problem)
            $0.text("coding", BodyWords.coding(headers))
            $0.text("sha256", body.sha256)
            $0.array("facts", BodyWords.lines(body, headers: headers, contents: contents, events: events))
            if let contents {
                $0.number("decoded", contents.size)
                $0.form(contents, headers)
            } else {
                $0.number("decoded", body.byteCount)
            }
            if let contents {
                let parts = try? BodyParts(contents, headers: headers)
                $0.bool("multipart", MultipartType(headers) != nil || parts != nil)
                if let lint = try? BodyLint(contents, headers: headers, BodyLint.Context(side: side, body: body)) {
                    $0.number("defects", lint.findings.count)
                }
            } else {
                $0.bool("multipart", false)
            }
            if let events { $0.number("events", events.count) }
            if let messages = BodyMessages(body, reader: reader) { $0.number("messages", messages.all.count) }
            if let arrival = body.arrival { $0.arrival(arrival) }
        }
    }

    private mutating func form(_ contents: BodyContents, _ headers: HeaderFields) {
        guard let form = try? BodyForm(contents, headers: headers) else { return }
        switch form {
        case .json: self.text("form", "json")
        case .lines: self.text("form", "lines")
        case .form: self.text("form", "form")
        case .markup: self.text("form", "markup")
        case .text: self.text("form", "text")
        case .binary: self.text("form", "binary")
        case .image(let image):
            self.text("form", "image")
            self.image(image)
        }
    }

    private mutating func image(_ image: ImageInfo) {
        self.object("image") {
            $0.text("format", image.format.rawValue)
            if let size = image.size {
                $0.number("width", size.width)
                $0.number("height", size.height)
            }
        }
    }

    private mutating func arrival(_ arrival: Arrival) {
        self.object("arrival") {
            $0.bool("chunked", arrival.isChunked)
            $0.bool("thinned", arrival.isThinned)
            $0.writer.member("pieces")
            $0.writer.beginArray(.inline)
            for piece in arrival.pieces {
                $0.writer.element()
                $0.writer.beginArray(.inline)
                $0.writer.element()
                $0.writer.milliseconds(piece.at)
                $0.writer.element()
                $0.writer.integer(piece.size)
                $0.writer.endArray()
            }
            $0.writer.endArray()
        }
    }

    // MARK: About the exchange

    private mutating func outcome(_ outcome: Outcome) {
        self.object("outcome") {
            switch outcome {
            case .complete: $0.text("kind", "complete")
            case .cut(let cut):
                $0.text("kind", "cut")
                $0.text("by", cut.by.rawValue)
                $0.text("reason", cut.reason)
            case .failed(let failure):
                $0.text("kind", "failed")
                $0.text("by", failure.kind.rawValue)
                $0.text("reason", failure.message)
            }
        }
    }

    private mutating func timing(_ timing: Timing) {
        self.object("timing") {
            let phases: [(StaticString, Double?)] = [
                ("blocked", timing.blocked), ("dns", timing.dns), ("connect", timing.connect), ("tls", timing.tls), ("send", timing.send),
                ("wait", timing.wait), ("receive", timing.receive), ("total", timing.total),
            ]
            for (name, value) in phases { if let value { $0.milliseconds(name, value) } }
        }
    }

    private mutating func connection(_ connection: ConnectionInfo, _ opening: (key: Int, tls: TLSDetails)?) {
        self.object("connection") {
            $0.number("id", connection.id)
            $0.text("remote", connection.remote)
            if let stream = connection.stream { $0.number("stream", stream) }
            $0.bool("reused", connection.isReused)
            if let opening { $0.number("openedBy", opening.key) }
            guard let tls = connection.tls else { return }
            $0.object("tls") {
                $0.text("version", tls.version)
                $0.text("cipher", tls.cipher)
                $0.text("alpn", tls.alpn)
                $0.text("sni", tls.sni)
                $0.bool("resumed", tls.isResumed)
                $0.writer.member("chain")
                $0.writer.beginArray(.inline)
                for certificate in tls.chain.isEmpty ? opening?.tls.chain ?? [] : tls.chain {
                    $0.writer.element()
                    $0.writer.beginObject(.inline)
                    $0.text("subject", certificate.subject)
                    $0.text("issuer", certificate.issuer)
                    $0.text("notBefore", certificate.notBefore.formatted)
                    $0.text("notAfter", certificate.notAfter.formatted)
                    $0.text("sha256", certificate.sha256)
                    $0.writer.endObject()
                }
                $0.writer.endArray()
            }
        }
    }

    /// - Parameter text: the exchange's text in the cassette.
    private mutating func redactions(_ text: [UInt8]) {
        self.writer.member("redactions")
        self.writer.beginArray(.inline)
        for found in RecordedPlaceholders.find(text) {
            self.writer.element()
            self.writer.beginObject(.inline)
            self.text("placeholder", found.placeholder)
            self.text("place", found.place)
            self.writer.endObject()
        }
        self.writer.endArray()
    }

    // MARK: Members

    private mutating func object(_ name: StaticString, _ body: (inout ExchangeJSON) -> Void) {
        self.writer.member(name)
        self.writer.beginObject(.inline)
        body(&self)
        self.writer.endObject()
    }

    private mutating func text(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        self.writer.member(name)
        self.writer.string(value)
    }

    private mutating func number(_ name: StaticString, _ value: Int) {
        self.writer.member(name)
        self.writer.integer(value)
    }

    private mutating func milliseconds(_ name: StaticString, _ value: Double) {
        self.writer.member(name)
        self.writer.milliseconds(value)
    }

    private mutating func bool(_ name: StaticString, _ value: Bool) {
        self.writer.member(name)
        self.writer.bool(value)
    }

    private mutating func array(_ name: StaticString, _ texts: [String]) {
        self.writer.member(name)
        self.writer.beginArray(.inline)
        for text in texts {
            self.writer.element()
            self.writer.string(text)
        }
        self.writer.endArray()
    }

    private mutating func fields(_ name: StaticString, _ fields: HeaderFields) { self.array(name, FieldLines.texts(fields)) }
}

/// Field lines as text. Bytes that are not UTF-8 are escaped.
enum FieldLines {
    static func texts(_ fields: HeaderFields) -> [String] {
        (0..<fields.count).map { index in
            let line = fields.line(at: index)
            return String(validating: line, as: UTF8.self) ?? VisibleText.line(line)
        }
    }
}

/// The placeholders in an exchange's text and their places.
enum RecordedPlaceholders {
    struct Found: Hashable {
        var placeholder: String
        /// `request headers`, `response body json token`
        var place: String
    }

    private static let limit = 1000

    static func find(_ text: [UInt8]) -> [Found] {
        guard text.withUnsafeBytes({ ByteSearch.contains("{{", in: $0) }), let document = try? JSONDocument(text) else { return [] }
        var found: [Found] = []
        self.walk(document.root, [], &found)
        return found
    }

    private static func walk(_ value: JSONValue, _ path: [String], _ found: inout [Found]) {
        guard found.count < self.limit else { return }
        switch value.kind {
        case .object:
            for (name, value) in value.members { self.walk(value, path + [name.string ?? "?"], &found) }
        case .array:
            for element in value.elements { self.walk(element, path, &found) }
        case .string:
            guard let bytes = value.utf8 else { return }
            bytes.withUnsafeBytes { bytes in
                var offset = 0
                while offset + 5 < bytes.count {
                    offset = ByteScan.index(of: UInt8(ascii: "{"), or: UInt8(ascii: "%"), in: bytes, from: offset)
                    guard offset < bytes.count else { return }
                    guard let spelled = Placeholder.spelled(in: bytes, at: offset) else {
                        offset += 1
                        continue
                    }
                    found.append(Found(placeholder: spelled.placeholder.description, place: path.joined(separator: " ")))
                    offset += spelled.length
                }
            }
        case .number, .true, .false, .null: return
        }
    }
}
