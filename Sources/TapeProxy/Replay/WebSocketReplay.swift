internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeExchange

/// The server of a replayed WebSocket. Chooses the recorded conversation by the client's messages, and sends each recorded server message
/// once as many client messages have arrived as had in the recording.
///
/// Never looks at a message before the previous one has been compared. Answers pings. Never dials. Not Sendable: lives on its event loop.
final class WebSocketReplay: TunnelExchange {
    private enum Phase {
        case choosing(PendingConversation)
        case playing(ConversationPlay)
        /// The client sent something that no recorded client did, and the cassette is searched for the difference.
        case missing
        /// This side has closed. Only the client's close is still processed.
        case closing
        case over
    }

    private enum ClientEnd {
        /// The client sends nothing more but may still read.
        case ended
        case left
    }

    /// A longer message is compared on another thread, because the event loop also serves other clients.
    private static let inlineSize = 64 << 10
    /// Bytes parsed in one piece. Deflated bytes may expand a thousandfold.
    private static let (deflatedSize, plainSize) = (512, 1 << 10)
    /// Limits of one turn (pieces, events and inflated bytes), after which other connections are served. Each event may be answered.
    private static let (deflatedPieces, plainPieces, eventsInTurn, inflatedInTurn) = (16, 256, 100, 256 << 10)
    /// Seconds in which a client has to answer a close.
    private static let closeLimit: Int64 = 10

    private let client: any ClientStream
    private let proxy: ProxyContext
    private let request: IncomingRequest
    private let origin: Origin
    private let pending: PendingRequest
    private var phase: Phase
    private var reader: WebSocketReader
    private var writer: WebSocketWriter
    /// Bytes from the client that have not been parsed yet: those of one read at most, because no more is read meanwhile.
    private var unread = ByteBuffer()
    private var hasNextTurn = false
    private let isDeflated: Bool
    /// Events from the client that have not been compared yet: those of one turn at most.
    private var events: CircularBuffer<WebSocketEvent> = []
    private var facets: Facets?
    private var lastMessage: BodyFacets?
    /// Another thread is working on the last message.
    private var isBusy = false
    /// A message is being read or sent.
    private var isSending = false
    /// Messages read from the file, from `first` on.
    private var batch: (first: Int, messages: [WebSocketMessage]) = (0, [])
    private var body: ReplayFileStream?
    /// The part loaded so far of a message from a file that is sent whole.
    private var gathered: (message: WebSocketMessage, bytes: [UInt8])?
    private var dueTimer: Scheduled<Void>?
    private var isLoading = false
    private var clientClose: WebSocketClose?
    private var clientEnd: ClientEnd?
    /// The close that follows the message being sent.
    private var farewell: (code: Int, reason: String)?
    private var written = 0
    private(set) var deadline: NIODeadline

    init(
        _ client: any ClientStream, request: IncomingRequest, origin: Origin, pending: PendingRequest, conversation: PendingConversation,
        agreement: WebSocketAgreement
    ) {
        self.client = client
        self.proxy = client.peer.session
        self.request = request
        self.origin = origin
        self.pending = pending
        self.phase = .choosing(conversation)
        self.isDeflated = agreement.deflate != nil
        self.reader = WebSocketReader(.client, stand: .server, agreement: agreement)
        self.writer = WebSocketWriter(.server, agreement: agreement)
        self.deadline = self.proxy.now + .seconds(Int64(self.proxy.limits.tunnelIdle))
    }

    func start() {
        self.settle()
        self.proceed()
    }

    // MARK: The client's messages

    var takesBytes: Bool { self.events.isEmpty && !self.isBusy && self.unread.readableBytes == 0 }

    func clientBytes(_ input: inout ByteBuffer) {
        guard let bytes = input.readSlice(length: input.readableBytes) else { return }
        self.extendDeadline()
        self.unread = bytes
        self.takeTurn()
    }

    /// Parses some of the bytes. A few may hold many or long messages, so that other connections are served before the rest is parsed.
    private func takeTurn() {
        let most = self.reader.inflated + Self.inflatedInTurn
        var pieces = self.isDeflated ? Self.deflatedPieces : Self.plainPieces
        let size = self.isDeflated ? Self.deflatedSize : Self.plainSize
        while pieces > 0, self.events.count < Self.eventsInTurn, self.reader.inflated < most,
            let bytes = self.unread.readSlice(length: min(size, self.unread.readableBytes)), bytes.readableBytes > 0
        {
            pieces -= 1
            bytes.withUnsafeReadableBytes { bytes in self.reader.read(bytes) { self.events.append($0) } }
        }
        self.proceed()
    }

    private func awaitTurn() {
        guard !self.hasNextTurn else { return }
        self.hasNextTurn = true
        // A task that is executed at once would run before the loop looks at its other connections.
        self.proxy.loop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { [weak self] in
            guard let self else { return }
            self.hasNextTurn = false
            guard !self.isOver else { return }
            self.proxy.readClock()
            if self.events.isEmpty, !self.isBusy { self.takeTurn() }
        }
    }

    private var isOver: Bool { if case .over = self.phase { true } else { false } }

    /// Takes the client's messages one after another, and sends what is due.
    private func proceed() {
        self.pump()
        // Messages that this one releases are sent before the next one is compared.
        while !self.isBusy, let event = self.events.popFirst() {
            self.take(event)
            self.pump()
        }
        guard !self.isOver else { return self.unread.clear() }
        if self.events.isEmpty, !self.isBusy, self.unread.readableBytes > 0 { self.awaitTurn() }
        if self.clientEnd != .left { self.client.setReading(self.takesBytes) }
        self.endIfLeft()
    }

    /// The client is gone or sends nothing more. Messages that arrived before are processed first.
    private func endIfLeft() {
        guard let clientEnd, !self.isOver, self.takesBytes else { return }
        // A client that has sent its close waits for the rest of the conversation.
        guard clientEnd == .left || (self.clientClose == nil && !self.client.hasInput) else { return }
        self.noteUnsent()
        self.end(isCut: false)
    }

    private func take(_ event: WebSocketEvent) {
        switch event {
        case .block(let bytes, let isText):
            let facets = self.facets ?? Facets(self.pending.webSocketMessage(isText: isText))
            self.facets = facets
            // A small message may inflate to thousands of blocks.
            var blocks = [bytes]
            while case .block(let bytes, _)? = self.events.first {
                blocks.append(bytes)
                self.events.removeFirst()
            }
            self.onThread({ [blocks] in for bytes in blocks { bytes.withUnsafeBytes { facets.message.push($0) } } }, isPart: true) { _ in }
        case .message(let message):
            switch message.kind {
            case .text, .binary: self.take(message)
            case .ping:
                if case .closing = self.phase { return }
                self.write { $0.control(false, message.bytes, to: &$1) }
            case .pong: return
            case .close: self.clientClosed(WebSocketClose(payload: message.bytes))
            }
        case .failed(let problem):
            self.noteUnsent()
            self.close(WebSocketProblem.closeCode, problem.message)
        }
    }

    private func take(_ message: TapedMessage) {
        if case .closing = self.phase { return }
        let facets = self.facets.take() ?? Facets(self.pending.webSocketMessage(isText: message.kind == .text))
        message.bytes.withUnsafeBytes { facets.message.push($0) }
        guard facets.message.size > Self.inlineSize else { return self.messageCame(facets.message.finish()) }
        self.onThread({ facets.message.finish() }) { [self] in self.messageCame($0) }
    }

    private func messageCame(_ message: BodyFacets) {
        self.lastMessage = message
        switch self.phase {
        case .choosing(var conversation):
            // Moved out, so that its storage is not copied.
            self.phase = .missing
            conversation.messageCame(message)
            self.phase = .choosing(conversation)
            self.settle()
        case .playing(var play):
            self.phase = .missing
            let recorded = play.came + play.unsent
            let receipt = play.messageCame(message)
            self.phase = .playing(play)
            switch receipt {
            case .matched, .unknown: break
            case .differs(let number): self.wentElsewhere(play, at: number)
            case .surplus: self.wentElsewhere(play, at: recorded)
            }
        case .missing, .closing, .over: break
        }
    }

    private func clientClosed(_ close: WebSocketClose) {
        self.clientClose = close
        switch self.phase {
        case .choosing(var conversation):
            conversation.clientEnded()
            self.phase = .choosing(conversation)
            self.settle()
            if case .playing = self.phase { self.clientClosed(close) }
        case .playing(var play):
            let isAsRecorded = play.clientEnded()
            self.phase = .playing(play)
            guard isAsRecorded else { return self.wentElsewhere(play, at: nil) }
            // The recorded client did not close, so it is unknown how its server answers a close.
            if !play.requestsAreWhole { self.finish(close) }
        case .closing: self.end(isCut: false)
        case .missing, .over: break
        }
    }

    // MARK: Choosing

    private func settle() {
        guard case .choosing(let conversation) = self.phase else { return }
        // The client already has the handshake, and sends nothing while it waits for the server.
        switch self.proxy.session.settle(conversation, isPatient: false) {
        case .wait, .hesitate: break
        case .play(let play):
            self.proxy.count { $0.replayed += 1 }
            self.proxy.log.replay(play.index, connection: self.client.peer.id, method: self.request.head.method, origin: self.origin)
            self.phase = .playing(play)
        case .nothing:
            let (session, message) = (self.proxy.session, self.lastMessage)
            self.phase = .missing
            self.onThread({ session.refuse(conversation, message: message) }) { [self] in self.miss($0) }
        // With strict order, another exchange is due.
        case .decided(.refuse(let report)): self.miss(report)
        case .decided: self.close(1008, "the cassette has no such conversation")
        }
    }

    /// The client sent something that the recorded client did not.
    ///
    /// - Parameter at: the index of the recorded message that was due; nil if the client closed early.
    private func wentElsewhere(_ play: ConversationPlay, at: Int?) {
        self.phase = .missing
        let (session, pending, message) = (self.proxy.session, self.pending, self.lastMessage)
        self.dueTimer?.cancel()
        self.dueTimer = nil
        self.proxy.count { $0.replayed -= 1 }
        self.onThread({ session.refuse(play, of: pending, at: at, message: message) }) { [self] in self.miss($0) }
    }

    private func miss(_ report: MissReport) {
        self.proxy.count { $0.misses += 1 }
        self.proxy.log.refuse(connection: self.client.peer.id, method: self.request.head.method, origin: self.origin)
        self.proxy.configuration.watch?(.missed(method: self.request.head.method, url: self.request.url))
        let difference = report.nearest.first?.differences.first.map { "\($0)" }
        self.close(1008, "wiretape: not in the cassette" + (difference.map { ": \($0)" } ?? ""))
    }

    // MARK: The server's messages

    /// Milliseconds since the request head arrived.
    private var elapsed: Double { Double((self.proxy.now - self.request.start).nanoseconds) / 1e6 }

    /// Carries out the script until it has to wait.
    private func pump() {
        guard !self.isOver, self.clientEnd != .left else { return }
        while !self.isSending, !self.isBusy, self.dueTimer == nil, self.client.isWritable, case .playing(var play) = self.phase {
            let action = play.next(at: self.elapsed)
            self.phase = .playing(play)
            switch action {
            case .sendHead: break
            case .send(let number): self.say(number, play)
            case .end:
                if let close = play.webSocket?.close { return self.say(close) }
                // The recorded client left after its close, before it was answered.
                if let clientClose { return self.finish(clientClose) }
                return self.end(isCut: false)
            case .cut: return self.end(isCut: true)
            case .wait(let due):
                self.client.flush()
                return self.wait(until: due)
            case .hold:
                if let clientClose { return self.finish(clientClose) }
                return self.client.flush()
            case .listen: return self.client.flush()
            }
        }
        self.client.flush()
    }

    private func say(_ number: Int, _ play: ConversationPlay) {
        guard let speech = play.webSocket else { return }
        if let message = speech.inline(number) { return self.send(message, number, play) }
        let position = number - self.batch.first
        if self.batch.messages.indices.contains(position) { return self.send(self.batch.messages[position], number, play) }
        self.isSending = true
        self.client.flush()
        self.proxy.library?.messages(of: speech, from: number) { [weak self] result in
            guard let self, !self.isOver else { return }
            self.proxy.readClock()
            self.isSending = false
            // The client may have ended the conversation meanwhile.
            guard case .playing = self.phase else { return }
            switch result {
            case .success(let messages):
                self.batch = (number, messages)
                if let message = messages.first { self.send(message, number, play) }
                self.proceed()
            case .failure(let error): self.damaged(play, error.message)
            }
        }
    }

    private func send(_ message: WebSocketMessage, _ number: Int, _ play: ConversationPlay) {
        if let problem = play.problem(of: message, number) {
            return self.damaged(play, "\(self.request.head.method) \(self.request.url): \(problem)")
        }
        guard let payload = message.content.payload else { return }
        let isText = message.content.isText
        if let recorded = payload.inlineBytes {
            return self.send(play.echoed(recorded, isText: isText) ?? recorded, as: message)
        }
        guard case .file(let sidecar) = payload, let body = self.proxy.library?.open(.sidecar(sidecar)) else { return }
        self.isSending = true
        self.body = body
        if message.isComplete, play.mayEcho(sidecar.size) {
            self.gathered = (message, [])
        } else {
            self.writer.begin(
                isText, size: sidecar.size, isDeflated: message.isDeflated, frames: message.frames, isWhole: message.isComplete)
        }
        self.sendPieces(of: body)
    }

    private func send(_ bytes: [UInt8], as message: WebSocketMessage) {
        self.write { writer, output in
            bytes.withUnsafeBytes {
                writer.message(
                    message.content.isText, $0, isDeflated: message.isDeflated, frames: message.frames, isWhole: message.isComplete,
                    to: &output)
            }
        }
    }

    /// Sends a whole message from a file, in which values sent by the client may have to be inserted.
    private func sendGathered(_ message: WebSocketMessage, _ bytes: [UInt8]) {
        self.body = nil
        guard case .playing(let play) = self.phase else { return self.sent() }
        // The client's messages are processed meanwhile, as they are while a file is read.
        let echoing = self.proxy.computing.run(on: self.proxy.loop) { play.echoed(bytes, isText: message.content.isText) ?? bytes }
        echoing.assumeIsolated().whenComplete { [weak self] result in
            guard let self, !self.isOver else { return }
            self.proxy.readClock()
            // The client may have ended the conversation meanwhile.
            if case .playing = self.phase, case .success(let bytes) = result { self.send(bytes, as: message) }
            self.sent()
        }
    }

    private func sent() {
        self.isSending = false
        if let farewell { self.close(farewell.code, farewell.reason) }
        self.proceed()
    }

    private func sendPieces(of body: ReplayFileStream) {
        guard !self.isLoading else { return }
        self.isLoading = true
        body.next { [weak self] piece in
            self?.isLoading = false
            guard let self, !self.isOver else { return }
            self.proxy.readClock()
            self.extendDeadline()
            switch piece {
            case .bytes(let bytes) where self.gathered != nil:
                self.gathered?.bytes += bytes
                self.sendPieces(of: body)
            case .last(let bytes) where self.gathered != nil:
                guard let gathered = self.gathered.take() else { return }
                self.sendGathered(gathered.message, gathered.bytes + bytes)
            case .bytes(let bytes):
                self.write { writer, output in bytes.withUnsafeBytes { _ = writer.piece($0, isLast: false, to: &output) } }
                // The rest is sent once the client has taken this.
                if self.client.isWritable { self.sendPieces(of: body) }
            case .last(let bytes):
                self.write { writer, output in bytes.withUnsafeBytes { _ = writer.piece($0, isLast: true, to: &output) } }
                self.body = nil
                self.sent()
            case .damaged(let problem):
                // If the conversation already counts as a miss, it is not counted again.
                guard case .playing(let play) = self.phase else { return self.end(isCut: true) }
                self.damaged(play, "a message of \(self.request.url): \(problem)")
            }
        }
    }

    private func write(_ body: (inout WebSocketWriter, inout [UInt8]) -> Void) {
        guard self.clientEnd != .left else { return }
        var output: [UInt8] = []
        body(&self.writer, &output)
        guard !output.isEmpty else { return }
        self.written += output.count
        self.client.write(ByteBuffer(bytes: output))
        // The answers to a message are sent together with it. A lone pong needs a flush, too.
        self.client.flush()
    }

    private func wait(until due: Double) {
        // Rounded up, so that the timer never fires early.
        let left = max(0, ((due - self.elapsed) * 1e6).rounded(.up))
        self.dueTimer = self.proxy.loop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(left))) { [weak self] in
            guard let self, !self.isOver else { return }
            self.dueTimer = nil
            self.proxy.readClock()
            self.extendDeadline()
            self.proceed()
        }
    }

    // MARK: Ends

    /// The recorded server closed, either on its own or in answer to the client's close. Nothing follows.
    private func say(_ close: WebSocketClose) {
        self.write { $0.close(payload: close.payload, to: &$1) }
        self.beginClosing()
    }

    /// Closes with a reason of the proxy's own.
    private func close(_ code: Int, _ reason: String) {
        guard !self.isOver else { return }
        if case .closing = self.phase { return }
        // A close frame within a message would be taken for part of it.
        guard self.body == nil else { return self.farewell = (code, reason) }
        self.write { $0.close(code, reason: reason, to: &$1) }
        self.beginClosing()
    }

    /// Answers the client's close with its own code (RFC 6455, 5.5.1).
    private func finish(_ close: WebSocketClose) {
        self.write { $0.close(payload: Array(close.payload.prefix(2)), to: &$1) }
        self.end(isCut: false)
    }

    private func beginClosing() {
        self.dueTimer?.cancel()
        self.dueTimer = nil
        guard self.clientClose == nil, self.clientEnd == nil else { return self.end(isCut: false) }
        self.phase = .closing
        self.deadline = self.proxy.now + .seconds(Self.closeLimit)
    }

    private func end(isCut: Bool) {
        guard !self.isOver else { return }
        self.stop()
        if self.clientEnd != .left { self.client.closeAfterFlush(isCut: isCut) }
    }

    private func stop() {
        self.phase = .over
        self.dueTimer?.cancel()
        self.events = []
        let written = self.written
        self.proxy.count { $0.bytes += written }
    }

    private func damaged(_ play: ConversationPlay, _ problem: String) {
        self.proxy.session.couldNotServe(play.index, problem: problem)
        self.proxy.count {
            $0.unreadable += 1
            if $0.firstUnreadable == nil { $0.firstUnreadable = problem }
        }
        self.end(isCut: true)
    }

    /// Reports the messages that the client never sent, unless the recorded client left too: how far it came is then chance.
    private func noteUnsent() {
        if case .playing(let play) = self.phase, play.ending != .left { self.proxy.session.clientLeft(play) }
    }

    /// Works on a thread. The client's messages are not processed meanwhile.
    ///
    /// - Parameter isPart: whether more work like this follows at once. The loop looks at its other connections before: it runs tasks as long
    ///   as there are some, and of several clients one always has some.
    private func onThread<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, isPart: Bool = false, then: @escaping (Value) -> Void
    ) {
        self.isBusy = true
        let working = self.proxy.computing.run(on: self.proxy.loop) { work() }
        working.assumeIsolated().whenComplete { [self] result in
            guard !self.isOver else { return }
            self.isBusy = false
            self.proxy.readClock()
            guard case .success(let value) = result else { return self.end(isCut: true) }
            then(value)
            guard isPart else { return self.proceed() }
            self.isBusy = true
            self.proxy.loop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { [self] in
                guard !self.isOver else { return }
                self.isBusy = false
                self.proxy.readClock()
                self.proceed()
            }
        }
    }

    // MARK: The client

    func clientWritabilityChanged(_ isWritable: Bool) {
        self.extendDeadline()
        guard isWritable, !self.isOver else { return }
        if let body, self.isSending { self.sendPieces(of: body) } else { self.pump() }
    }

    func clientEnded() -> Bool {
        self.clientEnd = .ended
        self.endIfLeft()
        return !self.isOver
    }

    func clientLeft(_ reason: String) {
        guard !self.isOver else { return }
        self.clientEnd = .left
        self.endIfLeft()
    }

    func proxyStopped() {
        guard !self.isOver else { return }
        self.noteUnsent()
        if case .closing = self.phase { return self.end(isCut: false) }
        guard self.body == nil else { return self.end(isCut: true) }
        self.write { $0.close(1001, reason: "the proxy was stopped", to: &$1) }
        self.end(isCut: false)
    }

    private func extendDeadline() {
        if case .closing = self.phase { return }
        self.deadline = self.proxy.now + .seconds(Int64(self.proxy.limits.tunnelIdle))
    }

    func deadlinePassed() {
        if self.dueTimer != nil { return self.extendDeadline() }
        self.noteUnsent()
        self.end(isCut: true)
    }

    /// A message of the client, handed from the event loop to a thread.
    ///
    /// SAFETY: the event loop does not use it while a thread has it, so no two threads ever use it at once.
    private final class Facets: @unchecked Sendable {
        let message: WebSocketMessageFacets

        init(_ message: WebSocketMessageFacets) { self.message = message }
    }
}
