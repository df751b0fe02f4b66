#if os(Linux)
internal import CIsolation
internal import Platform
internal import TapeExchange

/// Sets up the network namespace that this process has just entered: every address is this machine, and sockets take what arrives.
///
/// Runs before any thread starts, in the process that becomes the isolated program. Does not create namespaces.
package struct InsideNetwork {
    /// Why the network cannot be set up.
    package struct Obstacle: Error, Hashable {
        package enum Step: String, Sendable, CaseIterable {
            /// The loopback interface, its addresses and the routes.
            case link
            case socket
            /// NFLOG or SOCK_DIAG, by which packets and programs are found.
            case watching
            case dialer
            /// libnftables is missing.
            case library
            /// The kernel refused the rules.
            case rules
        }

        package var step: Step
        /// errno; 0 if no call failed.
        package var number: Int32
        /// The library's own words; empty if there are none.
        package var detail = ""
    }

    /// The port of the proxy, which listens inside as well.
    package var proxyPort: UInt16
    /// See `IsolationRules.reach`.
    package var reach: [UInt16]
    /// Those of the network that this process was in.
    package var portRules: PortRules?
    /// An empty folder.
    package var holder: String

    package init(proxyPort: UInt16, reach: [UInt16], portRules: PortRules? = nil, holder: String) {
        self.portRules = portRules
        self.holder = holder
        self.proxyPort = proxyPort
        self.reach = reach
    }

    /// - Returns: everything that the process outside needs. It has to be closed here before the program starts.
    package func make() throws(Obstacle) -> InsideSockets {
        let hasIPv6 = try Self.setLinkUp()
        self.portRules?.apply(holder: self.holder)
        var sockets = InsideSockets(namespace: Self.namespace)
        // Before the others, which take any port that is free.
        sockets.add(try Self.listen(AF_INET, port: self.proxyPort, isTransparent: false), .proxy)
        var ports = LedPorts(stream: 0, names: 0, datagrams: 0)
        for family in hasIPv6 ? [AF_INET, AF_INET6] : [AF_INET] {
            let isFirst = family == AF_INET
            let stream = try Self.listen(family, port: ports.stream, isTransparent: true)
            if isFirst { ports.stream = try Self.port(of: stream) }
            sockets.add(stream, isFirst ? .stream4 : .stream6)
            let names = try Self.listen(family, port: ports.names, isTransparent: true)
            if isFirst { ports.names = try Self.port(of: names) }
            sockets.add(names, isFirst ? .nameStream4 : .nameStream6)
            sockets.add(try Self.datagrams(family, port: 53), isFirst ? .names4 : .names6)
            let datagrams = try Self.datagrams(family, port: ports.datagrams)
            if isFirst { ports.datagrams = try Self.port(of: datagrams) }
            sockets.add(datagrams, isFirst ? .datagrams4 : .datagrams6)
            let errors = try Self.socket(family, LinuxSocket.raw, isFirst ? 1 : 58)
            try Self.set(errors, SOL_SOCKET, SO_RCVBUF, 1)
            sockets.add(errors, isFirst ? .errors4 : .errors6)
        }
        sockets.add(try Self.packetLog(), .packets)
        sockets.add(try Self.netlink(LinuxSocket.socketDiagnosis, .watching), .diagnosis)
        try self.startDialer(&sockets)
        try self.load(IsolationRules(ports: ports, reach: self.reach, hasIPv6: hasIPv6))
        return sockets
    }

    /// Takes the capabilities from this process and its programs that could undo the isolation.
    package static func dropCapabilities() throws(Obstacle) {
        for capability in [wiretape_cap_net_admin, wiretape_cap_sys_admin] {
            guard wiretape_drop_capability(UInt32(capability)) == 0 else { throw Obstacle(step: .watching, number: errno) }
        }
    }

    // MARK: Link

    /// - Returns: whether the kernel has IPv6.
    private static func setLinkUp() throws(Obstacle) -> Bool {
        let socket = try Self.netlink(LinuxSocket.routing, .link)
        defer { close(socket) }
        let index = Int32(if_nametoindex("lo"))
        guard index > 0 else { throw Obstacle(step: .link, number: errno) }
        try Self.ask(socket, .linkUp(index: index), .link)
        try Self.open(socket, index, OwnAddresses.version4, UInt8(AF_INET))
        do throws(Obstacle) {
            try Self.open(socket, index, OwnAddresses.version6, UInt8(AF_INET6))
            return true
        } catch {
            // A kernel without IPv6, or with IPv6 disabled.
            guard [EAFNOSUPPORT, EOPNOTSUPP, EACCES, EPERM].contains(error.number) else { throw error }
            return false
        }
    }

    private static func open(_ socket: Int32, _ index: Int32, _ own: String, _ family: UInt8) throws(Obstacle) {
        guard let address = IPAddress(own)?.bytes else { throw Obstacle(step: .link, number: EINVAL) }
        try self.ask(socket, .address(address, family: family, index: index), .link)
        try self.ask(socket, .localDefault(source: address, family: family, index: index), .link)
    }

    private static func ask(_ socket: Int32, _ message: NetlinkMessage, _ step: Obstacle.Step) throws(Obstacle) {
        guard send(socket, message.bytes, message.bytes.count, 0) == message.bytes.count else { throw Obstacle(step: step, number: errno) }
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { throw Obstacle(step: step, number: errno) }
        guard let error = NetlinkMessage.answers(in: buffer[..<count]).first?.error else { throw Obstacle(step: step, number: EPROTO) }
        guard error == 0 || error == EEXIST else { throw Obstacle(step: step, number: error) }
    }

    // MARK: Sockets

    private static func socket(
        _ family: Int32, _ type: Int32, _ transport: Int32, _ step: Obstacle.Step = .socket
    ) throws(Obstacle) -> Int32 {
        let descriptor = Platform.socket(family, type | LinuxSocket.closeAtExec, transport)
        guard descriptor >= 0 else { throw Obstacle(step: step, number: errno) }
        return descriptor
    }

    private static func set(_ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32) throws(Obstacle) {
        var value = value
        guard setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw Obstacle(step: .socket, number: errno)
        }
    }

    private static func bind(_ socket: Int32, _ family: Int32, _ port: UInt16) throws(Obstacle) {
        guard let endpoint = Endpoint(family == AF_INET ? "127.0.0.1" : "::1", port: port) else {
            throw Obstacle(step: .socket, number: EINVAL)
        }
        var (storage, size) = endpoint.storage
        // SAFETY: the storage holds an address of this size.
        let status = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Platform.bind(socket, $0, size) }
        }
        guard status == 0 else { throw Obstacle(step: .socket, number: errno) }
    }

    private static func prepared(_ family: Int32, _ type: Int32, isTransparent: Bool) throws(Obstacle) -> Int32 {
        let socket = try self.socket(family, type, 0)
        if family == AF_INET6 { try self.set(socket, LinuxSocket.ipv6, LinuxSocket.onlyIPv6, 1) }
        try self.set(socket, SOL_SOCKET, SO_REUSEADDR, 1)
        guard isTransparent else { return socket }
        if family == AF_INET {
            try self.set(socket, LinuxSocket.ipv4, LinuxSocket.transparent4, 1)
        } else {
            try self.set(socket, LinuxSocket.ipv6, LinuxSocket.transparent6, 1)
        }
        return socket
    }

    private static func listen(_ family: Int32, port: UInt16, isTransparent: Bool) throws(Obstacle) -> Int32 {
        let socket = try self.prepared(family, LinuxSocket.stream, isTransparent: isTransparent)
        try self.bind(socket, family, port)
        guard Platform.listen(socket, 4096) == 0 else { throw Obstacle(step: .socket, number: errno) }
        return socket
    }

    private static func datagrams(_ family: Int32, port: UInt16) throws(Obstacle) -> Int32 {
        let socket = try self.prepared(family, LinuxSocket.datagram, isTransparent: true)
        if family == AF_INET {
            try self.set(socket, LinuxSocket.ipv4, LinuxSocket.originalDestination4, 1)
        } else {
            try self.set(socket, LinuxSocket.ipv6, LinuxSocket.originalDestination6, 1)
        }
        // Best effort: the system's limit may be lower. What finds no room is counted, but not named.
        var size: Int32 = 4 << 20
        _ = setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        try self.bind(socket, family, port)
        return socket
    }

    private static func port(of socket: Int32) throws(Obstacle) -> UInt16 {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // SAFETY: the storage has room for an address of any family.
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        guard status == 0, let endpoint = Endpoint(storage) else { throw Obstacle(step: .socket, number: errno) }
        return endpoint.port
    }

    // MARK: Watching

    private static func netlink(_ family: Int32, _ step: Obstacle.Step) throws(Obstacle) -> Int32 {
        try self.socket(LinuxSocket.netlink, LinuxSocket.raw, family, step)
    }

    private static func packetLog() throws(Obstacle) -> Int32 {
        let socket = try self.netlink(LinuxSocket.netfilter, .watching)
        let group = IsolationRules.logGroup
        for message in [NetlinkMessage.bindLog(group: group), .copyPackets(group: group, size: 128), .deliverEach(group: group)] {
            try self.ask(socket, message, .watching)
        }
        // Best effort: the system's limit may be lower.
        var size: Int32 = 4 << 20
        _ = setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        return socket
    }

    /// The inode of this process's network namespace, by which its programs are recognised.
    private static var namespace: UInt64 {
        var status = stat()
        return stat("/proc/self/ns/net", &status) == 0 ? UInt64(status.st_ino) : 0
    }

    private func startDialer(_ sockets: inout InsideSockets) throws(Obstacle) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, LinuxSocket.sequence | LinuxSocket.closeAtExec, 0, &ends) == 0 else {
            throw Obstacle(step: .dialer, number: errno)
        }
        defer { close(ends[1]) }
        let id = wiretape_start_dialer(ends[1], IsolationRules.mark)
        guard id > 0 else { throw Obstacle(step: .dialer, number: errno) }
        sockets.dialer = id
        sockets.add(ends[0], .dialer)
    }

    private func load(_ rules: IsolationRules) throws(Obstacle) {
        var problem = [CChar](repeating: 0, count: 1024)
        let status = wiretape_load_rules(rules.text, &problem, problem.count)
        guard status != 0 else { return }
        let text = String(decoding: problem.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        throw Obstacle(step: status == 1 ? .library : .rules, number: 0, detail: line)
    }
}

/// Numbers from the kernel's headers, which Swift's import of the C library leaves out or types differently by library.
enum LinuxSocket {
    static let stream: Int32 = 1
    static let datagram: Int32 = 2
    static let raw: Int32 = 3
    static let sequence: Int32 = 5
    static let closeAtExec: Int32 = 0x80000
    static let ipv4: Int32 = 0
    static let ipv6: Int32 = 41
    static let transparent4: Int32 = 19
    static let transparent6: Int32 = 75
    static let originalDestination4: Int32 = 20
    static let originalDestination6: Int32 = 74
    static let onlyIPv6: Int32 = 26
    static let netlink: Int32 = 16
    static let routing: Int32 = 0
    static let socketDiagnosis: Int32 = 4
    static let netfilter: Int32 = 12
}
#endif
