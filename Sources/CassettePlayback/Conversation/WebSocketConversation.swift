public import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
public import TapeBytes

/// What the server of a recorded WebSocket sends in a replay: its data messages, by their numbers, and how it closes.
///
/// Long conversations stay in their file; only the positions of their lines are kept in memory. Any thread may use it.
public struct WebSocketSpeech: Sendable {
    /// Messages stored in the cassette itself.
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
    /// When the answer's head came, in milliseconds from the exchange's start.
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

    /// A message stored in the cassette itself; nil if it has to be read from disk.
    public func inline(_ number: Int) -> WebSocketMessage? { self.sidecar == nil ? self.messages[number] : nil }

    /// Bytes read at once.
    private static let readSize = 64 << 10

    /// The messages from this one on that one read gets: at least one. Reads from disk.
    ///
    /// - Parameter path: the cassette's path.
    public func read(from number: Int, ofCassette path: String) throws(CassetteError) -> [WebSocketMessage] {
        guard let sidecar else { return [self.messages[number]] }
        var end = number + 1
        while end < self.lines.count, self.lines[end].upperBound - self.lines[number].lowerBound <= Self.readSize { end += 1 }
        return try BodyReader(cassettePath: path).messages(in: sidecar, at: self.lines[number..<end])
    }

    /// An estimate of its memory use, in bytes.
    var weight: Int { self.messages.reduce(self.lines.count * 16) { $0 + 200 + ($1.content.payload?.size ?? 0) } }
}

/// Makes the facets of one message of a WebSocket's client. The message is compared like a body that consists of it alone.
///
/// Takes a long message in pieces. JSON is compared by its values, even after the packet number that Socket.IO writes before it
/// (`42["add",{"id":1}]`). Other text is compared as text, and binary data as bytes. A text message never equals a binary one. Not
/// Sendable: one thread at a time.
public final class WebSocketMessageFacets {
    /// The content types as which a message is compared and redacted.
    struct Form {
        var headers: HeaderFields
        var redactedAs: HeaderFields

        fileprivate static let json = Self("application/json")
        fileprivate static let text = Self("text/plain; charset=utf-8")
        fileprivate static let bytes = Self("application/octet-stream")
        /// The recording redacted the whole message as text.
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

    /// How many bytes may precede the JSON: a Socket.IO namespace is a path.
    private static let prefixLimit = 256

    private let isText: Bool
    private let make: (Form) -> PendingBody
    /// Nil until the message's form is known.
    private var body: PendingBody?
    /// The first bytes, held until the form is known.
    private var held: [UInt8] = []
    /// The bytes before the JSON.
    private var prefix: [UInt8] = []
    /// Bytes received so far.
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

    /// White space may precede JSON. In a text message, so may a packet number, a namespace and the number of an acknowledgement.
    static func beginning(of message: [UInt8], isText: Bool) -> Beginning {
        let undecided: Beginning = message.count < Self.prefixLimit ? .undecided : .other
        guard let first = message.firstIndex(where: { !" \t\r\n".utf8.contains($0) }) else { return undecided }
        // The result must not depend on how the message is split into pieces.
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
        // An empty message counts as a message.
        guard let body = self.body.take() else { return self.isText ? .emptyText : .emptyBinary }
        return body.finish().sent(asText: self.isText).after(self.prefix)
    }
}

extension BodyFacets {
    fileprivate static let emptyText = BodyFacets(kind: .text, facets: [], count: 0, hasMarks: false, sum: 1)
    fileprivate static let emptyBinary = BodyFacets(kind: .bytes, facets: [], count: 0, hasMarks: false, sum: 2)

    /// Includes the bytes before a message's JSON.
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

    /// Distinguishes JSON sent as text from JSON sent as binary. Other text and binary messages differ in kind anyway.
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
    /// The conversation of a WebSocket. Reads the messages once, from disk if they are in a file.
    static func webSocket(
        _ interaction: Interaction, _ answer: RecordedResponse, _ messages: WebSocketMessages, index: Int, rules: MatchRules,
        login: ConnectionLogin?, hasStubs: Bool, bodies: BodyReader, digest: () -> any ContentDigest,
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
        // When the event that a message waited for happened: the client's last message, or the server's previous one.
        var last = opened
        func reading(_ message: WebSocketMessage, _ line: Range<Int>) throws {
            func step() -> ConversationScript.Step {
                ConversationScript.Step(after: clientHasClosed ? nil : requests.count, gap: max(0, message.at - last))
            }
            switch (message.from, message.content) {
            case (.client, .text), (.client, .binary):
                // The content is unknown if the message was cut, or uses an unknown extension.
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
                // Messages that the client sent after the server's close got no answer: they were in flight.
                guard speech.close == nil else { return true }
                try reading(message, line)
                return true
            }
        }
        try take(digest())
        // The client was in the middle of a message when the recording ended, so it may or may not send it.
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
        return RecordedConversation(
            index: index, requests: requests, recording: recording, webSocket: speech, unread: unread,
            traits: ExchangeTraits(interaction, rules: rules, body: .none, login: login, hasStubs: hasStubs))
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
                interaction, answer, messages, index: index, rules: rules, login: self.login(at: index), hasStubs: self.hasStubs,
                bodies: bodies, digest: digest
            ) { message, isText in
                let facets = WebSocketMessageFacets(isText: isText) { form in
                    PendingBody(
                        rules: rules, headers: form.headers, redactedAs: form.redactedAs, url: interaction.request.url,
                        redaction: redaction, isRecorded: true, digest: digest)
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
                return facets.finish().kept(detail)
            }
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(.unreadable, "a recorded message cannot be read (\(error)); record the exchange again", cause: error)
        }
    }
}
