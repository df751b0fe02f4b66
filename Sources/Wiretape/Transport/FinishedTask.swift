/// An exchange that ended inside `start`: there is nothing left to do about it.
struct FinishedTask: TransportTask {
    static let shared = FinishedTask()

    func cancel() {}
    func resume() {}
}
