import TapeBytes
import NIOCore
import NIOPosix
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct NameResolverTests {
    private let names = HangingNames()
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    /// Why there is no answer; nil if there is one.
    private func problem(_ future: EventLoopFuture<NameLookup.Answer>) -> NameResolver.Problem? {
        do {
            _ = try future.wait()
            return nil
        } catch {
            return error as? NameResolver.Problem
        }
    }

    private func isStopped(_ future: EventLoopFuture<NameLookup.Answer>) -> Bool {
        if case .stopped? = self.problem(future) { true } else { false }
    }

    @Test func secondLookupOfANameSharesTheFirst() throws {
        let resolver = self.names.resolver()
        let (one, other) = (self.group.next(), self.group.next())
        #expect(one !== other)
        let first = resolver.look(up: "dead.test", port: 80, on: one)
        try self.names.waitUntilBegun(1)
        let second = resolver.look(up: "DEAD.test", port: 8080, on: other)
        self.names.letGo(2)
        let answers = try [first.wait(), second.wait()]
        #expect(answers.map { $0.addresses.map(\.ipAddress) } == [["127.0.0.1", "::1"], ["127.0.0.1", "::1"]])
        #expect(answers.map { $0.addresses.map(\.port) } == [[80, 80], [8080, 8080]])
        #expect(self.names.asked == ["dead.test"])
        // Nothing is cached.
        #expect(
            try resolver.look(up: "live.test", port: 1, on: one).and(resolver.look(up: "dead.test", port: 2, on: one)).wait().1.addresses
                .count == 2)
        #expect(self.names.asked.count == 3)
        resolver.stop()
        try self.group.syncShutdownGracefully()
    }

    @Test func aHangingNameDelaysNoOtherUntilThereAreTooMany() throws {
        let resolver = self.names.resolver(threadLimit: 2, waitingLimit: 1)
        let loop = self.group.next()
        let dead = resolver.look(up: "dead-1.test", port: 80, on: loop)
        #expect(try resolver.look(up: "live-1.test", port: 80, on: loop).wait().addresses.count == 2)
        let second = resolver.look(up: "dead-2.test", port: 80, on: loop)
        try self.names.waitUntilBegun(3)
        let waiting = resolver.look(up: "live-2.test", port: 80, on: loop)
        let refused = self.problem(resolver.look(up: "live-3.test", port: 80, on: loop))
        #expect(
            refused?.message(for: "live-3.test")
                == "\"live-3.test\" was not looked up, since too many names are being looked up (1 waiting): check the name server, and try again."
        )
        // A further caller of a name that is already waiting does not exceed the limit.
        let same = resolver.look(up: "live-2.test", port: 81, on: loop)
        #expect(self.names.asked.count == 3)
        self.names.letGo(1)
        #expect(try waiting.wait().addresses.map(\.port) == [80, 80])
        #expect(try same.wait().addresses.map(\.port) == [81, 81])
        self.names.letGo(1)
        #expect(try dead.and(second).map { _ in true }.wait())
        resolver.stop()
        try self.group.syncShutdownGracefully()
    }

    @Test func aStopAnswersWaitersAndDropsHangingLookups() throws {
        let resolver = self.names.resolver(threadLimit: 1)
        let running = resolver.look(up: "dead.test", port: 80, on: self.group.next())
        try self.names.waitUntilBegun(1)
        let waiting = resolver.look(up: "live.test", port: 80, on: self.group.next())
        resolver.stop()
        #expect(self.isStopped(running) && self.isStopped(waiting))
        #expect(self.isStopped(resolver.look(up: "later.test", port: 80, on: self.group.next())))
        try self.group.syncShutdownGracefully()
        #expect(self.names.ended == 0)
        // Nobody waits for the result any more, and no event loop gets it.
        self.names.letGo(1)
        #expect(self.names.asked == ["dead.test"])
    }

    /// Its callers are gone. The names after it must not wait for it as well.
    @Test func aNameThatHadNoTurnInTimeIsNotLookedUp() throws {
        let seconds = Guarded(Int64(100))
        let resolver = self.names.resolver(threadLimit: 1) { .uptimeNanoseconds(0) + .seconds(seconds.withLock { $0 }) }
        let dead = resolver.look(up: "dead.test", port: 80, on: self.group.next())
        try self.names.waitUntilBegun(1)
        let late = resolver.look(up: "late.test", port: 80, on: self.group.next())
        seconds.withLock { $0 += 31 }
        self.names.letGo(1)
        _ = try dead.wait()
        #expect(self.problem(late)?.message(for: "late.test") == "\"late.test\" was not looked up in time: check the name server.")
        #expect(self.names.asked == ["dead.test"])
        resolver.stop()
        try self.group.syncShutdownGracefully()
    }

    @Test func aNameWithoutAnAddressIsAProblemInWords() throws {
        let resolver = NameResolver()
        let future = resolver.look(up: "no-such-host.invalid", port: 80, on: self.group.next())
        let message = self.problem(future)?.message(for: "no-such-host.invalid")
        #expect(message?.hasPrefix("\"no-such-host.invalid\" was not found (") == true)
        #expect(message?.hasSuffix("): check the host name in the URL.") == true)
        resolver.stop()
        try self.group.syncShutdownGracefully()
    }

    // MARK: The system's resolver

    @Test func anAddressIsItsOwn() throws {
        #expect(try NameResolver.systemAddresses(of: "127.0.0.1") == [SocketAddress(ipAddress: "127.0.0.1", port: 0)])
        #expect(try NameResolver.systemAddresses(of: "127.1").first?.ipAddress == "127.0.0.1")
    }

    @Test func localhostIsALoopbackAddress() throws {
        let addresses = try NameResolver.systemAddresses(of: "localhost")
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { ["127.0.0.1", "::1"].contains($0.ipAddress) })
    }

    /// As on a bare system without /etc/hosts (RFC 6761, 6.3).
    @Test(arguments: ["localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.localhost."])
    func namesOfLoopbackNeedNoFile(_ name: String) {
        #expect(NameResolver.loopbackAddresses(of: name).map(\.ipAddress) == ["127.0.0.1", "::1"])
    }

    @Test(arguments: ["localhosts", "notlocalhost", "localhost.test", "", ".", "127.0.0.1"])
    func noOtherNameIsLoopback(_ name: String) {
        #expect(NameResolver.loopbackAddresses(of: name).isEmpty)
    }
}
