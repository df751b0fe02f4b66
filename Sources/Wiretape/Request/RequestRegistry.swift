/// The requests of a session that are on their way, in the order in which they started.
struct RequestRegistry: Sendable {
    private var active: [UInt64: Request] = [:]
    private var waiters: [CheckedContinuation<Void, Never>] = []

    var requests: [Request] { self.active.values.sorted { $0.number < $1.number } }
    var isIdle: Bool { self.active.isEmpty }

    mutating func add(_ request: Request) { self.active[request.number] = request }

    /// - Returns: who waited for the last request to end.
    mutating func remove(_ request: Request) -> [CheckedContinuation<Void, Never>] {
        self.active.removeValue(forKey: request.number)
        guard self.active.isEmpty, !self.waiters.isEmpty else { return [] }
        defer { self.waiters = [] }
        return self.waiters
    }

    /// - Returns: false where there is nothing to wait for.
    mutating func wait(_ waiter: CheckedContinuation<Void, Never>) -> Bool {
        guard !self.isIdle else { return false }
        self.waiters.append(waiter)
        return true
    }
}
