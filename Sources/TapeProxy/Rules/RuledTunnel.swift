internal import NIOCore

/// A WebSocket whose pace or messages rules change: the tunnel runs inside, and what the server sends goes through a `RuledStream`.
///
/// Not Sendable: lives on its event loop.
final class RuledTunnel: TunnelExchange {
    private let inner: any TunnelExchange
    private let stream: RuledStream
    private let proxy: ProxyContext
    private let buckets: [TokenBucket]
    private var timer: Scheduled<Void>?

    /// - Parameter buckets: limit what the client sends.
    init(_ inner: any TunnelExchange, on stream: RuledStream, buckets: [TokenBucket]) {
        self.inner = inner
        self.stream = stream
        self.proxy = stream.peer.session
        self.buckets = buckets
    }

    /// The inner tunnel is started by the exchange that made it.
    func start() {}

    var takesBytes: Bool { self.timer == nil && self.inner.takesBytes }

    func clientBytes(_ input: inout ByteBuffer) {
        guard let portion = self.buckets.map(\.portion).min() else { return self.inner.clientBytes(&input) }
        guard self.timer == nil, var slice = input.readSlice(length: min(portion, input.readableBytes)) else { return }
        let now = self.proxy.now
        let due = self.buckets.map { $0.reserve(slice.readableBytes, now: now) }.max() ?? now
        guard due > now else { return self.inner.clientBytes(&slice) }
        self.stream.pauseTunnel()
        self.timer = self.proxy.loop.assumeIsolated().scheduleTask(in: due - now) { [weak self] in
            guard let self, self.timer != nil else { return }
            self.proxy.readClock()
            self.timer = nil
            self.inner.clientBytes(&slice)
        }
    }

    func clientEnded() -> Bool { self.inner.clientEnded() }

    func clientWritabilityChanged(_ isWritable: Bool) {
        self.stream.clientWritabilityChanged()
        self.inner.clientWritabilityChanged(self.stream.isWritable)
    }

    func clientStalled() { self.inner.clientStalled() }

    func clientLeft(_ reason: String) {
        self.timer?.cancel()
        self.timer = nil
        self.stream.clientLeft()
        self.inner.clientLeft(reason)
    }

    func proxyStopped() { self.inner.proxyStopped() }

    var isIdle: Bool { self.inner.isIdle }
    var deadline: NIODeadline { self.inner.deadline }
    func deadlinePassed() { self.inner.deadlinePassed() }
}
