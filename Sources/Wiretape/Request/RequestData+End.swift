internal import Foundation

extension RequestData {
    /// Makes the outcome and lets go of everything that was held for the exchange.
    mutating func end(id: UUID, error: WiretapeError?, file: URL?, now: Duration) -> RequestEnding {
        self.note(.finished(error: error), at: now)
        let outcome = RequestOutcome(
            id: id, attempts: self.earlier + [self.attempt(error)], data: self.body, fileURL: file, trailers: self.trailers,
            metrics: self.metrics.metrics, start: self.start, error: error)
        self.upload.finish(whole: error == nil)
        self.download.finish(whole: error == nil)
        let ending = RequestEnding(
            outcome: outcome, waiters: self.waiters, task: self.task, work: self.work, watch: self.watchTask,
            progress: [self.upload, self.download].filter(\.isObserved))
        self.outcome = outcome
        self.waiters = []
        self.task = nil
        self.work = nil
        self.watchTask = nil
        self.held = nil
        self.draft?.spool = nil
        self.handlers.open()
        return ending
    }
}
