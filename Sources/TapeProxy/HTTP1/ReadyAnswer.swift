internal import CassetteModel
internal import TapeExchange

/// A recorded answer as an HTTP/1.1 client that keeps its connection gets it: head and body in one piece.
struct ReadyAnswer: Sendable {
    let bytes: [UInt8]

    /// Nil if such a client does not get it in one piece: it ends its connection, was cut, or has a body that is too large to hold.
    init?(_ answer: RecordedAnswer) {
        guard let head = answer.head, answer.isComplete, answer.outcome == .complete, answer.interim.isEmpty, answer.requestWasRead,
            Persistence.staysOpen(after: head, framing: answer.framing)
        else { return nil }
        var bytes = HopByHop.forwardedResponse(head, keepsClient: true, clientVersion: .http11)
        switch answer.payload {
        case .file, .parts, .coded: return nil
        case .none: break
        case .bytes(let body):
            var framer = BodyFramer(
                arrival: answer.arrival, isChunked: answer.framing == .chunked, size: body.count, isComplete: true,
                trailers: answer.trailers)
            body.withUnsafeBytes { framer.frame($0, into: &bytes) }
            framer.end(into: &bytes)
        }
        self.bytes = bytes
    }
}
