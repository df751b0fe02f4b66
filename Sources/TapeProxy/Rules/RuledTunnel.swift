internal import NIOCore

/// A WebSocket whose pace or messages rules change: the tunnel runs inside, and what the server sends goes through a `RuledStream`.
///
/// Not Sendable: lives on its event loop.
final class RuledTunnel: TunnelExchange {
    private let inner: any TunnelExchange
    private let stream: RuledStream
    private let proxy: ProxyContext
    private let buckets: [TokenBucket]
    private let pausing: MessagePausing?
    private var timer: Scheduled<Void>?
    /// The client has ended its side, and some of its bytes still wait for their rate.
    private var clientHasEnded = false

    /// - Parameters:
    ///   - buckets: limit what the client sends.
    ///   - pausing: holds the client's messages until somebody has decided about them; nil passes them.
    init(_ inner: any TunnelExchange, on stream: RuledStream, buckets: [TokenBucket], pausing: MessagePausing?) {
        self.inner = inner
        self.stream = stream
        self.proxy = stream.peer.session
        self.buckets = buckets
        self.pausing = pausing
        pausing?.deliver = { bytes in
            var bytes = bytes
            inner.clientBytes(&bytes)
        }
        pausing?.drained = { [weak stream] in stream?.setReading(true) }
    }

    /// The inner tunnel is started by the exchange that made it.
    func start() {}

    var takesBytes: Bool { self.timer == nil && self.pausing?.isWaiting != true && self.inner.takesBytes }

    func clientBytes(_ input: inout ByteBuffer) {
        guard let portion = self.buckets.map(\.portion).min() else { return self.pass(&input) }
        guard self.timer == nil, var slice = input.readSlice(length: min(portion, input.readableBytes)) else { return }
        let now = self.proxy.now
        let due = self.buckets.map { $0.reserve(slice.readableBytes, now: now) }.max() ?? now
        guard due > now else {
            self.pass(&slice)
            if input.readableBytes == 0 { self.endIfDue() }
            return
        }
        self.stream.pauseTunnel()
        self.timer = self.proxy.loop.assumeIsolated().scheduleTask(in: due - now) { [weak self] in
            guard let self, self.timer != nil else { return }
            self.proxy.readClock()
            self.timer = nil
            self.pass(&slice)
            self.endIfDue()
        }
    }

    private func pass(_ input: inout ByteBuffer) {
        guard let pausing else { return self.inner.clientBytes(&input) }
        guard let bytes = input.readSlice(length: input.readableBytes) else { return }
        pausing.put(bytes)
        if pausing.isWaiting { self.stream.pauseTunnel() }
    }

    /// The inner tunnel learns of the end after the bytes that came before it.
    func clientEnded() -> Bool {
        guard self.timer == nil, self.buckets.isEmpty || !self.stream.hasInput else {
            self.clientHasEnded = true
            return true
        }
        return self.end()
    }

    private func endIfDue() {
        guard self.clientHasEnded, self.timer == nil, !self.stream.hasInput else { return }
        self.clientHasEnded = false
        if !self.end() { self.stream.close() }
    }

    private func end() -> Bool {
        self.pausing?.clientEnded()
        return self.inner.clientEnded()
    }

    func clientWritabilityChanged(_ isWritable: Bool) {
        self.stream.clientWritabilityChanged()
        self.inner.clientWritabilityChanged(self.stream.isWritable)
    }

    func clientStalled() { self.inner.clientStalled() }

    func clientLeft(_ reason: String) {
        self.timer?.cancel()
        self.timer = nil
        self.pausing?.clientLeft()
        self.stream.clientLeft()
        self.inner.clientLeft(reason)
    }

    func proxyStopped() { self.inner.proxyStopped() }

    var isIdle: Bool { self.inner.isIdle }
    var deadline: NIODeadline { self.inner.deadline }
    func deadlinePassed() { self.inner.deadlinePassed() }
}
