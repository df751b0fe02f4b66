/// The recorded exchanges of each key, in recorded order.
struct KeyGroups: Sendable {
    /// Where each key's exchanges start in `order`, and the end of the last.
    private let starts: [UInt32]
    /// All indexes of exchanges that have a key, grouped by key, ascending within a key.
    private let order: [UInt32]

    init(_ keys: RecordedKeys) {
        var starts = [UInt32](repeating: 0, count: keys.distinctCount + 1)
        for number in keys.keyNumbers where number != RecordedKeys.noKey { starts[Int(number) + 1] += 1 }
        for number in 0..<keys.distinctCount { starts[number + 1] += starts[number] }
        var next = starts
        var order = [UInt32](repeating: 0, count: Int(starts[keys.distinctCount]))
        for (index, number) in keys.keyNumbers.enumerated() where number != RecordedKeys.noKey {
            order[Int(next[Int(number)])] = UInt32(index)
            next[Int(number)] += 1
        }
        self.starts = starts
        self.order = order
    }

    /// How many exchanges a key has; at least one.
    func count(ofKey number: Int) -> Int { Int(self.starts[number + 1] - self.starts[number]) }

    /// The index of a key's exchange; `position` counts from 0 among equals.
    func index(ofKey number: Int, at position: Int) -> Int { Int(self.order[Int(self.starts[number]) + position]) }

    /// The indexes of a key's exchanges, ascending.
    func members(ofKey number: Int) -> ArraySlice<UInt32> { self.order[Int(self.starts[number])..<Int(self.starts[number + 1])] }
}
