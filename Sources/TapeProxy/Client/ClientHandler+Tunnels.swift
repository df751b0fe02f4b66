internal import NIOCore
internal import TapeTLS

/// Tunnels that we open: TLS goes in and out, and requests go on inside.
extension ClientHandler {
    /// TLS between the socket and here, from now on.
    func insert(_ handler: TLSHandler) {
        self.tls = handler
        try? self.context?.pipeline.syncOperations.addHandler(handler, position: .before(self))
    }

    /// The tunnel turned out not to be for us.
    func remove(_ handler: TLSHandler) {
        self.tls = nil
        _ = self.context?.pipeline.syncOperations.removeHandler(handler)
    }

    /// The CONNECT is done; what follows are requests inside the tunnel.
    func enter(_ scope: TunnelScope) {
        guard case .exchange = self.phase else { return }
        self.scope = scope
        self.phase = .head
        guard !self.proxy.isStopping else { return self.endSoon() }
        self.wait(self.proxy.limits.clientIdle)
        self.process()
    }

    /// The client leaves by itself: perhaps the tunnel that it asked for was not to its liking.
    func noticeUnused(_ failure: TLSFailure? = nil) {
        guard case .head = self.phase, !self.isInsideHead, let leftUnused = self.scope?.leftUnused else { return }
        self.scope?.leftUnused = nil
        self.proxy.readClock()
        leftUnused(failure)
    }
}
