internal import NIOCore
internal import TapeCore
internal import TapeExchange
internal import TapeTLS

/// Tunnels in which the client speaks TLS: its hello is answered with a certificate of ours, or left alone.
extension InterceptExchange {
    func beginTLS(_ octets: ByteBuffer) {
        do throws(TLSFailure) {
            self.phase = .handshake
            let handler = TLSHandler(try self.interception.connection(), isClient: false)
            handler.owner = self
            handler.keepsInput = true
            self.tls = handler
            self.client.insert(handler)
            handler.begin(with: octets)
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
        self.client.wait(2 * self.proxy.limits.connect)
        // Nothing can be due from the client before it is answered: what it sends all the same waits in the kernel.
        self.client.setReading(false)
        self.proxy.connector.connect(route, lookup: self.lookup.take()) { [weak self] result in
            self?.proxy.readClock()
            guard let self, case .handshake = self.phase else {
                if case .success(let upstream) = result { upstream.close() }
                return
            }
            self.client.setReading(true)
            self.client.wait(self.proxy.limits.tlsHandshake)
            switch result {
            case .success(let upstream):
                let names = upstream.peerNames
                upstream.peerNames = []
                self.proxy.pool.put(upstream, now: self.proxy.now)
                self.mint(names)
            case .failure(.failed(let failure)):
                scope.failure = failure
                self.mint([])
            case .failure(.loop):
                self.mint([])
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
        self.client.closeAfterFlush()
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
}

extension InterceptExchange: TLSHandlerOwner {
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
}
