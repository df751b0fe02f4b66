internal import CassetteModel
internal import NIOCore
internal import NIOPosix
internal import Platform
internal import TapeExchange
internal import TapeIsolation

/// The lookups that one session is waiting for, so that stopping the session cancels them. Not Sendable: lives on its event loop.
final class PendingLookups {
    private var pending: [Int: () -> Void] = [:]
    private var last = 0
    private(set) var isStopped = false

    /// - Parameter stopped: called if the session stops before `remove`.
    func add(stopped: @escaping () -> Void) -> Int {
        self.last += 1
        self.pending[self.last] = stopped
        return self.last
    }

    func remove(_ id: Int) { self.pending[id] = nil }

    func stop() {
        self.isStopped = true
        let calls = self.pending.values
        self.pending = [:]
        for call in calls { call() }
    }
}

/// Makes connections to origins: looks up the name, refuses the proxy's own address, and connects with happy eyeballs.
final class UpstreamDialer {
    private let loop: any EventLoop
    private let limits: ProxyLimits
    private let resolver: NameResolver
    private let own: OwnPorts
    private let log: ProxyLog
    private let transparent: Transparent?
    private let inside: InsideDialer?

    /// - Parameters:
    ///   - own: the ports on which this process listens.
    ///   - transparent: notified of each connection.
    ///   - isolation: of the program, whose own servers come before this machine's.
    init(
        loop: any EventLoop, limits: ProxyLimits, resolver: NameResolver, own: OwnPorts = OwnPorts(), log: ProxyLog = ProxyLog(),
        transparent: Transparent? = nil, isolation: Isolation? = nil
    ) {
        self.inside = isolation.map { InsideDialer(isolation: $0, loop: loop) }
        self.transparent = transparent
        self.loop = loop
        self.limits = limits
        self.resolver = resolver
        self.own = own
        self.log = log
    }

    /// Starts to look up a name; nil if the host is an address. `dial` waits for the answer.
    func lookUp(host: String, port: Int) -> NameLookup? {
        if (try? SocketAddress(ipAddress: host, port: port)) != nil { return nil }
        return NameLookup(answer: self.resolver.look(up: host, port: port, on: self.loop))
    }

    /// Connects and calls back on the loop; `prepare` sets up the channel's pipeline.
    ///
    /// - Parameters:
    ///   - address: the only one of the host's to try; nil for all of them.
    ///   - lookup: a lookup that has already started.
    ///   - pending: holds the lookup while it runs.
    func dial(
        host: String, port: Int, address: IPAddress? = nil, lookup: NameLookup? = nil, among pending: PendingLookups = PendingLookups(),
        prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>,
        then: @escaping (Result<(any Channel, DialTiming), DialFailure>) -> Void
    ) {
        let started = NIODeadline.now()
        let host = address.map { Endpoint.text($0) } ?? host
        if let address = try? SocketAddress(ipAddress: host, port: port) {
            self.connect(host: host, port: port, to: [address], dns: nil, since: started, prepare: prepare, then: then)
            return
        }
        guard !pending.isStopped else { return then(.failure(.stopped)) }
        guard let inside, let addresses = inside.addresses(of: host, port: port) else {
            return self.dial(host: host, port: port, lookup: lookup, among: pending, since: started, prepare: prepare, then: then)
        }
        // The machine's own name has another address outside.
        inside.connect(to: addresses, until: started + .seconds(Int64(self.limits.connect))) { outcome in
            switch outcome {
            case .connected(let socket): self.take(socket, host: host, port: port, prepare: prepare, then: then)
            case .none where pending.isStopped: then(.failure(.stopped))
            case .none: self.dial(host: host, port: port, lookup: lookup, among: pending, since: started, prepare: prepare, then: then)
            }
        }
    }

    /// Looks a name up, and connects.
    private func dial(
        host: String, port: Int, lookup: NameLookup?, among pending: PendingLookups, since started: NIODeadline,
        prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>,
        then: @escaping (Result<(any Channel, DialTiming), DialFailure>) -> Void
    ) {
        guard let lookup = lookup ?? self.lookUp(host: host, port: port) else { return }
        var isOver = false
        var id: Int?
        let timer = self.loop.assumeIsolated().scheduleTask(in: .seconds(Int64(self.limits.connect))) {
            isOver = true
            if let id { pending.remove(id) }
            then(
                .failure(
                    .failed(
                        Failure(
                            kind: .timeout,
                            message: "looking up \"\(host)\" took longer than \(self.limits.connect) s: check the name server."))))
        }
        id = pending.add {
            isOver = true
            timer.cancel()
            then(.failure(.stopped))
        }
        lookup.answer.assumeIsolated().whenComplete { result in
            guard !isOver else { return }
            timer.cancel()
            if let id { pending.remove(id) }
            switch result {
            case .success(let answer):
                self.log.lookedUp(host, addresses: answer.addresses.count, milliseconds: answer.milliseconds)
                self.connect(
                    host: host, port: port, to: answer.addresses, dns: answer.milliseconds, since: .now(), prepare: prepare, then: then)
            case .failure(let error):
                let problem = error as? NameResolver.Problem ?? .notFound("\(error)")
                then(.failure(.failed(Failure(kind: .dns, message: problem.message(for: host)))))
            }
        }
    }

    private func connect(
        host: String, port: Int, to addresses: [SocketAddress], dns: Double?, since started: NIODeadline,
        prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>,
        then: @escaping (Result<(any Channel, DialTiming), DialFailure>) -> Void
    ) {
        guard !addresses.isEmpty else {
            return then(.failure(.failed(Failure(kind: .dns, message: "\"\(host)\" has no address: check the host name in the URL."))))
        }
        guard !addresses.contains(where: { self.isSelf($0) }) else { return then(.failure(.loop)) }
        guard let inside, inside.serves(addresses) else {
            return self.connectOutside(host: host, port: port, to: addresses, dns: dns, since: started, prepare: prepare, then: then)
        }
        inside.connect(to: addresses, until: started + .seconds(Int64(self.limits.connect))) { outcome in
            switch outcome {
            case .connected(let socket):
                self.completed(
                    self.bootstrap { prepare($0) }.withConnectedSocket(socket), host: host, port: port, dns: dns, since: started,
                    then: then)
            case .none where inside.isolation.reaches(port):
                let listening = UInt16(exactly: port).map { ListeningPorts.addresses(of: $0) } ?? []
                self.connectOutside(
                    host: host, port: port, to: InsideDialer.outside(addresses, port: port, listening: listening), dns: dns, since: started,
                    prepare: prepare,
                    then: then)
            case .none: then(.failure(.failed(Self.notInside(host, port))))
            }
        }
    }

    /// Connects to a server of the isolated program's own, wherever it listens. The failure is of the kind `refused` if there is none.
    ///
    /// - Parameter address: tried first.
    func dialInside(
        host: String, port: Int, address: IPAddress? = nil, prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>,
        then: @escaping (Result<(any Channel, DialTiming), DialFailure>) -> Void
    ) {
        guard let inside, let addresses = inside.isolation.ownAddresses(of: host, port: port) else {
            return then(.failure(.failed(Self.notInside(host, port))))
        }
        let first = address.flatMap { try? SocketAddress(packedIPAddress: ByteBuffer(bytes: $0.bytes), port: port) }
        let others = ([first].compactMap(\.self) + addresses).filter { !self.isSelfInside($0) }
        inside.connect(to: others, until: .now() + .seconds(Int64(self.limits.connect))) { outcome in
            switch outcome {
            case .connected(let socket): self.take(socket, host: host, port: port, prepare: prepare, then: then)
            case .none: then(.failure(.failed(Self.notInside(host, port))))
            }
        }
    }

    private static func notInside(_ host: String, _ port: Int) -> Failure {
        Failure(
            kind: .refused,
            message:
                "no server of the isolated program listens on \"\(host)\", port \(port): if it is a server of this machine, pass --reach \(port)."
        )
    }

    /// Whether the proxy listens at an address inside, whatever it listens on outside.
    private func isSelfInside(_ address: SocketAddress) -> Bool {
        guard let port = address.port, self.own.rule(for: port) != nil, let ip = IPAddress(address) else { return false }
        return ip.bytes == [127, 0, 0, 1] || ip.bytes == [0, 0, 0, 0]
    }

    /// Why a host may not be dialled; nil if it may.
    func obstacle(to host: String) -> Failure? {
        guard self.inside?.isolation.isOnlyInside(host) == true else { return nil }
        return Failure(
            kind: .unreachable,
            message: "\"\(host)\" is an address that only the resolver of an isolated network hands out: ask for the server by its name.")
    }

    /// Uses a socket that is connected already, and takes it.
    private func take(
        _ socket: Int32, host: String, port: Int, prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>,
        then: @escaping (Result<(any Channel, DialTiming), DialFailure>) -> Void
    ) {
        self.completed(
            self.bootstrap { prepare($0) }.withConnectedSocket(socket), host: host, port: port, dns: nil, since: .now(), then: then)
    }

    private func bootstrap(
        _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> ClientBootstrap {
        ClientBootstrap(group: self.loop)
            .connectTimeout(.seconds(Int64(self.limits.connect)))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.recvAllocator, value: ReadBuffers(upTo: self.limits.readSize))
            .channelInitializer(initialize)
    }

    /// - Parameter addresses: at least one.
    private func connectOutside(
        host: String, port: Int, to addresses: [SocketAddress], dns: Double?, since started: NIODeadline,
        prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>,
        then: @escaping (Result<(any Channel, DialTiming), DialFailure>) -> Void
    ) {
        // With several addresses, NIO opens a channel for each address it tries. A handler belongs to one channel, and would stay with the
        // first one after that has been closed.
        let hasSeveral = addresses.count > 1
        var bootstrap = self.bootstrap { hasSeveral ? $0.eventLoop.makeSucceededVoidFuture() : prepare($0) }
        #if os(Linux)
        if self.transparent?.mayMark == true { bootstrap = bootstrap.channelOption(Transparent.marked, value: Transparent.mark) }
        #endif
        let connecting =
            hasSeveral
            ? bootstrap.resolver(ResolvedAddresses(addresses: addresses, loop: self.loop)).connect(host: host, port: port)
                .flatMap { channel in
                    prepare(channel).map { channel }.flatMapErrorThrowing { error in
                        channel.close(promise: nil)
                        throw error
                    }
                }
            : bootstrap.connect(to: addresses[0])
        self.completed(connecting, host: host, port: port, dns: dns, since: started, then: then)
    }

    private func completed(
        _ connecting: EventLoopFuture<any Channel>, host: String, port: Int, dns: Double?, since started: NIODeadline,
        then: @escaping (Result<(any Channel, DialTiming), DialFailure>) -> Void
    ) {
        connecting.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let channel):
                self.remember(channel)
                then(.success((channel, DialTiming(dns: dns, connect: Self.milliseconds(since: started)))))
            case .failure(let error):
                let authority = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
                then(.failure(.failed(Self.failure(error, authority: authority))))
            }
        }
    }

    /// Remembers the connection's address: a connection that arrives from it is a loop.
    private func remember(_ channel: any Channel) {
        guard let transparent, let address = channel.localAddress else { return }
        transparent.dialled(from: address)
        channel.closeFuture.whenComplete { _ in transparent.closed(from: address) }
    }

    /// Whether a connection to the host would reach this proxy. Names are looked up only if the port is one of the proxy's.
    func reachesSelf(host: String, port: Int, then: @escaping (Bool) -> Void) {
        guard self.own.rule(for: port) != nil else { return then(false) }
        if let address = try? SocketAddress(ipAddress: host, port: port) { return then(self.isSelf(address)) }
        self.resolver.look(up: host, port: port, on: self.loop).assumeIsolated().whenComplete { result in
            // A name without an address cannot reach this proxy.
            then(((try? result.get())?.addresses ?? []).contains { self.isSelf($0) })
        }
    }

    func isSelf(_ address: SocketAddress) -> Bool {
        guard let port = address.port, let rule = self.own.rule(for: port), let ip = IPAddress(address) else { return false }
        return rule.isSelf(address: ip, port: port)
    }

    private static func milliseconds(since: NIODeadline) -> Double {
        Double((.now() - since).nanoseconds) / 1e6
    }

    private static func failure(_ error: any Error, authority: String) -> Failure {
        switch error {
        case let error as NIOConnectionError:
            // Every address failed. Report the last failure.
            guard let last = error.connectionErrors.last else {
                return Failure(kind: .dns, message: "\"\(authority)\" was not found: check the host name in the URL.")
            }
            return self.failure(last.error, authority: authority)
        case ChannelError.connectTimeout(let amount):
            return Failure(
                kind: .timeout,
                message: "no connection to \"\(authority)\" within \(amount.nanoseconds / 1_000_000_000) s: is the origin up?")
        case let error as IOError:
            switch error.errnoCode {
            case ECONNREFUSED:
                return Failure(kind: .refused, message: "\"\(authority)\" refused the connection: is the origin running?")
            case ECONNRESET, EPIPE:
                return Failure(kind: .reset, message: "\"\(authority)\" reset the connection.")
            case ETIMEDOUT:
                return Failure(kind: .timeout, message: "\"\(authority)\" did not answer in time: is the origin up?")
            default:
                return Failure(
                    kind: .unreachable, message: "\"\(authority)\" cannot be reached (errno \(error.errnoCode)): check the address.")
            }
        default:
            return Failure(kind: .unreachable, message: "\"\(authority)\" cannot be reached (\(error)): check the address.")
        }
    }
}

/// Gives NIO's happy eyeballs (RFC 8305) the addresses that were already looked up and checked, so that it connects only to a checked
/// address.
struct ResolvedAddresses: Resolver, Sendable {
    let addresses: [SocketAddress]
    let loop: any EventLoop

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        self.loop.makeSucceededFuture(self.addresses.filter { if case .v4 = $0 { true } else { false } })
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        self.loop.makeSucceededFuture(self.addresses.filter { if case .v6 = $0 { true } else { false } })
    }

    func cancelQueries() {}
}

extension IPAddress {
    /// nil for a Unix domain socket.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let v4): self.init(bytes: withUnsafeBytes(of: v4.address.sin_addr) { Array($0) })
        case .v6(let v6): self.init(bytes: withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) })
        case .unixDomainSocket: return nil
        }
    }
}
