internal import NIOCore
internal import TapeExchange

/// A request that the proxy answers itself: reads the request to its end, then answers.
///
/// Not Sendable: lives on its event loop.
final class LocalExchange: ClientExchange {
    private let client: ClientHandler
    private let request: IncomingRequest
    private let answer: ProxyAnswer
    private var body: BodyParser
    private(set) var isRequestRead = false
    private var isOver = false
    private let ahead: ReadAhead
    private let endsUnread: Bool

    let isIdle = false

    /// - Parameter endsUnread: answers at once, whatever is still to come of the request.
    init(client: ClientHandler, request: IncomingRequest, answer: ProxyAnswer, ahead: ReadAhead = ReadAhead(), endsUnread: Bool = false) {
        self.ahead = ahead
        self.endsUnread = endsUnread
        self.client = client
        self.request = request
        self.answer = answer
        self.body = BodyParser(framing: request.framing.framing, side: .request)
    }

    func start() {
        // A client that waits for 100 gets the final answer in its place and sends no body (RFC 9110, 10.1.1).
        self.isRequestRead = self.ahead.isRead || !self.request.hasBody
        if self.isRequestRead || self.endsUnread || self.request.expectsContinue { self.finish() }
    }

    func requestInput(_ input: inout ByteBuffer) {
        guard !self.isOver else { return }
        do throws(MessageError) {
            let progress = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in try self.body.consume(bytes) { _ in }
            }
            input.moveReaderIndex(forwardBy: progress.consumed)
            self.client.wait(self.client.proxy.limits.clientStall)
            guard progress.isDone else { return }
            self.isRequestRead = true
            self.finish()
        } catch {
            self.finish(with: .malformed(error))
        }
    }

    private func finish() { self.finish(with: self.answer) }

    private func finish(with answer: ProxyAnswer) {
        guard !self.isOver else { return }
        self.isOver = true
        let keeps = self.isRequestRead && self.request.persists && !self.client.proxy.isStopping
        let option = self.request.connectionOption(keeps: keeps)
        self.client.write(ByteBuffer(bytes: answer.bytes(method: self.request.head.method, persistence: option)))
        self.client.exchangeEnded(keeps ? .keep : .linger)
    }

    func clientReadComplete() {}
    func clientWritabilityChanged(_ isWritable: Bool) {}
    func clientEnded() -> Bool { false }
    func proxyStopped() {}
    func clientLeft(_ reason: String) { self.isOver = true }
    func deadlinePassed() { self.client.close() }
}
