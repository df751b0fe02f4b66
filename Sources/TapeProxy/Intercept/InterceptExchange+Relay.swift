internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// Tunnels that are none of our business: dialled, and relayed unread.
extension InterceptExchange {
    /// Dials for what is not ours to read.
    func relay() {
        self.phase = .relaying
        guard self.mayDial else { return self.closeUnread() }
        self.client.wait(2 * self.proxy.limits.connect)
        self.proxy.connector.connect(self.blindRoute) { [weak self] result in
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

    func relay(over greeting: Greeting) {
        greeting.forget()
        self.becomeTunnel(greeting.upstream)
        if greeting.octets.readableBytes > 0 { self.client.write(greeting.octets) }
        self.client.flush()
    }

    private func becomeTunnel(_ upstream: UpstreamHandler) {
        self.phase = .over
        self.proxy.count { $0.tunnels += 1 }
        let tunnel = Tunnel(client: self.client, upstream: upstream) { _ in }
        self.client.become(tunnel)
        tunnel.start()
        var octets = self.received
        self.received = ByteBuffer()
        if octets.readableBytes > 0 { tunnel.requestInput(&octets) }
        self.client.process()
    }

    /// The client says nothing: perhaps it waits for the origin to speak first, as mail servers and databases do.
    func dialForGreeting() {
        self.phase = .waitingForEither
        // Where nobody may be dialled, the client may still be slow.
        guard self.mayDial else { return self.client.wait(self.proxy.limits.requestHead) }
        self.client.wait(2 * self.proxy.limits.connect)
        self.proxy.connector.connect(self.blindRoute) { [weak self] result in
            switch (result, self?.phase) {
            case (.success(let upstream), .waitingForEither?): self?.awaitGreeting(upstream)
            case (.success(let upstream), .relaying?): self?.becomeTunnel(upstream)
            case (.success(let upstream), _): upstream.close()
            case (.failure, .waitingForEither?), (.failure, .relaying?): self?.client.close()
            case (.failure, _): break
            }
        }
    }

    private func awaitGreeting(_ upstream: UpstreamHandler) {
        self.client.wait(self.proxy.limits.clientIdle)
        self.greeting = Greeting(upstream) { [weak self] greeting in
            guard let self, case .waitingForEither = self.phase else { return }
            self.greeting = nil
            self.relay(over: greeting)
        } ended: { [weak self] in
            self?.client.close()
        }
    }

    func forgetGreeting() {
        guard let greeting else { return }
        self.greeting = nil
        greeting.forget()
        greeting.upstream.close()
    }
}
