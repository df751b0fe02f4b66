internal import CassetteModel
internal import NIOCore
internal import NIOPosix
internal import Platform
internal import TapeExchange
internal import TapeIsolation

/// Connects to servers that an isolated program has started inside its network namespace.
///
/// Lives on its event loop.
struct InsideDialer {
    let isolation: Isolation
    let loop: any EventLoop

    enum Outcome {
        /// A connected socket, which the caller owns.
        case connected(Int32)
        /// No server inside listens at any of the addresses.
        case none
    }

    /// Between two looks at a connection that is not there at once, as with a full backlog.
    private static let pause = TimeAmount.milliseconds(5)

    /// The addresses of a name in the hosts file inside; nil for any other name.
    func addresses(of host: String, port: Int) -> [SocketAddress]? {
        self.isolation.settings.hosts[host.lowercased()]?.compactMap { try? SocketAddress(ipAddress: $0, port: port) }
    }

    /// Whether all addresses are inside.
    func serves(_ addresses: [SocketAddress]) -> Bool {
        addresses.allSatisfy { IPAddress($0).map { $0.isLoopback || $0.isUnspecified || Isolation.isOwn($0) } ?? false }
    }

    /// The addresses at which a server of this machine is looked for: that one which was asked for, if a server listens there. The isolated
    /// client found its port open in each family, although the server may listen in one only.
    ///
    /// - Parameter listening: the loopback addresses on which servers of this machine listen at the port.
    static func outside(_ addresses: [SocketAddress], port: Int, listening: Set<String>) -> [SocketAddress] {
        func made(_ texts: [String]) -> [SocketAddress] { texts.compactMap { try? SocketAddress(ipAddress: $0, port: port) } }
        let asked = addresses.compactMap { IPAddress($0) }.map { address in
            // The isolated machine's own addresses are those of other machines outside.
            address.isLoopback ? Endpoint.text(address) : address.bytes.count == 4 ? "127.0.0.1" : "::1"
        }
        let standard = ["127.0.0.1", "::1"]
        // Another one of loopback's addresses has no twin.
        if asked.contains(where: { !standard.contains($0) }) { return made(asked) }
        let open = asked.filter { listening.contains($0) }
        if !open.isEmpty { return made(open) }
        let twins = standard.filter { listening.contains($0) }
        return made(twins.isEmpty ? asked : twins)
    }

    /// Tries the addresses one after another.
    func connect(to addresses: some Collection<SocketAddress>, until deadline: NIODeadline, then: @escaping (Outcome) -> Void) {
        guard let first = addresses.first else { return then(.none) }
        let rest = Array(addresses.dropFirst())
        guard let endpoint = Endpoint(first) else { return self.connect(to: rest, until: deadline, then: then) }
        switch self.isolation.connect(to: endpoint) {
        case .connected(let socket): then(.connected(socket))
        case .failed: self.connect(to: rest, until: deadline, then: then)
        case .connecting(let socket): self.look(at: socket, rest, until: deadline, then: then)
        }
    }

    /// On loopback, a connection is mostly made or refused before the call returns.
    private func look(at socket: Int32, _ rest: [SocketAddress], until deadline: NIODeadline, then: @escaping (Outcome) -> Void) {
        var polled = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        guard poll(&polled, 1, 0) == 1 else {
            guard NIODeadline.now() < deadline else {
                close(socket)
                return self.connect(to: rest, until: deadline, then: then)
            }
            self.loop.assumeIsolated().scheduleTask(in: Self.pause) { self.look(at: socket, rest, until: deadline, then: then) }
            return
        }
        var number: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &size) == 0, number == 0 else {
            close(socket)
            return self.connect(to: rest, until: deadline, then: then)
        }
        then(.connected(socket))
    }
}
