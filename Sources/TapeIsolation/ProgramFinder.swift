#if os(Linux)
internal import Platform
internal import TapeBytes

/// Finds the program that owns a socket of an isolated network namespace.
///
/// Asks the kernel for the socket's inode by its ends, and then looks for that inode among the open files of the programs in the namespace.
/// Programs of other users cannot be looked into, except by root. Not Sendable: used on one queue.
final class ProgramFinder {
    private let diagnosis: Int32
    private let namespace: UInt64
    private let dialer: pid_t
    /// The owners of sockets that were found before. An inode is not used again while a run lasts, as numbers count up.
    private var owners: [UInt64: IsolatedProgram] = [:]
    /// The processes that were in the namespace at the last look.
    private var programs: Set<pid_t> = []
    private static let cacheLimit = 65_536

    init(diagnosis: Int32, namespace: UInt64, dialer: pid_t) {
        self.diagnosis = diagnosis
        self.namespace = namespace
        self.dialer = dialer
    }

    /// The program that sent a packet; nil if it has ended, or cannot be looked into.
    func program(transport: UInt8, source: Endpoint, destination: Endpoint) -> IsolatedProgram? {
        // The kernel looks up datagrams as an incoming packet would be: its source is the other end.
        let isDatagram = transport == IPPacket.udp
        let ends = isDatagram ? (destination, source) : (source, destination)
        let family = UInt8(source.address.bytes.count == 4 ? AF_INET : AF_INET6)
        // The kernel has neither inode nor user of a socket that its program has closed.
        if let socket = self.socket(.socket(transport: transport, family: family, source: ends.0, destination: ends.1)), socket.inode != 0 {
            return self.owner(UInt64(socket.inode)) ?? IsolatedProgram(user: socket.user)
        }
        guard isDatagram else { return nil }
        // A broadcast, and the like: by the sender's port alone.
        for file in ["udp", "udp6"] {
            let inode = self.inode(in: "/proc/\(self.dialer)/net/\(file)", port: source.port)
            if let owner = inode.flatMap({ self.owner($0) }) { return owner }
        }
        return nil
    }

    /// The program that sends ICMP, by the identifier of its echo requests, or by its raw socket.
    func program(echo: UInt16?) -> IsolatedProgram? {
        for (file, number) in [("icmp", echo), ("icmp6", echo), ("raw", 1), ("raw6", 58)] {
            guard let number, let inode = self.inode(in: "/proc/\(self.dialer)/net/\(file)", port: number) else { continue }
            if let owner = self.owner(inode) { return owner }
        }
        return nil
    }

    private func socket(_ query: NetlinkMessage) -> (user: UInt32, inode: UInt32)? {
        guard send(self.diagnosis, query.bytes, query.bytes.count, 0) == query.bytes.count else { return nil }
        var waiting = pollfd(fd: self.diagnosis, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 500) == 1 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = recv(self.diagnosis, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        return NetlinkMessage.answers(in: buffer[..<count]).first?.socket
    }

    private func owner(_ inode: UInt64) -> IsolatedProgram? {
        guard inode != 0 else { return nil }
        if let known = self.owners[inode] { return known }
        if self.owners.count > Self.cacheLimit { self.owners = [:] }
        // Most sockets belong to a program that was found before.
        for id in self.programs { self.readSockets(of: id) }
        if let owner = self.owners[inode] { return owner }
        self.readProcesses()
        return self.owners[inode]
    }

    /// Reads the open sockets of a program.
    private func readSockets(of id: pid_t) {
        var program: IsolatedProgram?
        Self.names(in: "/proc/\(id)/fd") { number in
            guard let inode = Self.inode(ofLink: "/proc/\(id)/fd/\(number)"), self.owners[inode] == nil else { return }
            let owner = program ?? Self.program(id)
            program = owner
            self.owners[inode] = owner
        }
    }

    /// Reads the open sockets of all programs in the namespace.
    private func readProcesses() {
        self.programs = []
        Self.names(in: "/proc") { name in
            guard let id = pid_t(name), id != self.dialer else { return }
            var status = stat()
            guard stat("/proc/\(name)/ns/net", &status) == 0, UInt64(status.st_ino) == self.namespace else { return }
            self.programs.insert(id)
            self.readSockets(of: id)
        }
    }

    private static func program(_ id: pid_t) -> IsolatedProgram {
        let path = self.link("/proc/\(id)/exe")
        var status = stat()
        let user = stat("/proc/\(id)", &status) == 0 ? status.st_uid : nil
        return IsolatedProgram(path: path, id: id, user: user)
    }

    private static func names(in folder: String, _ body: (String) -> Void) {
        guard let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            // SAFETY: readdir's name ends with a NUL and is valid until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) { String(cString: $0) }
            }
            if name.utf8.first.map({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) == true { body(name) }
        }
    }

    private static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in text.baseAddress.map { readlink(path, $0, text.count) } ?? -1 }
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// The number in `socket:[123]`.
    private static func inode(ofLink path: String) -> UInt64? {
        guard let target = self.link(path), target.hasPrefix("socket:["), target.hasSuffix("]") else { return nil }
        return UInt64(target.dropFirst(8).dropLast())
    }

    /// The socket with this local port in a table of the kernel such as /proc/net/icmp.
    private func inode(in file: String, port: UInt16) -> UInt64? {
        guard let stream = fopen(file, "re") else { return nil }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = fread(&bytes, 1, bytes.count, stream)
        return Self.inode(inTable: String(decoding: bytes[..<count], as: UTF8.self), port: port)
    }

    static func inode(inTable text: String, port: UInt16) -> UInt64? {
        for line in text.split(separator: "\n").dropFirst() {
            let columns = line.split(separator: " ")
            guard columns.count > 9, let colon = columns[1].lastIndex(of: ":"),
                UInt16(columns[1][columns[1].index(after: colon)...], radix: 16) == port, let inode = UInt64(columns[9])
            else { continue }
            return inode
        }
        return nil
    }
}
#endif
