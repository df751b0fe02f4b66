internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// Answers CONNECT (RFC 9110, 9.3.6): dials, says 200, and becomes a blind tunnel.
///
/// Not Sendable: lives on its event loop.
final class ConnectExchange: ClientExchange {
    private let client: ClientHandler
    private let request: IncomingRequest
    private let host: String
    private let port: Int
    private var isOver = false

    let isIdle = false

    init(client: ClientHandler, request: IncomingRequest, host: String, port: Int) {
        self.client = client
        self.request = request
        self.host = host
        self.port = port
    }

    /// What follows the head belongs to the tunnel: it waits in the client's buffer until there is one.
    let isRequestRead = true

    func start() {
        let proxy = self.client.proxy
        // Octets are passed on unread: no TLS of ours.
        let route = UpstreamRoute(Origin(scheme: .http, host: self.host, port: self.port))
        self.client.wait(2 * proxy.limits.connect)
        proxy.connector.connect(route) { [weak self] result in
            guard let self, !self.isOver else {
                if case .success(let upstream) = result { upstream.close() }
                return
            }
            self.isOver = true
            switch result {
            case .success(let upstream):
                self.client.write(ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"))
                let tunnel = Tunnel(client: self.client, upstream: upstream) { _ in }
                self.client.become(tunnel)
                tunnel.start()
                self.client.flush()
                self.client.process()
            case .failure(.loop):
                self.answer(.loop(self.request.head.target))
            case .failure(.failed(let failure)):
                self.answer(.failure(failure))
            }
        }
    }

    private func answer(_ answer: ProxyAnswer) {
        self.client.write(ByteBuffer(bytes: answer.bytes(method: "CONNECT", persistence: .close)))
        self.client.exchangeEnded(.linger)
    }

    func requestInput(_ input: inout ByteBuffer) {}
    func clientReadComplete() {}
    func clientWritabilityChanged(_ isWritable: Bool) {}
    func clientEnded() -> Bool { false }
    func proxyStopped() {}
    func clientLeft(_ reason: String) { self.isOver = true }
    func deadlinePassed() { self.client.close() }
}
