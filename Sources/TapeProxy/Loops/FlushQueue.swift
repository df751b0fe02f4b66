internal import NIOCore

/// Connections whose written bytes are handed to the kernel at the end of this turn of the event loop.
///
/// Each write to a sleeping peer wakes it, so bytes that are sent together wake it only once. Not Sendable: lives on its event loop.
final class FlushQueue {
    private let loop: any EventLoop
    private var targets: [any FlushTarget] = []

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Flushes a connection once all events of this turn have been handled.
    func add(_ target: any FlushTarget) {
        self.targets.append(target)
        guard self.targets.count == 1 else { return }
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.loop.execute { bound.value.flush() }
    }

    private func flush() {
        var due: [any FlushTarget] = []
        swap(&due, &self.targets)
        for target in due { target.flushNow() }
        guard self.targets.isEmpty else { return }
        // Keeps the list's capacity for the next turn.
        due.removeAll(keepingCapacity: true)
        self.targets = due
    }
}

/// A connection with written bytes that have not been handed to the kernel yet.
protocol FlushTarget: AnyObject {
    func flushNow()
}
