internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// Carries one request to its origin and the answer back. Called on its event loop.
protocol UpstreamStream: AnyObject {
    /// The protocol version that the origin speaks.
    var version: HTTPVersion { get }
    var isWritable: Bool { get }
    /// The names in the origin's certificate; empty from the second call on.
    func takePeerNames() -> [String]
    /// Reports to this exchange from now on.
    func take(_ exchange: any UpstreamExchange)
    /// Connection details for the exchange to record. Only the connection's first exchange gets the timing.
    func use() -> (info: ConnectionInfo, timing: DialTiming?)
    /// The request head as the client sent it. The stream removes connection-specific fields (RFC 9110, 7.6.1).
    func send(_ head: RequestHead, target: RequestTarget, framing: BodyFraming)
    func send(_ piece: BodyPiece)
    func flush()
    func setReading(_ reads: Bool)
    /// Makes the next read small again if this stream owns its connection. Larger reads only help clients that take the data at once.
    func shrinkReads()
    /// The stream's number in its connection, once it has been given the request head; nil before HTTP/2.
    var number: Int? { get }
    /// The connection is authenticated for a client, or about to be. It serves no other client and closes with this one.
    ///
    /// - Parameter client: the number of the client connection.
    func bind(to client: Int)
    /// The exchange is over. The connection serves another exchange or, if it cannot, closes.
    ///
    /// - Parameter client: the number of the client connection that it served.
    func release(by client: Int)
    /// Abandons the request and cancels it at the origin.
    func cancel()
    /// The same once everything that was written has been sent.
    func cancelAfterFlush()
}

/// The exchange that an upstream stream works for. Called on its event loop.
protocol UpstreamExchange: AnyObject {
    func originInterim(_ head: ResponseHead)
    func originHead(_ head: ResponseHead, framing: BodyFraming)
    func originBody(_ piece: BodyPiece)
    /// The answer is complete.
    ///
    /// - Parameter readsOn: the origin has not announced that it closes the connection.
    func originEnded(readsOn: Bool)
    /// The origin changes protocols, as the request asked (RFC 9110, 7.8).
    ///
    /// - Parameters:
    ///   - connection: belongs to the exchange from now on.
    ///   - rest: the bytes that came after the head.
    func originSwitched(_ head: ResponseHead, to connection: UpstreamConnection, rest: ByteBuffer)
    /// All reads of this turn of the event loop were delivered.
    func originReadComplete()
    /// - Parameter isUnprocessed: the origin has not acted on the request, because nothing of it was sent or the origin refused it.
    func originFailed(_ failure: Failure, isUnprocessed: Bool)
    func originWritabilityChanged(_ isWritable: Bool)
}

/// Makes connections to origins: directly, through another proxy, or scripted. Calls back on its event loop.
protocol Dialing: AnyObject {
    /// - Parameter lookup: the lookup of the origin's name, if it has already started.
    func open(_ route: UpstreamRoute, lookup: NameLookup?, then: @escaping (Result<any UpstreamStream, DialFailure>) -> Void)
    /// Opens a connection for a tunnel that forwards bytes without reading them.
    func openTunnel(_ route: UpstreamRoute, then: @escaping (Result<UpstreamConnection, DialFailure>) -> Void)
    /// The session stops. Dials that wait for a name fail, now and from now on.
    func stop()
}

/// Why no connection was made.
enum DialFailure: Error {
    /// The address is the proxy's own.
    case loop
    case failed(Failure)
    /// The session is stopping.
    case stopped
}

extension Failure {
    /// An origin's answer that cannot be forwarded. An answer beyond a limit is still HTTP, so the message says which it is.
    init(answer error: MessageError, of authority: String) {
        let words =
            switch error.code {
            case .tooLong, .tooManyFields: "sent an answer that exceeds a limit"
            default: "sent an answer that is not HTTP"
            }
        self.init(kind: .malformed, message: "\"\(authority)\" \(words): \(error.message)")
    }
}
