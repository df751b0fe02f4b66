/// The progress of an upload or a download.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes so far.
    public var completedUnitCount: Int64
    /// All bytes; nil if unknown.
    public var totalUnitCount: Int64?

    public init(completedUnitCount: Int64 = 0, totalUnitCount: Int64? = nil) {
        self.completedUnitCount = completedUnitCount
        self.totalUnitCount = totalUnitCount
    }

    /// 0 to 1; nil if the total is unknown.
    public var fractionCompleted: Double? {
        guard let total = self.totalUnitCount else { return nil }
        return total > 0 ? min(1, Double(self.completedUnitCount) / Double(total)) : 1
    }

    public var isFinished: Bool { self.totalUnitCount.map { self.completedUnitCount >= $0 } ?? false }
}

/// The progress of one direction, and its observers.
struct TransferCount: Sendable {
    enum Direction: Sendable {
        case upload, download
    }

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

    /// A total that was unknown is known when the transfer is complete.
    mutating func finish(whole: Bool) {
        self.isLast = true
        if whole, self.progress.totalUnitCount == nil { self.progress.totalUnitCount = self.progress.completedUnitCount }
    }

    /// Calls the observers. Must not be called under a lock.
    func notify() {
        for observer in self.observers { observer(self.progress, self.isLast) }
    }
}
