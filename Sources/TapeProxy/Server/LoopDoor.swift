internal import NIOCore
internal import TapeBytes

/// Lets other threads hand work to an event loop, until it is shut: a recorder may outlive the loop.
final class LoopDoor: Sendable {
    let loop: any EventLoop
    private let isOpen = Guarded(true)

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Runs the work on the loop, or not at all.
    func execute(_ work: @escaping @Sendable () -> Void) {
        self.isOpen.withLock { isOpen in
            if isOpen { self.loop.execute(work) }
        }
    }

    /// After this, nothing more comes through.
    func shut() {
        self.isOpen.withLock { $0 = false }
    }
}
