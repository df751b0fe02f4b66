/// A cache bounded by weight that forgets what was not used lately.
///
/// Two generations in place of a list of uses: an entry that is used moves to the young one; when that is half full, the old one is
/// dropped. Constant time, and no bookkeeping on a hit in the young one.
struct TwoGenerationCache<Value> {
    private var young: [Int: Value] = [:]
    private var old: [Int: Value] = [:]
    private var youngWeight = 0
    private let limit: Int

    /// - Parameter limit: the most weight both generations hold together; one entry may exceed it.
    init(limit: Int) {
        self.limit = limit
    }

    mutating func value(_ key: Int, weight: (Value) -> Int) -> Value? {
        if let value = self.young[key] { return value }
        guard let value = self.old.removeValue(forKey: key) else { return nil }
        self.insert(value, for: key, weight: weight(value))
        return value
    }

    mutating func insert(_ value: Value, for key: Int, weight: Int) {
        if self.youngWeight + weight > self.limit / 2, !self.young.isEmpty {
            self.old = self.young
            self.young = [:]
            self.youngWeight = 0
        }
        self.young[key] = value
        self.youngWeight += weight
    }
}
