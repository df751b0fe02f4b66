import TapeBytes
import Dispatch
import NIOCore
import TapeTestSupport

@testable import TapeProxy

/// A system resolver without a server for names that begin with "dead": their lookups hang until they are released. Other names are on
/// loopback.
final class HangingNames: Sendable {
    /// Much longer than any wait in a test, so that a test which waits for a hanging name fails instead of hanging.
    private static let hang = 600

    private let begun = DispatchSemaphore(value: 0)
    private let gate = DispatchSemaphore(value: 0)
    private let state = Guarded((asked: [String](), ended: 0))

    /// The names that were looked up.
    var asked: [String] { self.state.withLock { $0.asked } }
    /// Lookups that have returned, released or not.
    var ended: Int { self.state.withLock { $0.ended } }

    func resolver(
        threadLimit: Int = NameResolver.threadLimit, waitingLimit: Int = NameResolver.waitingLimit,
        now: @escaping @Sendable () -> NIODeadline = { .now() }
    ) -> NameResolver {
        NameResolver(threadLimit: threadLimit, waitingLimit: waitingLimit, now: now) { try self.addresses(of: $0) }
    }

    private func addresses(of host: String) throws -> [SocketAddress] {
        self.state.withLock { $0.asked.append(host) }
        self.begun.signal()
        if host.hasPrefix("dead") { _ = self.gate.wait(timeout: .now() + .seconds(Self.hang)) }
        self.state.withLock { $0.ended += 1 }
        return try [SocketAddress(ipAddress: "127.0.0.1", port: 0), SocketAddress(ipAddress: "::1", port: 0)]
    }

    /// Waits until this many more lookups have begun.
    func waitUntilBegun(_ count: Int) throws {
        for _ in 0..<count {
            guard self.begun.wait(timeout: .now() + .seconds(30)) == .success else { throw TestProblem("no lookup has begun") }
        }
    }

    /// Makes hanging lookups return.
    func letGo(_ count: Int) {
        for _ in 0..<count { self.gate.signal() }
    }
}
