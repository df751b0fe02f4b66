internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import LocalHTTP
internal import TapeBytes

/// Exchanges that are not in the cassette yet: those of the run that is shown, or else those with journals next to the cassette, because
/// another process is recording them or was killed.
///
/// Only one thread at a time looks for journals. Any thread may query it.
final class OpenRows: Sendable {
    /// The most exchanges in one answer.
    private static let limit = 100
    /// Milliseconds for which an exchange of a run must have been open. Most end before people could read them.
    private static let patience: Int64 = 200
    /// Journals are read completely, so the time until the next check is this many times the duration of the last one.
    private static let pause = 20
    private static let messageLimit = 500

    private struct Seen: Sendable {
        var conversations: [OpenConversation] = []
        var next = ContinuousClock.now
    }

    private let path: String
    /// nil if no run is shown.
    private let run: OpenExchanges?
    private let digest: @Sendable () -> any ContentDigest
    private let seen = Guarded(Seen())
    /// What was reported last, and how often it had changed.
    private let told = Guarded((messages: [Int: Int](), change: 0))
    /// The conversation that was requested last. A page usually requests more of it, and finding it again would require reading its whole
    /// journal.
    private let asked = Guarded<OpenConversation?>(nil)

    /// - Parameter digest: makes a fresh SHA-256.
    init(path: String, run: OpenExchanges?, digest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }) {
        self.path = path
        self.run = run
        self.digest = digest
    }

    /// Looks for journals, unless it has done so recently.
    func look(besides rows: RowTable) {
        guard self.run == nil, self.seen.withLock({ $0.next <= .now }) else { return }
        let start = ContinuousClock.now
        let found = OpenConversations(of: self.path, digest: self.digest).conversations
        let ids = Set(found.map(\.id))
        var ended: Set<Int64> = []
        // If a recorder is killed between writing an exchange and removing its journal, both exist.
        if !ids.isEmpty {
            for ordinal in 0..<rows.count where ids.contains(rows[ordinal].id) { ended.insert(rows[ordinal].started) }
        }
        let open = found.filter { !ended.contains($0.started.microseconds) }
        self.seen.withLock { $0 = Seen(conversations: open, next: .now + (.now - start) * Self.pause) }
    }

    /// Whether the exchange is open, or was when journals were last looked for.
    func contains(_ id: Int) -> Bool {
        self.run?.contains(id) ?? self.seen.withLock { $0.conversations.contains { $0.id == id } }
    }

    struct Counts {
        var exchanges: Int
        /// The number of their messages so far.
        var messages: Int
        /// Changes whenever the exchanges or messages change, even if their number does not.
        var change: Int
    }

    var counts: Counts {
        var messages: [Int: Int] = [:]
        if let run {
            for id in run.ids(before: Self.moment) { messages[id] = 0 }
        } else {
            for one in self.seen.withLock({ $0.conversations }) { messages[one.id] = one.count }
        }
        let change = self.told.withLock { told in
            if told.messages != messages { told = (messages, told.change + 1) }
            return told.change
        }
        return Counts(exchanges: messages.count, messages: messages.values.reduce(0, +), change: change)
    }

    private static var moment: Timestamp { Timestamp(microseconds: Timestamp.now.microseconds - Self.patience * 1000) }

    /// The first open exchanges, as JSON.
    func bytes() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("count")
        writer.integer(self.counts.exchanges)
        writer.member("open")
        writer.beginArray(.inline)
        func write(_ id: Int, _ started: Timestamp, _ method: String, _ url: String, messages: Int?) {
            writer.element()
            writer.beginObject(.inline)
            writer.member("id")
            writer.integer(id)
            writer.member("start")
            writer.integer(Int(started.microseconds))
            writer.member("method")
            writer.string(method)
            writer.member("url")
            writer.string(url)
            if let messages {
                writer.member("messages")
                writer.integer(messages)
            }
            writer.endObject()
        }
        if let run {
            for one in run.list(Self.limit, before: Self.moment) { write(one.id, one.started, one.method, one.url, messages: nil) }
        } else {
            for one in self.seen.withLock({ $0.conversations.sorted { ($0.started, $0.id) < ($1.started, $1.id) } }).prefix(Self.limit) {
                write(one.id, one.started, one.summary.method, one.summary.url, messages: one.count)
            }
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [10]
    }

    // MARK: A single exchange

    /// An open exchange so far: `ID`, `ID/text`, `ID/messages`, `ID/messages/N`, `ID/SIDE/messages`, `ID/SIDE/body`.
    func answer(_ parts: [String], _ arguments: [String: String], range: String?) throws -> InspectorService.Answer {
        guard let id = Int(parts[0]), let conversation = self.conversation(id) else {
            throw LocalAnswer(
                status: 404, reason: "Not Found", code: "not-found",
                message: Int(parts[0]).map { self.contains($0) } == true
                    ? "exchange \(parts[0].prefix(20)) is still open: its recording is shown when it has ended."
                    : "exchange \(parts[0].prefix(20)) has ended, and is not in the cassette.")
        }
        let interaction = try conversation.interaction(digest: self.digest)
        let reader = BodyReader(cassettePath: self.path)
        let bytes = RecordedBytes(interaction: interaction, reader: reader)
        switch (parts.count, parts.count > 1 ? parts[1] : "") {
        case (1, _):
            let text = try conversation.text(digest: self.digest)
            let place = ExchangeJSON.Place(key: id, number: id, file: 0..<text.count)
            return .whole(InspectorService.json(ExchangeJSON(interaction, reader: reader).bytes(place, text: text) + [10]))
        case (2, "text"): return .stream(try RecordedBytes.stream(BodyContents(try conversation.text(digest: self.digest)), range: range))
        case (2, "messages"):
            guard let messages = interaction.webSocket else { throw Self.unknown }
            let from = arguments["from"].flatMap { Int($0) } ?? 1
            let count = min(Self.messageLimit, max(0, arguments["count"].flatMap { Int($0) } ?? Self.messageLimit))
            return .whole(InspectorService.json(try BodyListJSON.socket(messages, reader: reader, from: from, count: count)))
        case (3, "messages"):
            guard let number = Int(parts[2]) else { throw Self.unknown }
            return .stream(try RecordedBytes.stream(bytes.socketMessage(number, raw: false), range: range))
        case (3, let name):
            guard let side = MessageChoice(rawValue: name) else { throw Self.unknown }
            if parts[2] == "body" {
                let message = arguments["message"].flatMap { Int($0) }
                return .stream(try RecordedBytes.stream(bytes.contents(side, as: .decoded, part: nil, message: message), range: range))
            }
            let (body, headers) = interaction.body(of: side)
            guard parts[2] == "messages", let list = try body.flatMap({ try BodyListJSON.messages($0, headers, reader: reader) }) else {
                throw Self.unknown
            }
            return .whole(InspectorService.json(list))
        default: throw Self.unknown
        }
    }

    private func conversation(_ id: Int) -> OpenConversation? {
        if let last = self.asked.withLock({ $0 }), last.id == id, last.isUnchanged { return last }
        let found = OpenConversations(of: self.path, id: id, digest: self.digest).conversations.first
        self.asked.withLock { $0 = found }
        return found
    }

    private static var unknown: LocalAnswer {
        LocalAnswer(
            status: 404, reason: "Not Found", code: "not-found", message: "an exchange that is still open has nothing at that path.")
    }
}
