public import CassetteModel

/// Chooses the recorded conversation that answers a live one, message by message.
///
/// Recorded conversations drop out as soon as the live one differs. The earliest remaining one is taken when it is the only one, when the
/// others can no longer differ from it, when the client has ended its side, or when part of its answer is due, as the client may be waiting
/// for that. Compares messages by their facets; knows neither their bytes nor the transport.
struct ConversationChoice: Sendable {
    enum Step: Sendable, Hashable {
        /// The next message decides.
        case wait
        /// Only the head of the earliest one is due. Few clients wait for a head, so a message that decides may still come.
        case hesitate
        /// Take the first of these that is still available.
        case take([Int])
        /// None is left. `fitting` counts those that match but are used up.
        case nothing(fitting: Int)
    }

    private struct Candidate: Sendable {
        let conversation: RecordedConversation
        var script: ConversationScript
        var echo = EchoedValues()
        /// nil if the header fields of all candidates are alike.
        let fit: FieldChoice.Fit?
        /// The placeholders of the last message that its recorded message and request lack.
        var missing = HeldPlaceholders.Lack()
    }

    /// Ascending by index.
    private var candidates: [Candidate]
    /// The conversations that dropped out last, each with the message that differed, from 0; nil if the ends differed.
    private(set) var dropped: [(conversation: RecordedConversation, message: Int?)] = []
    private(set) var came = 0
    private var isEnded = false
    private let order: ConversationOrder
    /// Whether the candidates are WebSockets. Either all are or none.
    let isWebSocket: Bool

    /// - Parameters:
    ///   - conversations: ascending by index.
    ///   - fits: how well their header fields fit, by index.
    init(_ conversations: [RecordedConversation], fits: [Int: FieldChoice.Fit] = [:], order: ConversationOrder, latency: Latency) {
        self.order = order
        self.isWebSocket = conversations.first?.webSocket != nil
        self.candidates = conversations.map {
            Candidate(
                conversation: $0, script: ConversationScript($0.recording, order: order, latency: latency), fit: fits[$0.index])
        }
    }

    mutating func messageCame(_ live: BodyFacets) {
        var dropped: [Int: Int?] = [:]
        // In place, so that the state of a long script is not copied for each message.
        for position in self.candidates.indices {
            let conversation = self.candidates[position].conversation
            switch self.candidates[position].script.messageCame(where: { conversation.matches($0, live) }) {
            case .matched(let number):
                self.candidates[position].echo.learn(recorded: conversation.requests[number].exempt, live: live.exempt)
                self.candidates[position].missing = Self.missing(live, in: conversation, number)
            case .unknown: break
            case .differs(let number): dropped[position] = number
            case .surplus: dropped[position] = conversation.requests.count
            }
        }
        self.came += 1
        self.drop(dropped)
        guard !live.placeholders.isEmpty, let least = self.candidates.map(\.missing).min() else { return }
        // The others belong to another client.
        self.candidates.removeAll { $0.missing > least }
    }

    private static func missing(_ live: BodyFacets, in conversation: RecordedConversation, _ number: Int) -> HeldPlaceholders.Lack {
        let known = conversation.requests[number].placeholders + (conversation.traits?.profile.placeholders ?? HeldPlaceholders())
        return live.placeholders.lack(in: known)
    }

    mutating func clientEnded() {
        self.isEnded = true
        var dropped: [Int: Int?] = [:]
        for position in self.candidates.indices {
            self.candidates[position].script.clientEnded()
            let candidate = self.candidates[position]
            if candidate.script.unsent > 0, candidate.conversation.recording.requestsAreWhole { dropped[position] = .some(nil) }
        }
        self.drop(dropped)
    }

    /// - Parameter differing: the message in which a candidate differs, by the candidate's position.
    private mutating func drop(_ differing: [Int: Int?]) {
        guard !differing.isEmpty else { return }
        self.dropped = differing.sorted { $0.key < $1.key }.map { (self.candidates[$0.key].conversation, $0.value) }
        let left = self.candidates.indices.filter { differing[$0] == nil }
        self.candidates = left.map { self.candidates[$0] }
    }

    /// Drops the conversations that do not suit a client, if an available one that suits remains.
    mutating func prefer(isLeft: (Int) -> Bool, where isFit: (RecordedConversation) -> Bool) {
        let fit = self.candidates.filter { isFit($0.conversation) }
        if fit.contains(where: { isLeft($0.conversation.index) }) { self.candidates = fit }
    }

    /// - Parameters:
    ///   - isLeft: whether a conversation has not answered any client yet.
    ///   - repeats: whether those that have answered may answer again.
    ///   - isPatient: a head alone does not justify a choice yet.
    ///   - mayForward: the origin answers a conversation that differs from all recorded ones, as long as nothing was sent.
    func step(isPatient: Bool, repeats: Bool, mayForward: Bool = false, isLeft: (Int) -> Bool) -> Step {
        let left = Self.bestFirst(self.candidates.filter { isLeft($0.conversation.index) })
        let pool = left.isEmpty && repeats ? self.bestCandidates : left
        guard let first = pool.first else { return .nothing(fitting: self.candidates.count) }
        if self.isEnded { return .take(Self.indexes(pool)) }
        // Another conversation, or the origin, may still answer the next message.
        let isOpen = mayForward || (pool.count > 1 && !Self.areAlike(pool, after: self.order == .strict ? self.came : 0))
        return switch first.script.owes {
        case .nothing: isOpen ? .wait : .take(Self.indexes(pool))
        case .head: isOpen && isPatient ? .hesitate : .take(Self.indexes(pool))
        case .more: .take(Self.indexes(pool))
        }
    }

    /// In order, except that conversations with the same messages change places: those whose header fields fit best come first. Conversations
    /// with other messages are told apart by these.
    private static func bestFirst(_ pool: [Candidate]) -> [Candidate] {
        guard pool.contains(where: { $0.fit != nil }) else { return pool }
        var groups = Dictionary(grouping: pool) { $0.conversation.messages }.mapValues { group in
            group.sorted { one, other in
                guard let fit = one.fit, let otherFit = other.fit, fit < otherFit || otherFit < fit else {
                    return one.conversation.index < other.conversation.index
                }
                return fit < otherFit
            }[...]
        }
        return pool.compactMap { groups[$0.conversation.messages]?.popFirst() }
    }

    /// Of the conversations with the same messages, those whose header fields fit best, ascending by index. They may answer again.
    private var bestCandidates: [Candidate] {
        let best = Dictionary(self.candidates.compactMap { one in one.fit.map { (one.conversation.messages, $0) } }, uniquingKeysWith: min)
        return self.candidates.filter { one in
            guard let fit = one.fit, let least = best[one.conversation.messages] else { return true }
            return !(least < fit)
        }
    }

    private static func indexes(_ pool: [Candidate]) -> [Int] { pool.map(\.conversation.index) }

    /// Whether the client of each conversation sends the same messages from this one on.
    private static func areAlike(_ pool: [Candidate], after came: Int) -> Bool {
        guard let first = pool.first?.conversation else { return true }
        return pool.dropFirst().allSatisfy { other in
            first.requests.count == other.conversation.requests.count && first.rest(from: came) == other.conversation.rest(from: came)
        }
    }

    var isEmpty: Bool { self.candidates.isEmpty }

    /// The available conversation whose header fields fit best, or the earliest of these; nil if there is none. Its answer's head opens a
    /// WebSocket before the client sends anything.
    func earliest(repeats: Bool, isLeft: (Int) -> Bool) -> RecordedConversation? {
        let left = Self.bestFirst(self.candidates.filter { isLeft($0.conversation.index) })
        return (left.first ?? (repeats ? self.bestCandidates.first : nil))?.conversation
    }

    func play(_ index: Int) -> ConversationPlay? {
        self.candidates.first { $0.conversation.index == index }.map {
            ConversationPlay(conversation: $0.conversation, script: $0.script, echo: $0.echo)
        }
    }
}

/// A recorded conversation that answers a live one: follows its script.
public struct ConversationPlay: Sendable {
    let conversation: RecordedConversation
    private var script: ConversationScript
    private var echo: EchoedValues
    /// It had answered another client before.
    var isRepetition = false

    init(conversation: RecordedConversation, script: ConversationScript, echo: EchoedValues = EchoedValues()) {
        self.conversation = conversation
        self.script = script
        self.echo = echo
    }

    /// In order of request start from 0.
    public var index: Int { self.conversation.index }
    /// The recorded server's messages, if it is a WebSocket.
    public var webSocket: WebSocketSpeech? { self.conversation.webSocket }
    /// How the recorded conversation ended.
    public var ending: ConversationScript.Ending { self.script.recording.ending }
    /// Whether the recording has all messages that its client would have sent.
    public var requestsAreWhole: Bool { self.script.recording.requestsAreWhole }
    /// Messages received from the client so far.
    public var came: Int { self.script.came }
    /// How many recorded messages the client has not sent.
    public var unsent: Int { self.script.unsent }

    /// Why a server message of a WebSocket cannot be replayed, by its number; nil if it can.
    ///
    /// The last message can be replayed if it was cut off together with the conversation: the client received that part.
    public func problem(of message: WebSocketMessage, _ number: Int) -> String? {
        guard message.reserved == 0 else {
            return "message \(number + 1) of its server uses an extension that is not known here: record it without that extension"
        }
        guard !message.isComplete else { return nil }
        let isLast = number + 1 == self.webSocket?.count && self.webSocket?.close == nil && (self.ending == .cut || self.ending == .left)
        // A note explains why the rest of the message was given up.
        guard !isLast || message.isDeflated && message.note != nil else { return nil }
        return "message \(number + 1) of its server could not be read completely when it was recorded"
            + (message.note.map { " (\($0))" } ?? "") + ": record it again"
    }

    public mutating func messageCame(_ live: BodyFacets) -> ConversationScript.Receipt {
        let conversation = self.conversation
        let receipt = self.script.messageCame { conversation.matches($0, live) }
        if case .matched(let number) = receipt { self.echo.learn(recorded: conversation.requests[number].exempt, live: live.exempt) }
        return receipt
    }

    /// A server message of a WebSocket in which the client's own values replace recorded ones that may differ; nil if it is sent as
    /// recorded.
    public func echoed(_ message: [UInt8], isText: Bool) -> [UInt8]? { self.echo.applied(to: message, isText: isText) }

    /// Whether a message of this size may repeat a value of the client.
    public func mayEcho(_ size: Int) -> Bool { !self.echo.isEmpty && size <= EchoedValues.sizeLimit }

    /// The client has ended its side.
    ///
    /// - Returns: whether the recorded client had sent no more either.
    public mutating func clientEnded() -> Bool {
        self.script.clientEnded()
        return self.script.unsent == 0 || !self.script.recording.requestsAreWhole
    }

    /// - Parameter now: milliseconds on any monotonic clock.
    public mutating func next(at now: Double) -> ConversationScript.Action { self.script.next(at: now) }
}
