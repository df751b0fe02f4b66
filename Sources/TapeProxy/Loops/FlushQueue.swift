internal import NIOCore

/// Connections that wait for the end of this turn of the event loop to hand what was written to the kernel.
///
/// Every write to a peer that sleeps wakes it; writes that leave together wake it once. Not Sendable: lives on its event loop.
final class FlushQueue {
    private let loop: any EventLoop
    private var targets: [any FlushTarget] = []

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Flushes a connection when all events of this turn are handled.
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
        // Keeps the room of the list for the next turn.
        due.removeAll(keepingCapacity: true)
        self.targets = due
    }
}

/// A connection with bytes written and not yet handed to the kernel.
protocol FlushTarget: AnyObject {
    func flushNow()
}
