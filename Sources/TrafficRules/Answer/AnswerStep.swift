package import CassetteModel
package import TapeExchange

/// A part of an answer on its way to the client, without its transfer framing.
///
/// `Local` is an answer of whoever carries out the rules, for example an error of the proxy. Rules do not look into it.
package enum AnswerStep<Local: Sendable>: Sendable {
    case interim(ResponseHead)
    case head(ResponseHead, BodyFraming)
    /// Bytes of the body's payload.
    case data([UInt8])
    /// An answer that is not the origin's, as a whole.
    case local(Local, isFinal: Bool)
    /// Bytes for the connection as they are, which break its protocol.
    case raw([UInt8])
    /// Nothing goes on for a time, or ever.
    case stall(Duration?)
    /// What came before is sent at once, in a write of its own.
    case flush
    /// The server ends its side of a tunnel.
    case closeOutput
    case end(AnswerEnd)
}

/// How an answer ends.
package enum AnswerEnd: Sendable {
    /// Complete. The trailers are empty if there are none.
    case finished(HeaderFields, NeverIndexed)
    case cut
    /// A tunnel ends as it should.
    case closed
    /// The connection of the origin broke, or its stream did.
    ///
    /// - Parameter code: that of a stream of HTTP/2 (RFC 9113, 7); nil if the connection broke.
    case brokenOff(code: UInt32?, isReset: Bool)
    /// On HTTP/2 with an error code; of the stream alone, or of the whole connection.
    case reset(code: UInt32, isOfConnection: Bool)
}

extension AnswerStep {
    /// Bytes in pieces, each sent by itself.
    package static func slices(_ bytes: [UInt8], _ size: Int, _ delay: Duration) -> [AnswerStep] {
        var steps: [AnswerStep] = []
        for start in stride(from: 0, to: bytes.count, by: max(1, size)) {
            steps.append(.data(Array(bytes[start..<min(start + size, bytes.count)])))
            steps.append(delay > .zero ? .stall(delay) : .flush)
        }
        return steps
    }
}

extension Fault {
    /// What the fault leaves of the answer if that is nothing, so that nobody is asked for one; nil for other faults.
    package func whole<Local>() -> AnswerStep<Local>? {
        guard self.after == nil, self.part == nil || self.part == .head else { return nil }
        switch self.kind {
        case .close: return .end(.cut)
        case .reset(let code, let isOfConnection): return .end(.reset(code: code, isOfConnection: isOfConnection))
        case .timeout: return .stall(nil)
        default: return nil
        }
    }

    /// Whether the fault takes the place of the answer, so that nobody is asked for one.
    func takesPlace(of request: RequestFacts) -> Bool {
        switch self.kind {
        case .status, .refuse, .dns, .tls: return true
        case .grpc: return request.isGRPC
        default:
            let whole: AnswerStep<Never>? = self.whole()
            return whole != nil
        }
    }
}
