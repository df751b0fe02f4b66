import TapeBytes
import Dispatch
import NIOCore
import TapeTestSupport

@testable import TapeProxy

/// The system's resolver where no server answers for names that begin with "dead": those hang until they are let go. Others are on loopback.
final class HangingNames: Sendable {
    /// Far beyond the patience of any wait in a test, so that a test which waits for a hanging name fails in place of hanging.
    private static let hang = 600

    private let begun = DispatchSemaphore(value: 0)
    private let gate = DispatchSemaphore(value: 0)
    private let state = Guarded((asked: [String](), ended: 0))

    /// Names as they were looked up.
    var asked: [String] { self.state.withLock { $0.asked } }
    /// Lookups that came back, let go or not.
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

    /// Waits until so many more lookups have begun.
    func waitUntilBegun(_ count: Int) throws {
        for _ in 0..<count {
            guard self.begun.wait(timeout: .now() + .seconds(30)) == .success else { throw TestProblem("no lookup has begun") }
        }
    }

    /// Has hanging lookups come back.
    func letGo(_ count: Int) {
        for _ in 0..<count { self.gate.signal() }
    }
}
