internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// The way of one request to its origin and of the answer back. Called on its event loop.
protocol UpstreamStream: AnyObject {
    var isWritable: Bool { get }
    /// The names in the origin's certificate, once.
    func takePeerNames() -> [String]
    /// Works for an exchange from now on.
    func take(_ exchange: any UpstreamExchange)
    /// What the exchange records of the connection: how it was made is told to its first exchange alone.
    func use() -> (info: ConnectionInfo, timing: DialTiming?)
    /// The request's head, as the client sent it: fields for one connection alone are taken out here (RFC 9110, 7.6.1).
    func send(_ head: RequestHead, target: RequestTarget, framing: BodyFraming)
    func send(_ piece: BodyPiece)
    func flush()
    func setReading(_ reads: Bool)
    /// The exchange is over: the connection serves another, or closes if it cannot.
    ///
    /// - Parameter client: the number of the client connection that it served.
    func release(by client: Int)
    /// Gives the request up, which cancels it at the origin.
    func cancel()
    /// After 101 (Switching Protocols): the connection itself, and what came on it after the head.
    func becomeTunnel() -> (connection: UpstreamConnection, rest: ByteBuffer)
}

/// The exchange that an upstream stream works for. Called on its event loop.
protocol UpstreamExchange: AnyObject {
    func originInterim(_ head: ResponseHead)
    func originHead(_ head: ResponseHead, framing: BodyFraming)
    func originBody(_ piece: BodyPiece)
    /// The answer is whole.
    ///
    /// - Parameter readsOn: the origin has not said that it closes.
    func originEnded(readsOn: Bool)
    /// The origin changes protocols, as it was asked to (RFC 9110, 7.8).
    func originSwitched(_ head: ResponseHead)
    /// The reads of this turn are through.
    func originReadComplete()
    /// - Parameter isUnprocessed: the request has not left.
    func originFailed(_ failure: Failure, isUnprocessed: Bool)
    func originWritabilityChanged(_ isWritable: Bool)
}

/// Makes connections to origins: directly, through another proxy, or by a script. Calls back on its event loop.
protocol Dialing: AnyObject {
    /// - Parameter lookup: the origin's name, if looking it up was begun before.
    func open(_ route: UpstreamRoute, lookup: NameLookup?, then: @escaping (Result<any UpstreamStream, DialFailure>) -> Void)
    /// A connection for bytes that are not read here.
    func openTunnel(_ route: UpstreamRoute, then: @escaping (Result<UpstreamConnection, DialFailure>) -> Void)
    /// The session stops: what waits for a name fails now, and so does what would have to from now on.
    func stop()
}

/// Why there is no connection.
enum DialFailure: Error {
    /// The address is the proxy's own.
    case loop
    case failed(Failure)
    /// The session stops, which waits for no name.
    case stopped
}
