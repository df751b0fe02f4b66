internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// Passes octets both ways between a client and an upstream connection until both directions have ended.
///
/// Looks at nothing. Not Sendable: lives on its event loop.
final class Tunnel: ClientExchange, UpstreamOwner {
    private let client: ClientHandler
    private let upstream: UpstreamHandler
    private var state = TunnelState()
    private var counts = TunnelCounts(sent: 0, received: 0)
    private var ended: ((TunnelCounts) -> Void)?

    let isIdle = false

    /// - Parameter ended: called once, when the tunnel has closed.
    init(client: ClientHandler, upstream: UpstreamHandler, ended: @escaping (TunnelCounts) -> Void) {
        self.client = client
        self.upstream = upstream
        self.ended = ended
    }

    let isRequestRead = false

    func start() {
        self.upstream.take(self)
        self.client.wait(self.client.proxy.limits.tunnelIdle)
    }

    func requestInput(_ input: inout ByteBuffer) {
        guard let octets = input.readSlice(length: input.readableBytes) else { return }
        self.counts.sent += octets.readableBytes
        self.client.wait(self.client.proxy.limits.tunnelIdle)
        self.upstream.write(octets)
        self.upstream.flush()
        self.client.setReading(self.upstream.isWritable)
    }

    func upstreamRead(_ buffer: ByteBuffer) {
        self.client.proxy.readClock()
        self.counts.received += buffer.readableBytes
        self.client.wait(self.client.proxy.limits.tunnelIdle)
        self.client.write(buffer)
    }

    func upstreamReadComplete() {
        self.client.flush()
        self.upstream.setReading(self.client.isWritable)
    }

    func clientReadComplete() {}

    func clientWritabilityChanged(_ isWritable: Bool) {
        self.upstream.setReading(isWritable)
    }

    func upstreamWritabilityChanged(_ isWritable: Bool) {
        self.client.setReading(isWritable)
    }

    func clientEnded() -> Bool {
        self.obey(self.state.sideEnded(.client))
        return true
    }

    func upstreamEnded() {
        self.client.flush()
        self.obey(self.state.sideEnded(.upstream))
    }

    func upstreamFailed(_ failure: Failure) { self.closeBoth() }

    func proxyStopped() { self.closeBoth() }

    func clientLeft(_ reason: String) { self.closeBoth() }

    func deadlinePassed() { self.closeBoth() }

    private func obey(_ action: TunnelState.Action) {
        switch action {
        case .closeOutput(.client): self.client.closeOutput()
        case .closeOutput(.upstream): self.upstream.closeOutput()
        case .closeBoth: self.closeBoth(isCut: false)
        case .wait: break
        }
    }

    /// What was read goes out first: an end that is gone may have said its last words just before.
    ///
    /// - Parameter isCut: an end went away without ending its side.
    private func closeBoth(isCut: Bool = true) {
        guard let ended else { return }
        self.ended = nil
        self.upstream.closeAfterFlush(within: self.client.proxy.limits.clientStall)
        self.client.closeAfterFlush(isCut: isCut)
        ended(self.counts)
    }
}
