internal import NIOCore
internal import Platform
internal import TapeExchange
internal import TapeIsolation
internal import TapeTLS

/// A connection that an isolated program made to an address, without the proxy.
struct IsolatedLink {
    let isolation: Isolation
    let source: Endpoint
    let destination: Endpoint

    /// Nil if it is not an IP address.
    init?(_ isolation: Isolation, from source: SocketAddress?, to destination: SocketAddress?) {
        guard let source = source.flatMap(Endpoint.init), let destination = destination.flatMap(Endpoint.init) else { return nil }
        self.isolation = isolation
        self.source = source
        self.destination = destination
    }

    /// The name that the program asked for, or the address.
    var host: String { self.isolation.host(of: self.destination.address) }
    var port: UInt16 { self.destination.port }

    /// Where a server of the program's own may listen: at loopback's address in the other family, since a name such as `localhost` may have
    /// both; for a name of the machine, at the connection's address or at loopback. Nil if nowhere.
    var ownServer: UpstreamRoute? {
        let address = self.destination.address
        if address.isLoopback { return .inside(host: address.loopbackTwin, port: Int(self.port)) }
        guard self.isolation.settings.ownNames.contains(self.host.lowercased()) else { return nil }
        var route = UpstreamRoute.inside(host: self.host, port: Int(self.port))
        route.address = address
        return route
    }
}

/// A tunnel of an isolated program that it asks the proxy for, or that another process leads to its session. In it, as without the proxy,
/// only HTTP passes.
struct IsolatedTunnel {
    private enum Place {
        /// The link is that to the proxy.
        case here(Isolation, IsolatedLink?)
        /// The port is that of the process that leads the connection here.
        case session(ProxyContext, port: Int)
    }

    let target: IsolationSettings.Passage
    private let place: Place

    /// Nil if the program is not isolated, or if `--allow` names the target.
    init?(_ peer: ClientPeer, host: String, port: Int) {
        guard let number = UInt16(exactly: port) else { return nil }
        self.target = IsolationSettings.Passage(host: host, port: number)
        if let isolation = peer.session.configuration.isolation {
            guard !isolation.settings.passages.contains(self.target) else { return nil }
            self.place = .here(isolation, IsolatedLink(isolation, from: peer.remoteAddress, to: peer.proxyAddress))
        } else {
            guard peer.guest != nil else { return nil }
            self.place = .session(peer.session, port: peer.remoteAddress?.port ?? 0)
        }
    }

    /// Whether the server of this port speaks first, in a protocol that is not HTTP.
    var isForbidden: Bool { IsolationSettings.speaksFirst.contains(self.target.port) }

    /// Whether requests have been made to its server.
    var isOfHTTP: Bool { self.log.hasRequested(host: self.target.host, port: self.target.port) }

    /// When the newest one to its server began to wait for its first request.
    var newestArrival: NIODeadline { .uptimeNanoseconds(self.log.newestConnection(host: self.target.host, port: self.target.port)) }

    /// It begins to wait for its first request.
    func noteArrival(at time: NIODeadline) {
        self.log.arrived(host: self.target.host, port: self.target.port, at: time.uptimeNanoseconds)
    }

    private var log: IsolationLog {
        switch self.place {
        case .here(let isolation, _): isolation.log
        case .session(let session, _): session.common.guests.log
        }
    }

    /// Looks its program up, which may have ended before the tunnel is refused.
    func noteProgram() {
        if case .here(let isolation, let link?) = self.place { isolation.noteProgram(from: link.source, to: link.destination) }
    }

    /// Lists it, and calls back on any thread when its program is known.
    func refuse(_ reason: IsolationReport.Reason, then: @escaping @Sendable () -> Void = {}) {
        switch self.place {
        case .here(let isolation, let link?):
            isolation.refused(from: link.source, to: link.destination, target: self.target, reason, then: then)
        case .here(let isolation, nil):
            isolation.log.refused(.tcp, host: self.target.host, port: self.target.port, reason, by: nil)
            then()
        case .session(let session, let port):
            // Without the isolating process's list, a replay that forwards nothing would look complete.
            if !session.session.mayForward, case .refuse = session.session.beginTunnel(to: "https://\(self.name)/") {
                session.count { $0.misses += 1 }
            }
            session.common.guests.refused(.init(port: port, target: self.target, reason: reason), then: then)
        }
    }

    private var name: String { ListenAddress(host: self.target.host, port: Int(self.target.port)).description }

    /// The answer to a CONNECT that is refused.
    var answer: ProxyAnswer {
        ProxyAnswer(
            status: 403, reason: "Forbidden", error: "isolated",
            text:
                "a tunnel to \"\(self.name)\" is not one of HTTP, and this program is isolated: pass --allow tcp:\(self.name) to let it through."
        )
    }
}

/// Keeps a client that asks for a tunnel to such a server until its program is known, and then answers it.
///
/// Not Sendable: lives on its event loop.
final class ForbiddenTunnel: TunnelExchange {
    private let client: any ClientStream
    private let tunnel: IsolatedTunnel
    private let next: () -> any ClientExchange
    private var isOver = false

    let takesBytes = false
    let deadline: NIODeadline

    init(client: any ClientStream, _ tunnel: IsolatedTunnel, then next: @escaping () -> any ClientExchange) {
        self.client = client
        self.tunnel = tunnel
        self.next = next
        self.deadline = client.peer.session.stallDeadline
    }

    func start() {
        let box = NIOLoopBound(self, eventLoop: self.client.peer.session.loop)
        self.tunnel.refuse(.port) { [loopGate = self.client.peer.session.loopGate] in
            loopGate.execute { box.value.answer() }
        }
    }

    private func answer() {
        guard !self.isOver else { return }
        self.isOver = true
        let exchange = self.next()
        self.client.become(exchange)
        exchange.start()
    }

    func clientBytes(_ input: inout ByteBuffer) {}
    func clientLeft(_ reason: String) { self.isOver = true }
    func deadlinePassed() { self.client.close() }
}

/// Looks at the first bytes of such a connection: HTTP and TLS continue as after a CONNECT, what `--allow` names is passed through, and
/// everything else is refused at once and listed.
///
/// Consumes no bytes. Not Sendable: lives on its event loop.
final class IsolatedExchange: TunnelExchange {
    private enum Phase { case looking, waiting, refusing, over }

    private let client: any InterceptableStream
    private let proxy: ProxyContext
    private let request: IncomingRequest
    private let link: IsolatedLink
    private var phase = Phase.looking
    private(set) var deadline: NIODeadline
    /// Whether its target speaks HTTP, so that a client may keep it for later.
    private var isSpare = false
    /// Whether it sent something, which may still become a request.
    private var hasBytes = false
    /// The client sends nothing more.
    private var hasEnded = false

    /// - Parameter request: the CONNECT that the client would have sent.
    init(client: any InterceptableStream, request: IncomingRequest, link: IsolatedLink) {
        self.client = client
        self.proxy = client.peer.session
        self.request = request
        self.link = link
        self.deadline = self.proxy.stallDeadline
    }

    private var settings: IsolationSettings { self.link.isolation.settings }

    var takesBytes: Bool { self.phase == .waiting }
    var isIdle: Bool { self.phase == .looking || self.phase == .waiting }

    func start() {
        // Only a program that looks for open ports connects to the isolation's own.
        if self.link.destination.address.isLoopback, !self.settings.reach.contains(self.link.port) {
            self.phase = .over
            return self.client.close()
        }
        guard let route = self.link.ownServer else { return self.begin() }
        // The kernel looks for the program's own server in the family of the connection only.
        self.wait(2 * self.proxy.limits.connect)
        self.proxy.dialing.openTunnel(route) { [weak self] result in
            guard let self, case .looking = self.phase else {
                if case .success(let upstream) = result { upstream.close() }
                return
            }
            switch result {
            // The program's own server answers, as if there were no isolation.
            case .success(let upstream):
                self.phase = .over
                let tunnel = Tunnel.open(self.request.opening, self.client, upstream, self.proxy)
                if self.hasEnded { _ = tunnel.clientEnded() }
            case .failure(.stopped):
                self.phase = .over
                self.client.close()
            case .failure: self.begin()
            }
        }
    }

    private func begin() {
        self.phase = .waiting
        self.link.isolation.connected(from: self.link.source, to: self.link.destination, at: self.proxy.now.uptimeNanoseconds)
        if self.isPassage { return self.pass() }
        if self.settings.refusesConnections { return self.refuse(.offline) }
        if IsolationSettings.speaksFirst.contains(self.link.port) { return self.refuse(.port) }
        self.isSpare = IsolationSettings.mayBeSilent.contains(self.link.port)
        self.wait(self.isSpare ? self.proxy.limits.clientIdle : self.proxy.limits.tunnelSilence)
        self.client.setReading(true)
        // It ended while its own servers were looked for.
        if self.phase == .waiting, self.hasEnded, !self.clientEnded() { self.client.close() }
    }

    private func wait(_ seconds: Int) { self.deadline = self.proxy.now + .seconds(Int64(seconds)) }

    // MARK: Passages

    private var isPassage: Bool {
        let hosts = [self.link.host, self.link.destination.host] + (self.link.destination.address.isLoopback ? ["localhost"] : [])
        return hosts.contains { self.settings.passages.contains(.init(host: $0, port: self.link.port)) }
    }

    private func pass() {
        self.link.isolation.log.passed(host: self.link.host, port: self.link.port)
        self.proxy.count { $0.tunnels += 1 }
        self.proxy.log.tunnel(.passThrough, connection: self.client.peer.id, authority: self.request.head.target)
        self.continueAs(
            ConnectExchange(client: self.client, request: self.request, host: self.link.host, port: Int(self.link.port)))
    }

    // MARK: First bytes

    func clientBytes(_ input: inout ByteBuffer) {
        guard self.phase == .waiting else { return }
        self.hasBytes = true
        switch ProtocolSniffer(input.readableBytesView) {
        // A client of HTTP sends its first line at once.
        case .needsMore: self.wait(self.proxy.limits.tunnelSilence)
        case .tls where self.readsHello && !ClientHelloFrame.isWhole(input.readableBytesView): self.wait(self.proxy.limits.tunnelSilence)
        case .tls where self.isOfOtherProtocol(input.readableBytesView): self.refuse(.notHTTP)
        case .tls, .http:
            self.link.isolation.log.reached(host: self.link.host, port: self.link.port)
            self.continueAs(ExchangeRouter(stream: self.client).exchange(for: self.request))
        case .other: self.refuse(.notHTTP)
        }
    }

    /// Whether nobody opens its TLS, neither this process nor a session.
    private var readsHello: Bool { self.proxy.interception == nil && !self.proxy.shared.chain.isSession }

    /// Whether such a handshake offers protocols, and none of them is HTTP.
    private func isOfOtherProtocol(_ bytes: ByteBufferView) -> Bool {
        guard self.readsHello, let hello = ClientHello(records: bytes) else { return false }
        return !hello.protocols.isEmpty && !hello.protocols.contains { $0 == "h2" || $0.hasPrefix("http/") }
    }

    private func continueAs(_ exchange: any ClientExchange) {
        self.phase = .over
        self.client.become(exchange)
        exchange.start()
    }

    // MARK: Refusing

    /// Keeps the connection until its program has been found, which takes about a millisecond.
    private func refuse(_ reason: IsolationReport.Reason) {
        self.phase = .refusing
        self.client.setReading(false)
        let box = NIOLoopBound(self, eventLoop: self.proxy.loop)
        self.link.isolation.refused(from: self.link.source, to: self.link.destination, reason) { [loopGate = self.proxy.loopGate] in
            loopGate.execute { box.value.reset() }
        }
    }

    private func reset() {
        guard self.phase == .refusing else { return }
        self.phase = .over
        self.proxy.readClock()
        self.proxy.log.tunnel(.refuse, connection: self.client.peer.id, authority: self.request.head.target)
        self.client.breakOff(isReset: true)
    }

    /// A client that only ends its output still waits, so that its program can be found.
    func clientEnded() -> Bool {
        self.hasEnded = true
        if self.phase == .looking { return true }
        guard self.phase == .waiting, self.hasBytes || !self.isSpare && !self.isKnown else { return false }
        self.wait(self.proxy.limits.connect)
        self.refuse(self.hasBytes ? .notHTTP : .silent)
        return true
    }

    func clientLeft(_ reason: String) {
        let wasWaiting = self.phase == .waiting
        self.phase = .over
        // A program that only checks that a server is there has found one.
        guard wasWaiting, self.hasBytes || self.client.peer.hasBroken || !self.isSpare && !self.isKnown else { return }
        let reason: IsolationReport.Reason = self.hasBytes ? .notHTTP : self.client.peer.hasBroken ? .reset : .silent
        self.link.isolation.refused(from: self.link.source, to: self.link.destination, reason) {}
    }

    func deadlinePassed() {
        guard self.phase == .waiting else { return self.client.close() }
        if self.hasBytes {
            self.wait(self.proxy.limits.connect)
            return self.refuse(.notHTTP)
        }
        guard !self.isSpare else { return self.client.close() }
        if self.isKnown {
            self.isSpare = true
            return self.wait(self.proxy.limits.clientIdle)
        }
        // Its program may still be opening others, and begin to use them afterwards.
        let newest = NIODeadline.uptimeNanoseconds(self.link.isolation.log.newestConnection(host: self.link.host, port: self.link.port))
        let end = newest + .seconds(Int64(self.proxy.limits.tunnelSilence))
        guard end <= self.proxy.now else {
            self.deadline = end
            return
        }
        self.wait(self.proxy.limits.connect)
        self.refuse(.silent)
    }

    /// Whether another connection to the target was one of HTTP.
    private var isKnown: Bool { self.link.isolation.log.hasReached(host: self.link.host, port: self.link.port) }
}

extension Endpoint {
    /// Nil for a Unix domain socket.
    init?(_ address: SocketAddress) {
        guard let ip = IPAddress(address), let port = address.port.flatMap({ UInt16(exactly: $0) }) else { return nil }
        self.init(address: ip, port: port)
    }
}
