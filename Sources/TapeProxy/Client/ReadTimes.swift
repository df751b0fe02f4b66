internal import TapeCore

/// When the octets of a stream came, in milliseconds, as a list of bounded length.
///
/// Knows no octets: who adds a count takes it off again in the same order.
struct ReadTimes {
    /// As many as a cassette keeps of a body's pieces.
    static let limit = Arrival.pieceLimit
    /// Reads closer together than this many milliseconds count as one.
    static let burst = 2.0

    private struct Read {
        var at: Double
        var count: Int
    }

    private var reads: [Read] = []
    private var first = 0

    mutating func add(_ count: Int, at: Double) {
        guard count > 0 else { return }
        if let last = self.reads.last, at - last.at < Self.burst || self.reads.count >= Self.limit {
            self.reads[self.reads.count - 1].count += count
        } else {
            self.reads.append(Read(at: at, count: count))
        }
    }

    /// The next octets that came together, at most so many; nil where none are left.
    mutating func take(atMost limit: Int) -> (count: Int, at: Double)? {
        guard self.first < self.reads.count, limit > 0 else { return nil }
        let read = self.reads[self.first]
        let count = min(read.count, limit)
        self.reads[self.first].count -= count
        if count == read.count { self.first += 1 }
        return (count, read.at)
    }
}
