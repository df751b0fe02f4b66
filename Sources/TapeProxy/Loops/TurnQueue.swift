internal import NIOCore

/// Connections that have more to do than others should wait for. One of them continues at a time, and the event loop looks at all other
/// connections in between.
///
/// Other connections therefore wait for the work of one turn, however many are in this queue. Not Sendable: lives on its event loop.
final class TurnQueue {
    private let loop: any EventLoop
    private var waiting: [() -> Void] = []
    private var isScheduled = false

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// Whether nothing waits for its turn.
    var isIdle: Bool { self.waiting.isEmpty }

    /// Calls back in a later turn of the event loop, after all that wait already.
    func wait(_ then: @escaping () -> Void) {
        self.waiting.append(then)
        self.schedule()
    }

    private func schedule() {
        guard !self.isScheduled, !self.waiting.isEmpty else { return }
        self.isScheduled = true
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        // A task that is executed at once would run before the loop looks at its other connections.
        self.loop.scheduleTask(in: .milliseconds(1)) { bound.value.next() }
    }

    private func next() {
        self.isScheduled = false
        guard !self.waiting.isEmpty else { return }
        let first = self.waiting.removeFirst()
        first()
        self.schedule()
    }
}
