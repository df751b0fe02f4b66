internal import NIOCore
internal import Platform
internal import TapeExchange

extension IPAddress {
    /// Nil for a socket in the file system.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let v4): self.init(bytes: withUnsafeBytes(of: v4.address.sin_addr) { Array($0) })
        case .v6(let v6): self.init(bytes: withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) })
        case .unixDomainSocket: return nil
        }
    }
}
