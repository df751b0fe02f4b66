import CassetteModel
import CassetteStore
import NIOCore
import NIOEmbedded
import NIOPosix
import TapeBytes
import TapeExchange
@testable import TapeProxy
import Testing

@Suite struct UpstreamDialerTests {
    private enum Outcome: Equatable { case connected, loop, failed(Failure.Kind) }

    private func dial(_ host: String, _ port: Int, own: Int? = nil) throws -> Outcome {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let resolver = NameResolver()
        defer {
            resolver.stop()
            try? group.syncShutdownGracefully()
        }
        let loop = group.next()
        let promise = loop.makePromise(of: Outcome.self)
        loop.execute {
            let ports = OwnPorts()
            if let own, let address = IPAddress("127.0.0.1") { ports.add(LoopRule(listeningOn: address, port: own, interfaces: [])) }
            let dialer = UpstreamDialer(loop: loop, limits: ProxyLimits(), resolver: resolver, own: ports)
            dialer.dial(host: host, port: port) {
                $0.eventLoop.makeSucceededVoidFuture()
            } then: { result in
                switch result {
                case .success((let channel, let timing)):
                    #expect(timing.connect >= 0)
                    #expect((timing.dns == nil) == (host == "127.0.0.1"))
                    channel.close(promise: nil)
                    promise.succeed(.connected)
                case .failure(.loop): promise.succeed(.loop)
                case .failure(.stopped): promise.fail(RawError("nobody stops"))
                case .failure(.failed(let failure)): promise.succeed(.failed(failure.kind))
                }
            }
        }
        return try promise.futureResult.wait()
    }

    @Test(arguments: ["127.0.0.1", "localhost", "127.1"]) func addressesAndNamesAreReached(host: String) throws {
        let origin = try RawOrigin { try $0.expectEnd() }
        #expect(try self.dial(host, origin.port) == .connected)
    }

    /// A name with two addresses, the first of which refuses. The setup applies only to the connection that is used.
    @Test func onlyTheConnectionThatIsUsedIsPrepared() throws {
        let origin = try RawOrigin { try $0.expectEnd() }
        let addresses = try ["::1", "127.0.0.1"].map { try SocketAddress(ipAddress: $0, port: 0) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let resolver = NameResolver(lookup: { _ in addresses })
        defer {
            resolver.stop()
            try? group.syncShutdownGracefully()
        }
        let loop = group.next()
        let promise = loop.makePromise(of: Bool.self)
        let prepared = Guarded<[ObjectIdentifier]>([])
        loop.execute {
            let dialer = UpstreamDialer(loop: loop, limits: ProxyLimits(), resolver: resolver, own: OwnPorts())
            dialer.dial(host: "dual.test", port: origin.port) { channel in
                prepared.withLock { $0.append(ObjectIdentifier(channel)) }
                return channel.eventLoop.makeSucceededVoidFuture()
            } then: { result in
                guard case .success((let channel, _)) = result else { return promise.succeed(false) }
                promise.succeed(prepared.withLock { $0 } == [ObjectIdentifier(channel)])
                channel.close(promise: nil)
            }
        }
        #expect(try promise.futureResult.wait())
    }

    @Test func failuresHaveTheirKinds() throws {
        let origin = try RawOrigin()
        origin.stop()
        #expect(try self.dial("127.0.0.1", origin.port) == .failed(.refused))
        #expect(try self.dial("no-such-host.invalid", 80) == .failed(.dns))
    }

    @Test func anIPv6AddressIsNamedAsInAURL() throws {
        let answer = try RunningProxy(.passthrough).ask("GET http://[::1]:1/ HTTP/1.1\r\nHost: [::1]:1\r\nConnection: close\r\n\r\n")
        #expect(answer.contains("\"[::1]:1\" "), "\(answer)")
    }

    @Test func theProxysOwnAddressIsRefusedAfterTheLookup() throws {
        let origin = try RawOrigin()
        for host in ["127.0.0.1", "127.0.0.2", "localhost", "127.1", "0.0.0.0"] {
            #expect(try self.dial(host, origin.port, own: origin.port) == .loop)
        }
        #expect(origin.accepted == 0)
    }
}

@Suite struct IPAddressSocketAddressTests {
    @Test func bothFamiliesCarryTheirBytes() throws {
        #expect(IPAddress(try SocketAddress(ipAddress: "10.1.2.3", port: 1))?.bytes == [10, 1, 2, 3])
        #expect(IPAddress(try SocketAddress(ipAddress: "::1", port: 1))?.isLoopback == true)
        #expect(IPAddress(try SocketAddress(ipAddress: "::ffff:127.0.0.1", port: 1))?.bytes == [127, 0, 0, 1])
        #expect(IPAddress(try SocketAddress(unixDomainSocketPath: "/tmp/x")) == nil)
    }
}

@Suite struct ResolvedAddressesTests {
    @Test func eachFamilyGetsItsOwnInOrder() throws {
        let addresses = try ["::2", "10.0.0.2", "::1", "10.0.0.1"].map { try SocketAddress(ipAddress: $0, port: 1) }
        let resolver = ResolvedAddresses(addresses: addresses, loop: EmbeddedEventLoop())
        #expect(try resolver.initiateAQuery(host: "", port: 1).wait().map(\.ipAddress) == ["10.0.0.2", "10.0.0.1"])
        #expect(try resolver.initiateAAAAQuery(host: "", port: 1).wait().map(\.ipAddress) == ["::2", "::1"])
        resolver.cancelQueries()
    }
}

@Suite struct UpstreamRouteTests {
    private let origin = Origin(scheme: .https, host: "127.0.0.1", port: 8443)

    @Test func theNameThatIsAskedForIsTheOneToVerify() {
        #expect(UpstreamRoute(self.origin, serverName: "example.test").verifiedHost == "example.test")
        #expect(UpstreamRoute(self.origin).verifiedHost == "127.0.0.1")
    }

    @Test func routesWithOtherNamesOrProtocolsDiffer() {
        let route = UpstreamRoute(self.origin, serverName: "example.test", protocols: ["http/1.1"])
        #expect(route == UpstreamRoute(self.origin, serverName: "example.test", protocols: ["http/1.1"]))
        #expect(route != UpstreamRoute(self.origin, serverName: "other.test", protocols: ["http/1.1"]))
        #expect(route != UpstreamRoute(self.origin, protocols: ["http/1.1"]))
        #expect(route != UpstreamRoute(self.origin, serverName: "example.test"))
        let clear = Origin(scheme: .http, host: "127.0.0.1", port: 8443)
        #expect(route != UpstreamRoute(clear, serverName: "example.test", protocols: ["http/1.1"]))
    }
}
