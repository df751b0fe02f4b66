internal import CassetteModel
internal import CassettePlayback
internal import TapeExchange

/// A recorded response made ready to be sent again.
final class RecordedAnswer: Sendable {
    /// Where the body's bytes are.
    enum Payload: Sendable {
        case none
        case bytes([UInt8])
        /// Too large to hold: read while it is sent.
        case file(Sidecar)
        /// Parts, of which some are too large to hold.
        case parts(Body)
        /// Too large to hold, with codings to be put back on; the number of wire bytes was counted.
        case coded(Body, size: Int)
    }

    let method: String
    let interim: [InterimResponse]
    /// Nil if the exchange failed before a response came.
    let head: ResponseHead?
    let outcome: Outcome
    let framing: BodyFraming
    let arrival: Arrival?
    let times: RecordedTimes
    let trailers: HeaderFields?
    let payload: Payload
    let isComplete: Bool
    /// Whether the request had come to its end; an answer that was quicker closed the connection.
    let requestWasRead: Bool

    /// - Parameter size: bytes of the payload; if the body was edited, Content-Length follows it.
    init(_ interaction: Interaction, payload: Payload, size: Int) throws(MessageError) {
        self.method = interaction.request.method
        self.interim = interaction.interim
        self.outcome = interaction.outcome
        self.times = RecordedTimes(interaction)
        self.trailers = interaction.response?.trailers
        self.arrival = interaction.response?.body?.arrival
        self.isComplete = interaction.response?.body?.isComplete ?? true
        self.requestWasRead = interaction.request.body?.isComplete ?? true
        guard let response = interaction.response else {
            self.head = nil
            self.framing = .none
            self.payload = .none
            return
        }
        var head = ResponseHead(
            version: response.version, status: response.status, reason: response.reason, omitsReasonSpace: response.omitsReasonSpace,
            fields: response.headers)
        try Self.check(head)
        for interim in interaction.interim {
            try Self.check(
                ResponseHead(
                    version: interim.version, status: interim.status, reason: interim.reason, omitsReasonSpace: interim.omitsReasonSpace,
                    fields: interim.headers))
        }
        // 101 has an answer of its own.
        guard head.status >= 200 || head.status == 101 else {
            throw MessageError(.startLine, status: 502, "its status \(head.status) is an interim one and no answer")
        }
        var framing = try BodyFraming.ofResponse(head, requestMethod: self.method)
        if case .length(let length) = framing, length != size, self.isComplete {
            head.fields = head.fields.replacing("content-length", with: String(size))
            framing = .length(size)
        }
        self.head = head
        self.framing = framing
        self.payload = framing == .none ? .none : payload
    }

    /// A head from a file passes the parser that live heads pass: an edited line is not sent where a received one would be refused.
    private static func check(_ head: ResponseHead) throws(MessageError) {
        let bytes = HopByHop.forwardedResponse(head, keepsClient: true, clientVersion: .http11)
        var parser = HeadParser()
        let parsed = try bytes.withUnsafeBufferPointer { bytes throws(MessageError) in
            try parser.parseResponse(UnsafeRawBufferPointer(bytes))
        }
        guard parsed?.consumed == bytes.count else {
            throw MessageError(.field, status: 502, "its head holds the end of another")
        }
    }

    /// Memory it holds, in bytes.
    var weight: Int {
        let body = if case .bytes(let bytes) = self.payload { bytes.count } else { 0 }
        return 512 + body
    }
}
