public import CassetteModel
internal import CassettePlayback
internal import TapeExchange

/// Checks whether a recorded answer could be replayed, without replaying it.
public enum ReplayCheck {
    /// Why a replay would not send the answer; nil if it would. Checks only the heads; `CassetteVerifier` checks bodies.
    public static func problem(of interaction: Interaction) -> String? {
        do throws(MessageError) {
            _ = try RecordedAnswer(interaction, payload: .none, size: interaction.response?.body?.size ?? 0)
            return nil
        } catch {
            return error.message
        }
    }
}

/// The content codings of a recorded response, and the codings that the recorded client accepted.
struct RecordedCoding: Sendable {
    /// As listed in Content-Encoding.
    let names: String
    /// Whether the body is known without them. An answer to a HEAD request has none.
    let isDecodable: Bool
    private let accepted: [String]
    /// What the recorded client said about its dictionary, if the body was compressed with one (RFC 9842).
    private let dictionary: [String]?

    /// nil if the body has no codings. The answer to a HEAD request has the codings of the body it omits.
    init?(_ interaction: Interaction) {
        guard let response = interaction.response, response.headers.contains("content-encoding"),
            (response.body?.size ?? 0) > 0 || interaction.request.method == "HEAD" && response.status != 304
        else {
            return nil
        }
        let names = response.headers.values("content-encoding").joined(separator: ", ")
        guard !names.isEmpty, names.lowercased() != "identity" else { return nil }
        self.names = names
        self.isDecodable = response.body.map { $0.size == 0 || !$0.codings.isEmpty } ?? true
        self.accepted = interaction.request.headers.values("accept-encoding")
        let isOfDictionary = names.lowercased().contains("dcb") || names.lowercased().contains("dcz")
        self.dictionary = isOfDictionary ? interaction.request.headers.values("available-dictionary") : nil
    }

    /// Whether a request does not accept the codings. A request that accepts the same as the recorded request gets the recorded bytes.
    /// Without the field, any coding is allowed (RFC 9110, 12.5.3), but such clients rarely decode one, and servers send them none.
    /// A client with another dictionary, or with none, cannot decode a body that was compressed with one.
    func refuses(_ request: HeaderFields) -> Bool {
        if let dictionary, request.values("available-dictionary") != dictionary { return true }
        guard request.values("accept-encoding") != self.accepted else { return false }
        return AcceptedCodings(request)?.accepts(self.names) != true
    }
}

/// A recorded response, prepared for replay.
final class RecordedAnswer: Sendable {
    /// Where the body's bytes are.
    enum Payload: Sendable {
        case none
        case bytes([UInt8])
        /// Too large to hold in memory. Read while it is sent.
        case file(Sidecar)
        /// Parts, some of which are too large to hold in memory.
        case parts(Body)
        /// Too large to hold in memory, with codings to be applied again. `size` is the number of coded bytes.
        case coded(Body, size: Int)
    }

    let method: String
    let interim: [InterimResponse]
    /// nil if the exchange failed before a response arrived.
    let head: ResponseHead?
    let outcome: Outcome
    let framing: BodyFraming
    let arrival: Arrival?
    let times: RecordedTimes
    let trailers: HeaderFields?
    let payload: Payload
    /// nil if the body has no content codings.
    let coding: RecordedCoding?
    let isComplete: Bool
    /// Whether the recorded request was complete. An answer before its end closed the connection.
    let requestWasRead: Bool

    /// The recorded client left when the deadline it had set for the call passed.
    let clientWaited: Bool
    /// The exchange was still running when the recorded client or the recorder left.
    let isHeldOpen: Bool
    /// How many seconds a client may wait for more of an answer that is held open; nil for an event stream that its client left, since such clients do
    /// wait.
    let patience: Double?

    /// A client that leaves as the recorded one did will have left by then.
    private static let leastPatience = 5.0

    /// - Parameter size: size of the payload, in bytes. Content-Length is set to it, in case the body was edited.
    init(_ interaction: Interaction, payload: Payload, size: Int) throws(MessageError) {
        self.method = interaction.request.method
        self.interim = interaction.interim
        self.outcome = interaction.outcome
        self.times = RecordedTimes(interaction)
        self.trailers = interaction.response?.trailers
        self.arrival = interaction.response?.body?.arrival
        self.isComplete = interaction.response?.body?.isComplete ?? true
        self.clientWaited = Self.clientWaited(interaction)
        self.isHeldOpen = interaction.wasLeftByClient
        self.patience = interaction.endsInOpenEvents ? nil : max(Self.leastPatience, (interaction.timing.total ?? 0) / 500)
        self.coding = RecordedCoding(interaction)
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
        if let trailers = response.trailers { try Self.check(trailers: trailers) }
        for interim in interaction.interim {
            try Self.check(
                ResponseHead(
                    version: interim.version, status: interim.status, reason: interim.reason, omitsReasonSpace: interim.omitsReasonSpace,
                    fields: interim.headers))
        }
        // `ReplayExchange` answers 101 itself.
        guard head.status >= 200 || head.status == 101 else {
            throw MessageError(.startLine, status: 502, "its status \(head.status) is that of an interim response")
        }
        var framing = try BodyFraming.ofResponse(head, requestMethod: self.method)
        // HTTP/2 distinguishes an answer without a body from one with an empty body, and gRPC relies on that.
        if framing == .untilClose, response.version.major >= 2, response.body == nil { framing = .none }
        // Closing would make the body look complete. Chunks without a last chunk show that it is truncated (RFC 9112, 8).
        if framing == .untilClose, !self.isComplete, !self.isHeldOpen, response.version.major < 2, response.body != nil {
            head.fields.append(name: "Transfer-Encoding", value: "chunked")
            head.version = .http11
            framing = .chunked
        }
        if case .length(let length) = framing, length != size, self.isComplete {
            head.fields = head.fields.replacing("content-length", with: String(size))
            framing = .length(size)
        }
        // Capitalised names and connection-specific fields are not valid HTTP/2 and would end the client's connection.
        if head.version.major >= 2 { head.fields = HopByHop.multiplexed(head.fields, dropsHost: false) }
        self.head = head
        self.framing = framing
        self.payload = framing == .none ? .none : payload
    }

    /// Bytes of the body that are sent, before its framing.
    var size: Int {
        switch self.payload {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .file(let sidecar): sidecar.size
        case .parts(let body): body.byteCount
        case .coded(_, let size): size
        }
    }

    /// The content codings, if a request does not accept them.
    func coding(notAcceptedBy request: HeaderFields) -> String? {
        guard let coding, coding.refuses(request) else { return nil }
        return coding.names
    }

    /// Whether the body can be sent without its content codings.
    var isDecodable: Bool { self.coding?.isDecodable ?? true }

    private static func clientWaited(_ interaction: Interaction) -> Bool {
        guard case .cut(let cut) = interaction.outcome, cut.by == .client, let total = interaction.timing.total,
            let index = interaction.request.headers.firstIndex(of: "grpc-timeout"),
            let timeout = GRPCCall.milliseconds(interaction.request.headers.valueBytes(at: index))
        else { return false }
        // The client's clock started before its request arrived here.
        return total >= timeout * 0.9
    }

    /// Parses a head from the cassette like a received one, so that an edited line is not sent if a recipient would refuse it.
    private static func check(_ head: ResponseHead) throws(MessageError) {
        let bytes = HopByHop.forwardedResponse(head.asHTTP1(.none, method: "HEAD").head, keepsClient: true, clientVersion: .http11)
        var parser = HeadParser()
        let parsed = try bytes.withUnsafeBufferPointer { bytes throws(MessageError) in
            try parser.parseResponse(UnsafeRawBufferPointer(bytes))
        }
        guard parsed?.consumed == bytes.count else {
            throw MessageError(.field, status: 502, "its head contains an empty line")
        }
    }

    /// Likewise for trailers. In HTTP/2, a line with an empty name, or with a blank in the name, would end the client's connection.
    private static func check(trailers: HeaderFields) throws(MessageError) {
        let bytes = Array("0\r\n".utf8) + trailers.bytes + [13, 10]
        var parser = BodyParser(framing: .chunked, side: .response)
        let progress = try bytes.withUnsafeBufferPointer { bytes throws(MessageError) in
            try parser.consume(UnsafeRawBufferPointer(bytes)) { _ in }
        }
        guard progress.isDone, progress.consumed == bytes.count else {
            throw MessageError(.trailer, status: 502, "its trailers contain an empty line")
        }
    }

    /// Size in memory, in bytes.
    var weight: Int {
        let body = if case .bytes(let bytes) = self.payload { bytes.count } else { 0 }
        return 512 + body
    }
}
