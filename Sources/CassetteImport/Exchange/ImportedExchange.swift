internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes
internal import TapeExchange

/// One exchange as a reader found it: what a tap would have seen, as far as the recording contains it.
struct ImportedExchange {
    /// Nil if the recording does not contain it.
    var started: Timestamp?
    var request: RecordedRequest
    var requestBody: ImportedBody?
    /// Nil if there was no response.
    var response: RecordedResponse?
    /// Nil if there is none, or if the message cannot have a body.
    var responseBody: ImportedBody?
    var interim: [InterimResponse] = []
    var outcome = Outcome.complete
    var timing = Timing()
    var connection: ConnectionInfo?
    /// The messages of the WebSocket that the response opened.
    var messages: [ImportedMessage]?
    /// What it compares if it was made from a stub.
    var stub: StubConditions?
    /// Whether it answers any number of times, as a stub does.
    var repeats = false
    /// Members that a cassette has no place for, kept for an export.
    var unknown: [UnknownMember] = []

    /// Marks the body of the response as incomplete.
    ///
    /// The outcome is the one for an origin that cut its response short, so that a replay cuts it at once. After a cut by the recorder, a
    /// replay would wait for the client to disconnect.
    mutating func cutAnswer(_ reason: String) {
        self.responseBody?.isComplete = false
        self.outcome = .cut(Cut(by: .origin, reason: reason))
    }

    /// Fills placeholders in messages that were read as they were sent. Chunks keep their contents, because they have their lengths.
    mutating func fill(_ placeholders: Placeholders) {
        guard !placeholders.isEmpty else { return }
        self.request.url = placeholders.filled(self.request.url)
        self.request.headers = placeholders.filled(self.request.headers)
        if let fields = self.response?.headers { self.response?.headers = placeholders.filled(fields) }
        func filled(_ body: ImportedBody?) -> ImportedBody? {
            guard var body, body.chunks == nil, body.pieces.isEmpty else { return body }
            body.bytes = placeholders.filled(body.bytes)
            return body
        }
        self.requestBody = filled(self.requestBody)
        self.responseBody = filled(self.responseBody)
    }

    /// Cuts the answer if its body lacks bytes that an answer with this status and method can have, and counts the loss.
    mutating func cutIncompleteAnswer(_ context: ImportContext, at value: SourceValue) {
        guard self.responseBody?.isComplete == false, !self.isBodiless else { return }
        context.lose(.responseBody, at: value)
        self.cutAnswer("the recording does not have the bytes of the body")
    }

    /// Removes a request body that lacks bytes, since its beginning could be that of a different one, and counts the loss.
    mutating func dropIncompleteRequestBody(_ context: ImportContext, at value: SourceValue) {
        guard self.requestBody?.isComplete == false else { return }
        context.lose(.requestBody, at: value)
        self.requestBody = ImportedBody([], .asSent, isComplete: false)
    }

    /// Whether the answer cannot have a body (RFC 9112, 6.3).
    private var isBodiless: Bool {
        let status = self.response?.status ?? 0
        return self.request.method == "HEAD" || status < 200 || status == 204 || status == 304
    }

    /// Approximate size in memory, in bytes.
    var size: Int {
        let messages = self.messages?.reduce(0) { $0 + $1.bytes.count } ?? 0
        return 1024 + (self.requestBody?.bytes.count ?? 0) + (self.responseBody?.bytes.count ?? 0) + messages
    }
}

/// A body, and whether its content codings were removed before it was recorded.
struct ImportedBody {
    enum Form {
        /// The content without codings, whatever the header fields declare.
        case decoded
        /// The bytes as sent.
        case asSent
        /// Unknown. If the bytes can be decoded, they are as sent.
        case either
    }

    var bytes: [UInt8]
    var form: Form
    var isComplete = true
    var note: String?
    /// When its pieces arrived, in milliseconds since its head.
    var pieces: [Arrival.Piece] = []
    /// The chunks as sent, if the recording has them.
    var chunks: Arrival?

    init(_ bytes: [UInt8], _ form: Form, isComplete: Bool = true, note: String? = nil) {
        self.bytes = bytes
        self.form = form
        self.isComplete = isComplete
        self.note = note
    }
}

extension ImportedBody {
    /// A text of a tool that does not record the size of bodies. Incomplete if it has U+FFFD in place of bytes.
    init(text: [UInt8], _ form: Form, _ fields: HeaderFields, replacesBytes: Bool = false) {
        let lacksBytes = DecodedText.lacksBytes(text, size: text.count, fields, replacesBytes: replacesBytes)
        self.init(text, form, isComplete: !lacksBytes)
    }
}

extension ImportedBody {
    /// Shortens a text that lacks bytes to those that were surely sent.
    ///
    /// A replay would send the others, and a client that has read as many bytes as `Content-Length` says takes them for a complete answer.
    ///
    /// - Parameter length: the Content-Length of a body without codings; nil if unknown.
    fileprivate mutating func dropUncertainBytes(length: Int?) {
        guard !self.isComplete, self.form != .asSent else { return }
        var end = DecodedText.firstReplacement(self.bytes) ?? self.bytes.count
        if let length, self.bytes.count > length, end >= length {
            // Characters were sent as other bytes, in a charset that nobody declared.
            end = self.bytes.firstIndex { $0 >= 128 } ?? 0
            if end >= length { end = 0 }
        }
        guard end < self.bytes.count else { return }
        self.bytes.removeSubrange(end...)
        self.pieces = []
    }
}

/// A WebSocket message.
struct ImportedMessage {
    /// Milliseconds since the exchange began.
    var at: Double
    var from: WebSocketSide
    var kind: TapedMessage.Kind
    var bytes: [UInt8]
    var isComplete = true
}

// MARK: Settling

extension ImportedExchange {
    /// Makes fields, bodies and lengths agree, so that the exchange can be replayed, and counts what this changes.
    mutating func settle(_ context: ImportContext) {
        self.settleRequest(context)
        guard self.response != nil else {
            self.responseBody = nil
            return
        }
        self.settleResponse(context)
    }

    private mutating func settleRequest(_ context: ImportContext) {
        self.request.headers = self.request.headers.withPlainFraming(self.request.version, context)
        guard var body = self.requestBody else { return }
        if case .coded(let names) = ContentEncoding(self.request.headers), !body.bytes.isEmpty {
            switch body.form {
            case .asSent: break
            case .either where ContentCodings.fit(body.bytes, names): body.form = .asSent
            case .either, .decoded:
                // A request has no place for the fields of an encoded body.
                self.request.headers = self.request.headers.removing("content-encoding")
                context.lose(.codedBody)
            }
        }
        if body.isComplete { self.request.headers = self.request.headers.withLength(body.bytes.count, context) }
        self.requestBody = body
    }

    private mutating func settleResponse(_ context: ImportContext) {
        guard var response = self.response else { return }
        response.headers = response.headers.withPlainFraming(response.version, context)
        if self.isBodiless {
            if self.responseBody?.bytes.isEmpty == false { context.lose(.noBody) }
            self.responseBody = nil
            if response.status == 204 { response.headers = response.headers.removing("content-length") }
        } else {
            var body = self.responseBody ?? ImportedBody([], .asSent)
            let length = response.headers.contains("content-encoding") ? nil : response.headers.first("content-length").flatMap { Int($0) }
            body.dropUncertainBytes(length: length)
            if case .coded(let names) = ContentEncoding(response.headers), !body.bytes.isEmpty || !body.isComplete {
                let isAsSent =
                    switch body.form {
                    case .asSent: true
                    case .decoded: false
                    case .either: ContentCodings.fit(body.bytes, names)
                    }
                if !isAsSent {
                    response.bodyWasDecoded(size: body.isComplete ? body.bytes.count : nil)
                    context.lose(.codedBody)
                }
            }
            if body.isComplete { response.headers = response.headers.withLength(body.bytes.count, context) }
            self.responseBody = body
        }
        self.response = response
    }
}

/// Content codings of imported bodies.
enum ContentCodings {
    /// Whether the bytes can be decoded with these codings, up to their end.
    static func fit(_ bytes: [UInt8], _ names: [ContentEncoding.Name]) -> Bool {
        guard let chain = DecoderChain(names, limits: .file(codedSize: bytes.count)) else { return false }
        let goesOn = try? bytes.withUnsafeBytes { try chain.push($0) { _ in } }
        return goesOn == true && chain.finish()
    }
}

extension HeaderFields {
    /// Without a transfer coding or a length that no parser would accept.
    fileprivate func withPlainFraming(_ version: HTTPVersion, _ context: ImportContext) -> HeaderFields {
        var fields = self
        let codings = fields.values("transfer-encoding")
        if !codings.isEmpty, codings != ["chunked"] || version != .http11 {
            if version.major < 2 { context.lose(.framing) }
            fields = fields.removing("transfer-encoding")
        }
        let lengths = fields.values("content-length")
        let isPlain = lengths.count == 1 && Int(lengths[0]).map { $0 >= 0 && String($0) == lengths[0] } == true
        if !lengths.isEmpty, !isPlain || fields.contains("transfer-encoding") {
            context.lose(.framing)
            fields = fields.removing("content-length")
        }
        return fields
    }

    /// With the body's length in the Content-Length field, if there is one.
    fileprivate func withLength(_ size: Int, _ context: ImportContext) -> HeaderFields {
        guard let length = self.first("content-length"), length != String(size) else { return self }
        context.lose(.length)
        return self.replacing("content-length", with: String(size))
    }
}

/// Builds header fields from names and values that another tool recorded, and keeps line breaks out of them.
struct FieldBuilder {
    private(set) var fields = HeaderFields()
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    /// Skips the pseudo-fields of HTTP/2, which are in the request's other members.
    mutating func append(_ name: String, _ value: [UInt8], at place: SourceValue) {
        guard !name.hasPrefix(":") else { return }
        guard Self.isToken(name) else { return self.context.lose(.fields, at: place) }
        // Browsers join fields that occur more than once into one value with several lines.
        for line in value.split(separator: 10, omittingEmptySubsequences: false) {
            let line = line.last == 13 ? line.dropLast() : line
            guard !line.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 }) else {
                self.context.lose(.fields, at: place)
                continue
            }
            self.fields.append(line: Array("\(name): ".utf8) + line)
        }
    }

    /// Appends fields in the usual notations: an object of names with a value or a list of values, or a list of names and values.
    mutating func append(_ value: SourceValue?, in path: String) throws(CassetteError) {
        guard let value else { return }
        if let members = value.members {
            for member in members {
                for element in member.value.list ?? [member.value] { try self.append(member.name, element, path) }
            }
        } else if let list = value.list {
            for element in list {
                if let pair = element.list, pair.count == 2, let name = pair[0].string {
                    for value in pair[1].list ?? [pair[1]] { try self.append(name, value, path) }
                } else if let line = element.data, let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                    // vcrpy before version 1.0 stored complete lines with their ends.
                    let value = line[(colon + 1)...].drop { $0 == 32 }.filter { $0 != 13 && $0 != 10 }
                    self.append(String(decoding: line[..<colon], as: UTF8.self), Array(value), at: element)
                } else if let list = element["value"]?.list, let name = element["name"]?.string {
                    // Polly stores a list of the values of one name.
                    for value in list { try self.append(name, value, path) }
                } else {
                    try self.append(self.context.string(element, "name", in: path), self.context.required(element, "value", in: path), path)
                }
            }
        } else {
            throw self.context.error(value, path, "expected header fields, found \(value.kind)")
        }
    }

    private mutating func append(_ name: String, _ value: SourceValue, _ path: String) throws(CassetteError) {
        if value.isNothing { return self.append(name, [], at: value) }
        guard let data = value.data else { throw self.context.error(value, "\(path).\(name)", "expected text, found \(value.kind)") }
        self.append(name, data, at: value)
    }

    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains($0)
                }
            }
    }
}

// MARK: Words of other tools

enum SourceWords {
    /// An absolute HTTP URL as in a request, without its fragment; nil if the text is not such a URL, or names no host.
    static func url(_ text: String) -> String? {
        var url = text
        for (scheme, plain) in [("ws://", "http://"), ("wss://", "https://")] where url.lowercased().hasPrefix(scheme) {
            url = plain + url.dropFirst(scheme.count)
        }
        let lower = url.prefix(8).lowercased()
        guard lower.hasPrefix("http://") || lower.hasPrefix("https://"), self.namesHost(url) else { return nil }
        var bytes: [UInt8] = []
        for byte in url.utf8 {
            if byte == UInt8(ascii: "#") { break }
            if byte <= 32 || byte >= 127 {
                bytes += Array("%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func namesHost(_ url: String) -> Bool {
        let authority = url.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] } ?? authority[...]
        guard let first = host.first, first != UInt8(ascii: ":") else { return false }
        guard first == UInt8(ascii: "[") else { return true }
        guard let end = host.firstIndex(of: UInt8(ascii: "]")) else { return false }
        let rest = host[host.index(after: end)...]
        return rest.isEmpty || rest.first == UInt8(ascii: ":")
    }

    /// Parses `HTTP/1.1`, `http/2.0`, `h2`; HTTP/1.1 for anything else.
    ///
    /// - Returns: the version, and whether the real version is a later one.
    static func version(_ text: String?) -> (version: HTTPVersion, isLater: Bool) {
        let text = (text ?? "").lowercased()
        if text.hasPrefix("h3") || text.hasPrefix("http/3") || text.contains("quic") { return (.http2, true) }
        if text.hasPrefix("h2") || text.hasPrefix("http/2") { return (.http2, false) }
        return (text == "http/1.0" ? .http10 : .http11, false)
    }

    /// Parses ISO 8601 with an offset or Z, and any number of decimals.
    static func time(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 19 else { return nil }
        var seconds = Array(bytes[..<19])
        if seconds[10] == 32 || seconds[10] == UInt8(ascii: "t") { seconds[10] = UInt8(ascii: "T") }
        var rest = bytes[19...]
        if let first = rest.first, first == UInt8(ascii: ".") || first == UInt8(ascii: ",") {
            let digits = rest.dropFirst().prefix { $0 >= 48 && $0 <= 57 }
            seconds += [UInt8(ascii: ".")] + digits.prefix(9)
            rest = rest.dropFirst(1 + digits.count)
            if digits.isEmpty { return nil }
        }
        seconds.append(UInt8(ascii: "Z"))
        guard let time = Timestamp(String(decoding: seconds, as: UTF8.self)) else { return nil }
        let zone = rest.filter { $0 != UInt8(ascii: ":") && $0 != 32 }
        guard let sign = zone.first, sign | 32 != UInt8(ascii: "z"), !zone.elementsEqual("UTC".utf8) else { return time }
        let digits = zone.dropFirst()
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), digits.count == 4 || digits.count == 2,
            let number = Int(String(decoding: digits, as: UTF8.self)), number >= 0
        else { return nil }
        let minutes = digits.count == 2 ? number * 60 : number / 100 * 60 + number % 100
        let microseconds = Int64(minutes) * 60_000_000
        return Timestamp(microseconds: time.microseconds - (sign == UInt8(ascii: "+") ? microseconds : -microseconds))
    }

    /// Unix time in seconds.
    static func time(seconds: Double) -> Timestamp? {
        guard abs(seconds) < 1e12 else { return nil }
        return Timestamp(microseconds: Int64((seconds * 1e6).rounded()))
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Such as `Sat, 21 Nov 2026 04:19:28 GMT` (RFC 9110, 5.6.7).
    static func httpDate(_ time: Timestamp) -> String {
        let text = Array(time.formatted)
        let day = time.microseconds / 86_400_000_000 - (time.microseconds % 86_400_000_000 < 0 ? 1 : 0)
        // 1 January 1970 was a Thursday.
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int((day % 7 + 7) % 7)]
        let month = (Int(String(text[5..<7])) ?? 1) - 1
        return "\(weekday), \(String(text[8..<10])) \(self.months[month]) \(String(text[..<4])) \(String(text[11..<19])) GMT"
    }

    /// Parses the same format.
    static func time(httpDate text: String) -> Timestamp? {
        let words = text.lowercased().split { $0 == " " || $0 == "," }
        guard words.count == 6, words[1].utf8.count == 2, let month = self.months.firstIndex(where: { $0.lowercased() == words[2] }) else {
            return nil
        }
        return Timestamp("\(words[3])-\(month < 9 ? "0" : "")\(month + 1)-\(words[1])T\(words[4])Z")
    }

    /// The reason phrase without control characters.
    static func reason(_ value: SourceValue?) -> [UInt8] { (value?.data ?? []).filter { $0 >= 32 && $0 != 127 } }
}
