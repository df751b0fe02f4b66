internal import Platform

/// The ports on which servers of this machine accept connections over loopback.
package enum ListeningPorts {
    /// Now; empty if the system does not tell.
    package static func here(file: (String) -> String? = Self.text) -> Set<UInt16> {
        ["/proc/self/net/tcp", "/proc/self/net/tcp6"].reduce(into: []) { $0.formUnion(self.ports(in: file($1) ?? "")) }
    }

    /// The loopback addresses on which a server of this machine accepts connections at a port, now.
    package static func addresses(of port: UInt16, file: (String) -> String? = Self.text) -> Set<String> {
        var addresses: Set<String> = []
        if self.ports(in: file("/proc/self/net/tcp") ?? "").contains(port) { addresses.insert("127.0.0.1") }
        for address in self.listening(in: file("/proc/self/net/tcp6") ?? "") where address.port == port {
            // A server of every address of IPv6 accepts IPv4 too, unless it says otherwise, and a mapped address is one of IPv4.
            let isEvery = address.host.allSatisfy { $0 == "0" }
            if isEvery || address.host.hasPrefix("0000000000000000FFFF0000") { addresses.insert("127.0.0.1") }
            if isEvery || !address.host.hasPrefix("0000000000000000FFFF0000") { addresses.insert("::1") }
        }
        return addresses
    }

    /// The ports in a table of the kernel (proc(5)) whose sockets listen on a loopback address or on every address.
    static func ports(in table: String) -> Set<UInt16> { Set(self.listening(in: table).map(\.port)) }

    /// The same with their addresses in hexadecimal.
    private static func listening(in table: String) -> [(host: Substring, port: UInt16)] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ")
            // 0A is TCP_LISTEN.
            guard columns.count > 3, columns[3] == "0A" else { return nil }
            let parts = columns[1].split(separator: ":")
            guard parts.count == 2, self.isHere(parts[0]), let port = UInt16(parts[1], radix: 16) else { return nil }
            return (parts[0], port)
        }
    }

    /// Whether an address in hexadecimal, in words of the machine's byte order, is reached over loopback.
    private static func isHere(_ address: Substring) -> Bool {
        if address.allSatisfy({ $0 == "0" }) { return true }
        #if _endian(little)
        let (version4, version6) = (address.count == 8 && address.hasSuffix("7F"), address == "00000000000000000000000001000000")
        let mapped = address.count == 32 && address.hasPrefix("0000000000000000FFFF0000") && address.hasSuffix("7F")
        #else
        let (version4, version6) = (address.count == 8 && address.hasPrefix("7F"), address == "00000000000000000000000000000001")
        let mapped = address.count == 32 && address.dropFirst(16).hasPrefix("0000FFFF7F")
        #endif
        return version4 || version6 || mapped
    }

    /// A table of the kernel can be longer than any block that one read returns.
    package static func text(_ path: String) -> String? {
        guard let stream = fopen(path, "re") else { return nil }
        defer { fclose(stream) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = fread(&block, 1, block.count, stream)
            guard count > 0, bytes.count < 64 << 20 else { break }
            bytes += block[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
