internal import CassetteModel
internal import Foundation
internal import TapeBytes

extension Request {
    /// Sees to it that the request's limits of time are kept, from now to its end: one sleeper, and none where nothing is limited.
    func armWatch() {
        guard !self.core.clock.isImmediate else { return }
        self.data.withLock { data in
            guard data.outcome == nil, data.watchTask == nil, let watch = data.watch else { return }
            guard watch.timeouts.idle != nil || watch.timeouts.total != nil else { return }
            data.watchTask = Task { [weak self, clock = self.core.clock] in
                while let delay = self?.look() {
                    guard (try? await clock.sleep(delay)) != nil else { return }
                }
            }
        }
    }

    /// Some clocks end the process where a time is past their numbers.
    private static let longestSleep = Duration.seconds(86_400)

    /// - Returns: how long to sleep; nil where there is nothing to look at any more.
    private func look() -> Duration? {
        let now = self.core.clock.elapsed()
        let (verdict, phase) = self.data.withLock { data -> (TimeoutWatch.Verdict, String) in
            guard data.outcome == nil, let watch = data.watch else { return (.never, "") }
            let isWaiting = data.machine.isWaiting && !data.isPaused
            return (watch.verdict(at: now, isWaiting: isWaiting), data.phase)
        }
        switch verdict {
        case .never: return nil
        case .look(let time): return min(time - now, Self.longestSleep)
        case .exceeded(let limit):
            self.exceeded(limit, while: phase)
            return self.data.withLock { $0.outcome == nil } ? .zero : nil
        }
    }

    /// Limits have changed: whoever sleeps may sleep too long.
    func rearmWatch() {
        let sleeper = self.data.withLock { data in
            defer { data.watchTask = nil }
            return data.watchTask
        }
        guard let sleeper else { return }
        sleeper.cancel()
        self.armWatch()
    }

    private func exceeded(_ limit: TimeoutWatch.Limit, while phase: String) {
        let (time, advice, isTotal) =
            switch limit {
            case .idle(let time): (time, "raise timeouts.idle of the session's configuration, or look at what the server does", false)
            case .total(let time): (time, "raise timeouts.total of the session's configuration, or look at what takes so long", true)
            }
        let what = self.data.withLock { $0.sent ?? $0.draft?.request }.map { "\($0.method) \"\($0.url.absoluteString)\"" } ?? "the request"
        let failure = TransportFailure(
            .network(.timeout), "\(what) timed out after \(time) \(isTotal ? "in all" : "without a sign"), \(phase): \(advice)")
        let error = WiretapeError(failure)
        self.abandon(dueTo: failure)
        // Retries would take more time still.
        if isTotal { self.finish(error) } else { self.retryOrFinish(error) }
    }
}

extension RequestData {
    /// What is waited for, in words.
    var phase: String {
        guard self.machine.isWaiting else { return "while adapters, handlers or retriers were at work" }
        guard let response = self.response else {
            let upload = self.upload.progress
            guard let all = upload.totalUnitCount, upload.completedUnitCount > 0, upload.completedUnitCount < all else {
                return "waiting for the head of the answer"
            }
            return "waiting for the body to go out, \(upload.completedUnitCount) of \(all) octets so far"
        }
        let all = self.download.progress.totalUnitCount.map { " of \($0)" } ?? ""
        return
            "waiting for the rest of the answer with status \(response.status), \(self.download.progress.completedUnitCount)\(all) octets so far"
    }
}
