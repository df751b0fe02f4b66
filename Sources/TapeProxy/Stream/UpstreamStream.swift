internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// Carries one request to its origin and the answer back. Called on its event loop.
protocol UpstreamStream: AnyObject {
    /// What the origin speaks.
    var version: HTTPVersion { get }
    var isWritable: Bool { get }
    /// The names in the origin's certificate; empty from the second call on.
    func takePeerNames() -> [String]
    /// Reports to an exchange from now on.
    func take(_ exchange: any UpstreamExchange)
    /// What the exchange records of the connection; the timing is for its first exchange alone.
    func use() -> (info: ConnectionInfo, timing: DialTiming?)
    /// The request's head, as the client sent it: connection-specific fields are removed here (RFC 9110, 7.6.1).
    func send(_ head: RequestHead, target: RequestTarget, framing: BodyFraming)
    func send(_ piece: BodyPiece)
    func flush()
    func setReading(_ reads: Bool)
    /// The next read is small again, if the connection is this stream's own: larger reads only serve clients that take them at once.
    func shrinkReads()
    /// The number of the stream in its connection, once the request's head was given to it; nil before HTTP/2.
    var number: Int? { get }
    /// The connection is authenticated for a client, or about to be: it serves no other, and closes with it.
    ///
    /// - Parameter client: the number of the client connection.
    func bind(to client: Int)
    /// The exchange is over: the connection serves another, or closes if it cannot.
    ///
    /// - Parameter client: the number of the client connection that it served.
    func release(by client: Int)
    /// Abandons the request, which cancels it at the origin.
    func cancel()
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
    /// The origin changes protocols, as it was asked to (RFC 9110, 7.8).
    ///
    /// - Parameters:
    ///   - connection: from now on the exchange's own.
    ///   - rest: the bytes that came after the head.
    func originSwitched(_ head: ResponseHead, to connection: UpstreamConnection, rest: ByteBuffer)
    /// All reads of this turn of the event loop were delivered.
    func originReadComplete()
    /// - Parameter isUnprocessed: the origin has not acted on the request: nothing of it was sent, or it was refused.
    func originFailed(_ failure: Failure, isUnprocessed: Bool)
    func originWritabilityChanged(_ isWritable: Bool)
}

/// Makes connections to origins: directly, through another proxy, or by a script. Calls back on its event loop.
protocol Dialing: AnyObject {
    /// - Parameter lookup: of the origin's name, if it was started before.
    func open(_ route: UpstreamRoute, lookup: NameLookup?, then: @escaping (Result<any UpstreamStream, DialFailure>) -> Void)
    /// A connection for a tunnel, whose bytes are passed on unread.
    func openTunnel(_ route: UpstreamRoute, then: @escaping (Result<UpstreamConnection, DialFailure>) -> Void)
    /// The session stops: dials that wait for a name fail, now and from now on.
    func stop()
}

/// Why no connection was made.
enum DialFailure: Error {
    /// The address is the proxy's own.
    case loop
    case failed(Failure)
    /// The session stops.
    case stopped
}

extension Failure {
    /// An origin's answer that cannot be passed on. One that is beyond a limit is HTTP all the same.
    init(answer error: MessageError, of authority: String) {
        let words =
            switch error.code {
            case .tooLong, .tooManyFields: "sent an answer that is beyond a limit"
            default: "sent an answer that is not HTTP"
            }
        self.init(kind: .malformed, message: "\"\(authority)\" \(words): \(error.message)")
    }
}
