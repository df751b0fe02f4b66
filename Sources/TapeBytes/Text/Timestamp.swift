/// An instant in UTC, in whole microseconds since 1970-01-01T00:00:00Z.
public struct Timestamp: Sendable, Hashable, Comparable {
    public var microseconds: Int64

    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }
}
