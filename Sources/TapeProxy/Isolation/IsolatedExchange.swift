internal import NIOCore
internal import Platform
internal import TapeExchange
internal import TapeIsolation

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
    /// both, or at loopback for a name of the machine.
    var twin: String? {
        if self.destination.address.isLoopback { return self.destination.address.loopbackTwin }
        return self.isolation.settings.ownNames.contains(self.host.lowercased()) ? "127.0.0.1" : nil
    }
}

/// A tunnel that an isolated program asks the proxy for. In it, as without the proxy, only HTTP passes.
struct IsolatedTunnel {
    let isolation: Isolation
    let target: IsolationSettings.Passage
    private let link: IsolatedLink?

    /// Nil if the program is not isolated, or if `--allow` names the target.
    init?(_ peer: ClientPeer, host: String, port: Int) {
        guard let isolation = peer.session.configuration.isolation, let number = UInt16(exactly: port) else { return nil }
        let target = IsolationSettings.Passage(host: host, port: number)
        guard !isolation.settings.passages.contains(target) else { return nil }
        self.isolation = isolation
        self.target = target
        self.link = IsolatedLink(isolation, from: peer.remoteAddress, to: peer.proxyAddress)
    }

    /// Whether the server of this port speaks first, in a protocol that is not HTTP.
    var isForbidden: Bool { IsolationSettings.speaksFirst.contains(self.target.port) }

    /// Whether requests have been made to its server.
    var isOfHTTP: Bool { self.isolation.log.hasRequested(host: self.target.host, port: self.target.port) }

    /// When the newest one to its server began to wait for its first request.
    var newestArrival: NIODeadline {
        .uptimeNanoseconds(self.isolation.log.newestConnection(host: self.target.host, port: self.target.port))
    }

    /// It begins to wait for its first request.
    func noteArrival(at time: NIODeadline) {
        self.isolation.log.arrived(host: self.target.host, port: self.target.port, at: time.uptimeNanoseconds)
    }

    /// Lists it, and calls back on any thread when its program is known.
    func refuse(_ reason: IsolationReport.Reason, then: @escaping @Sendable () -> Void = {}) {
        guard let link else {
            self.isolation.log.refused(.tcp, host: self.target.host, port: self.target.port, reason, by: nil)
            return then()
        }
        self.isolation.refused(from: link.source, to: link.destination, target: self.target, reason, then: then)
    }

    /// The answer to a CONNECT that is refused.
    var answer: ProxyAnswer {
        let name = ListenAddress(host: self.target.host, port: Int(self.target.port)).description
        return ProxyAnswer(
            status: 403, reason: "Forbidden", error: "isolated",
            text: "a tunnel to \"\(name)\" is not one of HTTP, and this program is isolated: pass --allow tcp:\(name) to let it through.")
    }
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
        guard let twin = self.link.twin else { return self.begin() }
        // The kernel looks for the program's own server in the family of the connection only.
        self.wait(2 * self.proxy.limits.connect)
        self.proxy.dialing.openTunnel(.inside(host: twin, port: Int(self.link.port))) { [weak self] result in
            guard let self, case .looking = self.phase else {
                if case .success(let upstream) = result { upstream.close() }
                return
            }
            switch result {
            // The program's own server answers, as if there were no isolation.
            case .success(let upstream):
                self.phase = .over
                Tunnel.open(self.request.opening, self.client, upstream, self.proxy)
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
        case .tls, .http:
            self.link.isolation.log.reached(host: self.link.host, port: self.link.port)
            self.continueAs(ExchangeRouter(stream: self.client).exchange(for: self.request))
        case .other: self.refuse(.notHTTP)
        }
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

    func clientLeft(_ reason: String) {
        let wasWaiting = self.phase == .waiting
        self.phase = .over
        // A program that only checks that a server is there has found one.
        guard wasWaiting, self.hasBytes || !self.isSpare && !self.isKnown else { return }
        self.link.isolation.refused(from: self.link.source, to: self.link.destination, self.hasBytes ? .notHTTP : .silent) {}
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
