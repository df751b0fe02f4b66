internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TrafficRules

/// Answers a request as a rule says (`respond`, `mapLocal`): reads the request to its end, and sends the rule's answer.
///
/// Dials nothing. Records the exchange if the rule asks for it. Not Sendable: lives on its event loop.
final class RuleAnswerExchange: MessageExchange {
    private let client: any ClientStream
    private let request: IncomingRequest
    private let answer: LocalAnswer
    private var recording: ExchangeRecording
    private var isOver = false
    private(set) var deadline: NIODeadline

    /// - Parameter modification: the rules that apply, for the recording.
    init(client: any ClientStream, request: IncomingRequest, answer: LocalAnswer, modification: Modification, records: Bool) {
        let proxy = client.peer.session
        self.client = client
        self.request = request
        self.answer = answer
        self.recording = ExchangeRecording(request, proxy: proxy, isOn: records && proxy.session.recordsRuleAnswer())
        self.recording.modified(modification)
        self.deadline = proxy.stallDeadline
    }

    func start() {
        guard self.request.hasBody else {
            self.recording.requestEnded()
            return self.finish()
        }
        if self.request.expectsContinue, !self.client.hasInput {
            self.client.send(interim: ResponseHead(version: .http11, status: 100, reason: Array("Continue".utf8), fields: HeaderFields()))
            self.client.flush()
        }
        self.client.setReading(true)
    }

    func requestBody(_ piece: BodyPiece) {
        self.deadline = self.client.peer.session.stallDeadline
        self.recording.body(.request, piece)
        guard piece.isLast else { return }
        self.recording.requestEnded()
        self.finish()
    }

    func requestFailed(_ error: MessageError) {
        guard !self.isOver else { return }
        self.isOver = true
        self.recording.discard()
        self.client.send(ProxyAnswer.malformed(error).visible(to: self.request.head.fields), isFinal: true)
        self.client.finish()
    }

    private func finish() {
        guard !self.isOver else { return }
        self.isOver = true
        let proxy = self.client.peer.session
        proxy.count { $0.answered += 1 }
        let isBodiless = self.request.head.method == "HEAD" || self.answer.status == 204 || self.answer.status == 304
        let framing: BodyFraming = isBodiless ? .none : .length(self.answer.body.count)
        let head = ResponseHead(
            version: .http11, status: self.answer.status, reason: Array(self.answer.reason.utf8), fields: self.answer.headers)
        let piece = BodyPiece(bytes: ByteBuffer(bytes: isBodiless ? [] : self.answer.body), isLast: true)
        self.recording.responseBegan(head, framing: framing)
        self.recording.body(.response, piece)
        self.recording.responseEnded()
        self.client.send(head, framing: framing)
        if framing != .none { self.client.send(piece) }
        if self.recording.isOn { proxy.count { $0.exchanges += 1 } }
        let isLater = self.recording.end(.complete) { [client] _ in client.finish() }
        if !isLater { self.client.finish() }
    }

    func clientLeft(_ reason: String) {
        guard !self.isOver else { return }
        self.isOver = true
        self.recording.discard()
    }

    func deadlinePassed() { self.client.close() }
}
