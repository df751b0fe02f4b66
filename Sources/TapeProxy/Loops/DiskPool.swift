internal import CassetteModel
internal import NIOCore
internal import NIOPosix
internal import TapeBytes

/// Threads that may wait for the disk: cassettes and bodies are read there, and requests' bodies put aside.
///
/// Serves any number of event loops. Nothing else runs there: what may hang, as a name's lookup, would keep replays waiting.
final class DiskPool: Sendable {
    /// Pieces of work that may wait or run at once: two for each of 16,384 connections (`ProxyLimits.connections`), which never have more.
    static let workLimit = 32_768

    private let limit: Int
    /// Nil if the event loop does the work itself.
    private let threads: NIOThreadPool?
    private let count = Guarded(0)

    /// - Parameter count: 0 leaves the work to the event loop that asks, in its next turn: for loops without a thread.
    init(threads count: Int = 2, workLimit: Int = DiskPool.workLimit) {
        self.limit = workLimit
        self.threads = count == 0 ? nil : NIOThreadPool(numberOfThreads: count)
        self.threads?.start()
    }

    /// Has a thread do it, in the order of the calls. Fails with what the work throws, with a `CassetteError` if too much work waits, and
    /// with another error after `stop`.
    ///
    /// - Parameter loop: has to run until there is an answer.
    func run<Value: Sendable>(
        on loop: any EventLoop, _ work: @escaping @Sendable () throws -> Value
    ) -> EventLoopFuture<Value> {
        guard let threads else { return loop.submit(work) }
        let hasRoom = self.count.withLock { count in
            guard count < self.limit else { return false }
            count += 1
            return true
        }
        guard hasRoom else {
            return loop.makeFailedFuture(
                CassetteError(.unreadable, "\(self.limit) pieces of work wait for the disk already; ask again when it has caught up"))
        }
        let count = self.count
        return threads.runIfActive(eventLoop: loop) {
            defer { count.withLock { $0 -= 1 } }
            return try work()
        }
    }

    /// Waits for what has begun; what waits fails. The event loops have to run still. Blocks.
    func stop() {
        try? self.threads?.syncShutdownGracefully()
    }
}
