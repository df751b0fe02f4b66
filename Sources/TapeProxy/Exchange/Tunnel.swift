internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// Answers CONNECT (RFC 9110, 9.3.6): dials, answers 200, and becomes a tunnel that forwards bytes without reading them.
///
/// Not Sendable: lives on its event loop.
final class ConnectExchange: TunnelExchange {
    private let client: any ClientStream
    private let proxy: ProxyContext
    private let request: IncomingRequest
    private let route: UpstreamRoute
    private var isOver = false
    /// The client has ended its side, and may still read.
    private var hasClientEnded = false
    let deadline: NIODeadline

    /// The bytes after the head belong to the tunnel and wait until it is open.
    let takesBytes = false

    init(client: any ClientStream, request: IncomingRequest, host: String, port: Int) {
        self.client = client
        self.proxy = client.peer.session
        self.request = request
        // The scheme is http, since the proxy does no TLS here.
        var route = UpstreamRoute(Origin(scheme: .http, host: host, port: port), hops: request.hops)
        route.address = client.peer.chosenAddress(of: request, host: host)
        self.route = route
        self.deadline = self.proxy.now + .seconds(Int64(2 * self.proxy.limits.connect))
    }

    func start() {
        guard self.request.opening == .transparent, self.proxy.shared.transparent != nil else { return self.dial() }
        // Wait until both ends exist before checking whether this connection loops back to the proxy.
        self.proxy.loop.assumeIsolated().scheduleTask(in: .milliseconds(20)) { [weak self] in
            guard let self, !self.isOver else { return }
            guard self.client.peer.isLedBack else { return self.dial() }
            self.isOver = true
            self.proxy.session.didNotReachOrigin()
            self.client.peer.remarkLoop(to: self.request.head.target)
            self.client.closeAfterFlush(isCut: true)
        }
    }

    private func dial() {
        self.proxy.dialing.openTunnel(self.route) { [weak self, proxy] result in
            if case .failure = result { proxy.session.didNotReachOrigin() }
            guard let self, !self.isOver else {
                if case .success(let upstream) = result { upstream.close() }
                return
            }
            self.isOver = true
            switch result {
            case .success(let upstream):
                self.client.peer.noteLed(through: upstream)
                let tunnel = Tunnel.open(self.request.opening, self.client, upstream, self.proxy)
                if self.hasClientEnded { _ = tunnel.clientEnded() }
            case .failure(.loop): self.answer(.loop(self.request.head.target))
            case .failure(.failed(let failure)):
                // A program that did not ask for a proxy gets no answer that says why.
                if self.proxy.configuration.isolation != nil, self.request.opening == .transparent {
                    self.proxy.diagnosis.remark(failure.message)
                }
                self.answer(.failure(failure))
            case .failure(.stopped): self.client.close()
            }
        }
    }

    private func answer(_ answer: ProxyAnswer) { self.request.opening.refuse(self.client, with: answer) }

    func clientBytes(_ input: inout ByteBuffer) {}

    /// A client that did not ask for its tunnel may have sent everything, and wait for the answer.
    func clientEnded() -> Bool {
        guard self.request.opening == .transparent else { return false }
        self.hasClientEnded = true
        return true
    }

    func clientLeft(_ reason: String) { self.isOver = true }
    func deadlinePassed() { self.client.close() }
}

/// Observes the bytes that pass through a tunnel. Changes nothing.
protocol TunnelWatcher: AnyObject {
    /// - Returns: false if neither side may be read until `whenReady` calls back.
    func passed(_ bytes: ByteBuffer, from side: WebSocketSide) -> Bool
    func whenReady(_ call: @escaping () -> Void)
    /// Why nothing more may pass; nil if it may.
    var refusal: String? { get }
    /// One direction or both have ended. The first call determines who ended the tunnel.
    func ended(by party: Cut.Party, _ reason: String)
}

/// Forwards bytes both ways between a client and an upstream connection until both directions have ended.
///
/// Does not look at the bytes, although a watcher may. Not Sendable: lives on its event loop.
final class Tunnel: TunnelExchange, UpstreamConnectionOwner {
    private let client: any ByteStream
    private let upstream: UpstreamConnection
    private let proxy: ProxyContext
    private let watcher: (any TunnelWatcher)?
    /// The watcher cannot take more bytes for now.
    private var isHeld = false
    private var state = TunnelState()
    private var counts = TunnelCounts(sent: 0, received: 0)
    private var ended: ((TunnelCounts) -> Void)?
    private(set) var deadline: NIODeadline

    let takesBytes = true

    /// - Parameter ended: called once, when the tunnel has closed.
    init(
        client: any ByteStream, upstream: UpstreamConnection, proxy: ProxyContext, watcher: (any TunnelWatcher)? = nil,
        ended: @escaping (TunnelCounts) -> Void = { _ in }
    ) {
        self.client = client
        self.upstream = upstream
        self.proxy = proxy
        self.watcher = watcher
        self.ended = ended
        self.deadline = proxy.now + .seconds(Int64(proxy.limits.tunnelIdle))
    }

    /// Tells a client that its tunnel is open, and forwards its bytes from now on.
    @discardableResult
    static func open(
        _ opening: TunnelOpening, _ client: any ClientStream, _ upstream: UpstreamConnection, _ proxy: ProxyContext
    ) -> Tunnel {
        client.write(opening.accepted)
        let tunnel = Tunnel(client: client, upstream: upstream, proxy: proxy)
        client.become(tunnel)
        tunnel.start()
        return tunnel
    }

    func start() { self.start(with: ByteBuffer()) }

    /// - Parameter first: bytes that the origin has already sent.
    func start(with first: ByteBuffer) {
        self.upstream.take(self)
        if first.readableBytes > 0 { self.upstreamRead(first) }
        self.upstreamReadComplete()
        // Bytes that the client sent after its request have been waiting for the tunnel.
        self.readClient()
    }

    private func extendDeadline() { self.deadline = self.proxy.now + .seconds(Int64(self.proxy.limits.tunnelIdle)) }

    func clientBytes(_ input: inout ByteBuffer) {
        guard let bytes = input.readSlice(length: input.readableBytes), bytes.readableBytes > 0, !self.isRefused() else { return }
        self.counts.sent += bytes.readableBytes
        self.extendDeadline()
        self.upstream.write(bytes)
        self.upstream.flush()
        self.watch(bytes, from: .client)
        self.readClient()
    }

    func upstreamRead(_ buffer: ByteBuffer) {
        guard !self.isRefused() else { return }
        self.counts.received += buffer.readableBytes
        self.extendDeadline()
        self.client.write(buffer)
        self.watch(buffer, from: .server)
    }

    func upstreamReadComplete() {
        self.client.flush()
        self.readUpstream()
    }

    func clientWritabilityChanged(_ isWritable: Bool) { self.readUpstream() }

    func upstreamWritabilityChanged(_ isWritable: Bool) { self.readClient() }

    private func readClient() { self.client.setReading(self.upstream.isWritable && !self.isHeld) }

    private func readUpstream() { self.upstream.setReading(self.client.isWritable && !self.isHeld) }

    /// Ends the tunnel if its watcher wants that.
    private func isRefused() -> Bool {
        guard let watcher, let reason = watcher.refusal else { return false }
        watcher.ended(by: .recorder, reason)
        self.closeBoth()
        return true
    }

    private func watch(_ bytes: ByteBuffer, from side: WebSocketSide) {
        guard let watcher, !watcher.passed(bytes, from: side), !self.isHeld else { return }
        self.isHeld = true
        watcher.whenReady { [weak self] in
            guard let self, self.ended != nil else { return }
            self.isHeld = false
            self.readClient()
            self.readUpstream()
        }
    }

    // MARK: Ends

    func clientEnded() -> Bool {
        self.watcher?.ended(by: .client, "the client ended its side")
        self.perform(self.state.sideEnded(.client))
        return true
    }

    func upstreamEnded() {
        self.watcher?.ended(by: .origin, "the origin ended its side")
        self.client.flush()
        self.perform(self.state.sideEnded(.upstream))
    }

    func upstreamFailed(_ failure: Failure) {
        self.watcher?.ended(by: .origin, failure.message)
        self.closeBoth()
    }

    func proxyStopped() {
        self.watcher?.ended(by: .recorder, "the proxy was stopped before the conversation had ended")
        self.closeBoth()
    }

    func clientLeft(_ reason: String) {
        self.watcher?.ended(by: .client, reason)
        self.closeBoth()
    }

    func deadlinePassed() {
        self.watcher?.ended(by: .recorder, "nothing passed for \(self.proxy.limits.tunnelIdle) s")
        self.closeBoth()
    }

    private func perform(_ action: TunnelState.Action) {
        switch action {
        case .closeOutput(.client): self.client.closeOutput()
        case .closeOutput(.upstream): self.upstream.closeOutput()
        case .closeBoth: self.closeBoth(isCut: false)
        case .wait: break
        }
    }

    /// Sends what was read first, because a side that is gone may have sent its last bytes just before.
    ///
    /// - Parameter isCut: one side has gone without ending its direction.
    private func closeBoth(isCut: Bool = true) {
        guard let ended else { return }
        self.ended = nil
        self.upstream.closeAfterFlush(isCut: isCut)
        self.client.closeAfterFlush(isCut: isCut)
        ended(self.counts)
    }
}
