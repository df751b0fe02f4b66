#if os(Linux)
internal import CIsolation
internal import Dispatch
internal import Platform
internal import TapeBytes
internal import TapeExchange

/// Two threads of an isolation: one answers queries for names, the other lists and refuses datagrams and logged packets.
///
/// They are apart so that looking up a program never delays a name.
final class IsolationWatch: Sendable {
    private let isolation: Isolation
    private let sockets: Sockets
    /// Readable once the threads should end.
    private let ending: (read: Int32, write: Int32)
    private let ended = DispatchSemaphore(value: 0)
    /// Connections for queries that are open.
    private let streams = Guarded<Set<Int32>>([])
    /// How many packets each socket had dropped.
    private let dropped = Guarded<[Int32: UInt32]>([:])
    /// Guards the descriptors, which are closed soon after the threads have ended, against names that are found later.
    private let isOver = Guarded(false)

    /// The descriptors that the threads use, which the isolation closes after they have ended.
    private struct Sockets: Sendable {
        var names: [Int32]
        var nameStreams: [Int32]
        var datagrams: [Int32]
        var errors4: Int32?
        var errors6: Int32?
        var packets: Int32?
    }

    private static let streamLimit = 64

    /// Nil if no thread can be started.
    init?(_ inside: InsideSockets, of isolation: Isolation) {
        self.isolation = isolation
        func all(_ roles: InsideSockets.Role...) -> [Int32] { roles.compactMap { inside.descriptor($0) } }
        self.sockets = Sockets(
            names: all(.names4, .names6), nameStreams: all(.nameStream4, .nameStream6), datagrams: all(.datagrams4, .datagrams6),
            errors4: inside.descriptor(.errors4), errors6: inside.descriptor(.errors6), packets: inside.descriptor(.packets))
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.ending = (ends[0], ends[1])
        let runs = [{ @Sendable in self.answerNames() }, { @Sendable in self.readPackets() }]
        for run in runs {
            guard
                DedicatedThread.start({
                    run()
                    self.ended.signal()
                })
            else { return nil }
        }
    }

    /// Returns when both threads have read what was there and have ended.
    func stop() {
        _ = write(self.ending.write, [0], 1)
        self.ended.wait()
        self.ended.wait()
        // They read what has arrived. A name that is being looked up is not waited for.
        for _ in 0..<500
        where self.streams.withLock({ streams in
            for stream in streams { shutdown(stream, Int32(SHUT_RD)) }
            return !streams.isEmpty
        }) { poll(nil, 0, 2) }
        self.isOver.withLock { $0 = true }
        close(self.ending.read)
        close(self.ending.write)
    }

    /// Waits for any of the descriptors.
    ///
    /// - Returns: those that can be read; nil once the thread should end.
    private func wait(for descriptors: [Int32]) -> [Int32]? {
        var polled = (descriptors + [self.ending.read]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&polled, nfds_t(polled.count), -1) < 0 {
            guard errno == EINTR else { return nil }
        }
        guard polled.last?.revents == 0 else { return nil }
        return polled.dropLast().filter { $0.revents != 0 }.map(\.fd)
    }

    // MARK: Names

    private func answerNames() {
        let watched = self.sockets.names + self.sockets.nameStreams
        while let ready = self.wait(for: watched) {
            for descriptor in ready {
                if self.sockets.names.contains(descriptor) {
                    self.answerDatagrams(descriptor)
                } else {
                    self.takeStream(descriptor)
                }
            }
        }
        for descriptor in self.sockets.names { self.answerDatagrams(descriptor) }
        for descriptor in self.sockets.nameStreams {
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&polled, 1, 0) == 1, self.takeStream(descriptor) {}
        }
    }

    private func answerDatagrams(_ socket: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var (from, to) = (sockaddr_storage(), sockaddr_storage())
        var programs = Programs(of: self.isolation)
        // What finds no room may be a query that its program repeats, unless others were refused.
        defer { if !programs.isEmpty { self.countDropped(by: socket) } }
        while true {
            let count = wiretape_receive_datagram(socket, &buffer, buffer.count, &from, &to)
            guard count >= 0 else { return }
            let (source, destination) = (from, to)
            do throws(NameQuery.Problem) {
                try self.answer(buffer[..<count]) { answer in
                    var (source, destination) = (source, destination)
                    self.isOver.withLock { isOver in
                        guard !isOver else { return }
                        _ = wiretape_send_datagram(socket, answer, answer.count, &destination, &source)
                    }
                }
            } catch {
                var (source, destination) = (source, destination)
                guard let sender = Endpoint(source), let target = Endpoint(destination) else { continue }
                let packet = IPPacket(transport: IPPacket.udp, source: sender, destination: target)
                self.refused(packet, .datagram, by: programs.program(of: packet))
                if let answer = error.answer {
                    _ = wiretape_send_datagram(socket, answer, answer.count, &destination, &source)
                } else {
                    self.refuse(sender, target, Array(buffer[..<count]))
                }
            }
        }
    }

    /// Lists a packet that was refused, while its sender still waits.
    private func refused(_ packet: IPPacket, _ reason: IsolationReport.Reason) {
        self.refused(packet, reason, by: self.isolation.program(of: packet))
    }

    private func refused(_ packet: IPPacket, _ reason: IsolationReport.Reason, by program: IsolatedProgram?) {
        self.isolation.log.refused(
            packet.transport == IPPacket.udp ? .udp : .tcp, host: self.isolation.host(of: packet.destination.address),
            port: packet.destination.port, reason, by: program)
    }

    /// - Parameter send: called once, perhaps on another thread, unless this throws.
    private func answer(_ bytes: ArraySlice<UInt8>, send: @escaping @Sendable ([UInt8]) -> Void) throws(NameQuery.Problem) {
        let query = try NameQuery(bytes)
        if case .other = query.kind { self.isolation.log.asked(query.name, query.kind) }
        guard self.isolation.settings.usesRealAddresses, self.isolation.settings.mayForward, query.isHostName, query.wantsAddress else {
            return send(self.answer(to: query))
        }
        DispatchQueue.global().async { send(self.realAnswer(to: query)) }
    }

    private func answer(to query: NameQuery) -> [UInt8] {
        guard query.wantsAddress else { return query.answer([]) }
        if query.isLoopback { return query.answer([query.kind == .address4 ? [127, 0, 0, 1] : Self.loopback6]) }
        guard query.isHostName else { return query.notFound }
        guard let addresses = self.isolation.names.addresses(of: query.name) else { return query.failure }
        if query.kind == .address4 { return query.answer([addresses.version4]) }
        return query.answer(self.sockets.names.count > 1 ? [addresses.version6] : [])
    }

    private static let loopback6 = [UInt8](repeating: 0, count: 15) + [1]

    private func realAnswer(to query: NameQuery) -> [UInt8] {
        guard !query.isLoopback else { return self.answer(to: query) }
        guard let addresses = SystemNames.addresses(of: query.name) else { return query.notFound }
        // A server of this machine: its loopback address would lead to one inside.
        if addresses.contains(where: { IPAddress(bytes: $0)?.isLoopback == true }) { return self.answer(to: query) }
        let size = query.kind == .address4 ? 4 : 16
        // Every connection inside is made. A program that outside would go on to an address of the other family never does.
        let reachable = addresses.filter { IPAddress(bytes: $0).map { Self.hasRoute(to: $0) } ?? false }
        let wanted = (reachable.isEmpty ? addresses : reachable).filter { $0.count == size }
        for address in wanted { self.isolation.names.remember(address, of: query.name) }
        return query.answer(wanted)
    }

    /// Whether this machine's network leads to an address. Sends nothing.
    private static func hasRoute(to address: IPAddress) -> Bool {
        let socket = Platform.socket(
            address.bytes.count == 4 ? AF_INET : AF_INET6, LinuxSocket.datagram | LinuxSocket.closeAtExec, 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        var (storage, size) = Endpoint(address: address, port: 9).storage
        // SAFETY: the storage holds an address of this size.
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) }
        } == 0
    }

    /// Answers the queries of one connection (RFC 1035, 4.2.2) on a thread of its own.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    private func takeStream(_ listener: Int32) -> Bool {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return false }
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        let isFree = self.streams.withLock { streams in streams.count < Self.streamLimit && streams.insert(connection).inserted }
        @Sendable func end() {
            self.streams.withLock { streams in
                streams.remove(connection)
                close(connection)
            }
        }
        let isServed =
            isFree
            && DedicatedThread.start {
                self.serve(connection)
                end()
            }
        guard !isServed else { return true }
        if let ends = Self.ends(of: connection) {
            self.refused(IPPacket(transport: IPPacket.tcp, source: ends.peer, destination: ends.own), .failed)
        }
        end()
        return true
    }

    private func serve(_ connection: Int32) {
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        _ = setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let ends = Self.ends(of: connection)
        var isFirst = true
        while true {
            let size = Self.read(2, from: connection)
            guard !size.isEmpty else {
                if isFirst, let ends { self.refused(IPPacket(transport: IPPacket.tcp, source: ends.peer, destination: ends.own), .silent) }
                return
            }
            isFirst = false
            let count = size.count == 2 ? Int(size[0]) << 8 | Int(size[1]) : 0
            let bytes = Self.read(count, from: connection)
            let answered = DispatchSemaphore(value: 0)
            let answer = Guarded<[UInt8]>([])
            do throws(NameQuery.Problem) {
                guard count > 0, bytes.count == count else { throw .noQuery }
                try self.answer(bytes[...]) { bytes in
                    answer.withLock { $0 = bytes }
                    answered.signal()
                }
            } catch {
                if let ends { self.refused(IPPacket(transport: IPPacket.tcp, source: ends.peer, destination: ends.own), .notHTTP) }
                guard let refusal = error.answer else { return }
                answer.withLock { $0 = refusal }
                answered.signal()
            }
            guard answered.wait(timeout: .now() + 30) == .success else { return }
            let text = answer.withLock { $0 }
            let whole = [UInt8(text.count >> 8), UInt8(text.count & 0xFF)] + text
            guard send(connection, whole, whole.count, Int32(MSG_NOSIGNAL)) == whole.count else { return }
        }
    }

    private static func ends(of connection: Int32) -> (peer: Endpoint, own: Endpoint)? {
        func end(_ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) -> Endpoint? {
            var storage = sockaddr_storage()
            var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
            // SAFETY: the storage has room for an address of any family.
            let result = withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(connection, $0, &size) }
            }
            return result == 0 ? Endpoint(storage) : nil
        }
        guard let peer = end({ getpeername($0, $1, $2) }), let own = end({ getsockname($0, $1, $2) }) else { return nil }
        return (peer, own)
    }

    /// Reads that many bytes, or those that come before the end or a pause.
    private static func read(_ count: Int, from connection: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let read = bytes.withUnsafeMutableBytes { recv(connection, $0.baseAddress.map { $0 + filled }, count - filled, 0) }
            guard read > 0 else { break }
            filled += read
        }
        return Array(bytes.prefix(filled))
    }

    // MARK: Packets

    private func readPackets() {
        let watched = self.sockets.datagrams + [self.sockets.packets].compactMap(\.self)
        while let ready = self.wait(for: watched) {
            for descriptor in ready { self.read(descriptor) }
        }
        // The kernel delivers on loopback at once, so everything that an ended program has sent is here.
        for descriptor in watched { self.read(descriptor) }
    }

    /// The programs of packets that arrive together. One that sends many at once is looked for once, or the others would be lost meanwhile.
    private struct Programs {
        private let isolation: Isolation
        private var found: [IPPacket: IsolatedProgram?] = [:]

        private static let limit = 1_000

        init(of isolation: Isolation) { self.isolation = isolation }

        var isEmpty: Bool { self.found.isEmpty }

        mutating func program(of packet: IPPacket) -> IsolatedProgram? {
            if let known = self.found[packet] { return known }
            if self.found.count >= Self.limit { self.found = [:] }
            let program = self.isolation.program(of: packet)
            self.found[packet] = .some(program)
            return program
        }
    }

    private func read(_ descriptor: Int32) {
        if descriptor == self.sockets.packets { self.readLog(descriptor) } else { self.refuseDatagrams(descriptor) }
    }

    private func refuseDatagrams(_ socket: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var (from, to) = (sockaddr_storage(), sockaddr_storage())
        var programs = Programs(of: self.isolation)
        while true {
            let count = wiretape_receive_datagram(socket, &buffer, buffer.count, &from, &to)
            guard count >= 0 else { break }
            guard let source = Endpoint(from), let destination = Endpoint(to) else { continue }
            let packet = IPPacket(transport: IPPacket.udp, source: source, destination: destination)
            self.refused(packet, .datagram, by: programs.program(of: packet))
            self.refuse(source, destination, Array(buffer[..<count]))
        }
        self.countDropped(by: socket)
    }

    /// Counts the packets that found no room in a socket's buffer.
    private func countDropped(by socket: Int32) {
        // SO_MEMINFO: the last of nine numbers is that of dropped packets (linux/sock_diag.h).
        var numbers = [UInt32](repeating: 0, count: 9)
        var size = socklen_t(numbers.count * MemoryLayout<UInt32>.size)
        guard getsockopt(socket, SOL_SOCKET, 55, &numbers, &size) == 0, Int(size) == numbers.count * MemoryLayout<UInt32>.size else {
            return
        }
        let news = self.dropped.withLock { dropped in
            defer { dropped[socket] = numbers[8] }
            return Int(numbers[8] &- (dropped[socket] ?? 0))
        }
        if news > 0 { self.isolation.log.missed(news) }
    }

    /// Tells the sender that nobody listens, so that it does not wait.
    private func refuse(_ source: Endpoint, _ destination: Endpoint, _ payload: [UInt8]) {
        guard let socket = source.address.bytes.count == 4 ? self.sockets.errors4 : self.sockets.errors6 else { return }
        let message = IPPacket.portUnreachable(from: source, to: destination, payload: payload)
        var (storage, size) = Endpoint(address: source.address, port: 0).storage
        // SAFETY: the storage holds an address of this size.
        withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(socket, message, message.count, Int32(MSG_DONTWAIT), $0, size)
            }
        }
    }

    private func readLog(_ socket: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var programs = Programs(of: self.isolation)
        while true {
            let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            // The kernel dropped packets because this thread was too slow.
            if count < 0, errno == ENOBUFS { continue }
            guard count > 0 else { break }
            for answer in NetlinkMessage.answers(in: buffer[..<count]) where answer.type == 4 << 8 {
                if let logged = LoggedPacket(answer) { self.list(logged, &programs) }
            }
        }
        self.countDropped(by: socket)
    }

    private func list(_ logged: LoggedPacket, _ programs: inout Programs) {
        let packet = logged.packet
        // A host that joins a group of multicast or looks for a router says so by itself.
        guard !(packet.transport == 1 || packet.transport == 58) || packet.echo != nil else { return }
        var program = programs.program(of: packet)
        if program == nil, let user = logged.user { program = IsolatedProgram(user: user) }
        let (transport, reason): (IsolationReport.Transport, IsolationReport.Reason) =
            switch packet.transport {
            case IPPacket.udp: (.udp, .multicast)
            case IPPacket.tcp: (.tcp, .failed)
            case 1, 58: (.icmp, .ping)
            default: (.other(packet.transport), .transport)
            }
        let port = packet.transport == IPPacket.udp || packet.transport == IPPacket.tcp ? packet.destination.port : nil
        self.isolation.log.refused(
            transport, host: self.isolation.host(of: packet.destination.address), port: port,
            logged.isMulticast && transport != .icmp ? .multicast : reason, by: program)
    }
}

/// A packet that a rule rejected, as NFLOG delivers it.
struct LoggedPacket: Hashable {
    var packet: IPPacket
    /// The number of the user whose program sent it.
    var user: UInt32?
    var isMulticast: Bool

    init?(_ answer: NetlinkMessage.Answer) {
        // The attributes follow a header of four bytes.
        let attributes = answer.attributes(after: 4)
        guard let payload = attributes[9], let packet = IPPacket(payload) else { return nil }
        self.packet = packet
        self.user = attributes[11].flatMap { $0.count == 4 ? $0.reduce(0) { $0 << 8 | UInt32($1) } : nil }
        self.isMulticast = attributes[10]?.starts(with: "multicast".utf8) == true
    }
}

/// The system's own resolver.
private enum SystemNames {
    /// The addresses of a name; nil if it has none. Blocks.
    static func addresses(of name: String) -> [[UInt8]]? {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = LinuxSocket.stream
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return nil }
        defer { freeaddrinfo(list) }
        var addresses: [[UInt8]] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            guard let raw = entry.pointee.ai_addr else { continue }
            var storage = sockaddr_storage()
            // SAFETY: the storage has room for an address of any family, whose size the entry has.
            memcpy(&storage, raw, min(Int(entry.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size))
            if let endpoint = Endpoint(storage) { addresses.append(endpoint.address.bytes) }
        }
        return addresses
    }
}

extension NameQuery {
    fileprivate var wantsAddress: Bool { self.kind == .address4 || self.kind == .address6 }

    /// `localhost` and its subdomains (RFC 6761, 6.3).
    fileprivate var isLoopback: Bool { self.name == "localhost" || self.name.hasSuffix(".localhost") }
}
#endif
