public import CassetteModel
public import TapeBytes

/// Listens to one exchange and ends it as *complete*, *cut* or *failed*.
///
/// Times are milliseconds since the exchange started, given by the caller: a tap has no clock. Blocks of large bodies are
/// handed back at once, so that a tap never holds more than two blocks of each body.
public struct Tap: ~Copyable, Sendable {
    public enum Side: Sendable, Hashable { case request, response }

    /// What is handed on at the end. Until then it is the tap's alone.
    private let exchange: TapedExchange
    private var requestBody: BodyTap?
    private var responseBody: BodyTap?
    private var responseIsWhole = false
    private var requestEnd: Double?
    private var responseStart: Double?
    /// Nil if the exchange is no conversation of messages.
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

    /// Where and how the upstream connection was made; phases that did not happen stay nil.
    public mutating func connected(_ connection: ConnectionInfo, blocked: Double?, dns: Double?, connect: Double?, tls: Double? = nil) {
        self.exchange.interaction.connection = connection
        self.exchange.interaction.timing.blocked = blocked
        self.exchange.interaction.timing.dns = dns
        self.exchange.interaction.timing.connect = connect
        self.exchange.interaction.timing.tls = tls
    }

    /// The request's head was sent on a stream of its connection (RFC 9113, 5.1.1).
    public mutating func opened(stream: Int) { self.exchange.interaction.connection?.stream = stream }

    /// The request's last byte was read and forwarded.
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

    /// Body bytes of one side; `at` counts from the exchange's start.
    ///
    /// - Returns: a block to store, in order, once there are enough bytes for one.
    public mutating func data(_ side: Side, _ bytes: UnsafeRawBufferPointer, at: Double) -> [UInt8]? {
        self.conversation?.data(side, bytes)
        return switch side {
        case .request: self.requestBody?.data(bytes, at: at)
        case .response: self.responseBody?.data(bytes, at: max(0, at - (self.responseStart ?? at)))
        }
    }

    /// Whether so many more bytes of a body are a block to store by themselves: then `passed` saves their copy.
    public func isBlock(_ side: Side, _ count: Int) -> Bool {
        switch side {
        case .request: self.requestBody?.isBlock(count) ?? false
        case .response: self.responseBody?.isBlock(count) ?? false
        }
    }

    /// As `data`, for bytes that are a block (`isBlock`) and that the caller stores.
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

    /// The response's last byte was read.
    public mutating func responseEnded() {
        self.responseIsWhole = true
        self.exchange.interaction.response?.endAfter = self.conversation?.after
    }

    /// The exchange as it is by now, without bodies: both heads, and how it was connected.
    public var soFar: Interaction { self.exchange.interaction }

    /// The bytes of both bodies so far; nil if part of one was handed on in blocks.
    public mutating func bodiesSoFar() -> (request: [UInt8], response: [UInt8])? {
        guard self.requestBody?.isSpilled != true, self.responseBody?.isSpilled != true else { return nil }
        let request = self.requestBody?.pending ?? []
        let response = self.responseBody?.pending ?? []
        return (request, response)
    }

    /// Whether so many more bytes of a body have it handed on in blocks.
    public func spills(_ side: Side, _ count: Int) -> Bool {
        switch side {
        case .request: self.requestBody?.spills(count) ?? false
        case .response: self.responseBody?.spills(count) ?? false
        }
    }

    /// The request's last byte was read.
    public private(set) var requestIsWhole = false

    /// Byte counts of the tunnel after a 101 answer.
    public mutating func tunnelled(_ counts: TunnelCounts) {
        self.exchange.interaction.tunnel = counts
    }

    /// Ends the tape; nothing may be taped after it.
    ///
    /// A body that did not end is marked as incomplete, whatever the outcome: an origin may answer before it has the whole request,
    /// and a part is never recorded as the whole.
    public consuming func ended(_ outcome: Outcome, at: Double) -> TapedExchange {
        self.exchange.interaction.outcome = outcome
        self.exchange.interaction.timing.total = at
        if let responseStart {
            self.exchange.interaction.timing.receive = max(0, at - responseStart)
            self.exchange.interaction.response?.trailers = self.responseBody?.trailers
        }
        // Where the origin cut, it did so after what had come by then.
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

/// Counts the messages of both sides of a gRPC call, and notes for each part of the answer how many of the client's it came after.
///
/// Holds no bytes; its marks are bounded.
private struct ConversationTap: Sendable {
    private var requests = GRPCFrames()
    private var answers: GRPCFrames? = GRPCFrames()
    private var isEnded = false
    private(set) var marks = ConversationMarks()

    /// The client's messages that are complete; nil if all are, and the client has ended its side.
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

/// Listens to one body as it passes: keeps small bodies, hands large ones on in blocks, and notes when the pieces came.
///
/// Holds less than two blocks of memory, whatever the body's size. Knows no files: the caller stores the blocks.
public struct BodyTap: ~Copyable, Sendable {
    /// Bytes held before the first block is handed on; the limit up to which text is stored in the cassette itself.
    public static let blockSize = 64 * 1024

    /// Bytes for which there is memory from the beginning. A client that stalls holds little more.
    private static let firstSize = 16 * 1024

    /// Reads closer together than this many milliseconds count as one piece: how socket buffers split a burst says nothing.
    private static let burst = 2.0

    /// Bytes of the body so far.
    public private(set) var size = 0
    /// Whether a block was handed on, so that `pending` holds only the rest.
    public private(set) var isSpilled = false
    /// Bytes not handed on.
    public private(set) var pending: [UInt8] = []
    public private(set) var trailers: HeaderFields?
    private var arrival: Arrival
    private var lastRead = 0.0

    public init(isChunked: Bool, expectedSize: Int = 0) {
        self.arrival = Arrival(isChunked: isChunked)
        self.pending.reserveCapacity(min(expectedSize, Self.firstSize))
    }

    /// Takes bytes of the body that came `at` milliseconds after the head.
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
        // Nothing is kept: a client that stalls holds less than a block.
        self.isSpilled = true
        var block: [UInt8] = []
        swap(&block, &self.pending)
        return block
    }

    /// Whether so many more bytes are a block by themselves.
    public func isBlock(_ count: Int) -> Bool { self.pending.isEmpty && self.spills(count) }

    /// A block that the caller stores without handing it here.
    public mutating func passed(_ count: Int, at: Double) {
        self.size += count
        self.note(count, at: at)
        self.isSpilled = true
    }

    func spills(_ count: Int) -> Bool { self.pending.count + count > Self.blockSize }

    /// A chunk begins (RFC 9112, 7.1); `line` is its size line if that is not the size in lower-case hex.
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
        let arrival = self.finishedArrival()
        return TapedBody(size: self.size, isComplete: isComplete, bytes: self.pending, isSpilled: self.isSpilled, arrival: arrival)
    }

    /// The list of pieces for the cassette: nil for a body that came in one piece without chunks.
    ///
    /// A chunk that came whole loses a canonical size line; a cut one keeps it, since the line announces more than came.
    private mutating func finishedArrival() -> Arrival? {
        guard self.arrival.isChunked else { return self.arrival.pieces.count > 1 ? self.arrival : nil }
        for index in self.arrival.pieces.indices
        where self.arrival.pieces[index].line == String(self.arrival.pieces[index].size, radix: 16) {
            self.arrival.pieces[index].line = nil
        }
        return self.arrival
    }
}

/// One exchange as it was taped: an interaction whose bodies are still wire bytes.
///
/// A class, so that handing it from thread to thread and queue to queue costs one reference and not one for each of its parts, and that taping it moves
/// none of them.
// SAFETY: only its tap changes it, which cannot be copied and is consumed when it hands it on.
public final class TapedExchange: @unchecked Sendable {
    /// Everything but the bodies, which are nil in it.
    public fileprivate(set) var interaction: Interaction
    public fileprivate(set) var requestBody: TapedBody?
    public fileprivate(set) var responseBody: TapedBody?

    public init(interaction: Interaction, requestBody: TapedBody? = nil, responseBody: TapedBody? = nil) {
        self.interaction = interaction
        self.requestBody = requestBody
        self.responseBody = responseBody
    }

    /// An estimate of the memory it holds, in bytes.
    public var weight: Int {
        512 + (self.requestBody?.bytes.count ?? 0) + (self.responseBody?.bytes.count ?? 0)
    }

    /// Whether a body has a content coding, so that its readable form costs more than the exchange did.
    public var isCoded: Bool {
        self.requestBody != nil && self.interaction.request.headers.hasCodings
            || self.responseBody != nil && self.interaction.response?.headers.hasCodings == true
    }
}

/// A body as it came off the wire, not yet decoded.
public struct TapedBody: Sendable {
    /// Bytes after transfer decoding.
    public var size: Int
    public var isComplete: Bool
    /// The bytes; only the rest of them if earlier blocks were handed on.
    public var bytes: [UInt8]
    public var isSpilled: Bool
    public var arrival: Arrival?
    /// Of an answer of gRPC: how far the client had come at each message.
    public var marks: ConversationMarks?
    /// A sentence for people, kept with the body.
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
