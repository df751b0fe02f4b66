internal import CassetteModel
internal import NIOCore
internal import NIOPosix
internal import TapeExchange

/// One connection to the control API: one request, one answer.
///
/// Not Sendable: lives on its event loop.
final class ControlHandler: ChannelInboundHandler, TimedConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase { case reading, answering, lingering }

    private let control: ControlContext
    private var reader: ControlReader
    private var phase = Phase.reading
    private var isOverLimit = false
    private var context: ChannelHandlerContext?
    /// The answer has been written.
    private var isAnswered = false
    private var closesWhenAnswered = false
    private(set) var deadline: NIODeadline

    init(control: ControlContext) {
        self.control = control
        self.reader = ControlReader(gate: control.gate)
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
    private func send(_ answer: ControlAnswer) {
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

/// Reads the one request of a control connection: bytes in, a request or a refusal out.
///
/// Reads no body before the gate has let its head in. Knows no routes.
struct ControlReader {
    enum Outcome: Equatable {
        /// - saysContinue: the client waits for 100 (Continue) before it sends the body (RFC 9110, 10.1.1).
        case needsMore(saysContinue: Bool)
        case request(ControlRequest)
        case refused(ControlAnswer)
    }

    /// Bytes of a body: an order with a few hundred rules.
    static let bodyLimit = 64 << 10

    private let gate: ControlGate
    private var parser = HeadParser()
    private var input: [UInt8] = []
    private var request: ControlRequest?
    private var expectsContinue = false
    /// The answer goes without its body (RFC 9110, 9.3.2).
    private(set) var isHead = false
    private var body = BodyParser(framing: .none, side: .request)

    init(gate: ControlGate) {
        self.gate = gate
    }

    /// Takes the next bytes; not to be called again after it has returned a request or a refusal.
    mutating func read(_ bytes: some Sequence<UInt8>) -> Outcome {
        self.input += bytes
        do {
            if self.request == nil {
                guard try self.readHead() else { return .needsMore(saysContinue: false) }
                let saysContinue = try !self.readBody()
                guard !saysContinue else { return .needsMore(saysContinue: self.expectsContinue) }
            } else if try !self.readBody() {
                return .needsMore(saysContinue: false)
            }
            return self.request.map { .request($0) } ?? .needsMore(saysContinue: false)
        } catch let refusal as ControlAnswer {
            return .refused(refusal)
        } catch let error as MessageError {
            return .refused(
                ControlAnswer(
                    status: error.status, reason: ProxyAnswer.reason(error.status), code: "bad-request", message: error.message + "."))
        } catch {
            return .refused(ControlAnswer(error))
        }
    }

    /// - Returns: whether the head is whole.
    private mutating func readHead() throws -> Bool {
        guard let parsed = try self.input.withUnsafeBytes({ try self.parser.parseRequest($0) }) else { return false }
        self.input.removeFirst(parsed.consumed)
        let head = parsed.head
        self.isHead = head.method == "HEAD"
        let target = try RequestTarget(head)
        let host = try HostRule.check(head, target: target)
        guard case .origin(let path) = target else {
            throw ControlAnswer(
                status: 400, reason: "Bad Request", code: "target",
                message: "this is the control API, not a proxy: request a path, such as /sessions.")
        }
        try self.gate.admit(head, host: host)
        let framing = try BodyFraming.ofRequest(head)
        if case .length(let length) = framing, length > Self.bodyLimit { throw Self.tooLarge }
        if framing != .none, framing != .length(0) { try Self.checkType(head) }
        self.expectsContinue = head.fields.first("expect")?.lowercased() == "100-continue"
        self.body = BodyParser(framing: framing, side: .request)
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.request = ControlRequest(
            method: head.method, path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : "", body: [])
        return true
    }

    /// What a form of a web page can send without asking first is not taken for an order.
    private static func checkType(_ head: RequestHead) throws(ControlAnswer) {
        let type = head.fields.first("content-type")?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/json" else {
            throw ControlAnswer(
                status: 415, reason: "Unsupported Media Type", code: "content-type",
                message: "the body is not declared as JSON: send it with \"Content-Type: application/json\".")
        }
    }

    /// - Returns: whether the body is whole.
    private mutating func readBody() throws -> Bool {
        if self.body.isDone { return true }
        var ranges: [Range<Int>] = []
        let progress = try self.input.withUnsafeBytes { bytes in
            try self.body.consume(bytes) { if case .data(let range) = $0 { ranges.append(range) } }
        }
        for range in ranges { self.request?.body += self.input[range] }
        self.input.removeFirst(progress.consumed)
        guard self.request?.body.count ?? 0 <= Self.bodyLimit else { throw Self.tooLarge }
        return progress.isDone
    }

    private static var tooLarge: ControlAnswer {
        ControlAnswer(
            status: 413, reason: "Content Too Large", code: "too-large",
            message: "the body is longer than \(Self.bodyLimit) bytes: send fewer rules.")
    }
}

/// A request to the control API that may be made.
struct ControlRequest: Sendable, Hashable {
    var method: String
    /// Without the query.
    var path: String
    /// The query; empty if there is none.
    var query: String
    var body: [UInt8]
}
