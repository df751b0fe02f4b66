internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import Foundation
internal import TapeBytes

/// A cassette's decision about a client that asks for a WebSocket.
enum SocketDecision: Sendable {
    case replay(any WebSocketConnection)
    case forward(records: Bool)
}

extension Cassette {
    /// Decides on the opening request of a WebSocket.
    ///
    /// - Parameter clock: measures the latency.
    /// - Throws: `HTTPSession.WebSocket.Refusal` for a recorded answer that opened no WebSocket, `TransportFailure` for a miss.
    func socket(_ request: TransportRequest, protocols: [String], clock: any Clock<Duration>) async throws -> SocketDecision {
        if let failure = self.admit() { throw failure }
        let watch = ElapsedClock(clock)
        let asked = WireFields.opening(request, protocols: protocols)
        let session = self.decider.session
        switch session.begin(
            method: asked.method, url: RequestDecider.url(of: asked), headers: asked.headers.headerFields, opensWebSocket: true)
        {
        case .decided(let decision): return try await self.follow(RequestDecision(decision), request, protocols, watch, clock)
        case .needsBody(let pending):
            let opening: Result<Opening, any Error> = await BlockingWork.run {
                Result { try self.opening(pending, request, protocols) }
            }
            do {
                switch try opening.get() {
                case .opened(let conversation, let speech, let head):
                    return .replay(try await self.open(.choosing(conversation), speech, of: pending, head: head, watch, clock))
                case .decided(let decision): return try await self.follow(decision, request, protocols, watch, clock)
                case .byHead: break
                }
            } catch let error as CassetteError {
                session.couldNotDecide(problem: error.message)
                throw TransportFailure(.unserved(UnservedAnswer(index: nil, problem: error.message)), error.message, cause: error)
            }
            let decision = await BlockingWork.run { self.decider.decide(pending, request) }
            return try await self.follow(decision, request, protocols, watch, clock)
        }
    }

    private enum Opening: Sendable {
        case opened(PendingConversation, WebSocketSpeech, HTTPSession.Response)
        /// Every recorded WebSocket is used up.
        case decided(RequestDecision)
        /// The exchange that is due is not a WebSocket.
        case byHead
    }

    /// Waits for the disk.
    private func opening(_ pending: PendingRequest, _ request: TransportRequest, _ protocols: [String]) throws -> Opening {
        let session = self.decider.session
        guard let player, let conversation = try session.webSocket(pending, latency: self.settings.latency, protocols: protocols) else {
            return .byHead
        }
        guard let index = session.openingIndex(of: conversation), let speech = session.opening(of: conversation) else {
            return .decided(RequestDecision(session.missed(conversation, message: nil)))
        }
        return .opened(conversation, speech, try player.opening(index, of: request, protocols: protocols))
    }

    /// Opens the socket at the time at which the recorded one was open.
    ///
    /// - Parameter watch: measures from the start of the request.
    private func open(
        _ phase: ReplaySocket.Phase, _ speech: WebSocketSpeech, of pending: PendingRequest?, head: HTTPSession.Response,
        _ watch: ElapsedClock, _ clock: any Clock<Duration>
    ) async throws -> ReplaySocket {
        let times = RecordedTimes(head: speech.opened, end: speech.opened)
        if let schedule = ReplaySchedule(self.settings.latency, times: times, arrival: nil) {
            do { try await watch.sleep(until: schedule.head) } catch { throw TransportFailure.cancelled() }
            if let failure = self.admit() { throw failure }
        }
        let socket = ReplaySocket(phase, of: pending, in: self, head: head, clock: clock)
        try await socket.begin()
        return socket
    }

    private func follow(
        _ decision: RequestDecision, _ request: TransportRequest, _ protocols: [String], _ watch: ElapsedClock,
        _ clock: any Clock<Duration>
    ) async throws -> SocketDecision {
        switch decision {
        case .forward(let records): return .forward(records: records)
        case .refuse(let failure): throw failure
        case .replay(let index, _):
            guard let player else { throw TransportFailure.cancelled() }
            let latency = self.settings.latency
            let chosen: Result<(ConversationPlay, WebSocketSpeech, HTTPSession.Response)?, any Error> = await BlockingWork.run {
                Result {
                    guard let play = try self.decider.session.conversation(at: index, latency: latency), let speech = play.webSocket
                    else { return nil }
                    return (play, speech, try player.opening(index, of: request, protocols: protocols))
                }
            }
            let opened: (play: ConversationPlay, speech: WebSocketSpeech, head: HTTPSession.Response)?
            do { opened = try chosen.get() } catch { throw player.unserved(index, error) }
            if let opened {
                return .replay(try await self.open(.playing(opened.play), opened.speech, of: nil, head: opened.head, watch, clock))
            }
            throw try await player.refusal(index, of: request, clock: clock)
        }
    }
}

extension ReplayPlayer {
    /// The complete recorded answer to an opening request that opened no WebSocket.
    fileprivate func refusal(
        _ index: Int, of request: TransportRequest, clock: any Clock<Duration>
    ) async throws -> HTTPSession.WebSocket.Refusal {
        struct Answer: Sendable {
            var head: HTTPSession.Response?
            var body = Data()
        }
        let answer = Guarded(Answer())
        let task = Guarded<(any TransportTask)?>(nil)
        // An opening that the recorded client left has no answer: it is held open until this client leaves.
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let play = self.play(index, for: request, clock: clock) { event in
                    switch event {
                    case .head(let head): answer.withLock { $0.head = head }
                    case .chunk(let data): answer.withLock { $0.body += data }
                    case .end:
                        let whole = answer.withLock { $0 }
                        guard let head = whole.head else {
                            waiter.resume(throwing: TransportFailure(.network(.malformed), "the recorded exchange has no response"))
                            break
                        }
                        waiter.resume(returning: HTTPSession.WebSocket.Refusal(head, body: whole.body))
                    case .failed(let failure): waiter.resume(throwing: failure)
                    case .sent, .interim, .trailers, .metrics: break
                    }
                    return .more
                }
                task.withLock { $0 = play }
                // It may have been cancelled before there was a task.
                if Task.isCancelled { play.cancel() }
            }
        } onCancel: {
            task.withLock { $0 }?.cancel()
        }
    }
}

/// The replayed WebSockets of a cassette that are open.
final class OpenSockets: Sendable {
    private struct Entry: Sendable {
        weak var socket: ReplaySocket?
    }

    private let entries = Guarded<[ObjectIdentifier: Entry]>([:])

    fileprivate func add(_ socket: ReplaySocket) { self.entries.withLock { $0[ObjectIdentifier(socket)] = Entry(socket: socket) } }

    fileprivate func remove(_ socket: ReplaySocket) { _ = self.entries.withLock { $0.removeValue(forKey: ObjectIdentifier(socket)) } }

    /// The cassette is being closed: messages that the clients have not sent are counted.
    func cancelAll() {
        let entries = self.entries.withLock { entries in
            defer { entries = [:] }
            return Array(entries.values)
        }
        for entry in entries { entry.socket?.cancel() }
    }
}

/// A WebSocket from a cassette: compares the client's messages, and sends what the recorded server had sent by then.
///
/// The client's messages choose the recorded conversation as they come. Nothing is read from it before the client receives.
final class ReplaySocket: WebSocketConnection {
    enum Phase: Sendable {
        case choosing(PendingConversation)
        case playing(ConversationPlay)
        /// A message differs, and the cassette is being read to find the differences.
        case missing
        case over(End)
    }

    enum End: Sendable {
        case closed(HTTPSession.WebSocket.Closing)
        case failed(TransportFailure)
    }

    private struct State: Sendable {
        var phase: Phase
        /// Counts the changes, so that none is lost between checking and waiting.
        var changes = 0
        var waiter: CheckedContinuation<Void, Never>?
        /// The client's last message.
        var last: BodyFacets?
        /// Messages that were read from a file together with an earlier one.
        var read: [Int: WebSocketMessage] = [:]
    }

    /// The result of a message or of the end of the client.
    private enum Verdict: Sendable {
        case goOn
        case missed(PendingConversation)
        case decided(Decision)
        /// The message differs from the one that was due, which has this number, from 0; nil if the client closed early.
        case elsewhere(ConversationPlay, at: Int?)
        case over(End)
        case busy
    }

    let response: HTTPSession.Response
    /// Nil if messages are not compared.
    private let pending: PendingRequest?
    private let session: CassetteSession
    private let sockets: OpenSockets
    private let cassettePath: String
    private let recorded: RecordedCassette?
    private let watch: ElapsedClock
    private let state: Guarded<State>

    fileprivate init(
        _ phase: Phase, of pending: PendingRequest?, in cassette: Cassette, head: HTTPSession.Response, clock: any Clock<Duration>
    ) {
        self.response = head
        self.pending = pending
        self.session = cassette.decider.session
        self.sockets = cassette.sockets
        self.cassettePath = cassette.path
        self.recorded = cassette.recorded
        self.watch = ElapsedClock(clock)
        self.state = Guarded(State(phase: phase))
        self.sockets.add(self)
    }

    /// The conversation may already be settled, or the server may have to send first.
    ///
    /// - Throws: a miss, if others have meanwhile used the remaining conversations of the cassette.
    fileprivate func begin() async throws { try await self.follow(self.state.withLock { self.settle(&$0) }) }

    // MARK: The client

    func send(_ message: HTTPSession.WebSocket.Message) async throws {
        let facets = await self.facets(of: message)
        let verdict = self.state.withLock { state -> Verdict in
            switch state.phase {
            case .over(let end): return .over(end)
            case .missing: return .busy
            case .choosing(var conversation):
                // Moved out, so that its storage is not copied.
                state.phase = .missing
                conversation.messageCame(facets)
                (state.phase, state.last) = (.choosing(conversation), facets)
                return self.settle(&state)
            case .playing(var play):
                state.phase = .missing
                let recorded = play.came + play.unsent
                let receipt = play.messageCame(facets)
                (state.phase, state.last) = (.playing(play), facets)
                guard self.pending != nil else { return .goOn }
                switch receipt {
                case .matched, .unknown: return .goOn
                case .differs(let number):
                    state.phase = .missing
                    return .elsewhere(play, at: number)
                case .surplus:
                    state.phase = .missing
                    return .elsewhere(play, at: recorded)
                }
            }
        }
        try await self.follow(verdict)
        self.changed()
    }

    /// A short message is compared on the caller's thread.
    private func facets(of message: HTTPSession.WebSocket.Message) async -> BodyFacets {
        guard let pending else { return MessageReader.uncompared.finish() }
        let bytes = message.data
        let isText = message.text != nil
        @Sendable func made() -> BodyFacets {
            let facets = pending.webSocketMessage(isText: isText)
            bytes.withUnsafeBytes { facets.push($0) }
            return facets.finish()
        }
        return bytes.count > RequestDecider.inlineSize ? await BlockingWork.run { made() } : made()
    }

    func close(_ closing: HTTPSession.WebSocket.Closing) async {
        let verdict = self.state.withLock { state -> Verdict in
            switch state.phase {
            case .over(let end): return .over(end)
            case .missing: return .busy
            case .choosing(var conversation):
                conversation.clientEnded()
                state.phase = .choosing(conversation)
                return self.settle(&state)
            case .playing(var play):
                guard !play.clientEnded(), self.pending != nil else { return .goOn }
                state.phase = .missing
                return .elsewhere(play, at: nil)
            }
        }
        // A miss is in the cassette's report; there is nobody left to throw it to.
        try? await self.follow(verdict)
        self.note(self.end(.closed(closing)))
    }

    func cancel() {
        self.note(self.end(.failed(.cancelled())))
    }

    /// Notes the messages that the client has not sent, unless the recorded client had left as well: how far that one got is chance.
    private func note(_ left: ConversationPlay?) {
        if let left, left.ending != .left { self.session.clientLeft(left) }
    }

    // MARK: Choosing

    /// Takes the recorded conversation if it is settled. Called under the lock.
    private func settle(_ state: inout State) -> Verdict {
        guard case .choosing(let conversation) = state.phase else { return .goOn }
        switch self.session.settle(conversation, isPatient: false) {
        case .wait, .hesitate: return .goOn
        case .play(let play):
            state.phase = .playing(play)
            return .goOn
        case .nothing:
            state.phase = .missing
            return .missed(conversation)
        case .decided(let decision):
            state.phase = .missing
            return .decided(decision)
        }
    }

    private func follow(_ verdict: Verdict) async throws {
        let (session, last) = (self.session, self.state.withLock { $0.last })
        let decision: Decision
        switch verdict {
        case .goOn: return
        case .over(.failed(let failure)): throw failure
        case .over(.closed):
            throw TransportFailure(.network(.reset), "the recorded server has closed the WebSocket, so nothing was sent")
        case .busy: throw TransportFailure.cancelled("another message of this WebSocket differs from the recording")
        case .missed(let conversation):
            decision = .refuse(await BlockingWork.run { session.refuse(conversation, message: last) })
        case .decided(let made): decision = made
        case .elsewhere(let play, let at):
            guard let pending else { return }
            decision = .refuse(await BlockingWork.run { session.refuse(play, of: pending, at: at, message: last) })
        }
        let failure: TransportFailure
        if case .refuse(let report) = decision {
            failure = TransportFailure(.noMatch(report), report.description)
        } else {
            let problem =
                "the WebSocket \"\(LogURL.text(WebSocketURL.socket(self.response.url)))\" was opened from the cassette and then went on as none that is recorded: open the cassette with mode .all to record it anew."
            session.couldNotDecide(problem: problem)
            failure = TransportFailure(.unserved(UnservedAnswer(index: nil, problem: problem)), problem)
        }
        self.end(.failed(failure))
        throw failure
    }

    /// Only the first end counts.
    ///
    /// - Returns: the conversation that was being played.
    @discardableResult
    private func end(_ end: End) -> ConversationPlay? {
        let left = self.state.withLock { state -> ConversationPlay? in
            switch state.phase {
            case .over: return nil
            case .choosing, .missing:
                state.phase = .over(end)
                return nil
            case .playing(let play):
                state.phase = .over(end)
                return play
            }
        }
        self.sockets.remove(self)
        self.changed()
        return left
    }

    // MARK: The server

    private enum Next: Sendable {
        case message(WebSocketMessage, Int, ConversationPlay)
        case read(WebSocketSpeech, from: Int, ConversationPlay)
        /// The recorded conversation was broken off here.
        case broken(ConversationPlay)
        case over(End)
        case wait(changes: Int, until: Double?)
    }

    func receive() async throws -> HTTPSession.WebSocket.Event {
        while true {
            switch self.state.withLock({ self.next(&$0) }) {
            case .message(let message, let number, let play):
                guard let content = try await self.content(of: message, number, play) else { continue }
                return .message(content)
            case .read(let speech, let number, let play):
                guard let message = try await self.read(speech, from: number, play) else { continue }
                return .message(message)
            case .broken(let play): self.end(.failed(await self.failure(of: play)))
            case .over(.closed(let closing)):
                self.sockets.remove(self)
                return .closed(closing)
            case .over(.failed(let failure)):
                self.sockets.remove(self)
                throw failure
            case .wait(let changes, let due): await self.wait(since: changes, until: due)
            }
        }
    }

    /// Called under the lock.
    private func next(_ state: inout State) -> Next {
        guard case .playing(var play) = state.phase else {
            if case .over(let end) = state.phase { return .over(end) }
            return .wait(changes: state.changes, until: nil)
        }
        var action = play.next(at: self.watch.milliseconds)
        if case .sendHead = action { action = play.next(at: self.watch.milliseconds) }
        state.phase = .playing(play)
        switch action {
        case .send(let number):
            guard let speech = play.webSocket else { return .wait(changes: state.changes, until: nil) }
            if let message = speech.inline(number) ?? state.read.removeValue(forKey: number) {
                return .message(message, number, play)
            }
            return .read(speech, from: number, play)
        case .end:
            state.phase = .over(.closed(Self.closing(play.webSocket?.close)))
        case .cut: return .broken(play)
        case .wait(let due): return .wait(changes: state.changes, until: due)
        case .listen, .hold, .sendHead: return .wait(changes: state.changes, until: nil)
        }
        return self.next(&state)
    }

    /// The failure with which the recorded client's WebSocket ended.
    private func failure(of play: ConversationPlay) async -> TransportFailure {
        let recorded = self.recorded
        let outcome = await BlockingWork.run { try? recorded?.interaction(at: play.index).outcome }
        if case .cut(let cut)? = outcome, let kind = cut.kind { return TransportFailure(.network(kind), cut.reason) }
        let problem = "the server of the recorded WebSocket \"\(LogURL.text(WebSocketURL.socket(self.response.url)))\" broke it off"
        return TransportFailure(.network(.truncated), problem)
    }

    private static func closing(_ close: WebSocketClose?) -> HTTPSession.WebSocket.Closing {
        HTTPSession.WebSocket.Closing(
            code: close?.code.flatMap { HTTPSession.WebSocket.CloseCode(rawValue: $0) },
            reason: close.map { String(decoding: $0.reason, as: UTF8.self) } ?? "")
    }

    private func read(
        _ speech: WebSocketSpeech, from number: Int, _ play: ConversationPlay
    ) async throws -> HTTPSession.WebSocket.Message? {
        let path = self.cassettePath
        let result: Result<[WebSocketMessage], any Error> = await BlockingWork.run {
            Result { try speech.read(from: number, ofCassette: path) }
        }
        let messages: [WebSocketMessage]
        do { messages = try result.get() } catch { throw self.unreadable(error) }
        guard let first = messages.first else { return nil }
        self.state.withLock { state in
            for (offset, message) in messages.enumerated().dropFirst() { state.read[number + offset] = message }
        }
        return try await self.content(of: first, number, play)
    }

    /// Nil for a message that was cut, since no client has seen it.
    private func content(
        of message: WebSocketMessage, _ number: Int, _ play: ConversationPlay
    ) async throws -> HTTPSession.WebSocket.Message? {
        if let problem = play.problem(of: message, number) { throw self.unreadable(CassetteError(.damaged, problem)) }
        guard message.isComplete, let payload = message.content.payload else { return nil }
        let bytes: [UInt8]
        if let inline = payload.inlineBytes {
            bytes = play.echoed(inline, isText: message.content.isText) ?? inline
        } else {
            guard case .file(let sidecar) = payload else { return nil }
            let path = self.cassettePath
            let result: Result<[UInt8], any Error> = await BlockingWork.run {
                Result {
                    var bytes: [UInt8] = []
                    try BodyReader(cassettePath: path).source(sidecar, digest: PortableSHA256()).forEachPiece { bytes += $0 }
                    return play.echoed(bytes, isText: message.content.isText) ?? bytes
                }
            }
            do {
                bytes = try result.get()
            } catch {
                throw self.unreadable(error)
            }
        }
        if message.content.isText { return .text(String(decoding: bytes, as: UTF8.self)) }
        return .data(Data(bytes))
    }

    private func unreadable(_ error: any Error) -> TransportFailure {
        let problem = (error as? CassetteError)?.message ?? "\(error)"
        let index = self.state.withLock { state in if case .playing(let play) = state.phase { play.index } else { Int?.none } }
        if let index { self.session.couldNotServe(index, problem: problem) } else { self.session.couldNotDecide(problem: problem) }
        let failure = TransportFailure(.unserved(UnservedAnswer(index: index, problem: problem)), problem, cause: error)
        self.end(.failed(failure))
        return failure
    }

    // MARK: Waiting

    private func changed() {
        let waiter = self.state.withLock { state in
            state.changes += 1
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    private func wait(since changes: Int, until due: Double?) async {
        let sleeper = due.map { due in
            Task {
                try? await self.watch.sleep(until: due)
                self.changed()
            }
        }
        await withCheckedContinuation { waiter in
            let waits = self.state.withLock { state in
                guard state.changes == changes else { return false }
                state.waiter = waiter
                return true
            }
            if !waits { waiter.resume() }
        }
        sleeper?.cancel()
    }
}
