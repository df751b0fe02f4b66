internal import NIOCore
internal import NIOPosix

/// Feeds addresses that were looked up and checked to NIO's happy eyeballs (RFC 8305), so that the address connected to is the
/// address that was checked.
struct ResolvedAddresses: Resolver, Sendable {
    let addresses: [SocketAddress]
    let loop: any EventLoop

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        self.loop.makeSucceededFuture(self.addresses.filter { if case .v4 = $0 { true } else { false } })
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        self.loop.makeSucceededFuture(self.addresses.filter { if case .v6 = $0 { true } else { false } })
    }

    func cancelQueries() {}
}
