internal import NIOCore
internal import TapeCore
internal import TapeExchange
internal import TapeTLS

/// Tunnels whose TLS comes to nothing: told, and recorded.
extension InterceptExchange {
    func failed(_ failure: TLSFailure) {
        switch self.phase {
        case .hello, .handshake: self.phase = .over
        case .checking, .firstOctets, .waitingForEither, .relaying, .over: return
        }
        // The page looks whether its own certificate is trusted: that it is not yet is no failure.
        guard !self.isMagic else { return self.client.closeAfterFlush() }
        guard self.isAnswered || (failure.cause != .closed && failure.cause != .reset) else { return self.leftUnanswered() }
        self.tell(failure)
        self.client.closeAfterFlush()
    }

    /// GnuTLS has its programs, wget among them, judge the certificate behind the handshake: one that trusts nobody leaves then, without
    /// a word. A connection that a client opens in reserve, as browsers do, stays for longer.
    func tellIfLeftUnused(_ scope: TunnelScope) {
        guard !self.isMagic, self.tls?.inspect({ $0.isResumed }) == false else { return }
        let established = self.proxy.now
        // Holds the exchange until the first request.
        scope.leftUnused = { failure in
            guard self.proxy.now - established < .seconds(2) else { return }
            self.tell(
                failure ?? TLSFailure(cause: .closed, message: "the client closed the connection behind the handshake"),
                isBehindHandshake: true)
        }
    }

    private func tell(_ failure: TLSFailure, isBehindHandshake: Bool = false) {
        let problem = TLSProblem(
            leg: .client, host: self.hello.serverName ?? self.host, port: self.port, failure: failure, isBehindHandshake: isBehindHandshake)
        self.proxy.diagnosis.report(problem)
        self.record(Failure(kind: .tls, message: problem.description))
    }

    /// It has not seen our certificate: whether it trusts us is not the question.
    private func leftUnanswered() {
        let message =
            "the client for \"\(self.request.head.target)\" left before its TLS was answered: is it still running, and is the origin up?"
        self.proxy.diagnosis.remark(message)
        self.record(Failure(kind: .cancelled, message: message))
        self.client.closeAfterFlush()
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
