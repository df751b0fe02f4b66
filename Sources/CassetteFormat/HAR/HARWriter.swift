public import CassetteModel
public import TapeBytes

/// Writes interactions as an HTTP Archive, version 1.2, into a sink.
///
/// Uses one buffer, however large the bodies are. Redacts nothing: exports the cassette as it is.
public struct HARWriter {
    public typealias Sink = (UnsafeRawBufferPointer) throws -> Void

    var writer = JSONWriter(reserving: 2 * Self.flushSize)
    private let sink: Sink
    let bodies: (any HARBodySource)?
    /// The buffer is passed to the sink when it has this size, and bodies are read in pieces of this size.
    static let flushSize = 48 << 10

    /// Without `bodies`, content in files is left out and replaced by a comment.
    public init(bodies: (any HARBodySource)? = nil, sink: @escaping Sink) {
        self.bodies = bodies
        self.sink = sink
    }

    // MARK: The log

    /// - Parameter kept: data of the imported archives outside of their entries: the member `har` of the cassette's head.
    public mutating func begin(creator: String, version: String, kept: UnknownMember? = nil) throws {
        self.writer.beginObject(.lines)
        self.writer.member("log")
        self.writer.beginObject(.lines)
        self.writer.member("version")
        self.writer.string("1.2")
        self.writer.member("creator")
        self.writer.beginObject(.inline)
        self.writer.member("name")
        self.writer.string(creator)
        self.writer.member("version")
        self.writer.string(version)
        self.writer.endObject()
        HARKept(kept.map { [$0] } ?? []).write(["browser", "pages", "comment"], into: &self.writer)
        self.writer.member("entries")
        self.writer.beginArray(.lines)
    }

    public mutating func end() throws {
        self.writer.endArray()
        self.writer.endObject()
        self.writer.endObject()
        self.writer.byte(10)
        try self.flush()
    }

    private mutating func flush() throws {
        try self.writer.withUnsafeBytes { try self.sink($0) }
        self.writer.drain()
    }

    mutating func flushIfFull() throws {
        if self.writer.count >= Self.flushSize { try self.flush() }
    }

    // MARK: An entry

    public mutating func append(_ interaction: Interaction) throws {
        self.writer.element()
        let kept = HARKept(interaction.unknown)
        self.writer.beginObject(.lines)
        kept.write(["pageref"], into: &self.writer)
        self.writer.member("startedDateTime")
        self.writer.timestamp(interaction.started)
        self.writer.member("time")
        let timing = Self.phases(interaction)
        if let time = kept["time"] { self.writer.raw(Array(time.raw)) } else { self.writer.milliseconds(Self.time(timing)) }
        self.writer.member("request")
        try self.request(interaction.request, isSocket: interaction.webSocket != nil, kept)
        self.writer.member("response")
        try self.response(interaction, kept)
        self.writer.member("cache")
        self.writer.raw(kept["cache"].map { Array($0.raw) } ?? Array("{}".utf8))
        self.timings(timing, kept["timings"])
        if let connection = interaction.connection {
            self.writer.member("serverIPAddress")
            self.writer.string(Self.address(connection.remote))
            if kept["connection"] == nil {
                self.writer.member("connection")
                self.writer.string(String(connection.id))
            }
            if let tls = connection.tls {
                self.writer.member("_tls")
                ConnectionEncoder.encode(tls, into: &self.writer)
            }
        }
        kept.write(["connection", "comment"], into: &self.writer)
        if let messages = interaction.webSocket {
            try self.conversation(messages, of: interaction)
        } else if let response = interaction.response, Self.isEvents(response) {
            try self.events(of: response, in: interaction)
        }
        self.writer.endObject()
        try self.flushIfFull()
    }

    private mutating func request(_ request: RecordedRequest, isSocket: Bool, _ kept: HARKept) throws {
        self.writer.beginObject(.lines)
        self.writer.member("method")
        self.writer.string(request.method)
        self.writer.member("url")
        self.writer.string(isSocket ? Self.socketURL(request.url) : request.url)
        self.writer.member("httpVersion")
        self.writer.string(kept["request"]?["httpVersion"]?.string ?? Self.version(request.version))
        self.writer.member("cookies")
        self.cookies(request.headers.values("cookie").flatMap(HARCookie.sent))
        self.fields(request.headers)
        self.writer.member("queryString")
        self.pairs(FormPairs.query(of: request.url))
        if let body = request.body, body.content != .empty {
            self.writer.member("postData")
            try self.postData(body, headers: request.headers, comment: kept["request"]?["postData"]?["comment"])
        } else if let post = kept["request"]?["postData"] {
            self.writer.member("postData")
            self.writer.raw(Array(post.raw))
        }
        self.trailers(request.trailers)
        // Whether the target was sent in origin-form or absolute-form is unknown.
        self.sizes(head: -1, body: request.body?.size ?? 0, kept["request"])
        self.comment(kept["request"]?["comment"])
        self.writer.endObject()
    }

    private mutating func response(_ interaction: Interaction, _ kept: HARKept) throws {
        let response = interaction.response ?? RecordedResponse(status: 0)
        self.writer.beginObject(.lines)
        self.writer.member("status")
        self.writer.integer(response.status)
        self.writer.member("statusText")
        if let text = kept["response"]?["statusText"]?.string { self.writer.string(text) } else { self.bytes(response.reason[...]) }
        self.writer.member("httpVersion")
        self.writer.string(kept["response"]?["httpVersion"]?.string ?? interaction.response.map { Self.version($0.version) } ?? "")
        self.writer.member("cookies")
        self.cookies(response.headers.values("set-cookie").compactMap(HARCookie.set))
        self.fields(response.receivedHeaders)
        self.trailers(response.trailers)
        self.writer.member("content")
        try self.content(response.body, headers: response.headers, kept["response"])
        self.writer.member("redirectURL")
        self.writer.string(kept["response"]?["redirectURL"]?.string ?? response.headers.first("location") ?? "")
        if interaction.response == nil {
            self.sizes(head: -1, body: -1, kept["response"])
        } else {
            // Version, space, three digits, space, reason, CRLF; the fields; CRLF.
            let space = response.omitsReasonSpace ? 4 : 5
            let head = response.version.description.utf8.count + space + response.reason.count + 2 + response.headers.size + 2
            // The compressed size of a head in HTTP/2 is unknown.
            self.sizes(head: response.version >= .http2 ? -1 : head, body: response.body?.size ?? 0, kept["response"])
        }
        self.comment(kept["response"]?["comment"])
        switch interaction.outcome {
        case .complete: break
        case .cut(let cut):
            self.writer.member("_error")
            self.writer.string("cut by the \(cut.by.rawValue): \(cut.reason)")
        case .failed(let failure):
            self.writer.member("_error")
            self.writer.string("\(failure.kind.rawValue): \(failure.message)")
        }
        self.writer.endObject()
    }

    /// In the browsers' spelling.
    package static func version(_ version: HTTPVersion) -> String {
        version >= .http2 ? version.description.lowercased() : version.description
    }

    private mutating func sizes(head: Int, body: Int, _ kept: JSONValue?) {
        self.writer.member("headersSize")
        self.writer.integer(kept?["headersSize"]?.int ?? head)
        self.writer.member("bodySize")
        self.writer.integer(kept?["bodySize"]?.int ?? body)
    }

    /// Writes a comment from the imported archive.
    mutating func comment(_ kept: JSONValue?) {
        guard let kept else { return }
        self.writer.member("comment")
        self.writer.raw(Array(kept.raw))
    }

    // MARK: Fields, cookies, pairs

    /// HAR has no place for trailers, so this is a member of Wiretape's own.
    private mutating func trailers(_ fields: HeaderFields?) {
        guard let fields, !fields.isEmpty else { return }
        self.fields(fields, as: "_trailers")
    }

    private mutating func fields(_ fields: HeaderFields, as member: StaticString = "headers") {
        self.writer.member(member)
        self.writer.beginArray(.lines)
        for index in 0..<fields.count {
            self.writer.element()
            self.writer.beginObject(.inline)
            self.writer.member("name")
            self.writer.string(fields.name(at: index))
            self.writer.member("value")
            self.bytes(fields.valueBytes(at: index))
            self.writer.endObject()
        }
        self.writer.endArray()
    }

    /// As UTF-8 if it is valid, otherwise one character per byte, as browsers show field values.
    private mutating func bytes(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes {
            if UTF8Validator.isValid($0) { self.writer.string(utf8: $0) } else { self.writer.string(latin1: $0) }
        }
    }

    private mutating func cookies(_ cookies: [HARCookie]) {
        self.writer.beginArray(.lines)
        for cookie in cookies {
            self.writer.element()
            self.writer.beginObject(.inline)
            self.writer.member("name")
            self.writer.string(cookie.name)
            self.writer.member("value")
            self.writer.string(cookie.value)
            for attribute in cookie.attributes {
                self.writer.member(named: attribute.name)
                self.writer.string(attribute.value)
            }
            for flag in cookie.flags {
                self.writer.member(named: flag)
                self.writer.bool(true)
            }
            self.writer.endObject()
        }
        self.writer.endArray()
    }

    mutating func pairs(_ pairs: [FormPairs.Pair]) {
        self.writer.beginArray(.lines)
        for pair in pairs {
            self.writer.element()
            self.writer.beginObject(.inline)
            self.writer.member("name")
            self.writer.string(pair.name)
            self.writer.member("value")
            self.writer.string(pair.value)
            self.writer.endObject()
        }
        self.writer.endArray()
    }

    // MARK: Timings

    /// The recorded phases. If the exchange did not end, the time missing from the total is added to the current phase, since HAR's `time`
    /// is the sum of its timings.
    private static func phases(_ interaction: Interaction) -> Timing {
        var timing = interaction.timing
        let phases = [timing.blocked, timing.dns, timing.connect, timing.tls, timing.send, timing.wait, timing.receive]
        guard let total = timing.total else { return timing }
        if phases.contains(where: { $0 != nil }) {
            let rest = total - self.time(timing)
            guard interaction.outcome != .complete, rest > 0 else { return timing }
            // A known phase is not changed.
            if interaction.response == nil, timing.wait == nil {
                timing.wait = rest
            } else if interaction.response != nil, timing.receive == nil {
                timing.receive = rest
            }
            return timing
        }
        switch interaction.outcome {
        case .failed(let failure):
            switch failure.kind {
            case .dns: timing.dns = total
            case .refused, .unreachable, .tls: timing.connect = total
            case .reset, .timeout, .truncated, .cancelled, .malformed, .unprocessed:
                if interaction.request.method == "CONNECT" { timing.connect = total } else { timing.wait = total }
            }
        case .complete, .cut: timing.wait = total
        }
        return timing
    }

    /// The sum of the phases, as HAR defines it.
    private static func time(_ timing: Timing) -> Double {
        let phases = [timing.blocked, timing.dns, timing.connect, timing.tls, timing.send, timing.wait, timing.receive].compactMap { $0 }
        return phases.reduce(0, +)
    }

    /// In HAR, `connect` includes the TLS handshake; `send`, `wait` and `receive` must not be -1.
    private mutating func timings(_ timing: Timing, _ kept: JSONValue?) {
        let connect = timing.connect == nil && timing.tls == nil ? -1 : (timing.connect ?? 0) + (timing.tls ?? 0)
        self.writer.member("timings")
        self.writer.beginObject(.inline)
        let phases: [(StaticString, Double)] = [
            ("blocked", timing.blocked ?? -1), ("dns", timing.dns ?? -1), ("connect", connect), ("send", timing.send ?? 0),
            ("wait", timing.wait ?? 0), ("receive", timing.receive ?? 0), ("ssl", timing.tls ?? -1),
        ]
        for (name, value) in phases {
            self.writer.member(name)
            if let kept = kept?["\(name)"] {
                self.writer.raw(Array(kept.raw))
            } else {
                self.writer.milliseconds(value)
            }
        }
        self.comment(kept?["comment"])
        self.writer.endObject()
    }

    /// Without the port and the brackets of an IPv6 address.
    private static func address(_ remote: String) -> String {
        guard let colon = remote.utf8.lastIndex(of: UInt8(ascii: ":")) else { return remote }
        return String(remote[..<colon].filter { $0 != "[" && $0 != "]" })
    }
}

/// Standard members of an imported archive that have no equivalent in the cassette.
struct HARKept {
    private let document: JSONDocument?

    /// - Parameter members: the unknown members of an interaction or of a cassette's head, which may include `har`.
    init(_ members: [UnknownMember]) {
        self.document = members.first { $0.name == UnknownMember.archiveName }.flatMap { try? JSONDocument($0.json) }
    }

    subscript(name: String) -> JSONValue? { self.document?.root[name] }

    func write(_ names: [String], into writer: inout JSONWriter) {
        for name in names {
            guard let value = self[name] else { continue }
            writer.member(named: name)
            writer.raw(Array(value.raw))
        }
    }
}

/// Reads bodies from the files next to a cassette, for an export.
public protocol HARBodySource {
    /// Delivers the content of a body whose `content` has files or a raw slice, in pieces and in order. Removes the codings that `headers`
    /// declare, even if the body is not decoded yet. Codings that cannot be decoded are kept.
    ///
    /// May be called twice for the same body: once to check whether it is text, once to write it.
    func read(_ body: Body, headers: HeaderFields, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws

    /// Delivers the messages of a WebSocket that are in a file, one after another.
    func readMessages(_ messages: WebSocketMessages, _ deliver: (WebSocketMessage) throws -> Void) throws
}
