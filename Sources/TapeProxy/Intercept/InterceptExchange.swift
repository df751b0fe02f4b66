internal import NIOCore
internal import TapeCore
internal import TapeExchange
internal import TapeTLS

/// Answers CONNECT (RFC 9110, 9.3.6) at once and finds out what the client speaks inside: TLS is ended here, HTTP is read, anything else
/// is relayed unread.
///
/// Ends when the client connection goes on inside the tunnel: the requests there are exchanges of their own. Not Sendable: lives on its
/// event loop.
final class InterceptExchange: ClientExchange {
    enum Phase {
        /// The proxy may be asked for itself: its own addresses are being looked up.
        case checking
        case firstOctets
        /// The client was silent; a connection is made for an origin that speaks first.
        case waitingForEither
        /// TLS has begun; the hello is not whole. Until it is, nothing but its octets is kept.
        case hello
        case handshake
        case relaying
        case over
    }

    let client: ClientHandler
    let proxy: ProxyContext
    let interception: Interception
    let request: IncomingRequest
    let host: String
    let port: Int
    var phase = Phase.checking
    var tls: TLSHandler?
    /// What the client sent so far: it goes on as it came where the tunnel turns out to be none of our business.
    var received = ByteBuffer()
    var hello = ClientHello()
    var lookup: NameLookup?
    var scope: TunnelScope?
    /// The client has our certificate, or will have it.
    var isAnswered = false
    var greeting: Greeting?

    init(client: ClientHandler, interception: Interception, request: IncomingRequest, host: String, port: Int) {
        self.client = client
        self.proxy = client.proxy
        self.interception = interception
        self.request = request
        self.host = host
        self.port = port
    }

    var isRequestRead: Bool { if case .checking = self.phase { true } else { false } }

    /// The client has a tunnel and has said nothing.
    var isIdle: Bool {
        switch self.phase {
        case .firstOctets, .waitingForEither: true
        case .checking, .hello, .handshake, .relaying, .over: false
        }
    }

    /// Nothing is dialled where nothing is forwarded, and nobody is at the magic host.
    var mayDial: Bool { self.proxy.session.mayForward && !self.isMagic }

    var isMagic: Bool { MagicHost.isNamed(self.host) }

    // MARK: CONNECT

    func start() {
        // Where nothing is dialled, nothing can come back here, and no name is looked up.
        guard self.mayDial else { return self.accept() }
        self.client.wait(2 * self.proxy.limits.connect)
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
        self.phase = .firstOctets
        self.client.wait(self.proxy.limits.tunnelSilence)
        self.client.write(ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"))
        self.client.flush()
        self.client.process()
    }

    private func refuse(_ answer: ProxyAnswer) {
        self.phase = .over
        self.client.write(ByteBuffer(bytes: answer.bytes(method: "CONNECT", persistence: .close)))
        self.client.exchangeEnded(.linger)
    }

    // MARK: First octets

    func requestInput(_ input: inout ByteBuffer) {
        switch self.phase {
        case .firstOctets, .waitingForEither, .hello: self.look(&input)
        case .checking, .handshake, .relaying, .over: break
        }
    }

    private func look(_ input: inout ByteBuffer) {
        switch FirstOctets(input.readableBytesView) {
        case .needsMore:
            if case .firstOctets = self.phase { self.client.wait(self.proxy.limits.requestHead) }
        case .tls:
            self.forgetGreeting()
            if case .hello = self.phase {} else { self.client.wait(self.proxy.limits.tlsHandshake) }
            self.phase = .hello
            guard ClientHelloFrame.isWhole(input.readableBytesView), let octets = input.readSlice(length: input.readableBytes) else {
                return
            }
            self.beginTLS(octets)
        case .http:
            self.forgetGreeting()
            self.enter(TunnelScope(route: UpstreamRoute(Origin(scheme: .http, host: self.host, port: self.port))))
        case .other:
            guard let octets = input.readSlice(length: input.readableBytes) else { return }
            self.received = octets
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

    func enter(_ scope: TunnelScope) {
        self.phase = .over
        self.client.enter(scope)
    }

    // MARK: Client events

    func clientReadComplete() {}
    func clientWritabilityChanged(_ isWritable: Bool) {}
    func clientEnded() -> Bool { false }

    func proxyStopped() {
        self.phase = .over
        self.forgetGreeting()
    }

    func clientLeft(_ reason: String) {
        switch self.phase {
        case .hello, .handshake:
            self.failed(TLSFailure(cause: .closed, message: "the client closed the connection inside the handshake"))
        case .checking, .firstOctets, .waitingForEither, .relaying, .over: break
        }
        self.phase = .over
        self.forgetGreeting()
    }

    func deadlinePassed() {
        switch self.phase {
        case .firstOctets:
            self.dialForGreeting()
        case .hello, .handshake:
            self.failed(
                TLSFailure(cause: .timeout, message: "the handshake was not through within \(self.proxy.limits.tlsHandshake) s"))
        case .checking, .waitingForEither, .relaying, .over:
            self.client.close()
        }
    }
}
