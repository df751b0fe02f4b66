internal import LocalHTTP
internal import NIOCore
internal import NIOPosix

/// One connection to the control API: one request, one answer.
///
/// Not Sendable: lives on its event loop.
final class ControlHandler: ChannelInboundHandler, TimedConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase { case reading, answering, lingering }

    private let control: ControlContext
    private var reader: LocalRequestReader
    private var phase = Phase.reading
    private var isOverLimit = false
    private var context: ChannelHandlerContext?
    /// The answer has been written.
    private var isAnswered = false
    private var closesWhenAnswered = false
    private(set) var deadline: NIODeadline

    init(control: ControlContext) {
        self.control = control
        self.reader = LocalRequestReader(gate: control.gate)
        // For the whole request: it is small.
        self.deadline = .now() + .seconds(Int64(control.shared.limits.requestHead))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.control.add(self)
        // Now: when it becomes active, later handlers may have been added.
        self.isOverLimit = self.control.isFull
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.control.remove(self)
    }

    func channelActive(context: ChannelHandlerContext) {
        if self.isOverLimit { self.send(.tooManyConnections) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes after the request, and after a refusal, are dropped.
        guard case .reading = self.phase else { return }
        switch self.reader.read(self.unwrapInboundIn(data).readableBytesView) {
        case .needsMore(let saysContinue):
            guard saysContinue else { return }
            context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
        case .refused(let answer):
            self.send(answer)
        case .request(let request):
            self.phase = .answering
            // Closing a cassette may take any time.
            self.deadline = .distantFuture
            self.control.answer(request) { [weak self] answer in self?.send(answer) }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        // A client may close its side after its request and wait for the answer.
        if case .answering = self.phase { return }
        self.close()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.close() }

    /// Closes our side after the answer and drops further input for a while: closing at once would reset the connection, and the client
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
        // A client that does not read has the time that it had before.
        self.context?.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(self.control.shared.limits.linger))) { self.close() }
    }

    func abort() { self.close() }
}
