#if os(Linux)
internal import CIsolation
internal import Platform

/// The sockets of an isolated network namespace, as they are handed to the process outside.
package struct InsideSockets: Sendable {
    enum Role: UInt8, Sendable {
        /// TCP to any address.
        case stream4 = 1
        case stream6, nameStream4, nameStream6
        /// Queries over UDP.
        case names4, names6
        /// UDP to any address.
        case datagrams4, datagrams6
        /// Raw sockets that send ICMP errors.
        case errors4, errors6
        /// The proxy's own port.
        case proxy
        /// NFLOG.
        case packets
        /// SOCK_DIAG.
        case diagnosis
        /// The process that makes sockets inside.
        case dialer
    }

    /// The inode of the namespace.
    let namespace: UInt64
    /// The dialer's process id.
    var dialer: pid_t = 0
    private(set) var descriptors: [(role: Role, descriptor: Int32)] = []

    init(namespace: UInt64) { self.namespace = namespace }

    mutating func add(_ descriptor: Int32, _ role: Role) { self.descriptors.append((role, descriptor)) }

    func descriptor(_ role: Role) -> Int32? { self.descriptors.first { $0.role == role }?.descriptor }

    /// Closes all of them.
    package func closeAll() { for (_, descriptor) in self.descriptors { close(descriptor) } }

    // MARK: The message

    private static let ready = UInt8(ascii: "R")
    private static let failed = UInt8(ascii: "E")
    private static let go = UInt8(ascii: "g")
    private static let inherited = UInt8(ascii: "I")

    /// Hands the sockets to the process at the other end, and waits until that is set up.
    ///
    /// - Returns: false if that process has ended or cannot use them.
    package func handOut(through socket: Int32) -> Bool {
        var bytes = [Self.ready]
        Swift.withUnsafeBytes(of: self.namespace) { bytes += $0 }
        Swift.withUnsafeBytes(of: self.dialer) { bytes += $0 }
        bytes += self.descriptors.map(\.role.rawValue)
        let numbers = self.descriptors.map(\.descriptor)
        guard wiretape_send_descriptors(socket, bytes, bytes.count, numbers, numbers.count) == 0 else { return false }
        var answer: UInt8 = 0
        var count: Int
        repeat { count = recv(socket, &answer, 1, 0) } while count < 0 && errno == EINTR
        return count == 1 && answer == Self.go
    }

    /// Reports why there are none.
    package static func report(_ line: String, through socket: Int32) {
        let bytes = [self.failed] + Array(line.utf8.prefix(1000))
        _ = wiretape_send_descriptors(socket, bytes, bytes.count, nil, 0)
    }

    /// Reports a socket that was closed because the program would have inherited it. Before the sockets are handed out.
    package static func report(_ closed: InheritedSocket, through socket: Int32) {
        let bytes = [self.inherited] + Array(closed.text.utf8)
        _ = wiretape_send_descriptors(socket, bytes, bytes.count, nil, 0)
    }

    /// What the process inside sent.
    enum Message {
        case sockets(InsideSockets)
        case inherited(InheritedSocket)
        case failure(String)
        /// It ended without a word.
        case end
    }

    static func receive(from socket: Int32) -> Message {
        var bytes = [UInt8](repeating: 0, count: 2048)
        var numbers = [Int32](repeating: -1, count: Int(wiretape_most_descriptors))
        var count = numbers.count
        let size = wiretape_receive_descriptors(socket, &bytes, bytes.count, &numbers, &count)
        guard size > 0 else { return .end }
        let rest = bytes[1..<size]
        if bytes[0] == self.inherited {
            return InheritedSocket(text: String(decoding: rest, as: UTF8.self)).map { .inherited($0) } ?? .end
        }
        guard bytes[0] == self.ready else { return .failure(String(decoding: rest, as: UTF8.self)) }
        let fixed = MemoryLayout<UInt64>.size + MemoryLayout<pid_t>.size
        let roles = rest.dropFirst(fixed).compactMap(Role.init)
        guard rest.count >= fixed, roles.count == count else {
            for number in numbers.prefix(count) { close(number) }
            return .end
        }
        let namespace = rest.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self) }
        var sockets = InsideSockets(namespace: namespace)
        sockets.dialer = rest.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: MemoryLayout<UInt64>.size, as: pid_t.self) }
        for (role, number) in zip(roles, numbers) { sockets.add(number, role) }
        return .sockets(sockets)
    }

    /// Lets the program start.
    static func allow(through socket: Int32) {
        let bytes = [self.go]
        _ = wiretape_send_descriptors(socket, bytes, 1, nil, 0)
    }
}
#endif
