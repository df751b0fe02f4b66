internal import CIsolation
internal import Dispatch
internal import Platform
internal import TapeBytes
package import TapeExchange

/// Why an isolation cannot begin or continue.
package struct IsolationError: Error, Hashable, CustomStringConvertible {
    /// A message for people, or the line that the process inside sent.
    package var description: String
    /// The line is an obstacle that the process inside met.
    package var isObstacle: Bool
}

/// The outer side of an isolated command: the sockets of its network namespace, the names that its resolver hands out, and the log of what
/// was refused.
///
/// Does not create the namespace, which the command's process does before it becomes the command, and does not serve connections, which the
/// proxy does.
package final class Isolation: Sendable {
    package let settings: IsolationSettings
    package let names: NameTable
    package let log = IsolationLog()
    /// The end of a socket pair for the process inside.
    package let innerEnd: Int32
    private let outerEnd: Int32

    private struct State: Sendable {
        #if os(Linux)
        var sockets: InsideSockets?
        #endif
        var isOver = false
    }

    private let state = Guarded(State())
    /// The connections that continue in a session, by the port from which they do.
    private let led = Guarded<[UInt16: (source: Endpoint, destination: Endpoint)]>([:])
    /// Serves sockets inside one after another.
    private let dialing = DispatchSemaphore(value: 1)
    /// Programs are looked up one after another.
    private let finding = DispatchQueue(label: "wiretape.isolation.programs")
    #if os(Linux)
    private let watch = Guarded<IsolationWatch?>(nil)
    // SAFETY: used only on the queue `finding`.
    private nonisolated(unsafe) var finder: ProgramFinder?
    /// The programs of connections, by their source, as they were when they connected. A source that is used again gets its new program.
    // SAFETY: used only on the queue `finding`.
    private nonisolated(unsafe) var arrived: [Endpoint: IsolatedProgram] = [:]
    private static let arrivedLimit = 10_000
    #endif

    /// - Throws: if the system has no descriptors left, or no network namespaces.
    package init(_ settings: IsolationSettings) throws(IsolationError) {
        #if os(Linux)
        if let stream = InheritedSockets.standardStream {
            throw IsolationError(
                description:
                    "--isolate is not possible here: \(stream) is a connection of this machine's network, which the command would have too: redirect it to a file or a pipe.",
                isObstacle: false)
        }
        #endif
        self.settings = settings
        self.names = NameTable(looksPublic: settings.usesRealAddresses && !settings.mayForward)
        #if os(Linux)
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, LinuxSocket.sequence | LinuxSocket.closeAtExec, 0, &ends) == 0 else {
            throw IsolationError(
                description: "cannot make a pair of sockets (\(String(cString: strerror(errno)))): raise the limit of open files.",
                isObstacle: false)
        }
        self.outerEnd = ends[0]
        self.innerEnd = ends[1]
        #else
        self.outerEnd = -1
        self.innerEnd = -1
        throw IsolationError(
            description: "--isolate works only on Linux: this system has no network namespaces.", isObstacle: false)
        #endif
    }

    deinit {
        #if os(Linux)
        self.state.withLock { $0.sockets }?.closeAll()
        #endif
        if self.outerEnd >= 0 { close(self.outerEnd) }
    }

    /// The command's process has the inner end now.
    package func started() { close(self.innerEnd) }

    #if os(Linux)
    /// Waits for the sockets of the namespace, and begins to watch them. The command waits until `begin`.
    package func receive() throws(IsolationError) {
        var message = InsideSockets.receive(from: self.outerEnd)
        while case .inherited(let socket) = message {
            self.log.closed(socket)
            message = InsideSockets.receive(from: self.outerEnd)
        }
        switch message {
        case .inherited, .end: throw IsolationError(description: "the process that enters the namespaces ended early", isObstacle: false)
        case .failure(let line): throw IsolationError(description: line, isObstacle: true)
        case .sockets(let sockets):
            self.state.withLock { $0.sockets = sockets }
            guard let diagnosis = sockets.descriptor(.diagnosis) else {
                throw IsolationError(description: "the namespace lacks a socket", isObstacle: false)
            }
            self.finding.sync {
                self.finder = ProgramFinder(diagnosis: diagnosis, namespace: sockets.namespace, dialer: sockets.dialer)
            }
            guard let watch = IsolationWatch(sockets, of: self) else {
                throw IsolationError(
                    description: "no thread could be started: raise the limit of processes (ulimit -u).", isObstacle: false)
            }
            self.watch.withLock { $0 = watch }
        }
    }

    /// The listening sockets: those of connections to any address, and that of the proxy's port. The caller owns them.
    package func takeListeners() -> (led: [Int32], proxy: Int32?) {
        self.state.withLock { state in
            func copy(_ role: InsideSockets.Role) -> Int32? {
                state.sockets?.descriptor(role).map { fcntl($0, F_DUPFD_CLOEXEC, 0) }.flatMap { $0 >= 0 ? $0 : nil }
            }
            return ([copy(.stream4), copy(.stream6)].compactMap(\.self), copy(.proxy))
        }
    }

    /// Whether connections wait to be taken by the proxy.
    package var hasWaiting: Bool {
        self.state.withLock { state in
            let roles: [InsideSockets.Role] = [.stream4, .stream6, .proxy]
            var polled = roles.compactMap { state.sockets?.descriptor($0) }.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            return poll(&polled, nfds_t(polled.count), 0) > 0
        }
    }

    /// Lets the command start.
    package func begin() { InsideSockets.allow(through: self.outerEnd) }

    /// Reads what has happened until now, and ends. The dialer inside ends with it.
    package func stop() {
        // Not under the lock: waits for a thread.
        self.watch.withLock { $0.take() }?.stop()
        self.finding.sync { self.finder = nil }
        self.dialing.wait()
        defer { self.dialing.signal() }
        let sockets = self.state.withLock { state in
            state.isOver = true
            return state.sockets.take()
        }
        sockets?.closeAll()
    }
    #endif

    package var report: IsolationReport { self.log.report }

    // MARK: Names

    /// The name of a destination, or the address itself if the resolver did not hand it out.
    package func host(of address: IPAddress) -> String { self.names.name(of: address) ?? Endpoint.text(address) }

    /// The name whose address a text is, if the resolver handed it out.
    package func name(ofAddress text: String) -> String? { IPAddress(text).flatMap { self.names.name(of: $0) } }

    /// Whether a host is an address that means nothing outside, because only the resolver inside hands it out.
    package func isOnlyInside(_ host: String) -> Bool {
        guard !self.settings.usesRealAddresses, let address = IPAddress(host) else { return false }
        return self.names.isHandedOut(address)
    }

    /// The isolated machine's own addresses besides loopback.
    package static var ownAddresses: [String] { [OwnAddresses.version4, OwnAddresses.version6] }

    /// Whether an address besides loopback is the isolated machine's own.
    package static func isOwn(_ address: IPAddress) -> Bool { OwnAddresses.all.contains(address) }

    /// Whether connections to this loopback port go to servers outside if there is none inside.
    package func reaches(_ port: Int) -> Bool { UInt16(exactly: port).map { self.settings.reach.contains($0) } ?? false }

    // MARK: Programs

    /// Counts a connection to an address, and looks up its program.
    ///
    /// - Parameter time: in nanoseconds of a clock that does not jump.
    package func connected(from source: Endpoint, to destination: Endpoint, at time: UInt64) {
        self.log.connected(host: self.host(of: destination.address), port: destination.port, at: time)
        self.noteProgram(from: source, to: destination) { self.log.connected(by: $0) }
    }

    /// Looks up the program of a connection, which may have ended when the connection is refused.
    ///
    /// - Parameter then: called on any thread.
    package func noteProgram(
        from source: Endpoint, to destination: Endpoint, then: @escaping @Sendable (IsolatedProgram?) -> Void = { _ in }
    ) {
        #if os(Linux)
        self.finding.async {
            let program = self.finder?.program(transport: IPPacket.tcp, source: source, destination: destination)
            if self.arrived.count >= Self.arrivedLimit { self.arrived = [:] }
            self.arrived[source] = program
            then(program)
        }
        #endif
    }

    /// Lists a refused connection, and calls back on any thread when its program is known, so that the connection can end.
    ///
    /// - Parameter target: where a connection to the proxy was to go on to; nil for a connection to the destination itself.
    package func refused(
        from source: Endpoint, to destination: Endpoint, target: IsolationSettings.Passage? = nil, _ reason: IsolationReport.Reason,
        then: @escaping @Sendable () -> Void
    ) {
        let target = target ?? .init(host: self.host(of: destination.address), port: destination.port)
        #if os(Linux)
        // Without the namespace's sockets, nobody can be looked up.
        guard self.state.withLock({ $0.sockets != nil }) else {
            self.log.refused(.tcp, host: target.host, port: target.port, reason, by: nil)
            return then()
        }
        self.finding.async {
            var program = self.finder?.program(transport: IPPacket.tcp, source: source, destination: destination)
            // It may have ended since it connected.
            if program?.path == nil { program = self.arrived[source] ?? program }
            self.log.refused(.tcp, host: target.host, port: target.port, reason, by: program)
            then()
        }
        #else
        then()
        #endif
    }

    /// A connection continues in a session.
    ///
    /// - Parameter port: of this machine, from which it does.
    package func led(from source: Endpoint, to destination: Endpoint, through port: UInt16) {
        self.led.withLock { $0[port] = (source, destination) }
    }

    /// Lists a connection that a session has refused, unless another process leads it there.
    package func refused(_ refusal: SessionRefusal) {
        guard let port = UInt16(exactly: refusal.port), let ends = self.led.withLock({ $0[port] }) else { return }
        self.refused(from: ends.source, to: ends.destination, target: refusal.target, refusal.reason) {}
    }

    #if os(Linux)
    /// Looks up the sender of a packet. Blocks.
    func program(of packet: IPPacket) -> IsolatedProgram? {
        self.finding.sync {
            switch packet.transport {
            case IPPacket.tcp, IPPacket.udp:
                self.finder?.program(transport: packet.transport, source: packet.source, destination: packet.destination)
            case 1, 58: self.finder?.program(echo: packet.echo)
            default: nil
            }
        }
    }
    #endif

    // MARK: Connections into the namespace

    /// The answer to a connection into the namespace.
    package enum Inside: Sendable {
        /// A connected socket, which the caller owns.
        case connected(Int32)
        /// A socket that is still connecting.
        case connecting(Int32)
        case failed(errno: Int32)
    }

    /// Connects to a server inside. Does not wait.
    package func connect(to endpoint: Endpoint) -> Inside {
        #if os(Linux)
        let family = endpoint.address.bytes.count == 4 ? wiretape_dialer_ipv4 : wiretape_dialer_ipv6
        guard let socket = self.makeSocket(UInt8(family)) else { return .failed(errno: ENETUNREACH) }
        var (storage, size) = endpoint.storage
        // SAFETY: the storage holds an address of this size.
        let status = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Platform.connect(socket, $0, size) }
        }
        if status == 0 { return .connected(socket) }
        let number = errno
        if number == EINPROGRESS { return .connecting(socket) }
        close(socket)
        return .failed(errno: number)
        #else
        return .failed(errno: ENOSYS)
        #endif
    }

    #if os(Linux)
    private func makeSocket(_ family: UInt8) -> Int32? {
        self.dialing.wait()
        defer { self.dialing.signal() }
        guard let dialer = self.state.withLock({ $0.isOver ? nil : $0.sockets?.descriptor(.dialer) }) else { return nil }
        guard send(dialer, [family], 1, Int32(MSG_NOSIGNAL)) == 1 else { return nil }
        var answer: [UInt8] = [0]
        var made: [Int32] = [-1]
        var count = 1
        guard wiretape_receive_descriptors(dialer, &answer, 1, &made, &count) == 1, count == 1 else { return nil }
        return made[0]
    }
    #endif
}
