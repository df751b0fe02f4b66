internal import TapeBytes

/// Messages for the kernel over netlink (RFC 3549), as bytes in the machine's byte order.
struct NetlinkMessage: Hashable {
    static let headerSize = 16

    private static let request: UInt16 = 1
    private static let acknowledge: UInt16 = 4
    private static let create: UInt16 = 0x400

    /// The whole message with its header.
    let bytes: [UInt8]

    /// - Parameter flags: besides the one of a request.
    private init(type: UInt16, flags: UInt16, _ body: [UInt8]) {
        var bytes: [UInt8] = []
        bytes.append(native: UInt32(Self.headerSize + body.count))
        bytes.append(native: type)
        bytes.append(native: Self.request | flags)
        bytes.append(native: UInt32(1))
        bytes.append(native: UInt32(0))
        self.bytes = bytes + body
    }

    private static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(native: UInt16(4 + value.count))
        bytes.append(native: type)
        return bytes + value + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
    }

    private static func native<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(native: value)
        return bytes
    }

    private static func network<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] { self.native(value.bigEndian) }

    // MARK: Routing

    /// Sets a link up (RTM_NEWLINK with IFF_UP).
    static func linkUp(index: Int32) -> NetlinkMessage {
        NetlinkMessage(
            type: 16, flags: self.acknowledge,
            [0, 0] + self.native(UInt16(0)) + self.native(index) + self.native(UInt32(1)) + self.native(UInt32(1)))
    }

    /// Gives a link an address of its own (RTM_NEWADDR), without a test for duplicates (IFA_F_NODAD), in the scope of the universe: as a
    /// loopback address it would not count as a way to other addresses (AI_ADDRCONFIG).
    static func address(_ address: [UInt8], family: UInt8, index: Int32) -> NetlinkMessage {
        NetlinkMessage(
            type: 20, flags: self.acknowledge | self.create,
            [family, UInt8(address.count * 8), 2, 0] + self.native(index) + self.attribute(1, address) + self.attribute(2, address))
    }

    /// Makes every address one of this machine (RTM_NEWROUTE to 0/0 of type LOCAL in table LOCAL).
    ///
    /// - Parameter source: the source of connections to these addresses, which would otherwise be their destination itself.
    static func localDefault(source: [UInt8], family: UInt8, index: Int32) -> NetlinkMessage {
        NetlinkMessage(
            type: 24, flags: self.acknowledge | self.create,
            [family, 0, 0, 0, 255, 3, 254, 2] + self.native(UInt32(0)) + self.attribute(4, self.native(index)) + self.attribute(7, source))
    }

    // MARK: Logged packets

    /// Binds a socket to a group of NFLOG.
    static func bindLog(group: UInt16) -> NetlinkMessage { self.log(group, self.attribute(1, [1])) }

    /// Copies this many bytes of each packet.
    static func copyPackets(group: UInt16, size: UInt32) -> NetlinkMessage {
        self.log(group, self.attribute(2, self.network(size) + [2, 0]))
    }

    /// Delivers each packet at once, and not several in one message.
    static func deliverEach(group: UInt16) -> NetlinkMessage { self.log(group, self.attribute(5, self.network(UInt32(1)))) }

    private static func log(_ group: UInt16, _ attribute: [UInt8]) -> NetlinkMessage {
        NetlinkMessage(type: 4 << 8 | 1, flags: self.acknowledge, [0, 0] + self.network(group) + attribute)
    }

    // MARK: Sockets

    /// Asks for the socket with these ends (SOCK_DIAG_BY_FAMILY).
    static func socket(transport: UInt8, family: UInt8, source: Endpoint, destination: Endpoint) -> NetlinkMessage {
        func padded(_ endpoint: Endpoint) -> [UInt8] {
            endpoint.address.bytes + [UInt8](repeating: 0, count: max(0, 16 - endpoint.address.bytes.count))
        }
        let body =
            [family, transport, 0, 0] + self.native(UInt32.max) + self.network(source.port) + self.network(destination.port)
            + padded(source) + padded(destination) + self.native(UInt32(0)) + self.native(UInt32.max) + self.native(UInt32.max)
        return NetlinkMessage(type: 20, flags: 0, body)
    }

    // MARK: Answers

    /// One message of an answer.
    struct Answer: Hashable {
        var type: UInt16
        var body: ArraySlice<UInt8>

        /// The error number of NLMSG_ERROR, 0 for an acknowledgement; nil for other messages.
        var error: Int32? {
            guard self.type == 2, let number = self.body.native(at: 0, as: Int32.self) else { return nil }
            return number == .min ? .max : abs(number)
        }

        /// The user and the inode of a socket, as `inet_diag_msg` has them; nil for other messages.
        var socket: (user: UInt32, inode: UInt32)? {
            guard self.type == 20, let user = self.body.native(at: 64, as: UInt32.self),
                let inode = self.body.native(at: 68, as: UInt32.self)
            else { return nil }
            return (user, inode)
        }

        /// The attributes after a fixed part of this size, by type. Of several with one type, the last counts.
        func attributes(after size: Int) -> [UInt16: ArraySlice<UInt8>] {
            var attributes: [UInt16: ArraySlice<UInt8>] = [:]
            var rest = self.body.dropFirst(size)
            while let length = rest.native(at: 0, as: UInt16.self), let type = rest.native(at: 2, as: UInt16.self) {
                guard length >= 4, Int(length) <= rest.count else { break }
                attributes[type & 0x7FFF] = rest.dropFirst(4).prefix(Int(length) - 4)
                rest = rest.dropFirst((Int(length) + 3) & ~3)
            }
            return attributes
        }
    }

    /// The messages of a datagram. Stops at the first one that is cut off.
    static func answers(in datagram: ArraySlice<UInt8>) -> [Answer] {
        var answers: [Answer] = []
        var rest = datagram
        while let length = rest.native(at: 0, as: UInt32.self), let type = rest.native(at: 4, as: UInt16.self) {
            guard length >= self.headerSize, Int(length) <= rest.count else { break }
            answers.append(Answer(type: type, body: rest.dropFirst(self.headerSize).prefix(Int(length) - self.headerSize)))
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        return answers
    }
}

extension [UInt8] {
    fileprivate mutating func append<Value: FixedWidthInteger>(native value: Value) {
        Swift.withUnsafeBytes(of: value) { self.append(contentsOf: $0) }
    }
}

extension ArraySlice<UInt8> {
    /// An integer in the machine's byte order; nil if the bytes end before it does.
    fileprivate func native<Value: FixedWidthInteger>(at offset: Int, as type: Value.Type) -> Value? {
        guard offset + MemoryLayout<Value>.size <= self.count else { return nil }
        return self.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
}
