internal import CassetteModel
internal import TapeBytes

/// Writes messages of WebSockets and events in the members that browsers use (`_webSocketMessages`, `_eventSourceMessages`).
extension HARWriter {
    /// `ws://…` for a URL that was requested as `http://…`.
    static func socketURL(_ url: String) -> String { url.hasPrefix("http") ? "ws" + url.dropFirst(4) : url }

    /// Only complete text and binary messages, as in browsers.
    mutating func conversation(_ messages: WebSocketMessages, of interaction: Interaction) throws {
        self.writer.member("_resourceType")
        self.writer.string("websocket")
        if self.bodies == nil, case .file = messages {
            self.writer.member("comment")
            self.writer.string("the messages are in a file and were left out")
            return
        }
        self.writer.member("_webSocketMessages")
        self.writer.beginArray(.lines)
        switch (messages, self.bodies) {
        case (.file, let bodies?): try bodies.readMessages(messages) { try self.message($0, of: interaction) }
        case (.inline(let messages), _): for message in messages { try self.message(message, of: interaction) }
        case (.file, nil): break
        }
        self.writer.endArray()
    }

    private mutating func message(_ message: WebSocketMessage, of interaction: Interaction) throws {
        let (payload, isText): (WebSocketPayload, Bool)
        switch message.content {
        case .text(let content): (payload, isText) = (content, true)
        case .binary(let content): (payload, isText) = (content, false)
        case .ping, .pong, .close: return
        }
        self.writer.element()
        self.writer.beginObject(.inline)
        self.writer.member("type")
        self.writer.string(message.from == .client ? "send" : "receive")
        self.writer.member("time")
        self.seconds(interaction.started, after: message.at)
        self.writer.member("opcode")
        self.writer.integer(isText ? 1 : 2)
        try self.data(payload, isText: isText)
        self.writer.endObject()
        try self.flushIfFull()
    }

    private mutating func data(_ payload: WebSocketPayload, isText: Bool) throws {
        if let bytes = payload.inlineBytes {
            return try self.data(isText: isText, isValid: UTF8Validator.isValid(bytes)) { try bytes.withUnsafeBytes($0) }
        }
        guard let bodies = self.bodies else {
            self.writer.member("data")
            self.writer.string("")
            self.writer.member("comment")
            self.writer.string("the content is in a file and was left out")
            return
        }
        let body = Body(size: payload.size, content: payload.bodyContent)
        var validator = UTF8Validator()
        var isValid = true
        if isText {
            try bodies.read(body, headers: HeaderFields()) { piece in
                if isValid, validator.firstInvalid(in: piece) != nil { isValid = false }
            }
        }
        try self.data(isText: isText, isValid: isValid && validator.isAtCharacterEnd) { deliver in
            try bodies.read(body, headers: HeaderFields(), deliver)
        }
    }

    /// The opcode identifies binary messages. For a text message that is not valid text, a member of Wiretape's own gives the encoding.
    private mutating func data(
        isText: Bool, isValid: Bool, _ read: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws {
        if isText, !isValid {
            self.writer.member("_encoding")
            self.writer.string("base64")
        }
        self.writer.member("data")
        _ = try self.quoted(isText: isText && isValid, read)
    }

    // MARK: Events

    /// Whether an answer is an event stream.
    static func isEvents(_ response: RecordedResponse) -> Bool {
        response.body != nil
            && response.headers.values("content-type").contains { MediaType(Array($0.utf8)[...]).isEventStream }
    }

    /// Writes the events of a stream that is text, each with the time of the read or chunk in which it ended.
    mutating func events(of response: RecordedResponse, in interaction: Interaction) throws {
        guard let body = response.body, body.isComplete || body.size > 0 else { return }
        self.writer.member("_resourceType")
        self.writer.string("eventsource")
        guard self.bodies != nil || body.content.sidecars.isEmpty else { return }
        self.writer.member("_eventSourceMessages")
        self.writer.beginArray(.lines)
        var reader = EventReader()
        var times = EventTimes(body, headers: response.headers, head: Self.head(interaction.timing))
        func push(_ piece: UnsafeRawBufferPointer) throws {
            try reader.push(piece) { event in
                self.writer.element()
                self.writer.beginObject(.inline)
                self.writer.member("time")
                self.seconds(interaction.started, after: times.time(ofEnd: event.end))
                self.writer.member("eventName")
                self.writer.string(event.type)
                self.writer.member("eventId")
                self.writer.string(event.id)
                self.writer.member("data")
                self.writer.string(String(decoding: event.data, as: UTF8.self))
                self.writer.endObject()
                try self.flushIfFull()
            }
        }
        switch body.content {
        case .file, .raw, .multipart, .grpc: try self.bodies?.read(body, headers: response.headers, push)
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .binary:
            try (body.content.inlineBytes ?? []).withUnsafeBytes(push)
        }
        self.writer.endArray()
    }

    /// Milliseconds until the response's head.
    private static func head(_ timing: Timing) -> Double {
        [timing.blocked, timing.dns, timing.connect, timing.tls, timing.send, timing.wait].reduce(0) { $0 + ($1 ?? 0) }
    }

    /// Unix time in seconds, with microseconds.
    private mutating func seconds(_ start: Timestamp, after milliseconds: Double) {
        let microseconds = Double(start.microseconds) + (milliseconds.isFinite ? milliseconds * 1000 : 0)
        let whole = Int64(max(-0x1p53, min(0x1p53, microseconds.rounded())))
        let fraction = "\(whole.magnitude % 1_000_000)"
        let zeros = String(repeating: "0", count: 6 - fraction.count)
        self.writer.raw(Array("\(whole < 0 ? "-" : "")\(whole.magnitude / 1_000_000).\(zeros)\(fraction)".utf8))
    }
}

/// The arrival times of a body's bytes, as far as they are known.
private struct EventTimes {
    private let head: Double
    private var pieces: ArraySlice<Arrival.Piece> = []
    /// The number of bytes up to the end of the first of `pieces`.
    private var end = 0

    /// - Parameter head: milliseconds from the start of the exchange to the response's head.
    init(_ body: Body, headers: HeaderFields, head: Double) {
        self.head = head
        // In a coded body, the sizes of pieces refer to the coded bytes.
        guard body.codings.isEmpty, !body.isUndecoded(headers) else { return }
        self.pieces = (body.arrival?.pieces ?? [])[...]
        self.end = self.pieces.first?.size ?? 0
    }

    /// Milliseconds from the start of the exchange. Offsets must ascend.
    mutating func time(ofEnd offset: Int) -> Double {
        while self.end < offset, self.pieces.count > 1 {
            self.pieces.removeFirst()
            self.end = self.end.addingReportingOverflow(self.pieces.first?.size ?? 0).partialValue
        }
        return self.head + (self.pieces.first?.at ?? 0)
    }
}
