internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// What `ExchangeState` orders is done, and the exchange recorded.
extension ForwardExchange {
    func obey(_ action: ExchangeState.Action) {
        defer { if self.isOver { self.held = nil } }
        switch action {
        case .wait, .ignore:
            break
        case .finish(let client, let upstream):
            self.isOver = true
            self.release(upstream)
            self.record(.complete) { self.client.exchangeEnded(client) }
        case .answer(let failure, let client):
            self.isOver = true
            self.release(.close)
            self.record(.failed(failure)) { self.answer(self.requestFault.map { .malformed($0) } ?? .failure(failure), client: client) }
        case .cut(let cut):
            self.isOver = true
            self.writeHeldHead()
            self.release(.close)
            self.record(.cut(cut)) { self.client.closeAfterFlush() }
        case .cancel(let cut):
            self.isOver = true
            self.release(.close)
            self.record(.cut(cut)) {}
        case .redial:
            self.release(.close)
            self.responseInput = nil
            self.sawResponse = false
            self.dial()
        }
    }

    private func release(_ after: ExchangeState.After) {
        guard let upstream else { return }
        self.upstream = nil
        if after == .keep { self.proxy.pool.put(upstream, now: self.proxy.now) } else { upstream.close() }
    }

    /// Hands the exchange to the recorder; `then` runs at once, or when it is on the disk where that was asked for.
    func record(_ outcome: Outcome, then: @escaping () -> Void) {
        self.proxy.count {
            $0.bytes += self.bytesOut
            if self.records { $0.exchanges += 1 }
        }
        guard let exchange = self.tap?.ended(outcome, at: self.elapsed) else { return then() }
        self.tap = nil
        guard self.proxy.configuration.durability == .full else {
            self.proxy.record(.exchange(exchange, stored: nil))
            return then()
        }
        self.isHeld = true
        let door = self.proxy.door
        let resume = NIOLoopBound(then, eventLoop: self.proxy.loop)
        self.proxy.record(.exchange(exchange, stored: { _ in door.execute { resume.value() } }))
    }

    func answer(_ answer: ProxyAnswer, client after: ExchangeState.After) {
        let option = self.request.connectionOption(keeps: after == .keep)
        self.client.write(ByteBuffer(bytes: answer.bytes(method: self.request.head.method, persistence: option)))
        self.client.exchangeEnded(after)
    }
}
