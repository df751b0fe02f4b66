/// A task that takes note of why its exchange is given up: what is recorded of it says so, and its replay ends in the same way.
protocol ExplainedTask: TransportTask {
    /// `cancel`, with the failure that the client ends with in place of a cancellation.
    func cancel(dueTo failure: TransportFailure)
}

extension TransportTask {
    /// Cancels it, and tells why where it wants to know.
    func giveUp(dueTo failure: TransportFailure) {
        if let task = self as? any ExplainedTask { task.cancel(dueTo: failure) } else { self.cancel() }
    }
}
