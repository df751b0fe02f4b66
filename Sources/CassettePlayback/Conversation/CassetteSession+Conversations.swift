public import CassetteModel
public import TapeBytes

/// Requests that are answered message by message, because their clients may wait for an answer before they send the next message.
extension CassetteSession {
    /// How many exchanges with the same head are read to tell whether their clients wait for answers. Calls of one method behave alike.
    static let exampleLimit = 64
    /// At most this many unused exchanges are compared with one conversation. Each costs time at each message, and a client that comes this
    /// far out of order has changed.
    static let candidateLimit = 1024

    /// Whether requests with the head of a pending one are conversations. Nil if that has to be read from the cassette first: see
    /// `conversation`.
    public func isConversation(_ pending: PendingRequest) -> Bool? {
        guard pending.session === self else { return pending.session.isConversation(pending) }
        guard let key = pending.key, self.source != nil, self.rules.custom.isEmpty else { return false }
        return self.state.withLock { $0.keyed[self.generation].conversations.isInteractive[key] }
    }

    /// Begins to choose what answers a pending request. Reads from disk.
    ///
    /// Nil if the recorded answer does not begin before the request's end; such a request is decided when it ends. Throws if a recorded
    /// request cannot be read.
    public func conversation(_ pending: PendingRequest, latency: Latency) throws(CassetteError) -> PendingConversation? {
        guard pending.session === self else { return try pending.session.conversation(pending, latency: latency) }
        guard let key = pending.key, let source, self.rules.custom.isEmpty else { return nil }
        let members = self.groups.members(ofKey: key).map(Int.init)
        guard try self.isInteractive(key, members.prefix(Self.exampleLimit), source) else { return nil }
        let answered = self.state.withLock { state in members.map { state.assignments.answered[$0] } }
        let left = zip(members, answered).filter { $1 == 0 }.map(\.0).prefix(Self.candidateLimit)
        // Exchanges that were used already may answer again, and they distinguish a miss from a repetition.
        let used = zip(members, answered).filter { $1 > 0 }.map(\.0).suffix(Self.exampleLimit)
        var conversations: [RecordedConversation] = []
        for index in (left + used).sorted() {
            guard let conversation = try self.conversation(at: index, source) else { continue }
            conversations.append(conversation)
        }
        let fits = self.state.withLock { state in
            state.keyed[self.generation].conversations.fields[key, default: ConversationFields()].add(conversations)
            return state.keyed[self.generation].conversations.fields[key]?.fits(for: pending.fields)
        }
        if let fits {
            conversations.removeAll { fits[$0.index] == nil }
            // The request's head does not fit any of them, so its end decides, or explains.
            if conversations.isEmpty { return nil }
        }
        return PendingConversation(
            pending: pending, key: key,
            choice: ConversationChoice(conversations, fits: fits ?? [:], order: self.conversationOrder, latency: latency))
    }

    /// Begins to choose what answers a request for a WebSocket. Reads from disk.
    ///
    /// Nil if the next recorded answer is not a conversation, for example a refusal; then the request's head alone decides. Throws if a
    /// recorded conversation cannot be read.
    ///
    /// - Parameter protocols: the subprotocols that the client offers.
    public func webSocket(
        _ pending: PendingRequest, latency: Latency, protocols: [String]
    ) throws(CassetteError) -> PendingConversation? {
        guard pending.session === self else { return try pending.session.webSocket(pending, latency: latency, protocols: protocols) }
        guard let key = pending.key, let source, self.rules.custom.isEmpty else { return nil }
        let members = self.groups.members(ofKey: key).map(Int.init)
        let due = self.state.withLock { state in members.first { state.assignments.isAvailable($0) } }
        if let due, try self.conversation(at: due, source)?.webSocket == nil { return nil }
        guard var conversation = try self.conversation(pending, latency: latency), !conversation.choice.isEmpty else { return nil }
        let answered = self.state.withLock { $0.assignments.answered }
        // A client closes the WebSocket if the server did not choose a subprotocol that the client offered.
        conversation.choice.prefer(isLeft: { answered[$0] == 0 }) { recorded in
            recorded.webSocket?.answer.headers.first("sec-websocket-protocol").map { protocols.contains($0) } ?? true
        }
        return conversation
    }

    /// The exchange whose answer opens a WebSocket before the client has sent any message; nil if none is left.
    public func opening(of conversation: PendingConversation) -> WebSocketSpeech? { self.earliest(of: conversation)?.webSocket }

    /// The index of that exchange.
    public func openingIndex(of conversation: PendingConversation) -> Int? { self.earliest(of: conversation)?.index }

    private func earliest(of conversation: PendingConversation) -> RecordedConversation? {
        let repeats = self.repetition != .never
        return self.state.withLock { state in
            conversation.choice.earliest(repeats: repeats) { state.assignments.isAvailable($0) }
        }
    }

    /// The conversation of an exchange that was assigned by its request's head. Its messages are not compared. Reads from disk.
    ///
    /// Nil if the recorded answer does not begin before the request's end.
    public func conversation(at index: Int, latency: Latency) throws(CassetteError) -> ConversationPlay? {
        guard let source, let conversation = try self.conversation(at: index, source), conversation.recording.isInteractive else {
            return nil
        }
        var recording = conversation.recording
        // The client may send more or fewer messages, as they are not compared.
        recording.requestsAreWhole = false
        return ConversationPlay(
            conversation: conversation, script: ConversationScript(recording, order: self.conversationOrder, latency: latency))
    }

    private func isInteractive(_ key: Int, _ members: ArraySlice<Int>, _ source: any RequestSource) throws(CassetteError) -> Bool {
        if let known = self.state.withLock({ $0.keyed[self.generation].conversations.isInteractive[key] }) { return known }
        var isInteractive = false
        for index in members where !isInteractive {
            isInteractive = try self.conversation(at: index, source)?.recording.isInteractive == true
        }
        self.state.withLock { $0.keyed[self.generation].conversations.isInteractive[key] = isInteractive }
        return isInteractive
    }

    private func conversation(at index: Int, _ source: any RequestSource) throws(CassetteError) -> RecordedConversation? {
        if let known = self.state.withLock({ $0.keyed[self.generation].conversations.read.value(index) }) { return known }
        let read = try source.conversation(
            at: index, rules: self.rules, detail: .digests, redaction: self.redaction, digest: self.digest)
        if let read { self.state.withLock { $0.keyed[self.generation].conversations.read.insert(read, at: index) } }
        return read
    }

    /// Takes the recorded conversation that answers, if the choice is settled, in one atomic step. May be called from any thread and never
    /// blocks.
    ///
    /// - Parameter isPatient: the client may still send a message before it waits for an answer's head.
    public func settle(_ conversation: PendingConversation, isPatient: Bool) -> ConversationSettlement {
        guard conversation.pending.session === self else { return conversation.pending.session.settle(conversation, isPatient: isPatient) }
        let choice = conversation.choice
        // A WebSocket that was already opened here cannot be handed to the origin.
        let (repeats, mayForward) = (self.repetition != .never, self.mayForward && !choice.isWebSocket)
        let settled: (step: ConversationChoice.Step, assignment: AssignmentRule.Assignment?) = self.state.withLock { state in
            let step = choice.step(isPatient: isPatient, repeats: repeats, mayForward: mayForward) { state.assignments.isAvailable($0) }
            guard case .take(let indexes) = step else { return (step, nil) }
            var turn = state.keyed[self.generation].conversations.turns[conversation.key] ?? AssignmentRule.Turn()
            let assignment = state.assignments.assign([], turn: &turn, others: indexes)
            state.keyed[self.generation].conversations.turns[conversation.key] = turn
            self.note(assignment, in: &state)
            return (step, assignment)
        }
        switch settled.step {
        case .wait: return .wait
        case .hesitate: return .hesitate
        case .nothing: return .nothing
        case .take:
            guard let assignment = settled.assignment, let decision = self.decision(assignment) else { return .nothing }
            guard case .replay(let index, _) = decision, var play = choice.play(index) else { return .decided(decision) }
            if case .again = assignment { play.isRepetition = true }
            return .play(play)
        }
    }

    /// Decides on a conversation that no recorded one matches. Reads from disk to find the differences.
    ///
    /// - Parameter message: the client's last message, if that made the difference.
    public func missed(_ conversation: PendingConversation, message: BodyFacets?) -> Decision {
        guard conversation.pending.session === self else { return conversation.pending.session.missed(conversation, message: message) }
        let (fitting, bodies) = self.nearest(conversation, message)
        return conversation.pending.head.withUnsafeBytes { self.nothingLeft($0, equalCount: fitting, bodies: bodies) }
    }

    /// The same for a conversation whose answer has begun, such as a WebSocket. It is a miss in every mode, since the origin cannot take
    /// over.
    public func refuse(_ conversation: PendingConversation, message: BodyFacets?) -> MissReport {
        guard conversation.pending.session === self else { return conversation.pending.session.refuse(conversation, message: message) }
        let (fitting, bodies) = self.nearest(conversation, message)
        // The origin may answer new requests, but not this one: the cassette has begun to answer it.
        let begun = self.mayForward ? bodies.first.map { MissReport.Reason.otherMessages(index: $0.index) } : nil
        return conversation.pending.head.withUnsafeBytes {
            self.refuse($0, equalCount: fitting, bodies: bodies, heads: nil, reason: begun)
        }
    }

    private func nearest(_ conversation: PendingConversation, _ message: BodyFacets?) -> (fitting: Int, bodies: [NearBody]) {
        let (choice, repeats) = (conversation.choice, self.repetition != .never)
        let step = self.state.withLock { state in
            choice.step(isPatient: false, repeats: repeats) { state.assignments.isAvailable($0) }
        }
        if case .nothing(let fitting) = step, fitting > 0 { return (fitting, []) }
        return (
            0,
            choice.dropped.prefix(NearestRequests.limit).map { dropped in
                NearBody(
                    index: dropped.conversation.index,
                    differences: self.differences(
                        dropped.conversation, at: dropped.message, sent: dropped.message == nil ? choice.came : choice.came - 1, message))
            }
        )
    }

    /// A conversation differs from the one assigned to it before any of the answer was sent. The recorded one becomes available again.
    /// Reads from disk to find the differences.
    ///
    /// - Parameters:
    ///   - at: the recorded message that was due, from 0; nil if the client ended early.
    ///   - message: the client's last message.
    public func left(_ play: ConversationPlay, of pending: PendingRequest, at: Int?, message: BodyFacets?) -> Decision {
        guard pending.session === self else { return pending.session.left(play, of: pending, at: at, message: message) }
        self.state.withLock { state in
            switch state.assignments.giveBack(play.index) {
            case .free: state.verdict.hits -= 1
            case .answered:
                state.verdict.hits -= 1
                state.verdict.repeatedHits -= 1
            case .usedUp: break
            }
        }
        let body = NearBody(index: play.index, differences: self.differences(play.conversation, at: at, sent: play.came, message))
        return pending.head.withUnsafeBytes { self.nothingLeft($0, bodies: [body]) }
    }

    /// A conversation differs from the one that has begun to answer it: a miss. Reads from disk to find the differences.
    public func refuse(_ play: ConversationPlay, of pending: PendingRequest, at: Int?, message: BodyFacets?) -> MissReport {
        guard pending.session === self else { return pending.session.refuse(play, of: pending, at: at, message: message) }
        let differences = self.differences(play.conversation, at: at, sent: play.came, message)
        let report = MissReport(
            request: pending.head.withUnsafeBytes { self.text($0) }, mode: self.mode, reason: .otherMessages(index: play.index),
            nearest: [
                NearRequest(
                    index: play.index, request: self.text(ofExchange: play.index), isUsedUp: false,
                    differences: differences.map(ShownSecrets.hidden(in:)))
            ], cassette: self.cassettePath, audience: self.audience)
        self.state.withLock { state in
            state.verdict.hits -= 1
            if play.isRepetition { state.verdict.repeatedHits -= 1 }
            state.verdict.misses += 1
            if state.verdict.reports.count < Self.reportLimit { state.verdict.reports.append(report) }
        }
        return report
    }

    /// The client left or finished before it had sent all recorded messages. Does nothing if it has sent all.
    public func clientLeft(_ play: ConversationPlay) {
        guard play.unsent > 0 else { return }
        self.state.withLock { state in
            state.verdict.unsent += 1
            guard state.verdict.unsentMessages.count < Self.reportLimit else { return }
            state.verdict.unsentMessages.append(
                UnsentMessages(
                    index: play.index, request: self.text(ofExchange: play.index), sent: play.came,
                    recorded: play.came + play.unsent))
        }
    }

    /// Decides on a request without waiting for its body, because no recorded request has its head.
    public func decideUnread(_ pending: PendingRequest) -> Decision {
        guard pending.session === self else { return pending.session.decideUnread(pending) }
        return pending.head.withUnsafeBytes { self.nothingLeft($0) }
    }

    /// - Parameters:
    ///   - at: the recorded message that was due, from 0; nil if the client ended early.
    ///   - sent: messages of the client before this one, or before its end.
    private func differences(_ recorded: RecordedConversation, at: Int?, sent: Int, _ live: BodyFacets?) -> [RequestDifference] {
        let count = recorded.requests.count
        guard let at, let live else { return [.messagesMissing(sent: sent, recorded: count)] }
        guard at < count else { return [.messageAdded(sent + 1, recorded: count)] }
        let contents = try? self.source?.conversation(
            at: recorded.index, rules: self.rules, detail: .contents, redaction: self.redaction, digest: self.digest)
        let message = contents?.requests.indices.contains(at) == true ? contents?.requests[at] : nil
        let differences = message.map { live.differences(fromRecorded: $0) } ?? []
        return (differences.isEmpty ? [.bodyRemainder] : differences).map { difference in
            // The message was compared on its own, so its number within the body is always 1.
            if case .grpc(_, let field, let here, let recorded) = difference {
                return .grpc(message: sent + 1, field: field, here: here, recorded: recorded)
            }
            return .message(sent + 1, difference)
        }
    }
}

/// What is known about the recorded conversations of a session. Guarded by the session's lock.
struct ConversationShelf: Sendable {
    /// Bytes of conversations kept in memory: a thousand with a hundred small messages each.
    static let limit = 16 << 20

    /// By key, whether clients may wait for an answer before they have sent everything.
    var isInteractive: [Int: Bool] = [:]
    var read = BoundedCache<RecordedConversation>(limit: Self.limit) { $0.weight }
    /// By key.
    var fields: [Int: ConversationFields] = [:]
    /// By key, for conversations that answer again.
    var turns: [Int: AssignmentRule.Turn] = [:]
}

/// A request that is answered message by message, and the recorded conversations that may answer it.
public struct PendingConversation: Sendable {
    let pending: PendingRequest
    let key: Int
    fileprivate(set) var choice: ConversationChoice

    /// Messages received from the client so far.
    public var came: Int { self.choice.came }

    public mutating func messageCame(_ live: BodyFacets) { self.choice.messageCame(live) }

    /// The client has ended its side.
    public mutating func clientEnded() { self.choice.clientEnded() }
}

/// The state of the choice of a conversation's answer.
public enum ConversationSettlement: Sendable {
    /// The next message decides.
    case wait
    /// The next message decides if it comes soon. If it does not, ask again with `isPatient` false.
    case hesitate
    case play(ConversationPlay)
    /// No recorded conversation answers: see `CassetteSession.missed`.
    case nothing
    /// With strict order, another exchange is due.
    case decided(Decision)
}
