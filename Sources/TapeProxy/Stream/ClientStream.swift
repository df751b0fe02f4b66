internal import NIOCore
internal import TapeExchange

/// Where one request came from and its answer goes: a busy HTTP/1 connection, or one stream of a connection with many. Called on its event
/// loop.
///
/// A stream delivers the request's body only after `setReading(true)`. It frames what it is sent as its wire has it, and decides for itself
/// whether its connection goes on after the answer.
protocol ClientStream: ByteStream {
    var peer: ClientPeer { get }
    /// Some of the request's body has come and waits.
    var hasInput: Bool { get }
    /// Bytes of this answer so far.
    var answerSize: Int { get }

    func send(interim head: ResponseHead)
    /// The head of the final answer, as the origin sent it: fields for one connection alone are taken out here (RFC 9110, 7.6.1).
    func send(_ head: ResponseHead, framing: BodyFraming)
    func send(_ piece: BodyPiece)
    /// An answer of the proxy's own, whole.
    ///
    /// - Parameter isFinal: the connection ends with it.
    func send(_ answer: ProxyAnswer, isFinal: Bool)
    /// A recorded answer in one piece.
    ///
    /// - Returns: false if this client needs it another way, or this wire has none ready.
    func send(_ answer: ReadyAnswer) -> Bool

    /// The answer is whole: on to the next request, where there can be one.
    func finish()
    /// The answer ends here and is not whole.
    func cut()
    /// Closes at once.
    func close()
    /// The running exchange goes on as another.
    func become(_ exchange: any ClientExchange)
}

/// A client stream that asked for a tunnel which can be opened here: TLS goes in between, and requests go on inside.
protocol InterceptableStream: ClientStream {
    /// TLS between the socket and here, from now on.
    func insert(_ handler: TLSHandler)
    /// The tunnel turned out not to be for us.
    func remove(_ handler: TLSHandler)
    /// The CONNECT is done; what follows are requests inside the tunnel.
    func enter(_ scope: TunnelScope)
}

/// What a client stream is busy with between a request's head and the end of its answer. Called on its event loop.
protocol ClientExchange: AnyObject {
    var kind: ExchangeKind { get }
    /// Begins, once the client stream knows of it.
    func start()
    func clientWritabilityChanged(_ isWritable: Bool)
    /// The client's connection is gone.
    func clientLeft(_ reason: String)
    /// The proxy stops, and the time for what is in flight is over; the client's connection closes next.
    func proxyStopped()
    /// When the exchange has waited too long.
    var deadline: NIODeadline { get }
    func deadlinePassed()
    /// Nothing is in flight: a proxy that stops need not wait.
    var isIdle: Bool { get }
}

extension ClientExchange {
    func clientWritabilityChanged(_ isWritable: Bool) {}
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
    /// The rest of the request is not HTTP.
    func requestFailed(_ error: MessageError)
}

extension MessageExchange {
    var kind: ExchangeKind { .message(self) }
}

/// A connection that carries something else from here on.
protocol TunnelExchange: ClientExchange {
    /// Whether bytes are wanted now; else they wait.
    var takesBytes: Bool { get }
    /// Takes bytes from the front of `input`; what it leaves is for what comes after it, or for later.
    func clientBytes(_ input: inout ByteBuffer)
    /// The client ended its side. Returns whether the other direction goes on.
    func clientEnded() -> Bool
}

extension TunnelExchange {
    var kind: ExchangeKind { .tunnel(self) }
    func clientEnded() -> Bool { false }
}
