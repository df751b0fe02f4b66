internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// The upstream end of a pipeline: hands what comes to the exchange that owns it, or closes when nobody does.
///
/// Knows no HTTP. Not Sendable: lives on its event loop.
final class UpstreamHandler: ChannelInboundHandler, FlushTarget {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let origin: Origin
    /// Counts up from 1 within one proxy.
    let id: Int
    private(set) var remote = ""
    private(set) var isReused = false
    private(set) var isOpen = false
    weak var owner: (any UpstreamOwner)?
    /// Where it lies while nobody uses it.
    var shelf: UpstreamPool.Shelf?
    /// Where it lay before and will lie again.
    var homeShelf: UpstreamPool.Shelf?
    weak var pool: UpstreamPool?
    private var context: ChannelHandlerContext?
    private var isReading = true
    private var willFlush = false
    private let proxy: ProxyContext

    init(origin: Origin, proxy: ProxyContext) {
        self.origin = origin
        self.id = proxy.nextConnectionID()
        self.proxy = proxy
    }

    /// Kept here, since asking the channel takes longer than all else of a small read.
    private(set) var isWritable = true

    func take(_ owner: any UpstreamOwner, isReused: Bool) {
        self.owner = owner
        self.isReused = isReused
    }

    func write(_ buffer: ByteBuffer) {
        self.context?.write(self.wrapOutboundOut(buffer), promise: nil)
    }

    /// Sends what was written, at the end of this turn.
    func flush() {
        guard !self.willFlush else { return }
        self.willFlush = true
        self.proxy.flushSoon(self)
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

    /// Closes once what was written is out, without a word to the owner.
    func closeAfterFlush() {
        guard let context else { return }
        self.owner = nil
        let closing = context.writeAndFlush(self.wrapOutboundOut(ByteBuffer())).assumeIsolated()
        let timer = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(self.proxy.limits.clientStall))) {
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
    func opened(_ channel: any Channel) {
        self.isOpen = channel.isActive
        self.remote = channel.remoteAddress.map(Self.text) ?? ""
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
        if let owner {
            owner.upstreamFailed(Failure(kind: .reset, message: "\"\(self.origin.authority)\" broke the connection."))
        }
        context.close(promise: nil)
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
