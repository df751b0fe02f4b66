internal import NIOCore
internal import TrafficRules

/// One message that waits on the desk until somebody decides about it or its time is over.
///
/// Not Sendable: lives on its event loop.
final class PausePoint {
    /// Bytes of a body that somebody can see and change. A longer one waits without it.
    static let contentLimit = 4 << 20

    private let desk: PauseDesk
    private let proxy: ProxyContext
    private var id: Int?
    private var timer: Scheduled<Void>?
    private var then: ((PauseDesk.Decision) -> Void)?

    private init(_ desk: PauseDesk, _ proxy: ProxyContext, then: @escaping (PauseDesk.Decision) -> Void) {
        self.desk = desk
        self.proxy = proxy
        self.then = then
    }

    /// - Parameter then: called once with the decision, later on the event loop, unless the point ends before.
    /// - Returns: nil if the message does not wait. The rule has a note then.
    static func wait(
        _ item: PauseDesk.Item, _ pause: Pause, _ rules: SessionRules, _ notes: RuleNotes, _ proxy: ProxyContext,
        then: @escaping (PauseDesk.Decision) -> Void
    ) -> PausePoint? {
        guard let desk = rules.desk else {
            notes.add(rule: pause.rule, Self.noPage)
            return nil
        }
        let point = PausePoint(desk, proxy, then: then)
        let box = NIOLoopBound(point, eventLoop: proxy.loop)
        let loop = proxy.loop
        do throws(PauseDesk.Refusal) {
            point.id = try desk.put(item) { decision in loop.execute { box.value.decided(decision) } }
        } catch {
            notes.add(rule: pause.rule, Self.reason(error))
            return nil
        }
        point.timer = loop.assumeIsolated().scheduleTask(in: .nanoseconds(pause.wait.nanoseconds)) { [weak point] in
            point?.timeIsOver()
        }
        return point
    }

    private static func reason(_ refusal: PauseDesk.Refusal) -> String {
        switch refusal {
        case .nobodyWatches: "nothing waits while no page is open"
        case .full: "more than \(PauseDesk.countLimit) messages wait, or they are too large together: further ones go on"
        }
    }

    /// Keeps room on the desk for bytes of a message that is not complete yet.
    ///
    /// - Returns: whether there is room. The rule has a note if not.
    static func reserve(_ bytes: Int, _ pause: Pause, _ rules: SessionRules, _ notes: RuleNotes) -> Bool {
        guard let desk = rules.desk else {
            notes.add(rule: pause.rule, Self.noPage)
            return false
        }
        do throws(PauseDesk.Refusal) {
            try desk.reserve(bytes)
            return true
        } catch {
            notes.add(rule: pause.rule, Self.reason(error))
            return false
        }
    }

    private static let noPage = "nothing waits, because this run has no page (--web), or the variable CI is set"

    private func timeIsOver() {
        if let id { self.desk.remove(id) }
        self.decided(.pass)
    }

    private func decided(_ decision: PauseDesk.Decision) {
        guard let then = self.then.take() else { return }
        self.timer?.cancel()
        self.proxy.readClock()
        then(decision)
    }

    /// Nobody waits for the message any more: its client has gone.
    func clientLeft() {
        guard self.then.take() != nil else { return }
        self.timer?.cancel()
        if let id { self.desk.clientLeft(id) }
    }
}
