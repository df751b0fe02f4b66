internal import NIOCore

/// Everything open on one event loop, so that one timer a second can end what has waited too long.
///
/// A timer per request would cost more than the request's parsing.
final class ConnectionRegistry {
    private var members: [ObjectIdentifier: any TimedConnection] = [:]

    var count: Int { self.members.count }

    func add(_ member: any TimedConnection) {
        self.members[ObjectIdentifier(member)] = member
    }

    func remove(_ member: any TimedConnection) {
        self.members[ObjectIdentifier(member)] = nil
    }

    /// Ends every member whose deadline has passed.
    func sweep(now: NIODeadline) {
        let late = self.members.values.filter { $0.deadline <= now }
        for member in late { member.deadlinePassed() }
    }

    /// A copy, so that members may leave while it is walked.
    var all: [any TimedConnection] { Array(self.members.values) }
}
