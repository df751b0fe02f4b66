internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// The origin's answer on its way to the client.
extension ForwardExchange {
    func upstreamRead(_ buffer: ByteBuffer) {
        self.proxy.readClock()
        guard !self.isOver else { return }
        self.sawResponse = true
        self.client.wait(self.proxy.limits.upstreamSilence)
        var input = buffer
        if self.responseInput != nil {
            var whole = self.responseInput.take() ?? ByteBuffer()
            whole.writeImmutableBuffer(buffer)
            input = whole
        }
        do throws(MessageError) {
            while !self.isOver, input.readableBytes > 0, try self.responseStep(&input) {}
        } catch {
            let failure = Failure(kind: .malformed, message: "\"\(self.origin.authority)\" sent what is not HTTP: \(error.message)")
            self.obey(self.state.upstreamFailed(failure, sawResponse: true))
        }
        if !self.isOver, input.readableBytes > 0 { self.responseInput = input }
    }

    private func responseStep(_ input: inout ByteBuffer) throws(MessageError) -> Bool {
        switch self.responsePhase {
        case .head:
            let parsed = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in
                try self.responseParser.parseResponse(bytes)
            }
            guard let parsed else { return false }
            input.moveReaderIndex(forwardBy: parsed.consumed)
            if parsed.head.status == 101 {
                try self.switchProtocols(parsed.head, rest: &input)
                return false
            }
            if parsed.head.status < 200 {
                try self.interim(parsed.head)
            } else {
                try self.begin(parsed.head, hasMore: input.readableBytes > 0)
            }
            return true
        case .body:
            let at = self.elapsed
            let dechunks = self.dechunks
            var payload = ByteBuffer()
            let progress = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in
                try self.responseBody.consume(bytes) { event in
                    self.taped(.response, event, in: bytes, at: at)
                    if dechunks, case .data(let range) = event { payload.writeBytes(bytes[range]) }
                }
            }
            if let octets = input.readSlice(length: progress.consumed) {
                self.bytesOut += octets.readableBytes
                self.write(dechunks ? payload : octets)
            }
            if progress.isDone { self.responseEnded(rest: input) }
            return !progress.isDone
        case .done:
            return false
        }
    }

    private func interim(_ head: ResponseHead) throws(MessageError) {
        self.interimCount += 1
        guard self.interimCount <= self.proxy.messageLimits.interimResponses else {
            throw MessageError(.tooManyFields, status: 502, "more than \(self.proxy.messageLimits.interimResponses) interim responses")
        }
        self.tap?.interim(InterimResponse(head, at: self.elapsed))
        // RFC 9110, 15.2: an HTTP/1.0 client does not know them.
        guard HopByHop.passesInterim(to: self.request.head.version), !(head.status == 100 && self.toldToGoOn) else { return }
        self.client.write(self.head(head))
    }

    private func head(_ head: ResponseHead) -> ByteBuffer {
        ByteBuffer(
            bytes: HopByHop.forwardedResponse(self.shown(head), clientConnection: .keepAlive, clientVersion: self.request.head.version))
    }

    /// As the client gets it, which may know the origin under another name.
    private func shown(_ head: ResponseHead) -> ResponseHead { self.request.reverse?.response(head) ?? head }

    private func begin(_ head: ResponseHead, hasMore: Bool) throws(MessageError) {
        let framing = try BodyFraming.ofResponse(head, requestMethod: self.request.head.method)
        self.dechunks = HopByHop.needsDechunking(framing, clientVersion: self.request.head.version)
        let clientPersists = framing != .untilClose && !self.dechunks && !self.proxy.isStopping
        self.state.responseBegan(upstreamPersists: Persistence.staysOpen(after: head, framing: framing), clientPersists: clientPersists)
        self.tap?.responseBegan(
            RecordedResponse(head), framing: framing,
            at: self.elapsed)
        if framing == .untilClose || self.dechunks { self.client.answerEndsByClose() }
        let keeps = clientPersists && self.request.persists && self.isRequestSent
        let bytes = HopByHop.forwardedResponse(
            self.shown(head), clientConnection: keeps ? .keepAlive : .close, clientVersion: self.request.head.version,
            removesChunking: self.dechunks)
        self.bytesOut += bytes.count
        // Written with the first of the body, or when the read is through: one write for a small answer.
        self.heldHead = ByteBuffer(bytes: bytes)
        self.responseBody = BodyParser(framing: framing, side: .response, limits: self.proxy.messageLimits)
        self.responsePhase = .body
        if framing == .none || framing == .length(0) { self.responseEnded(rest: nil) }
    }

    /// The held head and octets behind it in one buffer where they are few, since each buffer has its price in every layer below.
    private func write(_ octets: ByteBuffer) {
        if var head = self.heldHead.take() {
            if octets.readableBytes <= Self.joinLimit {
                head.writeImmutableBuffer(octets)
                return self.client.write(head)
            }
            self.client.write(head)
        }
        self.client.write(octets)
    }

    func writeHeldHead() {
        if let head = self.heldHead.take() { self.client.write(head) }
    }

    func responseEnded(rest: ByteBuffer?) {
        self.writeHeldHead()
        self.responsePhase = .done
        self.tap?.responseEnded()
        // Octets behind the answer answer nothing: the connection is not used again (RFC 9112, 9.2).
        if let rest, rest.readableBytes > 0 { self.state.responseBegan(upstreamPersists: false) }
        self.obey(self.state.responseEnded())
    }

    // MARK: Upgrade

    /// The origin changes protocols: both connections become a tunnel (RFC 9110, 7.8).
    private func switchProtocols(_ head: ResponseHead, rest: inout ByteBuffer) throws(MessageError) {
        guard HopByHop.asksUpgrade(self.request.head), self.isRequestSent, let upstream else {
            throw MessageError(.startLine, status: 502, "101 (Switching Protocols) without a request for it")
        }
        self.isOver = true
        self.tap?.responseBegan(
            RecordedResponse(head), framing: .none,
            at: self.elapsed)
        self.tap?.responseEnded()
        self.client.write(self.head(head))
        let tunnel = Tunnel(client: self.client, upstream: upstream) { [self] counts in
            self.tap?.tunnelled(counts)
            self.record(.complete) {}
        }
        self.tunnel = tunnel
        self.client.become(tunnel)
        tunnel.start()
        if rest.readableBytes > 0 { tunnel.upstreamRead(rest) }
        tunnel.upstreamReadComplete()
        rest.moveReaderIndex(to: rest.writerIndex)
        // What the client sent behind its request has waited for the tunnel.
        self.client.process()
    }
}
