public import TapeBytes
public import CassetteModel

/// Listens to one exchange and ends it as *complete*, *cut* or *failed*.
///
/// Times are milliseconds since the exchange started, given by the caller: a tap has no clock. Blocks of large bodies are
/// handed back at once, so that a tap never holds more than two blocks of each body.
public struct Tap: ~Copyable, Sendable {
    public enum Side: Sendable, Hashable { case request, response }

    /// The exchange so far, without bodies.
    public private(set) var interaction: Interaction
    private var requestBody: BodyTap?
    private var responseBody: BodyTap?
    private var requestIsWhole = false
    private var responseIsWhole = false
    private var requestEnd: Double?
    private var responseStart: Double?

    public init(id: Int, started: Timestamp, request: RecordedRequest, framing: BodyFraming) {
        self.interaction = Interaction(id: id, started: started, request: request)
        self.requestBody = Self.bodyTap(framing)
    }

    public var id: Int { self.interaction.id }

    private static let nothing = Interaction(id: 0, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "", url: ""))

    private static func bodyTap(_ framing: BodyFraming) -> BodyTap? {
        switch framing {
        case .none: return nil
        case .length(let length): return BodyTap(isChunked: false, expectedSize: length)
        case .chunked: return BodyTap(isChunked: true)
        case .untilClose: return BodyTap(isChunked: false)
        }
    }

    /// Where and how the upstream connection was made; phases that did not happen stay nil.
    public mutating func connected(_ connection: ConnectionInfo, blocked: Double?, dns: Double?, connect: Double?, tls: Double? = nil) {
        self.interaction.connection = connection
        self.interaction.timing.blocked = blocked
        self.interaction.timing.dns = dns
        self.interaction.timing.connect = connect
        self.interaction.timing.tls = tls
    }

    /// The request's last octet was read and passed on.
    public mutating func requestEnded(at: Double, sendStarted: Double) {
        self.requestIsWhole = true
        self.requestEnd = max(at, sendStarted)
        self.interaction.timing.send = max(0, at - sendStarted)
        self.interaction.request.trailers = self.requestBody?.trailers
    }

    public mutating func interim(_ response: InterimResponse) {
        self.interaction.interim.append(response)
    }

    public mutating func responseBegan(_ response: RecordedResponse, framing: BodyFraming, at: Double) {
        self.interaction.response = response
        self.responseBody = Self.bodyTap(framing)
        self.responseStart = at
        self.interaction.timing.wait = max(0, at - (self.requestEnd ?? at))
    }

    /// Body octets of one side; `at` counts from the exchange's start.
    ///
    /// - Returns: a block to store in order, where enough has come together.
    public mutating func data(_ side: Side, _ bytes: UnsafeRawBufferPointer, at: Double) -> [UInt8]? {
        switch side {
        case .request: self.requestBody?.data(bytes, at: at)
        case .response: self.responseBody?.data(bytes, at: max(0, at - (self.responseStart ?? at)))
        }
    }

    public mutating func chunk(_ side: Side, size: Int, line: String?, at: Double) {
        switch side {
        case .request: self.requestBody?.chunk(size: size, line: line, at: at)
        case .response: self.responseBody?.chunk(size: size, line: line, at: max(0, at - (self.responseStart ?? at)))
        }
    }

    public mutating func lastChunk(_ side: Side, line: String?) {
        switch side {
        case .request: self.requestBody?.lastChunk(line: line)
        case .response: self.responseBody?.lastChunk(line: line)
        }
    }

    public mutating func trailers(_ side: Side, _ fields: HeaderFields) {
        switch side {
        case .request: self.requestBody?.trailers(fields)
        case .response: self.responseBody?.trailers(fields)
        }
    }

    /// The response's last octet was read.
    public mutating func responseEnded() {
        self.responseIsWhole = true
    }

    /// Byte counts of the tunnel behind a 101 answer.
    public mutating func tunnelled(_ counts: TunnelCounts) {
        self.interaction.tunnel = counts
    }

    /// Ends the tape; nothing may be taped behind it.
    ///
    /// A body that had not come to its end is marked so, whatever the outcome: an origin may answer before it has the whole request,
    /// and a part is never recorded as the whole.
    public mutating func ended(_ outcome: Outcome, at: Double) -> TapedExchange {
        self.interaction.outcome = outcome
        self.interaction.timing.total = at
        if let responseStart {
            self.interaction.timing.receive = max(0, at - responseStart)
            self.interaction.response?.trailers = self.responseBody?.trailers
        }
        let requestBody = self.requestBody.take()?.ended(isComplete: self.requestIsWhole)
        let responseBody = self.responseBody.take()?.ended(isComplete: self.responseIsWhole)
        // Swapped out, since a copy would count every part of it once more.
        var interaction = Self.nothing
        swap(&interaction, &self.interaction)
        return TapedExchange(interaction: interaction, requestBody: requestBody, responseBody: responseBody)
    }
}
