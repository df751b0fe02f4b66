/// What is to be told, woken and given up when a request has ended.
struct RequestEnding: Sendable {
    var outcome: RequestOutcome
    var waiters: [CheckedContinuation<RequestOutcome, Never>]
    var task: (any TransportTask)?
    var work: Task<Void, Never>?
    var watch: Task<Void, Never>?
    var progress: [TransferCount]
}
