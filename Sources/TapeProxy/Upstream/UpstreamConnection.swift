internal import CassetteModel
internal import NIOCore
internal import Platform
internal import TapeExchange
internal import TapeTLS

/// The origin of an upstream connection and the TLS parameters it was made with. Connections of equal routes are interchangeable.
struct UpstreamRoute: Hashable {
    let origin: Origin
    /// The value of the server_name extension; nil omits it.
    let serverName: String?
    /// The application protocols to offer, in order of preference; empty omits the extension. Without TLS, `h2c` means HTTP/2 with prior
    /// knowledge (RFC 9113, 3.3), and HTTP/1.1 if the origin does not speak it.
    let protocols: [String]
    /// The connection carries something other than requests, so a proxy on the way has to open a tunnel for it.
    var isTunnelled = false
    /// The bytes are forwarded unread. They are mostly TLS, even though the scheme is http because this proxy does no TLS itself.
    var isUnread = false
    /// How many Wiretape proxies the request has passed.
    var hops = 0
    /// Leads to a server that an isolated program has started itself, and to no other.
    var isInside = false
    /// The address that an isolated program has chosen among those of the origin's name; nil if it has not.
    var address: IPAddress?

    init(_ origin: Origin, serverName: String? = nil, protocols: [String] = [], hops: Int = 0) {
        self.origin = origin
        self.serverName = serverName
        self.protocols = protocols
        self.hops = hops
    }

    /// The same route for a request that requires HTTP/1.1.
    var ofHTTP1: UpstreamRoute { self.offering(self.origin.scheme == .https ? ["http/1.1"] : []) }

    /// A route for requests to the same origin, with other protocols.
    func offering(_ protocols: [String]) -> UpstreamRoute {
        var route = UpstreamRoute(self.origin, serverName: self.serverName, protocols: protocols, hops: self.hops)
        route.isInside = self.isInside
        route.address = self.address
        return route
    }

    /// To a server that an isolated program has started itself. Its bytes are those of a client that would have come directly.
    static func inside(host: String, port: Int, hops: Int = 0) -> UpstreamRoute {
        var route = UpstreamRoute(Origin(scheme: .http, host: host, port: port), hops: hops)
        route.isInside = true
        return route
    }

    /// Whether the routes differ at most in the versions that they offer.
    func offersOtherVersions(than other: UpstreamRoute) -> Bool {
        self.origin == other.origin && self.serverName == other.serverName && self.isTunnelled == other.isTunnelled
            && self.isUnread == other.isUnread && self.hops == other.hops && self.isInside == other.isInside
            && self.address == other.address
    }

    var mayBeHTTP2: Bool { self.protocols.contains { $0 == "h2" || $0 == "h2c" } }

    /// The host for which the origin's certificate must be valid: the one that the client asked for.
    var verifiedHost: String { self.serverName ?? self.origin.host }
}

/// How long it took to make a connection, in milliseconds.
struct DialTiming {
    /// nil if the host was an address.
    var dns: Double?
    var connect: Double
    /// nil if there was no handshake.
    var tls: Double?
}

/// Receives an upstream connection's bytes and events. Called on its event loop.
protocol UpstreamConnectionOwner: AnyObject {
    func upstreamRead(_ buffer: ByteBuffer)
    /// All reads of this turn of the event loop were delivered.
    func upstreamReadComplete()
    /// The origin ended its side. Nothing more will come.
    func upstreamEnded()
    func upstreamFailed(_ failure: Failure)
    func upstreamWritabilityChanged(_ isWritable: Bool)
}

/// One connection to an origin: raw bytes for its owner.
///
/// Independent of HTTP: see `HTTP1UpstreamStream`. Not Sendable: lives on its event loop.
final class UpstreamConnection: ChannelInboundHandler, FlushTarget, ByteStream {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let route: UpstreamRoute
    /// The proxy that receives requests with absolute URLs; nil if the peer is the origin or the connection is a tunnel.
    private(set) var forwarder: UpstreamProxy?
    /// Counts up from 1 within one session, across all its event loops.
    let id: Int
    private(set) var isOpen = false
    /// Cached, because asking the channel takes longer than the rest of a small read.
    private(set) var isWritable = true
    /// Bytes were handed to the kernel since `willSend` was called.
    private(set) var hasSent = false
    /// The names in the origin's certificate.
    private var peerNames: [String] = []
    private var owner: (any UpstreamConnectionOwner)?
    private(set) var remote = ""
    /// The port from which it was made; nil if unknown.
    private(set) var localPort: Int?
    /// How long it took to make the connection; nil once its first exchange has recorded it.
    private var timing: DialTiming?
    /// With the certificate chain, for the first exchange. nil without TLS.
    private var tls: TLSDetails?
    /// For all later exchanges.
    private var tlsWithoutChain: TLSDetails?
    /// Receives a TLS failure after the handshake; nil without TLS.
    private weak var diagnosis: Diagnosis?
    private var context: ChannelHandlerContext?
    private var isReading = true
    private var willFlush = false
    /// Closes once the written bytes are sent. Bytes that arrive meanwhile are ignored.
    private var isClosing = false
    private let flushes: FlushQueue
    private let clock: EventClock
    /// Seconds that the peer has to take the remaining bytes before the connection is closed.
    private let closeLimit: Int
    /// Size of the largest read, in bytes.
    private let readSize: Int

    init(
        route: UpstreamRoute, id: Int, flushes: FlushQueue, clock: EventClock, limits: ProxyLimits = ProxyLimits(),
        diagnosis: Diagnosis? = nil, forwarder: UpstreamProxy? = nil
    ) {
        self.route = route
        self.forwarder = forwarder
        self.id = id
        self.flushes = flushes
        self.clock = clock
        self.closeLimit = limits.clientStall
        self.readSize = limits.readSize
        self.diagnosis = diagnosis
    }

    var origin: Origin { self.route.origin }

    func take(_ owner: any UpstreamConnectionOwner) { self.owner = owner }

    /// The application protocol that the handshake chose (RFC 7301); nil if none was chosen or there is no TLS.
    var protocolName: String? { (self.tls ?? self.tlsWithoutChain)?.alpn }

    /// Connection details for the exchange to record. Only the connection's first exchange gets the timing.
    func use() -> (info: ConnectionInfo, timing: DialTiming?) {
        guard let timing else { return (ConnectionInfo(id: self.id, remote: self.remote, isReused: true, tls: self.tlsWithoutChain), nil) }
        let info = ConnectionInfo(id: self.id, remote: self.remote, isReused: false, tls: self.tls)
        self.timing = nil
        self.tlsWithoutChain = self.tls?.withoutChain
        self.tls = nil
        return (info, timing)
    }

    // MARK: How it was made

    /// The connection leads to the origin itself after all.
    func isDirect() { self.forwarder = nil }

    /// The connection is open. The channel's own event comes slightly later than this call.
    func opened(_ channel: any Channel, timing: DialTiming) {
        self.isOpen = channel.isActive
        self.timing = timing
        self.remote = channel.remoteAddress.map(Self.text) ?? ""
        self.localPort = channel.localAddress?.port
    }

    /// The handshake is complete.
    func secured(_ details: TLSDetails, names: [String], milliseconds: Double) {
        self.tls = details
        self.peerNames = names
        self.timing?.tls = milliseconds
    }

    func logSecured(to log: ProxyLog) {
        log.secured(self.id, version: self.tls?.version ?? "", isResumed: self.tls?.isResumed ?? false, milliseconds: self.timing?.tls ?? 0)
    }

    /// The names in the origin's certificate; empty from the second call on.
    func takePeerNames() -> [String] {
        defer { self.peerNames = [] }
        return self.peerNames
    }

    private static func text(_ address: SocketAddress) -> String {
        guard let ip = address.ipAddress, let port = address.port else { return "" }
        return ip.contains(":") ? "[\(ip)]:\(port)" : "\(ip):\(port)"
    }

    // MARK: Writing

    /// A request begins: `hasSent` is false until part of the request has been handed to the kernel.
    func willSend() { self.hasSent = false }

    func write(_ buffer: ByteBuffer) {
        self.context?.write(self.wrapOutboundOut(buffer), promise: nil)
    }

    func flush() {
        guard !self.willFlush else { return }
        self.willFlush = true
        self.flushes.add(self)
    }

    func flushNow() {
        self.willFlush = false
        // Bytes written to an abandoned connection are not sent.
        guard self.isOpen else { return }
        self.hasSent = true
        self.context?.flush()
    }

    // MARK: Reading

    func setReading(_ reads: Bool) {
        guard reads != self.isReading, self.isOpen else { return }
        self.isReading = reads
        try? self.context?.channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    /// Makes the next read small again. Reads grow from there.
    func shrinkReads() {
        guard self.isOpen else { return }
        try? self.context?.channel.syncOptions?.setOption(.recvAllocator, value: ReadBuffers(upTo: self.readSize))
    }

    /// Called for an origin that writes head and body separately.
    func acknowledge() { self.context?.channel.acknowledgeAtOnce() }

    // MARK: Closing

    /// Closes without notifying the owner.
    func close() {
        self.owner = nil
        self.isOpen = false
        self.context?.close(mode: .all, promise: nil)
    }

    /// Closes without notifying the owner, once the written bytes are sent or `closeLimit` has passed.
    func closeAfterFlush(isCut: Bool) {
        self.owner = nil
        guard let context else { return }
        self.isClosing = true
        let closing = context.writeAndFlush(self.wrapOutboundOut(ByteBuffer())).assumeIsolated()
        let timer = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(self.closeLimit))) {
            context.close(mode: .all, promise: nil)
        }
        closing.whenComplete { _ in
            timer.cancel()
            context.close(mode: .all, promise: nil)
        }
    }

    func closeOutput() {
        self.flushNow()
        self.context?.close(mode: .output, promise: nil)
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.isOpen = context.channel.isActive
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.clock.read()
        guard !self.isClosing else { return }
        guard let owner else {
            // These bytes answer no request, so the connection must not be used again (RFC 9112, 9.2).
            context.close(promise: nil)
            return
        }
        owner.upstreamRead(self.unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.owner?.upstreamReadComplete() }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.clock.read()
        self.isWritable = context.channel.isWritable
        self.owner?.upstreamWritabilityChanged(self.isWritable)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        self.clock.read()
        guard !self.isClosing else { return }
        if let owner { owner.upstreamEnded() } else { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.isOpen = false
        self.clock.read()
        self.owner?.upstreamEnded()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.clock.read()
        self.owner?.upstreamFailed(self.failure(error))
        context.close(promise: nil)
    }

    private func failure(_ error: any Error) -> Failure {
        guard let error = error as? TLSFailure else {
            return Failure(kind: .reset, message: "\"\(self.origin.authority)\" broke the connection.")
        }
        switch error.cause {
        // In TLS 1.3 the server rejects a client certificate after the client's handshake is complete (RFC 8446, 4.4.2.4).
        case .certificateRequired, .certificateRejected:
            let problem = TLSProblem(leg: .upstream, host: self.route.verifiedHost, port: self.origin.port, failure: error)
            self.diagnosis?.report(problem)
            return Failure(kind: .tls, message: problem.description)
        default:
            return Failure(kind: .truncated, message: "\"\(self.origin.authority)\" ended its TLS abnormally: \(error).")
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.isOpen = false
        self.context = nil
        self.owner = nil
    }
}
