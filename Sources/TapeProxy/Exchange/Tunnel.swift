internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// Passes bytes both ways between a client and an upstream connection until both directions have ended.
///
/// Looks at nothing. Not Sendable: lives on its event loop.
final class Tunnel: TunnelExchange, UpstreamConnectionOwner {
    private let client: any ByteStream
    private let upstream: UpstreamConnection
    private let proxy: ProxyContext
    private var state = TunnelState()
    private var counts = TunnelCounts(sent: 0, received: 0)
    private var ended: ((TunnelCounts) -> Void)?
    private(set) var deadline: NIODeadline

    let takesBytes = true

    /// - Parameter ended: called once, when the tunnel has closed.
    init(client: any ByteStream, upstream: UpstreamConnection, proxy: ProxyContext, ended: @escaping (TunnelCounts) -> Void = { _ in }) {
        self.client = client
        self.upstream = upstream
        self.proxy = proxy
        self.ended = ended
        self.deadline = proxy.now + .seconds(Int64(proxy.limits.tunnelIdle))
    }

    func start() { self.start(with: ByteBuffer()) }

    /// - Parameter first: what the origin has said by now.
    func start(with first: ByteBuffer) {
        self.upstream.take(self)
        if first.readableBytes > 0 { self.upstreamRead(first) }
        self.upstreamReadComplete()
        // What the client sent after its request has waited for the tunnel.
        self.client.setReading(self.upstream.isWritable)
    }

    private func note() { self.deadline = self.proxy.now + .seconds(Int64(self.proxy.limits.tunnelIdle)) }

    func clientBytes(_ input: inout ByteBuffer) {
        guard let bytes = input.readSlice(length: input.readableBytes), bytes.readableBytes > 0 else { return }
        self.counts.sent += bytes.readableBytes
        self.note()
        self.upstream.write(bytes)
        self.upstream.flush()
        self.client.setReading(self.upstream.isWritable)
    }

    func upstreamRead(_ buffer: ByteBuffer) {
        self.counts.received += buffer.readableBytes
        self.note()
        self.client.write(buffer)
    }

    func upstreamReadComplete() {
        self.client.flush()
        self.upstream.setReading(self.client.isWritable)
    }

    func clientWritabilityChanged(_ isWritable: Bool) { self.upstream.setReading(isWritable) }

    func upstreamWritabilityChanged(_ isWritable: Bool) { self.client.setReading(isWritable) }

    // MARK: Ends

    func clientEnded() -> Bool {
        self.perform(self.state.sideEnded(.client))
        return true
    }

    func upstreamEnded() {
        self.client.flush()
        self.perform(self.state.sideEnded(.upstream))
    }

    func upstreamFailed(_ failure: Failure) { self.closeBoth() }

    func proxyStopped() { self.closeBoth() }

    func clientLeft(_ reason: String) { self.closeBoth() }

    func deadlinePassed() { self.closeBoth() }

    private func perform(_ action: TunnelState.Action) {
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
        self.upstream.closeAfterFlush(isCut: isCut)
        self.client.closeAfterFlush(isCut: isCut)
        ended(self.counts)
    }
}
