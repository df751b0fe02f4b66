internal import TapeBytes
package import TapeExchange

/// The addresses that the resolver inside an isolation hands out, one of each family for each name of a run, so that the name of a
/// connection is known from its address.
package final class NameTable: Sendable {
    private struct State: Sendable {
        var numbers: [String: UInt32] = [:]
        /// Nil for a real address that several names have.
        var names: [IPAddress: String?] = [:]
    }

    /// How many names get an address. 198.18.0.0/15 (RFC 2544) has room for twice as many.
    package static let limit = 65_536
    /// The first addresses of 198.18.0.0/15 are the machine's own.
    private static let first: UInt32 = 10

    private let state = Guarded(State())

    private let blocks: (version4: UInt32, version6: [UInt8])

    /// - Parameter looksPublic: hands out addresses that no library takes for private ones, for programs that refuse those. They are
    ///   addresses of others, which nothing inside can reach.
    package init(looksPublic: Bool = false) {
        self.blocks = looksPublic ? (0x0B12_0000, [0x26, 0x00, 0x74, 0x74]) : Self.reserved
    }

    /// The addresses of a name; nil if too many names have been asked for.
    package func addresses(of name: String) -> (version4: [UInt8], version6: [UInt8])? {
        self.state.withLock { state in
            if let number = state.numbers[name] { return self.addresses(number) }
            guard state.numbers.count < Self.limit else { return nil }
            let number = Self.first + UInt32(state.numbers.count)
            state.numbers[name] = number
            let addresses = self.addresses(number)
            for bytes in [addresses.version4, addresses.version6] {
                if let address = IPAddress(bytes: bytes) { state.names[address] = name }
            }
            return addresses
        }
    }

    /// Remembers a real address of a name. Servers share addresses: one that several names have stands for none of them.
    package func remember(_ bytes: [UInt8], of name: String) {
        guard let address = IPAddress(bytes: bytes) else { return }
        self.state.withLock { state in
            if let known = state.names[address] {
                if known != name { state.names.updateValue(nil, forKey: address) }
            } else if state.names.count < 2 * Self.limit {
                state.names[address] = name
            }
        }
    }

    /// The name that has an address; nil for an address that the program has from elsewhere.
    package func name(of address: IPAddress) -> String? { self.state.withLock { $0.names[address] ?? nil } }

    /// Whether an address is one of those that this table hands out, which are no servers' outside. The machine's own are not.
    package func isHandedOut(_ address: IPAddress) -> Bool { Self.isHandedOut(address, from: self.blocks) }

    /// The same for the table of another process that hands out its usual addresses.
    package static func isHandedOutByDefault(_ address: IPAddress) -> Bool { self.isHandedOut(address, from: self.reserved) }

    private static func isHandedOut(_ address: IPAddress, from blocks: (version4: UInt32, version6: [UInt8])) -> Bool {
        let bytes = address.bytes
        guard bytes.count == 4 else { return bytes.starts(with: blocks.version6) && !OwnAddresses.all.contains(address) }
        let value = bytes.reduce(0) { $0 << 8 | UInt32($1) }
        return value & 0xFFFE_0000 == blocks.version4 && !OwnAddresses.all.contains(address)
    }

    /// 198.18.0.0/15 and fd77:7474::/32.
    private static let reserved: (version4: UInt32, version6: [UInt8]) = (0xC612_0000, [0xFD, 0x77, 0x74, 0x74])

    private func addresses(_ number: UInt32) -> (version4: [UInt8], version6: [UInt8]) {
        (Self.bytes(self.blocks.version4 + number), self.blocks.version6 + [UInt8](repeating: 0, count: 8) + Self.bytes(number))
    }

    private static func bytes(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
}
