public import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
public import TapeBytes

/// What the server of a recorded WebSocket says in a replay: its data messages, by their numbers, and how it closes.
///
/// Long conversations stay in their file: what is kept of them is where their lines are. Any thread may use it.
public struct WebSocketSpeech: Sendable {
    /// Those in the cassette itself.
    private var messages: [WebSocketMessage] = []
    /// A file with messages, and where they are in it.
    private let sidecar: Sidecar?
    private var lines: [Range<Int>] = []
    /// The server's close; nil if it sent none.
    public fileprivate(set) var close: WebSocketClose?
    /// The fields of the request that opened it.
    public let request: HeaderFields
    /// The answer's head.
    public let answer: RecordedResponse
    /// When that came, in milliseconds from the exchange's start.
    public let opened: Double

    fileprivate init(_ messages: WebSocketMessages, request: HeaderFields, answer: RecordedResponse, opened: Double) {
        self.request = request
        self.answer = answer
        self.opened = opened
        if case .file(let sidecar, _) = messages { self.sidecar = sidecar } else { self.sidecar = nil }
    }

    fileprivate mutating func append(_ message: WebSocketMessage, _ line: Range<Int>) {
        if self.sidecar == nil { self.messages.append(message) } else { self.lines.append(line) }
    }

    public var count: Int { self.messages.count + self.lines.count }

    /// A message that is in the cassette itself; nil if the disk has to be read.
    public func inline(_ number: Int) -> WebSocketMessage? { self.sidecar == nil ? self.messages[number] : nil }

    /// Bytes that are read at once.
    private static let readSize = 64 << 10

    /// Some messages from this one on, as many as are read at once: at least one. Waits for the disk.
    ///
    /// - Parameter path: of the cassette.
    public func read(from number: Int, ofCassette path: String) throws(CassetteError) -> [WebSocketMessage] {
        guard let sidecar else { return [self.messages[number]] }
        var end = number + 1
        while end < self.lines.count, self.lines[end].upperBound - self.lines[number].lowerBound <= Self.readSize { end += 1 }
        return try BodyReader(cassettePath: path).messages(in: sidecar, at: self.lines[number..<end])
    }

    /// An estimate of its memory, in bytes.
    var weight: Int { self.messages.reduce(self.lines.count * 16) { $0 + 200 + ($1.content.payload?.size ?? 0) } }
}

/// Makes what one message of a WebSocket's client is compared by, as a body that has it alone.
///
/// Takes a long message in pieces. JSON is compared by its values, also after the packet's number that Socket.IO writes before it
/// (`42["add",{"id":1}]`); other text as text, bytes as bytes; text and binary messages are never equal. Not Sendable: one thread at a time.
public final class WebSocketMessageFacets {
    /// A message as what kind of body it is compared and redacted.
    struct Form {
        var headers: HeaderFields
        var redactedAs: HeaderFields

        fileprivate static let json = Self("application/json")
        fileprivate static let text = Self("text/plain; charset=utf-8")
        fileprivate static let bytes = Self("application/octet-stream")
        /// The recording was redacted as the text that the whole message is.
        fileprivate static let jsonInText = Self(headers: Self.json.headers, redactedAs: Self.text.headers)

        private init(_ type: String) {
            self.headers = HeaderFields(["Content-Type: \(type)"])
            self.redactedAs = self.headers
        }

        private init(headers: HeaderFields, redactedAs: HeaderFields) { (self.headers, self.redactedAs) = (headers, redactedAs) }
    }

    enum Beginning {
        case undecided, other
        case json(at: Int)
    }

    /// Bytes before JSON: a namespace of Socket.IO is a path.
    private static let prefixLimit = 256

    private let isText: Bool
    private let make: (Form) -> PendingBody
    /// Nil before the message's form is known.
    private var body: PendingBody?
    /// The first bytes, until then.
    private var held: [UInt8] = []
    /// What is before the JSON.
    private var prefix: [UInt8] = []
    /// Bytes so far.
    public private(set) var size = 0

    init(isText: Bool, _ make: @escaping (Form) -> PendingBody) {
        self.isText = isText
        self.make = make
    }

    public func push(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        self.size += bytes.count
        if var body = self.body.take() {
            body.push(bytes)
            self.body = consume body
            return
        }
        self.held += bytes
        switch Self.beginning(of: self.held, isText: self.isText) {
        case .undecided: return
        case .other: self.begin(self.isText ? .text : .bytes)
        case .json(let start):
            self.prefix = Array(self.held[..<start])
            self.held.removeFirst(start)
            self.begin(start > 0 ? .jsonInText : .json)
        }
    }

    private func begin(_ form: Form) {
        var body = self.make(form)
        self.held.withUnsafeBytes { body.push($0) }
        self.held = []
        self.body = consume body
    }

    /// JSON may have white space before it, or in a text message a packet's number, a namespace and the number of an answer.
    static func beginning(of message: [UInt8], isText: Bool) -> Beginning {
        let undecided: Beginning = message.count < Self.prefixLimit ? .undecided : .other
        guard let first = message.firstIndex(where: { !" \t\r\n".utf8.contains($0) }) else { return undecided }
        // In however many pieces it comes.
        guard first < Self.prefixLimit else { return .other }
        guard !Self.opensJSON(message[first]) else { return .json(at: 0) }
        guard isText, Self.isDigit(message[0]) else { return .other }
        var isNamespace = false
        for (index, byte) in message.prefix(Self.prefixLimit).enumerated() {
            switch byte {
            case UInt8(ascii: ",") where isNamespace: isNamespace = false
            case _ where isNamespace: continue
            case UInt8(ascii: "/"): isNamespace = true
            case UInt8(ascii: "-"): continue
            case _ where Self.isDigit(byte): continue
            case _ where Self.opensJSON(byte): return .json(at: index)
            default: return .other
            }
        }
        return undecided
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    private static func opensJSON(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") }

    public func finish() -> BodyFacets {
        if self.body == nil, !self.held.isEmpty { self.begin(self.isText ? .text : .bytes) }
        // Empty messages are messages.
        guard let body = self.body.take() else { return self.isText ? .emptyText : .emptyBinary }
        return body.finish().sent(asText: self.isText).after(self.prefix)
    }
}

extension BodyFacets {
    fileprivate static let emptyText = BodyFacets(kind: .text, facets: [], count: 0, hasMarks: false, sum: 1)
    fileprivate static let emptyBinary = BodyFacets(kind: .bytes, facets: [], count: 0, hasMarks: false, sum: 2)

    /// With what a message has before its JSON.
    fileprivate func after(_ prefix: [UInt8]) -> BodyFacets {
        guard !prefix.isEmpty else { return self }
        var facets = self
        let hash = prefix.withUnsafeBytes { FacetHash.value(FacetHash.root, .prefix, $0) }
        facets.sum &+= hash
        facets.count += 1
        facets.facets.insert(
            BodyFacet(place: .whole, name: [], value: prefix, size: prefix.count, type: Array("text".utf8), hasMarks: false, hash: hash),
            at: 0)
        return facets
    }

    /// JSON may be sent either way; other text and bytes are of different kinds anyway.
    fileprivate func sent(asText isText: Bool) -> BodyFacets {
        guard self.kind == .json, !isText else { return self }
        var facets = self
        facets.sum &+= 0x9e37_79b9_7f4a_7c15
        return facets
    }
}

extension PendingRequest {
    /// For a message of the client, once the request has opened a WebSocket.
    public func webSocketMessage(isText: Bool) -> WebSocketMessageFacets {
        WebSocketMessageFacets(isText: isText) { form in
            PendingBody(
                rules: self.rules, headers: form.headers, redactedAs: form.redactedAs, url: self.url, redaction: self.messageRedaction,
                digest: self.messageDigest)
        }
    }
}

extension RecordedConversation {
    /// The conversation of a WebSocket. Reads the messages once, from the disk if they are in a file.
    static func webSocket(
        _ interaction: Interaction, _ answer: RecordedResponse, _ messages: WebSocketMessages, index: Int, bodies: BodyReader,
        digest: () -> any ContentDigest,
        facets: (_ message: WebSocketMessage, _ isText: Bool) throws -> BodyFacets
    ) throws -> RecordedConversation {
        let opened = RecordedTimes(interaction).head
        var speech = WebSocketSpeech(messages, request: interaction.request.headers, answer: answer, opened: opened)
        var requests: [BodyFacets] = []
        var unread: Set<Int> = []
        var isLastCut = false
        var steps: [ConversationScript.Step] = []
        var end = ConversationScript.Step()
        var clientHasClosed = false
        // What a message waited for: the client's last, or the server's own before it.
        var last = opened
        func reading(_ message: WebSocketMessage, _ line: Range<Int>) throws {
            func step() -> ConversationScript.Step {
                ConversationScript.Step(after: clientHasClosed ? nil : requests.count, gap: max(0, message.at - last))
            }
            switch (message.from, message.content) {
            case (.client, .text), (.client, .binary):
                // What was sent is not known if it was cut, or in an extension that is not known here.
                isLastCut = !message.isComplete
                if isLastCut || message.reserved != 0 { unread.insert(requests.count) }
                requests.append(try facets(message, message.content.isText))
            case (.client, .close): clientHasClosed = true
            case (.server, .text), (.server, .binary):
                steps.append(step())
                speech.append(message, line)
            case (.server, .close(let close)):
                end = step()
                speech.close = close
            case (_, .ping), (_, .pong): return
            }
            last = max(last, message.at)
        }
        func take(_ digest: some ContentDigest) throws {
            try bodies.forEachMessage(of: messages, digest: digest) { message, line in
                // What the client said after the server's close had no answer: it was under way.
                guard speech.close == nil else { return true }
                try reading(message, line)
                return true
            }
        }
        try take(digest())
        // The client was within a message when the recording ended: it may send it, or not.
        let isWithin = isLastCut && !clientHasClosed && interaction.outcome != .complete
        if isWithin { unread.remove(requests.count - 1) }
        if isWithin { requests.removeLast() }
        var recording = ConversationScript.Recording(requests: requests.count, messages: steps, end: end)
        recording.headIsSent = true
        if speech.close == nil {
            let total = interaction.timing.total ?? last
            recording.end = ConversationScript.Step(after: clientHasClosed ? nil : requests.count, gap: max(0, total - last))
            switch interaction.outcome {
            case .complete: recording.ending = clientHasClosed ? .complete : .open
            case .cut(let cut) where cut.by == .origin: recording.ending = .cut
            case .cut: recording.ending = .left
            case .failed: recording.ending = .cut
            }
            recording.requestsAreWhole = clientHasClosed || (recording.ending != .left && !isWithin)
        }
        return RecordedConversation(index: index, requests: requests, recording: recording, webSocket: speech, unread: unread)
    }
}

extension RecordedCassette {
    func webSocket(
        _ interaction: Interaction, at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> RecordedConversation? {
        guard let messages = interaction.webSocket, let answer = interaction.response else { return nil }
        let redaction = redaction?.forOneRequest()
        let bodies = BodyReader(cassettePath: self.path)
        do {
            return try RecordedConversation.webSocket(
                interaction, answer, messages, index: index, bodies: bodies, digest: digest
            ) { message, isText in
                let facets = WebSocketMessageFacets(isText: isText) { form in
                    PendingBody(
                        rules: rules, headers: form.headers, redactedAs: form.redactedAs, url: interaction.request.url,
                        redaction: redaction, digest: digest)
                }
                switch message.content.payload {
                case .file(let sidecar)?:
                    func open(_ digest: some ContentDigest) throws(CassetteError) -> ByteSource {
                        try bodies.source(sidecar, digest: digest)
                    }
                    try open(digest()).forEachPiece { facets.push($0) }
                case let payload?: payload.inlineBytes?.withUnsafeBytes { facets.push($0) }
                case nil: break
                }
                let made = facets.finish()
                guard detail == .digests, !made.hasMarks else { return made }
                var kept = made.digestOnly
                kept.exempt = made.exempt
                return kept
            }
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(.unreadable, "a recorded message cannot be read (\(error)); record the exchange again", cause: error)
        }
    }
}
