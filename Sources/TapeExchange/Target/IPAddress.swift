/// An IPv4 or IPv6 address as its 4 or 16 bytes.
///
/// Parses only the standard notations. For `127.1` or `0x7f000001`, ask the resolver that accepts them which address it means.
public struct IPAddress: Sendable, Hashable {
    public let bytes: [UInt8]

    /// Takes 4 or 16 bytes in network order. An IPv4-mapped IPv6 address becomes its IPv4 address.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        self.bytes = bytes.count == 16 && bytes.starts(with: mapped) ? Array(bytes.dropFirst(12)) : Array(bytes)
    }

    /// Parses dotted decimal or RFC 4291, 2.2 notation, without brackets and without a zone.
    public init?(_ text: String) {
        let text = Array(text.utf8)
        guard let bytes = text.contains(UInt8(ascii: ":")) ? Self.version6(text[...]) : Self.version4(text[...]) else { return nil }
        self.init(bytes: bytes)
    }

    /// 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        self.bytes.count == 4 ? self.bytes[0] == 127 : self.bytes.last == 1 && self.bytes.dropLast().allSatisfy { $0 == 0 }
    }

    /// 0.0.0.0 or ::, which dialling treats as the loopback address.
    public var isUnspecified: Bool { self.bytes.allSatisfy { $0 == 0 } }

    private static func version4(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            // Some resolvers interpret a leading zero as octal.
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
            var value = 0
            for digit in part {
                guard ASCII.isDigit(digit) else { return nil }
                value = value * 10 + Int(digit - 48)
            }
            guard let byte = UInt8(exactly: value) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func version6(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count <= 45 else { return nil }
        var before: [UInt8] = []
        var behindGap: [UInt8]?
        var rest = text
        if rest.starts(with: [58, 58]) {
            behindGap = []
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let group = rest.prefix { $0 != UInt8(ascii: ":") }
            let isLast = group.endIndex == rest.endIndex
            let bytes: [UInt8]
            if isLast, group.contains(UInt8(ascii: ".")) {
                guard let quad = self.version4(group) else { return nil }
                bytes = quad
            } else {
                guard (1...4).contains(group.count) else { return nil }
                var value: UInt16 = 0
                for byte in group {
                    guard let digit = ASCII.hexDigit(byte) else { return nil }
                    value = value << 4 | UInt16(digit)
                }
                bytes = [UInt8(value >> 8), UInt8(value & 0xFF)]
            }
            if behindGap == nil { before += bytes } else { behindGap?.append(contentsOf: bytes) }
            guard !isLast else { break }
            rest = rest[(group.endIndex + 1)...]
            if rest.first == UInt8(ascii: ":") {
                guard behindGap == nil else { return nil }
                behindGap = []
                rest = rest.dropFirst()
            } else if rest.isEmpty {
                return nil
            }
        }
        guard let behindGap else { return before.count == 16 ? before : nil }
        let missing = 16 - before.count - behindGap.count
        guard missing >= 2 else { return nil }
        return before + Array(repeating: 0, count: missing) + behindGap
    }
}

/// Decides whether dialling an address would reach the proxy itself.
///
/// Checks the address to which a name was resolved, at the moment of dialling, because names and spellings can mislead and may change in
/// between.
public struct LoopRule: Sendable, Hashable {
    public let port: Int
    private let own: Set<IPAddress>

    /// `interfaces` are the machine's own addresses. They count if the proxy listens on all of them.
    public init(listeningOn address: IPAddress, port: Int, interfaces: [IPAddress]) {
        self.port = port
        self.own = address.isUnspecified ? Set(interfaces) : [address]
    }

    /// Every loopback address, 0.0.0.0 and :: count as the proxy's own, whatever it listens on. It is better to refuse a rare local server
    /// than to serve a loop or the control port.
    public func isSelf(address: IPAddress, port: Int) -> Bool {
        guard port == self.port else { return false }
        return address.isLoopback || address.isUnspecified || self.own.contains(address)
    }
}
