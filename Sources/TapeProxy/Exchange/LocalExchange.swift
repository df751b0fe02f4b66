internal import NIOCore
internal import TapeExchange

/// A request that the proxy answers itself: reads the request to its end, then answers.
///
/// Not Sendable: lives on its event loop.
final class LocalExchange: MessageExchange {
    private let client: any ClientStream
    private let request: IncomingRequest
    private let answer: ProxyAnswer
    private let isRead: Bool
    private let endsUnread: Bool
    private var isOver = false
    private(set) var deadline: NIODeadline

    /// - Parameters:
    ///   - isRead: the whole request was read before.
    ///   - endsUnread: answers at once, whatever is still to come of the request.
    init(client: any ClientStream, request: IncomingRequest, answer: ProxyAnswer, isRead: Bool = false, endsUnread: Bool = false) {
        self.client = client
        self.request = request
        self.answer = answer
        self.isRead = isRead
        self.endsUnread = endsUnread
        self.deadline = client.peer.session.stallDeadline
    }

    func start() {
        // A client that waits for 100 gets the final answer in its place and sends no body (RFC 9110, 10.1.1).
        if self.isRead || !self.request.hasBody || self.endsUnread || self.request.expectsContinue { return self.finish(with: self.answer) }
        self.client.setReading(true)
    }

    func requestBody(_ piece: BodyPiece) {
        self.deadline = self.client.peer.session.stallDeadline
        if piece.isLast { self.finish(with: self.answer) }
    }

    func requestFailed(_ error: MessageError) { self.finish(with: .malformed(error)) }

    private func finish(with answer: ProxyAnswer) {
        guard !self.isOver else { return }
        self.isOver = true
        self.client.send(answer, isFinal: false)
        self.client.finish()
    }

    func clientLeft(_ reason: String) { self.isOver = true }

    func deadlinePassed() { self.client.close() }
}
