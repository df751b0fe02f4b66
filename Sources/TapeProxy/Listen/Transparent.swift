internal import NIOCore
internal import Platform
internal import TapeBytes
internal import TapeExchange

/// Connections to other servers that the kernel redirected here, by a redirect rule or by TPROXY (Linux).
///
/// Shared by all event loops.
final class Transparent: Sendable {
    /// The mark of this proxy's own connections, so that rules can let them pass.
    static let mark = 0x7774

    /// Marking requires CAP_NET_ADMIN.
    let mayMark: Bool
    /// The local addresses of connections that this proxy has made. A connection that arrives from one of them is a loop.
    private let dialled = Guarded<Set<SocketAddress>>([])

    init() {
        self.mayMark = Self.canMark()
    }

    func dialled(from address: SocketAddress) { self.dialled.withLock { _ = $0.insert(address) } }

    func closed(from address: SocketAddress) { self.dialled.withLock { _ = $0.remove(address) } }

    /// Whether a client is this proxy itself.
    func isOwn(_ client: SocketAddress) -> Bool { self.dialled.withLock { $0.contains(client) } }

    #if os(Linux)
    /// From the kernel's headers: SO_MARK, SO_ORIGINAL_DST and IP6T_SO_ORIGINAL_DST, IP_TRANSPARENT, IPV6_TRANSPARENT.
    private static let markOption: Int32 = 36
    private static let originalDestination: Int32 = 80
    static let transparent4 = ChannelOptions.Types.SocketOption(level: .init(rawValue: 0), name: .init(rawValue: 19))
    static let transparent6 = ChannelOptions.Types.SocketOption(level: .init(rawValue: 41), name: .init(rawValue: 75))
    static let marked = ChannelOptions.Types.SocketOption(level: .init(rawValue: 1), name: .init(rawValue: 36))

    private static func canMark() -> Bool {
        let descriptor = socket(AF_INET, streamSocket, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var value = UInt32(self.mark)
        return setsockopt(descriptor, SOL_SOCKET, self.markOption, &value, socklen_t(MemoryLayout<UInt32>.size)) == 0
    }

    /// The server that the client of an accepted connection wanted to reach.
    static func destination(of channel: any Channel) -> SocketAddress? {
        guard let local = channel.localAddress, let options = channel as? any SocketOptionProvider else { return nil }
        // On the channel's event loop, these futures are already complete.
        switch local {
        case .v4:
            let redirected: EventLoopFuture<sockaddr_in> = options.unsafeGetSocketOption(
                level: .init(rawValue: 0), name: .init(rawValue: self.originalDestination))
            return self.value(of: redirected).map { SocketAddress($0, host: "") } ?? local
        case .v6:
            let redirected: EventLoopFuture<sockaddr_in6> = options.unsafeGetSocketOption(
                level: .init(rawValue: 41), name: .init(rawValue: self.originalDestination))
            return self.value(of: redirected).map { SocketAddress($0, host: "") } ?? local
        case .unixDomainSocket: return nil
        }
    }

    private static func value<Value>(of future: EventLoopFuture<Value>) -> Value? {
        var value: Value?
        future.assumeIsolated().whenSuccess { value = $0 }
        return value
    }
    #else
    private static func canMark() -> Bool { false }

    static func destination(of channel: any Channel) -> SocketAddress? { nil }
    #endif
}
