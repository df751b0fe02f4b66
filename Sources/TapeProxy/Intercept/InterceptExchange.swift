internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeExchange
internal import TapeTLS

/// Answers CONNECT (RFC 9110, 9.3.6) at once and finds out what the client speaks inside: TLS is ended here, HTTP is read, anything else
/// is relayed unread.
///
/// Ends when the client connection goes on inside the tunnel: the requests there are exchanges of their own. Not Sendable: lives on its
/// event loop.
final class InterceptExchange: TunnelExchange, TLSHandlerOwner {
    private enum Phase {
        /// The proxy may be asked for itself: its own addresses are being looked up.
        case checking
        case firstBytes
        /// The client was silent; a connection is made for an origin that speaks first.
        case waitingForEither
        /// TLS has begun; the hello is not whole. Until it is, nothing but its bytes is kept.
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
    /// What the client sent so far: it goes on as it came if the tunnel turns out not to be ours to read.
    private var received = ByteBuffer()
    private var hello = ClientHello()
    private var lookup: NameLookup?
    private var scope: TunnelScope?
    /// The client has our certificate, or will have it.
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

    /// The client has no tunnel yet, or has said nothing in it.
    var isIdle: Bool {
        switch self.phase {
        case .checking, .firstBytes, .waitingForEither: true
        case .hello, .handshake, .relaying, .over: false
        }
    }

    /// Nothing is dialled where nothing is forwarded, and nobody is at the magic host.
    private var mayDial: Bool { self.proxy.session.mayForward && !self.isMagic }

    private var isMagic: Bool { MagicHost.isNamed(self.host) }

    // MARK: CONNECT

    func start() {
        // Where nothing is dialled, nothing can come back here, and no name is looked up.
        guard self.mayDial else { return self.accept() }
        self.wait(2 * self.proxy.limits.connect)
        self.proxy.dialer.reachesSelf(host: self.host, port: self.port) { [weak self] isSelf in
            guard let self, case .checking = self.phase else { return }
            if isSelf { self.refuse(.loop(self.request.head.target)) } else { self.accept() }
        }
    }

    private func accept() {
        // While the client makes its hello, the name of an origin that is not known yet can be looked up.
        if self.mayDial, !self.proxy.session.looksUp, self.interception.leaf(host: self.host, serverName: self.host) == nil {
            self.lookup = self.proxy.dialer.lookUp(host: self.host, port: self.port)
        }
        self.phase = .firstBytes
        self.wait(self.proxy.limits.tunnelSilence)
        self.client.write(ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"))
        self.client.flush()
        self.client.setReading(true)
    }

    private func refuse(_ answer: ProxyAnswer) {
        self.phase = .over
        self.client.send(answer, isFinal: true)
        self.client.finish()
    }

    // MARK: First bytes

    func clientBytes(_ input: inout ByteBuffer) {
        switch self.phase {
        case .firstBytes, .waitingForEither, .hello: self.look(&input)
        case .checking, .handshake, .relaying, .over: break
        }
    }

    private func look(_ input: inout ByteBuffer) {
        switch ProtocolSniffer(input.readableBytesView) {
        case .needsMore:
            // A client that sends an empty line and waits is none that speaks HTTP.
            guard case .firstBytes = self.phase, !ProtocolSniffer.isBlank(input.readableBytesView) else { return }
            self.wait(self.proxy.limits.requestHead)
        case .tls:
            self.forgetGreeting()
            if case .hello = self.phase {} else { self.wait(self.proxy.limits.tlsHandshake) }
            self.phase = .hello
            guard ClientHelloFrame.isWhole(input.readableBytesView), let bytes = input.readSlice(length: input.readableBytes) else {
                return
            }
            self.beginTLS(bytes)
        case .http:
            self.forgetGreeting()
            self.enter(TunnelScope(route: UpstreamRoute(Origin(scheme: .http, host: self.host, port: self.port))))
        case .other:
            guard let bytes = input.readSlice(length: input.readableBytes) else { return }
            self.received = bytes
            if let greeting {
                self.greeting = nil
                self.relay(over: greeting)
            } else if self.mayDial, case .waitingForEither = self.phase {
                // The connection that is being made will do.
                self.phase = .relaying
            } else {
                self.relay()
            }
        }
    }

    private func enter(_ scope: TunnelScope) {
        self.phase = .over
        self.client.enter(scope)
    }

    // MARK: The client

    func proxyStopped() {
        self.phase = .over
        self.forgetGreeting()
    }

    func clientLeft(_ reason: String) {
        switch self.phase {
        case .hello, .handshake:
            self.failed(TLSFailure(cause: .closed, message: "the client closed the connection during the handshake"))
        case .checking, .firstBytes, .waitingForEither, .relaying, .over: break
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
                TLSFailure(cause: .timeout, message: "the handshake was not through within \(self.proxy.limits.tlsHandshake) s"))
        case .checking, .waitingForEither, .relaying, .over:
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

    /// Answers the client's hello, after the origin was asked where that is worth its time: where it is allowed, and unknown.
    private func begin(_ hello: ClientHello) {
        self.hello = hello
        let offersHTTP = hello.protocols.isEmpty || hello.protocols.contains("http/1.1")
        switch self.isMagic ? .intercept : self.interception.choice(host: hello.serverName ?? self.host, port: self.port) {
        case .refuse: return self.refuse(hello)
        case .intercept where offersHTTP: break
        case .intercept, .passThrough: return self.leaveAlone(offersHTTP: offersHTTP)
        }
        let origin = Origin(scheme: .https, host: self.host, port: self.port)
        let route = UpstreamRoute(origin, serverName: hello.serverName, protocols: hello.protocols.isEmpty ? [] : ["http/1.1"])
        let scope = TunnelScope(route: route)
        self.scope = scope
        if let leaf = self.interception.leaf(host: self.host, serverName: hello.serverName) { return self.answer(leaf) }
        guard self.mayDial, !self.proxy.session.looksUp else { return self.mint([]) }
        self.wait(2 * self.proxy.limits.connect)
        // Nothing can be due from the client before it is answered: what it sends all the same waits in the kernel.
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
                // For this client's first request.
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

    private func mint(_ upstreamNames: [String]) {
        do throws(CertificateError) {
            self.answer(
                try self.interception.mint(host: self.host, serverName: self.hello.serverName, upstreamNames: upstreamNames))
        } catch {
            self.failed(TLSFailure(cause: .other, message: error.message))
        }
    }

    private func answer(_ leaf: Leaf) {
        self.isAnswered = true
        self.tls?.keepsInput = false
        self.tls?.answer(
            leaf, protocolName: self.hello.protocols.contains("http/1.1") ? "http/1.1" : nil,
            refusesProtocols: !self.hello.protocols.isEmpty)
    }

    /// The tunnel was allowed for its host, and is for another.
    private func refuse(_ hello: ClientHello) {
        self.phase = .over
        self.proxy.diagnosis.remark(
            "the client asked for \"\(hello.serverName ?? self.host)\" in the tunnel to \"\(self.request.head.target)\", which --refuse forbids: the tunnel was closed."
        )
        self.client.closeAfterFlush(isCut: true)
    }

    /// The hello says that this is not for us: what came goes on as it came.
    private func leaveAlone(offersHTTP: Bool) {
        guard let tls else { return }
        if !offersHTTP {
            let protocols = self.hello.protocols.map { "\"\($0)\"" }.joined(separator: ", ")
            let fate = self.mayDial ? "passed through, and not recorded" : "closed, since nothing of it is recorded"
            self.proxy.diagnosis.remark(
                "the client for \"\(self.request.head.target)\" speaks \(protocols) and no HTTP/1.1: its tunnel is \(fate).")
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
        self.tellIfLeftUnused(scope)
        self.enter(scope)
    }

    func tlsFailed(_ failure: TLSFailure) { self.failed(failure) }

    // MARK: Tunnels that are not ours to read

    /// Dials for what is not ours to read.
    private func relay() {
        self.phase = .relaying
        guard self.mayDial else { return self.closeUnread() }
        self.wait(2 * self.proxy.limits.connect)
        self.proxy.dialing.openTunnel(self.blindRoute) { [weak self] result in
            guard let self, case .relaying = self.phase else {
                if case .success(let upstream) = result { upstream.close() }
                return
            }
            switch result {
            case .success(let upstream): self.becomeTunnel(upstream)
            // The CONNECT was answered long ago: there is no other way to say it.
            case .failure: self.client.close()
            }
        }
    }

    /// What would go through the tunnel unread is not in the cassette: a session that only replays misses it.
    private func closeUnread() {
        if !self.isMagic, case .refuse = self.proxy.session.beginTunnel(to: "https://\(self.request.head.target)/") {
            self.proxy.count { $0.misses += 1 }
        }
        self.client.close()
    }

    private var blindRoute: UpstreamRoute { UpstreamRoute(Origin(scheme: .http, host: self.host, port: self.port)) }

    private func relay(over greeting: Greeting) {
        greeting.forget()
        self.becomeTunnel(greeting.upstream, first: greeting.bytes)
    }

    /// - Parameter first: what the origin has said by now.
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

    /// The client says nothing: perhaps it waits for the origin to speak first, as mail servers and databases do.
    private func dialForGreeting() {
        self.phase = .waitingForEither
        // Where nobody may be dialled, the client may still be slow.
        guard self.mayDial else { return self.wait(self.proxy.limits.requestHead) }
        self.wait(2 * self.proxy.limits.connect)
        self.proxy.dialing.openTunnel(self.blindRoute) { [weak self] result in
            switch (result, self?.phase) {
            case (.success(let upstream), .waitingForEither?): self?.awaitGreeting(upstream)
            case (.success(let upstream), .relaying?): self?.becomeTunnel(upstream)
            case (.success(let upstream), _): upstream.close()
            case (.failure, .waitingForEither?), (.failure, .relaying?): self?.client.close()
            case (.failure, _): break
            }
        }
    }

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

    // MARK: TLS that comes to nothing

    private func failed(_ failure: TLSFailure) {
        switch self.phase {
        case .hello, .handshake: self.phase = .over
        case .checking, .firstBytes, .waitingForEither, .relaying, .over: return
        }
        // The page looks whether its own certificate is trusted: that it is not yet is no failure.
        guard !self.isMagic else { return self.client.closeAfterFlush(isCut: true) }
        guard self.isAnswered || (failure.cause != .closed && failure.cause != .reset) else { return self.leftUnanswered() }
        self.tell(failure)
        self.client.closeAfterFlush(isCut: true)
    }

    /// GnuTLS has its programs, wget among them, judge the certificate after the handshake: one that trusts nobody leaves then, without
    /// a word. A connection that a client opens in reserve, as browsers do, stays for longer.
    private func tellIfLeftUnused(_ scope: TunnelScope) {
        guard !self.isMagic, self.tls?.inspect({ $0.isResumed }) == false else { return }
        let established = self.proxy.now
        // Holds the exchange until the first request.
        scope.leftUnused = { failure in
            guard self.proxy.now - established < .seconds(2) else { return }
            self.tell(
                failure ?? TLSFailure(cause: .closed, message: "the client closed the connection after the handshake"),
                isAfterHandshake: true)
        }
    }

    private func tell(_ failure: TLSFailure, isAfterHandshake: Bool = false) {
        let problem = TLSProblem(
            leg: .client, host: self.hello.serverName ?? self.host, port: self.port, failure: failure, isAfterHandshake: isAfterHandshake)
        self.proxy.diagnosis.report(problem)
        self.record(Failure(kind: .tls, message: problem.description))
    }

    /// It has not seen our certificate: whether it trusts us is not the question.
    private func leftUnanswered() {
        let message =
            "the client for \"\(self.request.head.target)\" left before its TLS was answered: is it still running, and is the origin up?"
        self.proxy.diagnosis.remark(message)
        self.record(Failure(kind: .cancelled, message: message))
        self.client.closeAfterFlush(isCut: true)
    }

    /// No request was seen: the CONNECT stands for what was lost.
    private func record(_ failure: Failure) {
        guard let recorder = self.proxy.recorder else { return }
        let head = self.request.head
        var interaction = Interaction(
            id: recorder.nextID(), started: self.proxy.timestamp(at: self.request.start),
            request: RecordedRequest(
                method: head.method, url: "https://\(head.target)/", target: head.target, version: head.version, headers: head.fields),
            outcome: .failed(failure))
        interaction.timing.total = Double((self.proxy.now - self.request.start).nanoseconds) / 1e6
        self.proxy.count { $0.exchanges += 1 }
        self.proxy.record(.exchange(TapedExchange(interaction: interaction), stored: nil))
    }
}
