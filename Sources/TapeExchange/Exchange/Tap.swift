public import CassetteModel
public import TapeBytes

/// Observes one exchange and ends it as *complete*, *cut* or *failed*.
///
/// Times are milliseconds since the exchange started, given by the caller: a tap has no clock. Blocks of large bodies are handed back at
/// once, so that a tap never holds more than two blocks of each body.
public struct Tap: ~Copyable, Sendable {
    public enum Side: Sendable, Hashable { case request, response }

    /// The result that is handed on at the end. Until then, only the tap uses it.
    private let exchange: TapedExchange
    private var requestBody: BodyTap?
    private var responseBody: BodyTap?
    private var responseIsWhole = false
    private var requestEnd: Double?
    private var responseStart: Double?
    /// nil if the exchange is not a conversation of messages.
    private var conversation: ConversationTap?

    public init(id: Int, started: Timestamp, request: RecordedRequest, framing: BodyFraming) {
        self.exchange = TapedExchange(interaction: Interaction(id: id, started: started, request: request))
        self.requestBody = Self.bodyTap(framing)
        if request.version.major >= 2, GRPCType(request.headers) != nil { self.conversation = ConversationTap() }
    }

    public var id: Int { self.exchange.interaction.id }

    private static func bodyTap(_ framing: BodyFraming) -> BodyTap? {
        switch framing {
        case .none: return nil
        case .length(let length): return BodyTap(isChunked: false, expectedSize: length)
        case .chunked: return BodyTap(isChunked: true)
        case .untilClose: return BodyTap(isChunked: false)
        }
    }

    /// Where and how the upstream connection was made. Phases that did not happen stay nil.
    public mutating func connected(_ connection: ConnectionInfo, blocked: Double?, dns: Double?, connect: Double?, tls: Double? = nil) {
        self.exchange.interaction.connection = connection
        self.exchange.interaction.timing.blocked = blocked
        self.exchange.interaction.timing.dns = dns
        self.exchange.interaction.timing.connect = connect
        self.exchange.interaction.timing.tls = tls
    }

    /// The request's head was sent on a stream of its connection (RFC 9113, 5.1.1).
    public mutating func opened(stream: Int) { self.exchange.interaction.connection?.stream = stream }

    /// Traffic rules changed what was sent on.
    public mutating func modified(_ modification: Modification) { self.exchange.interaction.modified = modification }

    /// The request's last byte has been read and forwarded.
    public mutating func requestEnded(at: Double, sendStarted: Double) {
        self.requestIsWhole = true
        self.conversation?.requestEnded()
        self.requestEnd = max(at, sendStarted)
        self.exchange.interaction.timing.send = max(0, at - sendStarted)
        self.exchange.interaction.request.trailers = self.requestBody?.trailers
    }

    public mutating func interim(_ response: InterimResponse) {
        self.exchange.interaction.interim.append(response)
    }

    public mutating func responseBegan(_ response: RecordedResponse, framing: BodyFraming, at: Double) {
        self.exchange.interaction.response = response
        self.exchange.interaction.response?.after = self.conversation?.after
        if self.conversation != nil, GRPCType(response.headers) == nil { self.conversation?.answerHasNoMessages() }
        self.responseBody = Self.bodyTap(framing)
        self.responseStart = at
        self.exchange.interaction.timing.wait = max(0, at - (self.requestEnd ?? at))
    }

    /// Body bytes of one side. `at` counts from the exchange's start.
    ///
    /// - Returns: a block to store, in order, once there are enough bytes for one.
    public mutating func data(_ side: Side, _ bytes: UnsafeRawBufferPointer, at: Double) -> [UInt8]? {
        self.conversation?.data(side, bytes)
        return switch side {
        case .request: self.requestBody?.data(bytes, at: at)
        case .response: self.responseBody?.data(bytes, at: max(0, at - (self.responseStart ?? at)))
        }
    }

    /// Whether this many more bytes of a body form a block on their own. If so, `passed` avoids copying them.
    public func isBlock(_ side: Side, _ count: Int) -> Bool {
        switch side {
        case .request: self.requestBody?.isBlock(count) ?? false
        case .response: self.responseBody?.isBlock(count) ?? false
        }
    }

    /// Like `data`, for bytes that form a block (`isBlock`) and that the caller stores.
    public mutating func passed(_ side: Side, _ bytes: UnsafeRawBufferPointer, at: Double) {
        self.conversation?.data(side, bytes)
        switch side {
        case .request: self.requestBody?.passed(bytes.count, at: at)
        case .response: self.responseBody?.passed(bytes.count, at: max(0, at - (self.responseStart ?? at)))
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

    /// The response's last byte has been read.
    public mutating func responseEnded() {
        self.responseIsWhole = true
        self.exchange.interaction.response?.endAfter = self.conversation?.after
    }

    /// The exchange so far, without bodies: both heads and the connection.
    public var soFar: Interaction { self.exchange.interaction }

    /// The bytes of both bodies so far.
    public struct BodiesSoFar {
        /// Of the request, without the blocks that have been handed on.
        public var request: [UInt8]
        public var requestHasBlocks: Bool
        public var response: [UInt8]
    }

    /// Nil if part of the response has been handed on in blocks.
    public mutating func bodiesSoFar() -> BodiesSoFar? {
        guard self.responseBody?.isSpilled != true else { return nil }
        return BodiesSoFar(
            request: self.requestBody?.pending ?? [], requestHasBlocks: self.requestBody?.isSpilled == true,
            response: self.responseBody?.pending ?? [])
    }

    /// Whether this many more bytes cause the body to be handed on in blocks.
    public func spills(_ side: Side, _ count: Int) -> Bool {
        switch side {
        case .request: self.requestBody?.spills(count) ?? false
        case .response: self.responseBody?.spills(count) ?? false
        }
    }

    /// The request's last byte has been read.
    public private(set) var requestIsWhole = false

    /// Byte counts of the tunnel that follows a 101 answer.
    public mutating func tunnelled(_ counts: TunnelCounts) {
        self.exchange.interaction.tunnel = counts
    }

    /// Ends the tape. Nothing may be taped after that.
    ///
    /// A body that did not end is marked as incomplete, whatever the outcome. An origin may answer before it has the whole request, and a
    /// part is never recorded as the whole.
    public consuming func ended(_ outcome: Outcome, at: Double) -> TapedExchange {
        self.exchange.interaction.outcome = outcome
        self.exchange.interaction.timing.total = at
        if let responseStart {
            self.exchange.interaction.timing.receive = max(0, at - responseStart)
            self.exchange.interaction.response?.trailers = self.responseBody?.trailers
        }
        // If the origin cut the answer, it did so after the client's messages that had arrived by then.
        if !self.responseIsWhole, outcome.isByOrigin { self.exchange.interaction.response?.endAfter = self.conversation?.after }
        self.exchange.requestBody = self.requestBody.take()?.ended(isComplete: self.requestIsWhole)
        self.exchange.responseBody = self.responseBody.take()?.ended(isComplete: self.responseIsWhole)
        if let marks = self.conversation?.marks, !marks.isTrivial { self.exchange.responseBody?.marks = marks }
        return self.exchange
    }
}

extension Outcome {
    fileprivate var isByOrigin: Bool {
        if case .cut(let cut) = self { cut.by == .origin } else { false }
    }
}

/// Counts the messages of both sides of a gRPC call. For each part of the answer, notes how many of the client's messages preceded it.
///
/// Holds no bytes, and its marks are bounded.
private struct ConversationTap: Sendable {
    private var requests = GRPCFrames()
    private var answers: GRPCFrames? = GRPCFrames()
    private var isEnded = false
    private(set) var marks = ConversationMarks()

    /// The number of complete client messages; nil if all are complete and the client has ended its side.
    var after: Int? { self.isEnded ? nil : self.requests.complete }

    mutating func requestEnded() { self.isEnded = true }

    mutating func answerHasNoMessages() { self.answers = nil }

    mutating func data(_ side: Tap.Side, _ bytes: UnsafeRawBufferPointer) {
        switch side {
        case .request: self.requests.takeAll(bytes)
        case .response:
            let after = self.after
            var marks = ConversationMarks()
            swap(&marks, &self.marks)
            self.answers?.takeAll(bytes) { if $0.isFirst { marks.append(after: after) } }
            self.marks = marks
        }
    }
}

/// Observes one body as it passes: keeps small bodies, hands large ones on in blocks, and notes when the pieces arrived.
///
/// Holds less than two blocks in memory, whatever the body's size. Does not use files: the caller stores the blocks.
public struct BodyTap: ~Copyable, Sendable {
    /// Bytes held before the first block is handed on. This is also the limit up to which text is stored in the cassette itself.
    public static let blockSize = 64 * 1024

    /// Bytes allocated from the beginning. A stalled client holds little more.
    private static let firstSize = 16 * 1024

    /// Reads closer together than this many milliseconds count as one piece, because how socket buffers split a burst is irrelevant.
    private static let burst = 2.0

    /// Bytes of the body so far.
    public private(set) var size = 0
    /// Whether a block has been handed on, so that `pending` holds only the rest.
    public private(set) var isSpilled = false
    /// Bytes that have not been handed on.
    public private(set) var pending: [UInt8] = []
    public private(set) var trailers: HeaderFields?
    private var arrival: Arrival
    private var lastRead = 0.0

    public init(isChunked: Bool, expectedSize: Int = 0) {
        self.arrival = Arrival(isChunked: isChunked)
        self.pending.reserveCapacity(min(expectedSize, Self.firstSize))
    }

    /// Takes bytes of the body that arrived `at` milliseconds after the head.
    ///
    /// - Returns: a block to store, once there are enough bytes for one.
    public mutating func data(_ bytes: UnsafeRawBufferPointer, at: Double) -> [UInt8]? {
        guard !bytes.isEmpty else { return nil }
        if self.isBlock(bytes.count) {
            self.passed(bytes.count, at: at)
            return Array(bytes)
        }
        self.size += bytes.count
        self.note(bytes.count, at: at)
        let spills = self.spills(bytes.count)
        self.pending.append(contentsOf: bytes)
        guard spills else { return nil }
        // Keep nothing, so that a stalled client holds less than a block.
        self.isSpilled = true
        var block: [UInt8] = []
        swap(&block, &self.pending)
        return block
    }

    /// Whether this many more bytes form a block on their own.
    public func isBlock(_ count: Int) -> Bool { self.pending.isEmpty && self.spills(count) }

    /// Counts a block that the caller stores without passing it through the tap.
    public mutating func passed(_ count: Int, at: Double) {
        self.size += count
        self.note(count, at: at)
        self.isSpilled = true
    }

    func spills(_ count: Int) -> Bool { self.pending.count + count > Self.blockSize }

    /// A chunk begins (RFC 9112, 7.1). `line` is its size line if that is not the size in lower-case hex.
    public mutating func chunk(size: Int, line: String?, at: Double) {
        guard self.arrival.pieces.count < Arrival.pieceLimit else {
            self.arrival.isThinned = true
            return
        }
        self.arrival.pieces.append(Arrival.Piece(at: at, size: 0, line: line ?? String(size, radix: 16)))
    }

    public mutating func lastChunk(line: String?) {
        self.arrival.lastLine = line
    }

    public mutating func trailers(_ fields: HeaderFields) {
        self.trailers = fields
    }

    private mutating func note(_ count: Int, at: Double) {
        if self.arrival.isChunked, !self.arrival.pieces.isEmpty {
            self.arrival.pieces[self.arrival.pieces.count - 1].size += count
            return
        }
        if self.arrival.pieces.isEmpty || at - self.lastRead >= Self.burst {
            if self.arrival.pieces.count < Arrival.pieceLimit {
                self.arrival.pieces.append(Arrival.Piece(at: at, size: count))
            } else {
                self.arrival.isThinned = true
                self.arrival.pieces[self.arrival.pieces.count - 1].size += count
            }
        } else {
            self.arrival.pieces[self.arrival.pieces.count - 1].size += count
        }
        self.lastRead = at
    }

    /// The body as far as it was received.
    public consuming func ended(isComplete: Bool) -> TapedBody {
        let arrival = self.finishedArrival(isComplete)
        return TapedBody(size: self.size, isComplete: isComplete, bytes: self.pending, isSpilled: self.isSpilled, arrival: arrival)
    }

    /// The list of pieces for the cassette; nil for a whole body that arrived in one piece without chunks.
    ///
    /// A complete chunk omits a canonical size line. A truncated chunk keeps it, because the line announces more bytes than arrived.
    private mutating func finishedArrival(_ isComplete: Bool) -> Arrival? {
        guard self.arrival.isChunked else { return self.arrival.pieces.count > (isComplete ? 1 : 0) ? self.arrival : nil }
        for index in self.arrival.pieces.indices
        where self.arrival.pieces[index].line == String(self.arrival.pieces[index].size, radix: 16) {
            self.arrival.pieces[index].line = nil
        }
        return self.arrival
    }
}

/// One exchange as it was taped: an interaction whose bodies are still wire bytes.
///
/// A class, so that handing it between threads and queues costs one reference instead of one for each of its parts, and so that taping does
/// not move them.
// SAFETY: only its tap changes it. The tap cannot be copied, and is consumed when it hands the exchange on.
public final class TapedExchange: @unchecked Sendable {
    /// Everything except the bodies, which are nil in it.
    public fileprivate(set) var interaction: Interaction
    public fileprivate(set) var requestBody: TapedBody?
    public fileprivate(set) var responseBody: TapedBody?

    public init(interaction: Interaction, requestBody: TapedBody? = nil, responseBody: TapedBody? = nil) {
        self.interaction = interaction
        self.requestBody = requestBody
        self.responseBody = responseBody
    }

    /// An estimate of its size in memory, in bytes.
    public var weight: Int {
        512 + (self.requestBody?.bytes.count ?? 0) + (self.responseBody?.bytes.count ?? 0)
    }

    /// Whether a body has a content coding, which makes its readable form more expensive than the exchange itself.
    public var isCoded: Bool {
        self.requestBody != nil && self.interaction.request.headers.hasCodings
            || self.responseBody != nil && self.interaction.response?.headers.hasCodings == true
    }
}

/// A body as received, not decoded yet.
public struct TapedBody: Sendable {
    /// Bytes after transfer decoding.
    public var size: Int
    public var isComplete: Bool
    /// The bytes, or only the rest of them if earlier blocks have been handed on.
    public var bytes: [UInt8]
    public var isSpilled: Bool
    public var arrival: Arrival?
    /// For a gRPC answer: how far the client had come at each message.
    public var marks: ConversationMarks?
    /// A sentence for people that is stored with the body.
    public var note: String?

    public init(
        size: Int, isComplete: Bool, bytes: [UInt8], isSpilled: Bool = false, arrival: Arrival? = nil,
        marks: ConversationMarks? = nil, note: String? = nil
    ) {
        self.note = note
        self.size = size
        self.isComplete = isComplete
        self.bytes = bytes
        self.isSpilled = isSpilled
        self.arrival = arrival
        self.marks = marks
    }
}
