/// A cache of values numbered from 0, bounded by weight, that drops the oldest values first.
///
/// Does not record uses, so a hit costs one array access. Every number up to the highest takes the space of one value, so values should be
/// references or arrays.
package struct BoundedCache<Value> {
    @usableFromInline private(set) var values: [Value?] = []
    /// Numbers in order of insertion; those before index `first` have been dropped.
    private var order: [Int] = []
    private var first = 0
    private var weight = 0
    private let limit: Int
    private let weigh: @Sendable (Value) -> Int

    /// - Parameters:
    ///   - limit: the largest total weight; a single value may exceed it.
    ///   - weigh: returns a value's weight, which must not change.
    package init(limit: Int, weigh: @escaping @Sendable (Value) -> Int) {
        self.limit = limit
        self.weigh = weigh
    }

    @inlinable
    package func value(_ number: Int) -> Value? { number < self.values.count ? self.values[number] : nil }

    package mutating func insert(_ value: Value, at number: Int) {
        if number >= self.values.count { self.values += Array(repeating: nil, count: number + 1 - self.values.count) }
        if let known = self.values[number] {
            self.weight -= self.weigh(known)
        } else {
            self.order.append(number)
        }
        self.values[number] = value
        self.weight += self.weigh(value)
        while self.weight > self.limit, self.order.count - self.first > 1 { self.dropFirst(sparing: number) }
    }

    private mutating func dropFirst(sparing number: Int) {
        let dropped = self.order[self.first]
        self.first += 1
        // This number was just inserted again, so it becomes the newest.
        if dropped == number { return self.order.append(number) }
        if let value = self.values[dropped] { self.weight -= self.weigh(value) }
        self.values[dropped] = nil
        guard self.first > self.order.count / 2 else { return }
        self.order.removeFirst(self.first)
        self.first = 0
    }
}

extension BoundedCache: Sendable where Value: Sendable {}
