internal import NIOCore
internal import NIOPosix

/// One connection to the control API: one request, one answer.
///
/// Not Sendable: lives on its event loop.
final class ControlHandler: ChannelInboundHandler, TimedConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase { case reading, answering, lingering }

    private let desk: ControlDesk
    private var reader: ControlReader
    private var phase = Phase.reading
    private var isOverLimit = false
    private var context: ChannelHandlerContext?
    /// The answer is out.
    private var isAnswered = false
    private var closesWhenAnswered = false
    private(set) var deadline: NIODeadline

    init(desk: ControlDesk) {
        self.desk = desk
        self.reader = ControlReader(gate: desk.gate)
        // For the whole request: it is small.
        self.deadline = .now() + .seconds(Int64(desk.shared.limits.requestHead))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.desk.add(self)
        // Now: when it becomes active, others behind it may have been added.
        self.isOverLimit = self.desk.isFull
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.desk.remove(self)
    }

    func channelActive(context: ChannelHandlerContext) {
        if self.isOverLimit { self.send(.tooManyConnections) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Behind the request, and behind a refusal, what comes is dropped.
        guard case .reading = self.phase else { return }
        switch self.reader.read(self.unwrapInboundIn(data).readableBytesView) {
        case .needsMore(let saysContinue):
            guard saysContinue else { return }
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
        case .refused(let answer):
            self.send(answer)
        case .request(let request):
            self.phase = .answering
            // However long a cassette takes to be closed.
            self.deadline = .distantFuture
            self.desk.answer(request) { [weak self] answer in self?.send(answer) }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        // A client may end its side behind its request and wait for the answer.
        if case .answering = self.phase { return }
        self.close()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.close() }

    /// Ends our side behind the answer and drops what still comes, for a while: closing at once would reset the connection and could take
    /// the answer with it (RFC 9112, 9.6).
    private func send(_ answer: ControlAnswer) {
        guard let context else { return }
        self.phase = .lingering
        self.deadline = .now() + .seconds(Int64(self.desk.shared.limits.linger))
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: answer.octets(isHead: self.reader.isHead))), promise: nil)
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
        // A client that does not read has the time that it had before.
        self.context?.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(self.desk.shared.limits.linger))) { self.close() }
    }

    func abort() { self.close() }
}
