internal import NIOCore
internal import TapeExchange

/// Answers CONNECT (RFC 9110, 9.3.6): dials, says 200, and becomes a tunnel that nobody reads.
///
/// Not Sendable: lives on its event loop.
final class ConnectExchange: TunnelExchange {
    private let client: any ClientStream
    private let proxy: ProxyContext
    private let request: IncomingRequest
    private let route: UpstreamRoute
    private var isOver = false
    let deadline: NIODeadline

    /// What follows the head belongs to the tunnel: it waits until there is one.
    let takesBytes = false

    init(client: any ClientStream, request: IncomingRequest, host: String, port: Int) {
        self.client = client
        self.proxy = client.peer.session
        self.request = request
        // Bytes are passed on unread: no TLS of ours.
        self.route = UpstreamRoute(Origin(scheme: .http, host: host, port: port))
        self.deadline = self.proxy.now + .seconds(Int64(2 * self.proxy.limits.connect))
    }

    func start() {
        self.proxy.dialing.openTunnel(self.route) { [weak self] result in
            guard let self, !self.isOver else {
                if case .success(let upstream) = result { upstream.close() }
                return
            }
            self.isOver = true
            switch result {
            case .success(let upstream):
                self.client.write(ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"))
                let tunnel = Tunnel(client: self.client, upstream: upstream, proxy: self.proxy)
                self.client.become(tunnel)
                tunnel.start()
            case .failure(.loop): self.answer(.loop(self.request.head.target))
            case .failure(.failed(let failure)): self.answer(.failure(failure))
            case .failure(.stopped): self.client.close()
            }
        }
    }

    private func answer(_ answer: ProxyAnswer) {
        self.client.send(answer, isFinal: true)
        self.client.finish()
    }

    func clientBytes(_ input: inout ByteBuffer) {}
    func clientLeft(_ reason: String) { self.isOver = true }
    func deadlinePassed() { self.client.close() }
}
