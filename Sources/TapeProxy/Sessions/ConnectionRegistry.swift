internal import NIOCore

/// Everything that is open on one event loop, so that one timer a second can end whatever has waited too long.
///
/// A timer per request would cost more than parsing the request.
final class ConnectionRegistry {
    private var members: [ObjectIdentifier: any TimedConnection] = [:]
    private let changed: (Int) -> Void

    /// - Parameter changed: called for each connection added (1) or removed (-1).
    init(changed: @escaping (Int) -> Void = { _ in }) { self.changed = changed }

    var count: Int { self.members.count }

    func add(_ member: any TimedConnection) {
        if self.members.updateValue(member, forKey: ObjectIdentifier(member)) == nil { self.changed(1) }
    }

    func remove(_ member: any TimedConnection) {
        if self.members.removeValue(forKey: ObjectIdentifier(member)) != nil { self.changed(-1) }
    }

    /// Ends every member whose deadline has passed.
    func sweep(now: NIODeadline) {
        let late = self.members.values.filter { $0.deadline <= now }
        for member in late { member.deadlinePassed() }
    }

    /// A copy, so that members may leave during iteration.
    var all: [any TimedConnection] { Array(self.members.values) }
}

/// A connection that ends when its time is up.
protocol TimedConnection: AnyObject {
    var deadline: NIODeadline { get }
    func deadlinePassed()
    /// The proxy is about to stop. Close at once if nothing is in flight, otherwise when it has ended.
    func stop()
    /// The grace period is over.
    func abort()
    /// Whether its client has sent something, or has left, and this connection is about to read it.
    var hasUnread: Bool { get }
}

extension TimedConnection {
    var hasUnread: Bool { false }
}
