internal import CassetteModel
internal import NIOCore
internal import NIOPosix
internal import TapeBytes

/// Threads for work that would block an event loop.
///
/// A server has two such pools: one for the disk, which reads cassettes and bodies and writes request bodies to temporary files, and one for
/// long computations, which must not delay the disk. Serves any number of event loops. Work that may hang, such as a name lookup, runs in
/// neither.
final class WorkPool: Sendable {
    /// Operations queued or running at once: two for each of 16,384 connections (`ProxyLimits.connections`), which never have more than
    /// two.
    static let workLimit = 32_768

    static let threadCount = 2

    private let limit: Int
    /// nil if the event loop does the work.
    private let threads: NIOThreadPool?
    private let count = Guarded(0)

    /// - Parameter count: 0 runs the work in the next tick of the calling event loop, for loops without a thread.
    init(threads count: Int = WorkPool.threadCount, workLimit: Int = WorkPool.workLimit) {
        self.limit = workLimit
        self.threads = count == 0 ? nil : NIOThreadPool(numberOfThreads: count)
        self.threads?.start()
    }

    /// Runs the work on a thread, in the order of the calls. Fails with the error that the work throws, with a `CassetteError` if too much
    /// work is queued, and with another error after `stop`.
    ///
    /// - Parameter loop: must run until the result arrives.
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
                CassetteError(.unreadable, "\(self.limit) disk operations are queued already; try again when the disk has caught up"))
        }
        let count = self.count
        return threads.runIfActive(eventLoop: loop) {
            defer { count.withLock { $0 -= 1 } }
            return try work()
        }
    }

    /// Waits for running work; queued work fails. The event loops must still be running. Blocks.
    func stop() {
        try? self.threads?.syncShutdownGracefully()
    }
}
