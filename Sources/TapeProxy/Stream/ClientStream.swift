internal import NIOCore
internal import Platform
internal import TapeExchange

/// The source of one request and the destination of its answer: a busy HTTP/1 connection, or one stream of a multiplexed connection.
/// Called on its event loop.
///
/// A stream delivers the request body only after `setReading(true)`. It frames what is sent as its protocol requires, and decides whether
/// its connection stays open after the answer.
protocol ClientStream: ByteStream {
    var peer: ClientPeer { get }
    /// Part of the request body has arrived and waits to be read.
    var hasInput: Bool { get }
    /// Bytes of this answer sent so far.
    var answerSize: Int { get }

    func send(interim head: ResponseHead)
    /// The head of the final answer as the origin sent it. The stream removes connection-specific fields (RFC 9110, 7.6.1).
    func send(_ head: ResponseHead, framing: BodyFraming)
    func send(_ piece: BodyPiece)
    /// A complete answer from the proxy itself.
    ///
    /// - Parameter isFinal: the connection closes after it.
    func send(_ answer: ProxyAnswer, isFinal: Bool)
    /// A recorded answer in one piece.
    ///
    /// - Returns: false if it was not sent, because this client or protocol needs it in another form.
    func send(_ answer: ReadyAnswer) -> Bool

    /// The answer that follows is the one of a recorded exchange.
    func answers(with index: Int)
    /// The answer is complete. If the connection stays open, the next request is read.
    func finish()
    /// Tells the client, in its protocol, that the request was not processed and can be sent again.
    ///
    /// - Returns: false if the protocol has no such message.
    func refuse() -> Bool
    /// The answer ends here, incomplete.
    func cut()
    /// Ends without an answer, or in the middle of one, because the connection of the origin broke.
    ///
    /// The connection of the client breaks as well, if this stream has it for itself.
    ///
    /// - Parameter isReset: by a reset, and not by a close.
    func breakOff(isReset: Bool)
    /// Ends without an answer, or in the middle of one, by a reset.
    ///
    /// - Parameters:
    ///   - code: the error code of HTTP/2 (RFC 9113, 7); other protocols have none.
    ///   - isOfConnection: on HTTP/2, the whole connection ends by GOAWAY with the code, and not the stream alone.
    func reset(code: UInt32, isOfConnection: Bool)
    /// The answer ends here, incomplete, as the origin ended its own stream.
    ///
    /// - Parameter code: the error code of HTTP/2 (RFC 9113, 7); other protocols reset the connection.
    func cut(code: UInt32)
    /// Closes at once.
    func close()
    /// Replaces the running exchange with another.
    func become(_ exchange: any ClientExchange)
}

extension ClientStream {
    func answers(with index: Int) {}
    func refuse() -> Bool { false }
    func breakOff(isReset: Bool) { self.cut() }
    func reset(code: UInt32, isOfConnection: Bool) { self.breakOff(isReset: true) }
    func cut(code: UInt32) { self.breakOff(isReset: true) }

    /// - Parameter code: that of the origin's stream; nil if it had none.
    func breakOff(as code: Int?, isReset: Bool) {
        if let code = code.flatMap({ UInt32(exactly: $0) }) { self.cut(code: code) } else { self.breakOff(isReset: isReset) }
    }
}

/// A client stream whose CONNECT tunnel can be intercepted: TLS is inserted, and requests continue inside.
protocol InterceptableStream: ClientStream {
    /// Inserts TLS between the socket and this stream.
    func insert(_ handler: TLSHandler)
    /// Removes TLS again, since the tunnel is not intercepted.
    func remove(_ handler: TLSHandler)
    /// The CONNECT is complete. Requests inside the tunnel follow.
    func enter(_ scope: TunnelScope)
}

/// Runs on a client stream from a request's head to the end of its answer. Called on its event loop.
protocol ClientExchange: AnyObject {
    var kind: ExchangeKind { get }
    /// Called once, when the client stream has adopted the exchange.
    func start()
    func clientWritabilityChanged(_ isWritable: Bool)
    /// The client may not read for a long time. Buffers that only speed up reading for it are given up.
    func clientStalled()
    /// The client's connection is gone.
    func clientLeft(_ reason: String)
    /// The proxy is stopping and its grace period is over. The client's connection closes next.
    func proxyStopped()
    /// The time at which the exchange has waited too long.
    var deadline: NIODeadline { get }
    func deadlinePassed()
    /// Nothing is in flight, so stopping the proxy does not wait for this exchange.
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
    /// The next bytes of the request body. Never called before `ClientStream.setReading(true)`.
    func requestBody(_ piece: BodyPiece)
    /// Bytes of the body that had arrived but were not read when the client left; `clientLeft` follows. They are recorded as evidence of a
    /// broken upload and not forwarded.
    func requestRest(_ piece: BodyPiece)
    /// The rest of the request is malformed.
    func requestFailed(_ error: MessageError)
}

extension MessageExchange {
    func requestRest(_ piece: BodyPiece) {}

    var kind: ExchangeKind { .message(self) }
}

/// An exchange that takes raw bytes. The connection does not return to HTTP by itself.
protocol TunnelExchange: ClientExchange {
    /// Whether it takes bytes now; otherwise they are kept until it does.
    var takesBytes: Bool { get }
    /// Takes bytes from the front of `input`. Any bytes left there are for its successor or for later.
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
    /// Sends the written bytes at the end of this turn of the event loop.
    func flush()
    /// Resumes or pauses reading.
    func setReading(_ reads: Bool)
    func closeOutput()
    /// Closes once the written bytes have been sent.
    ///
    /// - Parameter isCut: over TLS, omit the closure alert that ends a complete message (RFC 8446, 6.1).
    func closeAfterFlush(isCut: Bool)
}

/// Body bytes as received, and a description of what they contain.
///
/// An HTTP/1 reader leaves chunk lines in `bytes`. A writer with the same framing forwards `bytes` unchanged; any other takes the payload.
struct BodyPiece {
    var bytes: ByteBuffer
    /// The contents of the bytes, in order, at offsets from the reader index; nil if all of them are payload.
    var events: [BodyEvent]?
    /// The body ends with this piece.
    var isLast = false
    /// The trailers that no header table may hold.
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

/// How a connection breaks.
enum ConnectionBreak {
    case close, reset
}

extension Channel {
    /// The next close resets the connection (RST), in place of ending it in order (FIN).
    func resetWhenClosed() {
        _ = (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    }
}
