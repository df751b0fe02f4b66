internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// Tunnels that are none of our business: dialled, and relayed unread.
extension InterceptExchange {
    /// Dials for what is not ours to read.
    func relay() {
        self.phase = .relaying
        guard self.mayDial else { return self.missed() }
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

    /// Nothing of what the client speaks was recorded, and nothing is dialled.
    private func missed() {
        if case .refuse(let report) = self.proxy.session.decide(method: "CONNECT", url: "https://\(self.request.head.target)/") {
            self.proxy.count { $0.misses += 1 }
            self.proxy.diagnosis.remark(
                "the client speaks neither TLS nor HTTP in its tunnel to \"\(self.request.head.target)\": there is nothing to replay (\(report.mode.rawValue))."
            )
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
        guard self.mayDial else { return self.missed() }
        self.phase = .waitingForEither
        self.client.wait(2 * self.proxy.limits.connect)
        self.proxy.connector.connect(self.blindRoute) { [weak self] result in
            guard let self, case .waitingForEither = self.phase else {
                if case .success(let upstream) = result { upstream.close() }
                return
            }
            switch result {
            case .success(let upstream):
                self.client.wait(self.proxy.limits.clientIdle)
                self.greeting = Greeting(upstream) { [weak self] greeting in
                    guard let self, case .waitingForEither = self.phase else { return }
                    self.greeting = nil
                    self.relay(over: greeting)
                } ended: { [weak self] in
                    self?.client.close()
                }
            case .failure:
                self.client.close()
            }
        }
    }

    func forgetGreeting() {
        guard let greeting else { return }
        self.greeting = nil
        greeting.forget()
        greeting.upstream.close()
    }
}
