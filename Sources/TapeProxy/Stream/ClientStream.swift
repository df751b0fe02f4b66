internal import NIOCore
internal import TapeExchange

/// The source of one request and the destination of its answer: a busy HTTP/1 connection, or one stream of a multiplexed connection.
/// Called on its event loop.
///
/// A stream delivers the request's body only after `setReading(true)`. It frames what is sent as its protocol requires, and decides
/// whether its connection stays open after the answer.
protocol ClientStream: ByteStream {
    var peer: ClientPeer { get }
    /// Part of the request's body has come and waits to be read.
    var hasInput: Bool { get }
    /// Bytes of this answer so far.
    var answerSize: Int { get }

    func send(interim head: ResponseHead)
    /// The head of the final answer, as the origin sent it: connection-specific fields are removed here (RFC 9110, 7.6.1).
    func send(_ head: ResponseHead, framing: BodyFraming)
    func send(_ piece: BodyPiece)
    /// A complete answer of the proxy itself.
    ///
    /// - Parameter isFinal: the connection closes after it.
    func send(_ answer: ProxyAnswer, isFinal: Bool)
    /// A recorded answer in one piece.
    ///
    /// - Returns: false if it was not sent, since this client or this protocol needs it in another form.
    func send(_ answer: ReadyAnswer) -> Bool

    /// The answer is complete: the next request is read if the connection stays open.
    func finish()
    /// Tells the client in its protocol that the request was not processed and can be sent again.
    ///
    /// - Returns: false if the protocol has no such message.
    func refuse() -> Bool
    /// The answer ends here, incomplete.
    func cut()
    /// Ends without an answer, as the origin did.
    ///
    /// - Parameter isReset: by a reset of the connection, where it has one of its own.
    func breakOff(isReset: Bool)
    /// Closes at once.
    func close()
    /// Replaces the running exchange with another.
    func become(_ exchange: any ClientExchange)
}

extension ClientStream {
    func refuse() -> Bool { false }
    func breakOff(isReset: Bool) { self.cut() }
}

/// A client stream whose CONNECT tunnel can be intercepted: TLS is inserted, and requests continue inside.
protocol InterceptableStream: ClientStream {
    /// Inserts TLS between the socket and this stream.
    func insert(_ handler: TLSHandler)
    /// Removes TLS again, since the tunnel is not intercepted.
    func remove(_ handler: TLSHandler)
    /// The CONNECT is complete: requests inside the tunnel follow.
    func enter(_ scope: TunnelScope)
}

/// What a client stream runs from a request's head to the end of its answer. Called on its event loop.
protocol ClientExchange: AnyObject {
    var kind: ExchangeKind { get }
    /// Called once, when the client stream has taken it up.
    func start()
    func clientWritabilityChanged(_ isWritable: Bool)
    /// The client may take nothing for long: what only speeds up reading for it is given up.
    func clientStalled()
    /// The client's connection is gone.
    func clientLeft(_ reason: String)
    /// The proxy stops, and its grace period is over; the client's connection closes next.
    func proxyStopped()
    /// When the exchange has waited too long.
    var deadline: NIODeadline { get }
    func deadlinePassed()
    /// Nothing is in flight: a proxy that stops does not wait for it.
    var isIdle: Bool { get }
}

extension ClientExchange {
    func clientWritabilityChanged(_ isWritable: Bool) {}
    func clientStalled() {}
    func proxyStopped() {}
    var isIdle: Bool { false }
}

enum ExchangeKind {
    case message(any MessageExchange)
    case tunnel(any TunnelExchange)
}

/// An exchange of a request and an answer.
protocol MessageExchange: ClientExchange {
    /// The next bytes of the request's body. Never called before `ClientStream.setReading(true)`.
    func requestBody(_ piece: BodyPiece)
    /// Bytes of the body that had come when the client left, and that nobody has read: `clientLeft` follows. They are evidence of a broken
    /// upload, and go nowhere.
    func requestRest(_ piece: BodyPiece)
    /// The rest of the request is malformed.
    func requestFailed(_ error: MessageError)
}

extension MessageExchange {
    func requestRest(_ piece: BodyPiece) {}

    var kind: ExchangeKind { .message(self) }
}

/// An exchange that takes raw bytes: the connection does not return to HTTP by itself.
protocol TunnelExchange: ClientExchange {
    /// Whether it takes bytes now; otherwise they wait.
    var takesBytes: Bool { get }
    /// Takes bytes from the front of `input`; what it leaves is for its successor, or for later.
    func clientBytes(_ input: inout ByteBuffer)
    /// The client ended its side.
    ///
    /// - Returns: whether the other direction continues.
    func clientEnded() -> Bool
}

extension TunnelExchange {
    var kind: ExchangeKind { .tunnel(self) }
    func clientEnded() -> Bool { false }
}

/// One end of a tunnel: raw bytes to a client or an origin, after CONNECT or an upgrade. Called on its event loop.
protocol ByteStream: AnyObject {
    var isWritable: Bool { get }
    func write(_ buffer: ByteBuffer)
    /// Sends what was written, at the end of this turn of the event loop.
    func flush()
    /// Resumes or pauses reading.
    func setReading(_ reads: Bool)
    func closeOutput()
    /// Closes once the written bytes are sent.
    ///
    /// - Parameter isCut: over TLS, without the closure alert that ends a complete message (RFC 8446, 6.1).
    func closeAfterFlush(isCut: Bool)
}

/// Body bytes as received, and what they contain.
///
/// An HTTP/1 reader leaves chunk lines in `bytes`. A writer with the same framing passes `bytes` on untouched, any other takes the payload.
struct BodyPiece {
    var bytes: ByteBuffer
    /// The contents of the bytes, in order, at offsets from their reader index; nil if all of them are payload.
    var events: [BodyEvent]?
    /// The body ends with this piece.
    var isLast = false
    /// Which of its trailers no header table may hold.
    var neverIndexed = NeverIndexed()

    /// The number of bytes without transfer framing.
    var payloadSize: Int {
        guard let events else { return self.bytes.readableBytes }
        return events.reduce(0) { sum, event in if case .data(let range) = event { sum + range.count } else { sum } }
    }

    /// The bytes without transfer framing.
    var payload: ByteBuffer {
        guard let events else { return self.bytes }
        var payload = ByteBuffer()
        let view = self.bytes.readableBytesView
        for case .data(let range) in events {
            payload.writeBytes(view[view.startIndex + range.lowerBound..<view.startIndex + range.upperBound])
        }
        return payload
    }
}
