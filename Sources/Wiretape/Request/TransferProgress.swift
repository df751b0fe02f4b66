/// How far octets have come.
public struct TransferProgress: Sendable, Hashable {
    /// Octets so far.
    public var completedUnitCount: Int64
    /// Octets in all; nil where nobody said so.
    public var totalUnitCount: Int64?

    public init(completedUnitCount: Int64 = 0, totalUnitCount: Int64? = nil) {
        self.completedUnitCount = completedUnitCount
        self.totalUnitCount = totalUnitCount
    }

    /// 0 to 1; nil without a total.
    public var fractionCompleted: Double? {
        guard let total = self.totalUnitCount else { return nil }
        return total > 0 ? min(1, Double(self.completedUnitCount) / Double(total)) : 1
    }

    public var isFinished: Bool { self.totalUnitCount.map { self.completedUnitCount >= $0 } ?? false }
}
