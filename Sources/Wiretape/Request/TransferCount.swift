internal import Dispatch

/// One direction's progress, and who wants to know of it.
struct TransferCount: Sendable {
    typealias Observer = @Sendable (_ progress: TransferProgress, _ isLast: Bool) -> Void

    private(set) var progress = TransferProgress()
    private(set) var isLast = false
    private(set) var observers: [Observer] = []

    var isObserved: Bool { !self.observers.isEmpty }

    mutating func observe(_ observer: @escaping Observer) { self.observers.append(observer) }

    mutating func begin(total: Int64?) { self.progress = TransferProgress(totalUnitCount: total) }

    mutating func reach(_ count: Int64, of total: Int64? = nil) {
        self.progress.completedUnitCount = count
        if let total { self.progress.totalUnitCount = total }
    }

    mutating func advance(by count: Int) { self.progress.completedUnitCount += Int64(count) }

    /// What was not said before is known at the end.
    mutating func finish(whole: Bool) {
        self.isLast = true
        if whole, self.progress.totalUnitCount == nil { self.progress.totalUnitCount = self.progress.completedUnitCount }
    }

    /// Tells everybody; to be called without a lock.
    func notify() {
        for observer in self.observers { observer(self.progress, self.isLast) }
    }
}
