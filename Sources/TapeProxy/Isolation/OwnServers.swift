internal import NIOCore
internal import Platform
internal import TapeExchange
internal import TapeIsolation

extension Isolation {
    /// The addresses at which a server that a URL or a tunnel names is looked for inside; nil if it is none of the isolated machine. A
    /// client that goes there without the proxy reaches the same.
    ///
    /// - Parameter host: without brackets.
    func ownAddresses(of host: String, port: Int) -> [SocketAddress]? {
        guard var addresses = self.ownAddresses(of: host) else { return nil }
        if self.reaches(port) {
            // The program finds the port open in both families, whichever its server listens in.
            let twins = addresses.filter(\.isLoopback).compactMap { IPAddress($0.loopbackTwin) }
            addresses += twins.filter { !addresses.contains($0) }
        }
        return addresses.compactMap { try? SocketAddress(packedIPAddress: ByteBuffer(bytes: $0.bytes), port: port) }
    }

    private func ownAddresses(of host: String) -> [IPAddress]? {
        if let address = IPAddress(host: host) {
            return address.isLoopback || address.isUnspecified || Self.isOwn(address) ? [address] : nil
        }
        // `a.test.` equals `a.test` (RFC 1034, 3.1).
        let name = (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
        if let addresses = self.settings.hosts[name] { return addresses.compactMap { IPAddress($0) } }
        // RFC 6761, 6.3.
        guard name == "localhost" || name.hasSuffix(".localhost") || self.settings.ownNames.contains(name) else { return nil }
        let loopback = ["127.0.0.1", "::1"].compactMap { IPAddress($0) }
        // Its server may listen at the address that it has looked up for the machine's name.
        guard self.settings.ownNames.contains(name), let known = self.names.addresses(of: name) else { return loopback }
        return [known.version4, known.version6].compactMap { IPAddress(bytes: $0) } + loopback
    }

}

extension IPAddress {
    /// Takes `127.1` and `0x7f000001` as well, as resolvers do (inet_aton(3)).
    init?(host: String) {
        if let address = IPAddress(host) {
            self = address
            return
        }
        var address = in_addr()
        guard host.utf8.first.map({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) == true, inet_aton(host, &address) != 0 else {
            return nil
        }
        self.init(bytes: withUnsafeBytes(of: address.s_addr) { Array($0) })
    }

    /// Loopback's address in the other family.
    var loopbackTwin: String { self.bytes.count == 4 ? "::1" : "127.0.0.1" }
}

/// A request to the proxy for a server of this machine. If the isolated program has started that server itself, it answers, as it does
/// without the proxy: neither the cassette nor a rule does, and nothing is recorded. Otherwise, the request continues as any other.
///
/// Not Sendable: lives on its event loop.
final class OwnServerExchange: MessageExchange {
    private let client: any ClientStream
    private let proxy: ProxyContext
    private let router: ExchangeRouter
    private let request: IncomingRequest
    private let route: UpstreamRoute
    private var isOver = false
    /// The exchange that answers.
    private var next: (any MessageExchange)?
    let deadline: NIODeadline

    init(router: ExchangeRouter, request: IncomingRequest, origin: Origin) {
        self.router = router
        self.client = router.stream
        self.proxy = router.stream.peer.session
        self.request = request
        self.route = .inside(host: origin.host, port: origin.port, hops: request.hops)
        self.deadline = self.proxy.now + .seconds(Int64(2 * self.proxy.limits.connect))
    }

    func start() {
        if let stream = self.proxy.pool.take(self.route, client: self.client.peer.id, isRepeatable: self.request.isRepeatable) {
            return self.forward(over: .init(stream: stream, isReused: true))
        }
        self.proxy.dialing.open(self.route, lookup: nil) { [weak self] result in
            guard let self, !self.isOver else {
                if case .success(let upstream) = result { upstream.cancel() }
                return
            }
            switch result {
            case .success(let stream): self.forward(over: .init(stream: stream, isReused: false))
            case .failure(.stopped): self.client.close()
            case .failure: self.become(self.router.exchange(forAdmitted: self.request))
            }
        }
    }

    private func forward(over made: ForwardExchange.MadeConnection) {
        self.become(ForwardExchange(client: self.client, request: self.request, route: self.route, over: made, records: false))
    }

    private func become(_ exchange: any ClientExchange) {
        self.isOver = true
        if case .message(let exchange) = exchange.kind { self.next = exchange }
        self.client.become(exchange)
        exchange.start()
    }

    // MARK: The client

    // A client that has left already keeps this exchange.
    func requestRest(_ piece: BodyPiece) { self.next?.requestRest(piece) }

    func clientLeft(_ reason: String) {
        self.isOver = true
        self.next?.clientLeft(reason)
    }

    func requestBody(_ piece: BodyPiece) {}
    func requestFailed(_ error: MessageError) {}
    func deadlinePassed() { self.client.close() }
}

/// The same for a tunnel.
///
/// Not Sendable: lives on its event loop.
final class OwnServerTunnel: TunnelExchange {
    private let client: any ClientStream
    private let proxy: ProxyContext
    private let router: ExchangeRouter
    private let request: IncomingRequest
    private let route: UpstreamRoute
    private var isOver = false
    let deadline: NIODeadline

    /// The bytes after the head belong to the tunnel and wait until it is open.
    let takesBytes = false

    init(router: ExchangeRouter, request: IncomingRequest, host: String, port: Int) {
        self.router = router
        self.client = router.stream
        self.proxy = router.stream.peer.session
        self.request = request
        self.route = .inside(host: host, port: port, hops: request.hops)
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
            case .success(let upstream): Tunnel.open(self.request.opening, self.client, upstream, self.proxy)
            case .failure(.stopped): self.client.close()
            case .failure:
                let exchange = self.router.exchange(forAdmitted: self.request)
                self.client.become(exchange)
                exchange.start()
            }
        }
    }

    func clientBytes(_ input: inout ByteBuffer) {}
    func clientLeft(_ reason: String) { self.isOver = true }
    func deadlinePassed() { self.client.close() }
}
