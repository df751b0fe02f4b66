/// The client's progress when each message of an answer began: for every message, the number of client messages that were complete by then.
///
/// Run-length encoded, since most conversations ask once and are answered often. Knows no messages.
public struct ConversationMarks: Sendable, Hashable {
    /// Consecutive messages with the same mark.
    public struct Run: Sendable, Hashable {
        public var count: Int
        /// Nil for all messages of the client and its end.
        public var after: Int?

        public init(count: Int, after: Int?) {
            self.count = count
            self.after = after
        }
    }

    /// The most runs. At 24 bytes each, the marks of one answer stay below 2 MiB. No cassette shows as many messages anyway.
    public static let limit = 65_536

    public private(set) var runs: [Run] = []
    /// The number of messages before the end of each run.
    private var ends: [Int] = []

    public init() {}

    /// Marks the next message.
    public mutating func append(after: Int?) { self.append(Run(count: 1, after: after)) }

    public mutating func append(_ run: Run) {
        guard run.count > 0 else { return }
        guard let last = self.runs.last else {
            self.runs.append(run)
            return self.ends.append(run.count)
        }
        // Beyond the limit, later messages get the mark of earlier ones. They are then sent too early, but never wait for something that
        // does not come.
        let isSame = last.after == run.after || self.runs.count >= Self.limit
        let (end, isLarge) = (self.ends.last ?? 0).addingReportingOverflow(run.count)
        guard !isLarge else { return }
        if isSame {
            self.runs[self.runs.count - 1].count += run.count
            self.ends[self.ends.count - 1] = end
        } else {
            self.runs.append(run)
            self.ends.append(end)
        }
    }

    /// The mark of a message, counted from 0; nil after the last one.
    public subscript(index: Int) -> Int? {
        var (low, high) = (0, self.ends.count)
        while low < high {
            let middle = (low + high) / 2
            if self.ends[middle] > index { high = middle } else { low = middle + 1 }
        }
        return low < self.runs.count ? self.runs[low].after : nil
    }

    /// Whether no message was sent before the client's end.
    public var isTrivial: Bool { self.runs.allSatisfy { $0.after == nil } }
}
