internal import LocalHTTP
internal import NIOCore
internal import NIOPosix

/// One connection to the control API: a single request and its answer.
///
/// Not Sendable: lives on its event loop.
final class ControlHandler: ChannelInboundHandler, TimedConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase { case reading, answering, lingering }

    /// Seconds in which a request has to present the token, as with the inspector: a client that has it sends it at once.
    private static let strangerTime = 2

    private let control: ControlContext
    private var reader: LocalRequestReader
    private var phase = Phase.reading
    /// The client has presented the token, and there is room for it.
    private var isKnown = false
    private let opened = NIODeadline.now()
    private var context: ChannelHandlerContext?
    /// The answer has been written.
    private var isAnswered = false
    private var closesWhenAnswered = false
    private(set) var deadline: NIODeadline

    init(control: ControlContext) {
        self.control = control
        self.reader = LocalRequestReader(gate: control.gate)
        self.deadline = self.opened + .seconds(Int64(min(Self.strangerTime, control.shared.limits.requestHead)))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.control.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.control.remove(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes after the request or after a refusal are dropped.
        guard case .reading = self.phase else { return }
        let outcome = self.reader.read(self.unwrapInboundIn(data).readableBytesView)
        guard self.isAdmitted() else { return self.send(.tooManyConnections) }
        switch outcome {
        case .needsMore(let saysContinue):
            guard saysContinue else { return }
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
        case .refused(let answer):
            self.send(answer)
        case .request(let request):
            self.phase = .answering
            // Closing a cassette may take any amount of time.
            self.deadline = .distantFuture
            self.control.answer(request) { [weak self] answer in self?.send(answer) }
        }
    }

    /// False if the client has presented the token but there is no room for it.
    private func isAdmitted() -> Bool {
        guard self.reader.hasShownToken, !self.isKnown else { return true }
        self.isKnown = self.control.admit(self)
        // The time limit for the whole request, which is small.
        self.deadline = self.opened + .seconds(Int64(self.control.shared.limits.requestHead))
        return self.isKnown
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        // A client may close its side after its request and wait for the answer.
        if case .answering = self.phase { return }
        self.close()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.close() }

    /// Closes this side after the answer and drops further input for a while. Closing at once would reset the connection, and the client
    /// could lose the answer (RFC 9112, 9.6).
    private func send(_ answer: LocalAnswer) {
        guard let context else { return }
        self.phase = .lingering
        self.deadline = .now() + .seconds(Int64(self.control.shared.limits.linger))
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: answer.bytes(isHead: self.reader.isHead))), promise: nil)
        context.close(mode: .output).assumeIsolated().whenComplete { _ in
            self.isAnswered = true
            if self.closesWhenAnswered { self.close() }
        }
    }

    private func close() { self.context?.close(promise: nil) }

    // MARK: Time

    func deadlinePassed() {
        switch self.phase {
        case .reading: self.send(.tooSlow)
        case .answering: break
        case .lingering: self.close()
        }
    }

    func stop() {
        guard case .lingering = self.phase, !self.isAnswered else { return self.close() }
        self.closesWhenAnswered = true
        // A client that does not read still gets the time it had before.
        self.context?.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(self.control.shared.limits.linger))) { self.close() }
    }

    func abort() { self.close() }
}
