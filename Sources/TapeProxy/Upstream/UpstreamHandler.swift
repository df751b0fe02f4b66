internal import NIOCore
internal import TapeCore
internal import TapeExchange
internal import TapeTLS

/// The upstream end of a pipeline: hands what comes to the exchange that owns it, or closes when nobody does.
///
/// Knows no HTTP. Not Sendable: lives on its event loop.
final class UpstreamHandler: ChannelInboundHandler, FlushTarget {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let route: UpstreamRoute
    /// Counts up from 1 within one session, over all its event loops.
    let id: Int
    private(set) var remote = ""
    private(set) var isOpen = false
    /// How the connection was made, until its first exchange has taken note of it.
    private var timing: DialTiming?
    /// What was agreed on, with the certificates: for the first exchange. Nil without TLS.
    private var tls: TLSDetails?
    /// The same for all that follow.
    private var tlsInShort: TLSDetails?
    /// The names in the origin's certificate.
    var peerNames: [String] = []
    weak var owner: (any UpstreamOwner)?
    /// Where it lies while nobody uses it.
    var shelf: UpstreamPool.Shelf?
    /// Where it lay before and will lie again.
    var homeShelf: UpstreamPool.Shelf?
    weak var pool: UpstreamPool?
    /// Where a TLS problem is told that shows only after the handshake; nil without TLS.
    weak var diagnosis: Diagnosis?
    private var context: ChannelHandlerContext?
    private var isReading = true
    private var willFlush = false
    private let flushes: FlushQueue

    init(route: UpstreamRoute, id: Int, flushes: FlushQueue) {
        self.route = route
        self.id = id
        self.flushes = flushes
    }

    /// Kept here, since asking the channel takes longer than all else of a small read.
    private(set) var isWritable = true

    var origin: Origin { self.route.origin }

    func take(_ owner: any UpstreamOwner) { self.owner = owner }

    /// What an exchange that takes the connection records of it: how it was made is told to the first alone.
    func use() -> (info: ConnectionInfo, timing: DialTiming?) {
        guard let timing else { return (ConnectionInfo(id: self.id, remote: self.remote, isReused: true, tls: self.tlsInShort), nil) }
        let info = ConnectionInfo(id: self.id, remote: self.remote, isReused: false, tls: self.tls)
        self.timing = nil
        self.tlsInShort = self.tls?.withoutChain
        self.tls = nil
        return (info, timing)
    }

    func write(_ buffer: ByteBuffer) {
        self.context?.write(self.wrapOutboundOut(buffer), promise: nil)
    }

    /// Sends what was written, at the end of this turn.
    func flush() {
        guard !self.willFlush else { return }
        self.willFlush = true
        self.flushes.add(self)
    }

    func flushNow() {
        self.willFlush = false
        self.context?.flush()
    }

    /// Reads on, or lets the kernel's buffers fill and the origin wait.
    func setReading(_ reads: Bool) {
        guard reads != self.isReading, self.isOpen else { return }
        self.isReading = reads
        try? self.context?.channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    /// Closes without a word to the owner.
    func close() {
        self.owner = nil
        self.context?.close(mode: .all, promise: nil)
    }

    /// Closes once what was written is out, or when the time for that is over, without a word to the owner.
    func closeAfterFlush(within seconds: Int) {
        guard let context else { return }
        self.owner = nil
        let closing = context.writeAndFlush(self.wrapOutboundOut(ByteBuffer())).assumeIsolated()
        let timer = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(seconds))) {
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

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.isOpen = context.channel.isActive
    }

    /// The connection stands; the channel's own event comes a little later than the dialler's call.
    func opened(_ channel: any Channel, timing: DialTiming) {
        self.isOpen = channel.isActive
        self.timing = timing
        self.remote = channel.remoteAddress.map(Self.text) ?? ""
    }

    /// The handshake is through.
    func secured(_ details: TLSDetails, milliseconds: Double) {
        self.tls = details
        self.timing?.tls = milliseconds
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let owner else {
            // RFC 9112, 9.2: octets that answer no request are nobody's; the connection is of no more use.
            context.close(promise: nil)
            return
        }
        owner.upstreamRead(self.unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.owner?.upstreamReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.isWritable = context.channel.isWritable
        self.owner?.upstreamWritabilityChanged(self.isWritable)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        if let owner {
            owner.upstreamEnded()
        } else {
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.isOpen = false
        self.ended()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let owner { owner.upstreamFailed(self.failure(error)) }
        context.close(promise: nil)
    }

    private func failure(_ error: any Error) -> Failure {
        guard let error = error as? TLSFailure else {
            return Failure(kind: .reset, message: "\"\(self.origin.authority)\" broke the connection.")
        }
        switch error.cause {
        // In TLS 1.3 the server's word on our certificate comes after our handshake is through (RFC 8446, 4.4.2.4).
        case .certificateRequired, .certificateRejected:
            let problem = TLSProblem(leg: .upstream, host: self.route.verifiedHost, port: self.origin.port, failure: error)
            self.diagnosis?.report(problem)
            return Failure(kind: .tls, message: problem.description)
        default:
            return Failure(kind: .truncated, message: "\"\(self.origin.authority)\" broke off its TLS: \(error).")
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.isOpen = false
        self.context = nil
    }

    private func ended() {
        if let owner {
            owner.upstreamEnded()
        } else {
            self.pool?.ended(self)
        }
    }

    private static func text(_ address: SocketAddress) -> String {
        guard let ip = address.ipAddress, let port = address.port else { return "" }
        return ip.contains(":") ? "[\(ip)]:\(port)" : "\(ip):\(port)"
    }
}
