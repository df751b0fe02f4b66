internal import NIOCore
internal import TrafficRules

/// Pauses each message that the client of a WebSocket sends, until somebody decides about it.
///
/// Not Sendable: lives on its event loop.
final class MessagePausing {
    private let makePoint: (PauseDesk.Content, String?, @escaping (PauseDesk.Decision) -> Void) -> PausePoint?
    private let note: (String) -> Void
    private var units = WebSocketUnits()
    private var queue = CircularBuffer<WebSocketUnits.Unit>()
    private var point: PausePoint?
    private var isRunning = false
    /// Takes what goes on.
    var deliver: (ByteBuffer) -> Void = { _ in }
    /// Called when nothing waits any more.
    var drained: () -> Void = {}

    /// - Parameters:
    ///   - note: takes what was met, for the rule's report.
    ///   - point: puts a message on the desk.
    init(
        note: @escaping (String) -> Void,
        point: @escaping (PauseDesk.Content, String?, @escaping (PauseDesk.Decision) -> Void) -> PausePoint?
    ) {
        self.note = note
        self.makePoint = point
    }

    var isWaiting: Bool { self.point != nil }

    func put(_ bytes: ByteBuffer) {
        for unit in self.units.push(bytes) { self.queue.append(unit) }
        self.run()
    }

    /// The client sends nothing more. A message that has no end goes on as it is, and one that waits has nobody who waits for it.
    func clientEnded() {
        guard self.point == nil else {
            return self.note("a client ended the WebSocket while a message of it waited, so the message did not go on")
        }
        let rest = self.units.rest()
        if rest.readableBytes > 0 { self.deliver(rest) }
    }

    func clientLeft() {
        self.point?.clientLeft()
        self.point = nil
        self.queue.removeAll()
    }

    private func run() {
        guard !self.isRunning else { return }
        self.isRunning = true
        defer { self.isRunning = false }
        while self.point == nil, let unit = self.queue.popFirst() {
            guard let content = unit.content else {
                if unit.kind == .lastPart { self.note(WebSocketUnits.isTooLongToWait) }
                self.deliver(unit.bytes)
                continue
            }
            self.point = self.makePoint(content.shown, content.note) { [weak self] decision in
                guard let self else { return }
                self.point = nil
                if let bytes = content.bytes(after: decision, from: .client, unit.bytes) { self.deliver(bytes) }
                self.run()
                if self.point == nil { self.drained() }
            }
            if self.point == nil { self.deliver(unit.bytes) }
        }
    }
}
