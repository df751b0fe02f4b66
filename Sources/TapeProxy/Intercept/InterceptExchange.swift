internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeExchange
internal import TapeIsolation
internal import TapeTLS

/// Answers CONNECT (RFC 9110, 9.3.6) at once and detects the protocol inside. TLS is terminated, HTTP is parsed, and anything else is
/// relayed unread.
///
/// Ends when requests begin inside the tunnel, because each of them is an exchange of its own. Not Sendable: lives on its event loop.
final class InterceptExchange: TunnelExchange, TLSHandlerOwner {
    private enum Phase {
        /// Looking up the host's addresses, because the host may be the proxy itself.
        case checking
        case firstBytes
        /// The client is silent. The proxy connects to the origin, which may speak first.
        case waitingForEither
        /// TLS has begun, but the ClientHello is incomplete. Only its bytes are kept.
        case hello
        case handshake
        case relaying
        case over
    }

    private let client: any InterceptableStream
    private let proxy: ProxyContext
    private let interception: Interception
    private let request: IncomingRequest
    private let host: String
    private let port: Int
    private var phase = Phase.checking
    private var tls: TLSHandler?
    /// The bytes that the client has sent so far. Relayed unchanged if the tunnel is not intercepted.
    private var received = ByteBuffer()
    /// Whether it has sent anything.
    private var hasBytes = false
    private var hello = ClientHello()
    /// The application protocol to speak with the client; nil if it offered none.
    private var protocolName: String?
    private var lookup: NameLookup?
    private var scope: TunnelScope?
    /// The leaf certificate has been sent to the client, or is about to be.
    private var isAnswered = false
    private var greeting: Greeting?
    private(set) var deadline: NIODeadline

    init(client: any InterceptableStream, interception: Interception, request: IncomingRequest, host: String, port: Int) {
        self.client = client
        self.proxy = client.peer.session
        self.interception = interception
        self.request = request
        self.host = host
        self.port = port
        self.deadline = self.proxy.stallDeadline
    }

    var takesBytes: Bool {
        switch self.phase {
        case .firstBytes, .waitingForEither, .hello: true
        case .checking, .handshake, .relaying, .over: false
        }
    }

    /// The client has no tunnel yet, or has sent nothing through it.
    var isIdle: Bool {
        switch self.phase {
        case .checking, .firstBytes, .waitingForEither: true
        case .hello, .handshake, .relaying, .over: false
        }
    }

    /// False for a session that forwards nothing, and for the magic host, which the proxy serves itself.
    private var mayDial: Bool { self.proxy.session.mayForward && !self.isMagic }

    private func refuseLoop() {
        self.phase = .over
        self.client.peer.remarkLoop(to: self.request.head.target)
        self.client.closeAfterFlush(isCut: true)
    }

    /// Whether the kernel redirected the proxy's own connection here. A client that asked for its tunnel was not redirected.
    private var isLedBack: Bool { self.request.opening == .transparent && self.client.peer.isLedBack }

    private var isMagic: Bool { MagicHost.isNamed(self.host) }

    // MARK: CONNECT

    func start() {
        // Without dialling, there is no loop to detect and no name to look up.
        guard self.mayDial else { return self.accept() }
        self.wait(2 * self.proxy.limits.connect)
        self.proxy.dialer.reachesSelf(host: self.host, port: self.port) { [weak self] isSelf in
            guard let self, case .checking = self.phase else { return }
            if isSelf { self.refuse(.loop(self.request.head.target)) } else { self.accept() }
        }
    }

    private func accept() {
        // The name of an unknown origin is looked up while the client prepares its ClientHello.
        if self.mayDial, !self.proxy.session.looksUp, self.chosenAddress == nil,
            self.interception.leaf(host: self.host, serverName: self.host) == nil,
            self.proxy.shared.chain.proxy(.https, host: self.host, port: self.port, isTunnel: true) == nil
        {
            self.lookup = self.proxy.dialer.lookUp(host: self.host, port: self.port)
        }
        self.phase = .firstBytes
        self.wait(self.proxy.limits.tunnelSilence)
        IsolatedTunnel(self.client.peer, host: self.host, port: self.port)?.noteArrival(at: self.proxy.now)
        self.client.write(self.request.opening.accepted)
        self.client.flush()
        self.client.setReading(true)
    }

    private func refuse(_ answer: ProxyAnswer) {
        self.phase = .over
        self.request.opening.refuse(self.client, with: answer)
    }

    // MARK: First bytes

    func clientBytes(_ input: inout ByteBuffer) {
        switch self.phase {
        case .firstBytes, .waitingForEither, .hello: self.look(&input)
        case .checking, .handshake, .relaying, .over: break
        }
    }

    private func look(_ input: inout ByteBuffer) {
        if self.isLedBack { return self.refuseLoop() }
        self.hasBytes = true
        switch ProtocolSniffer(input.readableBytesView) {
        case .needsMore:
            // A client that sends an empty line and then waits does not speak HTTP.
            guard case .firstBytes = self.phase, !ProtocolSniffer.isBlank(input.readableBytesView) else { return }
            self.wait(self.isIsolated ? self.proxy.limits.tunnelSilence : self.proxy.limits.requestHead)
        case .tls:
            self.forgetGreeting()
            if case .hello = self.phase {
            } else {
                self.wait(self.proxy.limits.tlsHandshake)
                // Those that were opened with it may have said as much, and wait to be read.
                IsolatedTunnel(self.client.peer, host: self.host, port: self.port)?.noteArrival(at: self.proxy.now)
            }
            self.phase = .hello
            guard ClientHelloFrame.isWhole(input.readableBytesView), let bytes = input.readSlice(length: input.readableBytes) else {
                return
            }
            self.beginTLS(bytes)
        case .http:
            self.forgetGreeting()
            self.enter(TunnelScope(route: self.clearRoute, opening: self.request.opening, isIsolated: self.isLed))
        case .other:
            guard let bytes = input.readSlice(length: input.readableBytes) else { return }
            if self.refuseUnread(.notHTTP) { return self.forgetGreeting() }
            self.received = bytes
            if let greeting {
                self.greeting = nil
                self.relay(over: greeting)
            } else if self.mayDial, case .waitingForEither = self.phase {
                // The connection that is already being made will be used.
                self.phase = .relaying
            } else {
                self.relay()
            }
        }
    }

    /// In a tunnel of an isolated program, everything but HTTP is refused and listed.
    ///
    /// - Returns: false if the tunnel may continue unread.
    private func refuseUnread(_ reason: IsolationReport.Reason) -> Bool {
        guard let tunnel = IsolatedTunnel(self.client.peer, host: self.host, port: self.port) else { return false }
        self.phase = .over
        let box = NIOLoopBound(self.client, eventLoop: self.proxy.loop)
        tunnel.refuse(reason) { [loopGate = self.proxy.loopGate] in loopGate.execute { box.value.breakOff(isReset: true) } }
        return true
    }

    private var isIsolated: Bool { self.client.peer.isIsolated }

    /// The client is an isolated program that does not use the proxy.
    private var isLed: Bool { self.isIsolated && (self.request.opening == .transparent || self.client.peer.guest != nil) }

    private var chosenAddress: IPAddress? { self.client.peer.chosenAddress(of: self.request, host: self.host) }

    private func enter(_ scope: TunnelScope) {
        self.phase = .over
        self.client.enter(scope)
    }

    // MARK: The client

    func proxyStopped() {
        self.phase = .over
        self.forgetGreeting()
    }

    /// An isolated program that only ends its output still waits, so that it can be found.
    func clientEnded() -> Bool {
        switch self.phase {
        case .firstBytes, .waitingForEither:
            guard self.hasBytes, self.refuseUnread(.notHTTP) else { return false }
            self.forgetGreeting()
            return true
        case .checking, .hello, .handshake, .relaying, .over: return false
        }
    }

    func clientLeft(_ reason: String) {
        switch self.phase {
        case .hello, .handshake:
            self.leftInHandshake(TLSFailure(cause: .closed, message: "the client closed the connection during the handshake"))
        case .firstBytes, .waitingForEither:
            let tunnel = IsolatedTunnel(self.client.peer, host: self.host, port: self.port)
            // An isolated program that only checks that a server is there has found one.
            if self.hasBytes {
                tunnel?.refuse(.notHTTP)
            } else if !IsolationSettings.mayBeSilent.contains(UInt16(clamping: self.port)), tunnel?.isOfHTTP == false {
                tunnel?.refuse(.silent)
            }
        case .checking, .relaying, .over: break
        }
        self.phase = .over
        self.forgetGreeting()
    }

    private func wait(_ seconds: Int) { self.deadline = self.proxy.now + .seconds(Int64(seconds)) }

    func deadlinePassed() {
        switch self.phase {
        case .firstBytes:
            self.dialForGreeting()
        case .hello, .handshake:
            self.failed(
                TLSFailure(cause: .timeout, message: "the handshake took longer than \(self.proxy.limits.tlsHandshake) s"))
        case .waitingForEither:
            if self.hasBytes, self.refuseUnread(.notHTTP) { return }
            self.client.close()
        case .checking, .relaying, .over:
            self.client.close()
        }
    }

    // MARK: TLS

    private func beginTLS(_ bytes: ByteBuffer) {
        do throws(TLSFailure) {
            self.phase = .handshake
            let handler = TLSHandler(try self.interception.connection(), isClient: false)
            handler.owner = self
            handler.keepsInput = true
            self.tls = handler
            self.client.insert(handler)
            handler.begin(with: bytes)
        } catch {
            self.failed(error)
        }
    }

    /// Answers the ClientHello. First connects to an unknown origin, if allowed, to learn the names in its certificate.
    private func begin(_ hello: ClientHello) {
        self.hello = hello
        guard !hello.hasInvalidServerName else { return self.refuseServerName() }
        let (dialled, offered) = self.interception.protocols(of: hello)
        let offersHTTP = hello.protocols.isEmpty || !offered.isEmpty
        switch self.isMagic ? .intercept : self.interception.choice(host: hello.serverName ?? self.host, port: self.port) {
        case .refuse: return self.refuse(hello)
        case .intercept where offersHTTP: break
        case .intercept, .passThrough: return self.passThrough(offersHTTP: offersHTTP)
        }
        self.compare(serverName: hello.serverName)
        let origin = Origin(scheme: .https, host: self.host, port: self.port)
        var route = UpstreamRoute(origin, serverName: hello.serverName, protocols: dialled, hops: self.request.hops)
        route.address = self.chosenAddress
        let scope = TunnelScope(route: route, opening: self.request.opening, isIsolated: self.isLed)
        self.scope = scope
        self.protocolName = self.recordedProtocol(origin, of: offered) ?? offered.first
        if let leaf = self.interception.leaf(host: self.leafHost, serverName: hello.serverName) {
            if let chosen = self.interception.chosenProtocol(of: route), offered.contains(chosen) { self.protocolName = chosen }
            return self.answer(leaf)
        }
        guard self.mayDial, !self.proxy.session.looksUp else { return self.mint([]) }
        self.wait(2 * self.proxy.limits.connect)
        // The client has nothing to send before it is answered. Anything it does send waits in the kernel.
        self.client.setReading(false)
        self.proxy.dialing.open(route, lookup: self.lookup.take()) { [weak self] result in
            guard let self, case .handshake = self.phase else {
                if case .success(let upstream) = result { upstream.cancel() }
                return
            }
            self.client.setReading(true)
            self.wait(self.proxy.limits.tlsHandshake)
            switch result {
            case .success(let upstream):
                let names = upstream.takePeerNames()
                // The client speaks the protocol that the origin chose from the client's own list.
                if !offered.isEmpty {
                    let chosen = upstream.version == .http2 ? "h2" : "http/1.1"
                    self.protocolName = offered.contains(chosen) ? chosen : offered.first
                    self.interception.remember(chosen: chosen, of: route)
                }
                // The connection serves this client's first request.
                upstream.release(by: self.client.peer.id)
                self.mint(names)
            case .failure(.failed(let failure)):
                scope.failure = failure
                self.mint([])
            case .failure(.loop):
                self.mint([])
            case .failure(.stopped):
                self.client.close()
            }
        }
    }

    /// The protocol that the origin used when it was recorded, if this replay follows it and the client offers it.
    private func recordedProtocol(_ origin: Origin, of offered: [String]) -> String? {
        guard let version = self.proxy.common.recordedVersions[origin] else { return nil }
        let name = version == .http2 ? "h2" : "http/1.1"
        return offered.contains(name) ? name : nil
    }

    private func mint(_ upstreamNames: [String]) {
        do throws(CertificateError) {
            self.answer(
                try self.interception.mint(
                    host: self.leafHost, serverName: self.hello.serverName,
                    upstreamNames: (self.leafHost == self.host ? [] : [self.host]) + upstreamNames))
        } catch {
            self.failed(TLSFailure(cause: .other, message: error.message))
        }
    }

    /// The first name of the leaf. An isolated program that names no server in its hello may have looked up the tunnel's host itself, and
    /// then expects a certificate for the address.
    private var leafHost: String {
        guard self.isIsolated, self.hello.serverName == nil, IPAddress(self.host) == nil else { return self.host }
        return self.client.peer.address(of: self.request).map { Endpoint.text($0) } ?? self.host
    }

    private func answer(_ leaf: Leaf) {
        self.isAnswered = true
        self.tls?.keepsInput = false
        self.tls?.answer(
            leaf, protocolName: self.protocolName,
            refusesProtocols: !self.hello.protocols.isEmpty)
    }

    /// Says that the client connected to one name and means another one: requests have the URL that they name, and go to the tunnel's host.
    private func compare(serverName: String?) {
        func isEqual(_ name: String) -> Bool {
            func plain(_ name: String) -> String { (name.hasSuffix(".") ? String(name.dropLast()) : name).lowercased() }
            return plain(name) == plain(self.host)
        }
        guard let serverName, !isEqual(serverName), IPAddress(self.host) == nil else { return }
        self.proxy.diagnosis.remark(
            "a client connected to \"\(self.host):\(self.port)\" and asked for \"\(serverName)\" (SNI): the server of \"\(self.host)\" answers, also requests whose URL names \"\(serverName)\"."
        )
    }

    /// The tunnel's host is allowed, but the server name in the ClientHello is refused.
    private func refuse(_ hello: ClientHello) {
        self.phase = .over
        self.proxy.diagnosis.remark(
            "the client asked for \"\(hello.serverName ?? self.host)\" in the tunnel to \"\(self.request.head.target)\", which --refuse forbids: the tunnel was closed."
        )
        self.client.closeAfterFlush(isCut: true)
    }

    /// Refuses an invalid server name, which would otherwise be requested from the origin and appear in certificates and advice.
    private func refuseServerName() {
        self.phase = .over
        self.proxy.diagnosis.remark(
            "the client in the tunnel to \"\(self.request.head.target)\" sent a server name (SNI) that is not a host name: the tunnel was closed."
        )
        self.client.closeAfterFlush(isCut: true)
    }

    /// Passes the tunnel through, beginning with the bytes received so far.
    private func passThrough(offersHTTP: Bool) {
        guard let tls else { return }
        // Nothing but HTTP passes an isolation.
        if !offersHTTP, self.refuseUnread(.notHTTP) { return }
        if !offersHTTP {
            let protocols = self.hello.protocols.map { "\"\($0)\"" }.joined(separator: ", ")
            let result = self.mayDial ? "passed through and not recorded" : "closed, since it is not in the cassette"
            self.proxy.diagnosis.remark(
                "the client for \"\(self.request.head.target)\" offers \(protocols) but not HTTP: its tunnel is \(result).")
        }
        self.received = tls.keptInput
        self.client.remove(tls)
        self.tls = nil
        self.relay()
    }

    func tlsHello(_ hello: ClientHello) {
        guard case .handshake = self.phase else { return }
        self.begin(hello)
    }

    func tlsEstablished() {
        guard case .handshake = self.phase, let scope else { return }
        self.reportIfLeftUnused(scope)
        if !self.hello.protocols.isEmpty { scope.agreed = self.protocolName.map(AgreedProtocol.init) }
        self.enter(scope)
    }

    func tlsFailed(_ failure: TLSFailure) { self.failed(failure) }

    // MARK: Tunnels that are not intercepted

    /// Connects to the origin and relays the bytes unread.
    private func relay() {
        self.phase = .relaying
        guard self.mayDial else { return self.closeUnread() }
        self.wait(2 * self.proxy.limits.connect)
        self.proxy.dialing.openTunnel(self.clearRoute) { [weak self] result in
            guard let self, case .relaying = self.phase else {
                if case .success(let upstream) = result { upstream.close() }
                return
            }
            switch result {
            case .success(let upstream): self.becomeTunnel(upstream)
            // The CONNECT has already been answered, so closing is the only way to report the failure.
            case .failure: self.client.close()
            }
        }
    }

    /// The tunnel's content is not in the cassette. In a replay-only session, this is a miss.
    private func closeUnread() {
        if !self.isMagic, case .refuse = self.proxy.session.beginTunnel(to: "https://\(self.request.head.target)/") {
            self.proxy.count { $0.misses += 1 }
        }
        self.client.close()
    }

    private var clearRoute: UpstreamRoute {
        var route = UpstreamRoute(Origin(scheme: .http, host: self.host, port: self.port), hops: self.request.hops)
        route.address = self.chosenAddress
        return route
    }

    private func relay(over greeting: Greeting) {
        greeting.forget()
        self.becomeTunnel(greeting.upstream, first: greeting.bytes)
    }

    /// - Parameter first: bytes that the origin has already sent.
    private func becomeTunnel(_ upstream: UpstreamConnection, first: ByteBuffer = ByteBuffer()) {
        self.phase = .over
        self.proxy.count { $0.tunnels += 1 }
        let tunnel = Tunnel(client: self.client, upstream: upstream, proxy: self.proxy)
        self.client.become(tunnel)
        upstream.take(tunnel)
        var received = self.received
        self.received = ByteBuffer()
        tunnel.clientBytes(&received)
        tunnel.start(with: first)
    }

    /// The client is silent. It may be waiting for the origin to speak first, as with mail servers and databases.
    private func dialForGreeting() {
        if self.isLedBack { return self.refuseLoop() }
        if self.hasBytes, self.refuseUnread(.notHTTP) { return }
        let tunnel = IsolatedTunnel(self.client.peer, host: self.host, port: self.port)
        if let tunnel, !IsolationSettings.mayBeSilent.contains(tunnel.target.port), !tunnel.isOfHTTP {
            // Its program may still be opening others, and begin to use them afterwards.
            let end = tunnel.newestArrival + .seconds(Int64(self.proxy.limits.tunnelSilence))
            guard end <= self.proxy.now else {
                self.deadline = end
                return
            }
            _ = self.refuseUnread(.silent)
            return
        }
        self.phase = .waitingForEither
        // A browser's spare connection. An origin that speaks first does not speak HTTP.
        if tunnel != nil { return self.wait(self.proxy.limits.clientIdle) }
        // Without dialling, the client just gets more time.
        guard self.mayDial else { return self.wait(self.proxy.limits.requestHead) }
        self.wait(2 * self.proxy.limits.connect)
        self.proxy.dialing.openTunnel(self.clearRoute) { [weak self] result in
            switch (result, self?.phase) {
            case (.success(let upstream), .waitingForEither?): self?.awaitGreeting(upstream)
            case (.success(let upstream), .relaying?): self?.becomeTunnel(upstream)
            case (.success(let upstream), _): upstream.close()
            // A rule may answer requests for a host that does not exist.
            case (.failure, .waitingForEither?) where self?.proxy.rules != nil: self?.waitForRequest()
            case (.failure, .waitingForEither?), (.failure, .relaying?): self?.client.close()
            case (.failure, _): break
            }
        }
    }

    private func waitForRequest() { self.wait(self.proxy.limits.requestHead) }

    private func awaitGreeting(_ upstream: UpstreamConnection) {
        self.wait(self.proxy.limits.clientIdle)
        self.greeting = Greeting(upstream) { [weak self] greeting in
            guard let self, case .waitingForEither = self.phase else { return }
            self.greeting = nil
            self.relay(over: greeting)
        } ended: { [weak self] in
            self?.client.close()
        }
    }

    private func forgetGreeting() {
        guard let greeting else { return }
        self.greeting = nil
        greeting.forget()
        greeting.upstream.close()
    }

    // MARK: Failed handshakes

    private func failed(_ failure: TLSFailure) {
        switch self.phase {
        case .hello, .handshake: self.phase = .over
        case .checking, .firstBytes, .waitingForEither, .relaying, .over: return
        }
        // The magic page tests whether its certificate is trusted, so a client that does not trust it yet is not a failure.
        guard !self.isMagic else { return self.client.closeAfterFlush(isCut: true) }
        switch failure.cause {
        case .closed, .reset: self.left(failure)
        default: self.report(failure)
        }
        self.client.closeAfterFlush(isCut: true)
    }

    private func leftInHandshake(_ failure: TLSFailure) {
        switch self.phase {
        case .hello, .handshake: self.phase = .over
        case .checking, .firstBytes, .waitingForEither, .relaying, .over: return
        }
        if !self.isMagic { self.left(failure) }
        self.client.closeAfterFlush(isCut: true)
    }

    /// The client has left without an alert, and without a request: there is no exchange. A browser does so with a spare connection.
    private func left(_ failure: TLSFailure) {
        if self.isAnswered {
            let problem = self.problem(failure, isAfterHandshake: false)
            return self.isOfBrowser ? self.proxy.diagnosis.suspect(problem) : self.proxy.diagnosis.report(problem)
        }
        // It has not seen the leaf certificate, so its trust is not the cause.
        guard !self.isOfBrowser else { return }
        self.proxy.diagnosis.remark(
            "the client for \"\(self.request.head.target)\" closed the connection before its TLS handshake was answered: is it still running, and is the origin up?"
        )
    }

    private var isOfBrowser: Bool { self.proxy.configuration.clientIsBrowser }

    /// Programs that use GnuTLS, such as wget, verify the certificate after the handshake. If they do not trust it, they close the
    /// connection without an alert.
    private func reportIfLeftUnused(_ scope: TunnelScope) {
        guard !self.isMagic, self.tls?.inspect({ $0.isResumed }) == false else { return }
        let established = self.proxy.now
        // This closure retains the exchange until the first request.
        scope.leftUnused = { failure in
            guard self.proxy.now - established < .seconds(2) else { return }
            let failure = failure ?? TLSFailure(cause: .closed, message: "the client closed the connection after the handshake")
            switch failure.cause {
            // A browser does the same with a spare connection that it did not need.
            case .closed, .reset: self.proxy.diagnosis.suspect(self.problem(failure, isAfterHandshake: true))
            default: self.report(failure, isAfterHandshake: true)
            }
        }
    }

    private func problem(_ failure: TLSFailure, isAfterHandshake: Bool) -> TLSProblem {
        TLSProblem(
            leg: .client, host: self.hello.serverName ?? self.host, port: self.port, failure: failure, isAfterHandshake: isAfterHandshake)
    }

    private func report(_ failure: TLSFailure, isAfterHandshake: Bool = false) {
        let problem = self.problem(failure, isAfterHandshake: isAfterHandshake)
        self.proxy.diagnosis.report(problem)
        self.record(Failure(kind: .tls, message: problem.description))
    }

    /// Records the CONNECT, because no request was received.
    private func record(_ failure: Failure) {
        guard let recorder = self.proxy.recorder else { return }
        let interaction = self.failed(failure, id: recorder.nextID())
        self.proxy.count { $0.exchanges += 1 }
        self.proxy.record(.exchange(TapedExchange(interaction: interaction), stored: nil))
    }

    private func failed(_ failure: Failure, id: Int) -> Interaction {
        let head = self.request.head
        var interaction = Interaction(
            id: id, started: self.proxy.timestamp(at: self.request.start),
            request: RecordedRequest(
                method: head.method, url: "https://\(head.target)/", target: head.target, version: head.version, headers: head.fields),
            outcome: .failed(failure))
        interaction.timing.total = Double((self.proxy.now - self.request.start).nanoseconds) / 1e6
        return interaction
    }
}

/// A connection to an origin that may speak first. Waits for its first bytes.
///
/// Not Sendable: lives on its event loop.
final class Greeting: UpstreamConnectionOwner {
    let upstream: UpstreamConnection
    private(set) var bytes = ByteBuffer()
    private var received: ((Greeting) -> Void)?
    private var ended: (() -> Void)?

    init(_ upstream: UpstreamConnection, received: @escaping (Greeting) -> Void, ended: @escaping () -> Void) {
        self.upstream = upstream
        self.received = received
        self.ended = ended
        upstream.take(self)
    }

    /// Stops calling back.
    func forget() {
        self.received = nil
        self.ended = nil
    }

    func upstreamRead(_ buffer: ByteBuffer) { self.bytes.writeImmutableBuffer(buffer) }

    func upstreamReadComplete() {
        guard self.bytes.readableBytes > 0, let received else { return }
        self.forget()
        received(self)
    }

    func upstreamEnded() {
        let ended = self.ended
        self.forget()
        ended?()
    }

    func upstreamFailed(_ failure: Failure) { self.upstreamEnded() }

    func upstreamWritabilityChanged(_ isWritable: Bool) {}
}
