internal import Platform
package import TapeExchange

/// An address with a port.
package struct Endpoint: Sendable, Hashable {
    package var address: IPAddress
    package var port: UInt16

    package init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// From numbers in text; nil if they are not an address.
    package init?(_ address: String, port: UInt16) {
        guard let address = IPAddress(address) else { return nil }
        self.init(address: address, port: port)
    }

    /// Without brackets.
    package var host: String { Self.text(self.address) }

    package static func text(_ address: IPAddress) -> String {
        var text = [CChar](repeating: 0, count: 64)
        let family = address.bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, address.bytes, &text, socklen_t(text.count)) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Nil for another family than IPv4 and IPv6.
    init?(_ storage: sockaddr_storage) {
        // SAFETY: the kernel wrote an address of this family into the storage, which has room for any.
        let parts = withUnsafePointer(to: storage) { pointer -> (bytes: [UInt8], port: UInt16)? in
            switch Int32(storage.ss_family) {
            case AF_INET:
                pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    (withUnsafeBytes(of: address.pointee.sin_addr) { Array($0) }, UInt16(bigEndian: address.pointee.sin_port))
                }
            case AF_INET6:
                pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    (withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) }, UInt16(bigEndian: address.pointee.sin6_port))
                }
            default: nil
            }
        }
        guard let parts, let address = IPAddress(bytes: parts.bytes) else { return nil }
        self.init(address: address, port: parts.port)
    }

    /// As the system's calls take it, with its size.
    var storage: (address: sockaddr_storage, size: socklen_t) {
        var storage = sockaddr_storage()
        let bytes = self.address.bytes
        let port = self.port.bigEndian
        // SAFETY: the storage has room for an address of any family.
        let size = withUnsafeMutablePointer(to: &storage) { pointer -> Int in
            if bytes.count == 4 {
                return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    address.pointee.sin_family = sa_family_t(AF_INET)
                    address.pointee.sin_port = port
                    withUnsafeMutableBytes(of: &address.pointee.sin_addr) { $0.copyBytes(from: bytes) }
                    return MemoryLayout<sockaddr_in>.size
                }
            }
            return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                address.pointee.sin6_family = sa_family_t(AF_INET6)
                address.pointee.sin6_port = port
                withUnsafeMutableBytes(of: &address.pointee.sin6_addr) { $0.copyBytes(from: bytes) }
                return MemoryLayout<sockaddr_in6>.size
            }
        }
        return (storage, socklen_t(size))
    }
}
