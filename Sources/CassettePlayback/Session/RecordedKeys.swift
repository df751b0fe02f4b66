internal import Platform

/// The keys of a cassette's requests, in order of request start.
///
/// Keeps each distinct key once, in one arena: a hundred thousand keys of eighty bytes take less than 20 MB. Does not track which exchanges
/// have been used.
struct RecordedKeys: Sendable {
    private var arena: [UInt8] = []
    private var keys: [Key] = []
    /// For each key, whether one of its requests may have a body.
    private var bodies: [Bool] = []
    /// For each key, whether the answer to one of its requests may depend on preconditions or ranges.
    private var bound: [Bool] = []
    /// The keys with a mark, ascending. A mark matches any text.
    private(set) var marked: [Int] = []
    /// Open addressing with linear probing; the size is a power of two.
    private var slots: [Slot]
    /// The number of each request's key, or `noKey`. 32 bits are enough: 2³² requests would not fit into memory.
    private(set) var keyNumbers: [UInt32] = []

    /// For a CONNECT, which only keeps its place in the order. It asks for a tunnel, and is recorded only if none was established (RFC
    /// 9110, 9.3.6). It never answers a request, is never compared with one, and never causes a miss.
    static let noKey = UInt32.max

    /// Keeps half of the hash, so that most probes need not read the key.
    private struct Slot: Sendable {
        static let empty = Slot(number: 0, tag: 0)

        /// The key's number plus one, or 0.
        var number: UInt32
        var tag: UInt32
    }

    private struct Key: Sendable {
        var hash: UInt64
        var start: Int
        var count: Int
    }

    /// The exchanges that may answer any number of times, by index in order of request start.
    var repeating: Set<Int> = []

    /// The heads of stubs, without their queries. The keys of all exchanges with these heads have no queries: what a request must have is in
    /// each exchange's demands.
    private var stubHeads: Set<[UInt8]> = []
    /// Those with a mark, which matches any text.
    private var markedStubHeads: [[UInt8]] = []
    /// The keys without queries.
    private var stubKeys: Set<Int> = []
    /// Of exchanges whose keys have no queries, the keys with them, by index in order of request start.
    private var texts: [Int: [UInt8]] = [:]

    init() {
        self.slots = Array(repeating: .empty, count: 16)
    }

    /// Takes the methods and URLs of requests without bodies.
    init(_ requests: some Sequence<(String, String)>, rules: MatchRules = .standard) {
        self.init()
        for (method, url) in requests {
            rules.withHeadKey(method: method, url: url, headers: nil) { self.append($0, isTunnel: method == "CONNECT") }
        }
    }

    /// - Parameter count: the number of requests to be appended.
    mutating func reserve(_ count: Int) { self.keyNumbers.reserveCapacity(count) }

    var count: Int { self.keyNumbers.count }

    /// How many of the requests can answer a live one.
    var answerableCount: Int { self.keyNumbers.reduce(0) { $0 + ($1 == Self.noKey ? 0 : 1) } }

    var distinctCount: Int { self.keys.count }

    /// Appends the next request in order of request start.
    ///
    /// - Parameters:
    ///   - bytes: its head key under the session's rules (`MatchRules.withHeadKey`).
    ///   - mayHaveBody: false if the request certainly has no body.
    ///   - isBound: whether the answer may depend on the request's preconditions or ranges.
    ///   - isTunnel: whether it was a CONNECT.
    mutating func append(_ bytes: UnsafeRawBufferPointer, mayHaveBody: Bool = false, isBound: Bool = false, isTunnel: Bool = false) {
        guard !isTunnel else { return self.keyNumbers.append(Self.noKey) }
        guard let key = self.stubHead(of: bytes) else { return self.appendKey(bytes, mayHaveBody: mayHaveBody, isBound: isBound) }
        if key.count != bytes.count { self.texts[self.keyNumbers.count] = Array(bytes) }
        key.withUnsafeBytes { self.appendKey($0, mayHaveBody: mayHaveBody, isBound: true) }
        if let number = self.keyNumbers.last { self.stubKeys.insert(Int(number)) }
    }

    /// Notes the head key of an exchange that may be a stub. Must be called for all of them before the first request is appended.
    mutating func noteStub(_ bytes: UnsafeRawBufferPointer) {
        let head = Self.withoutQuery(bytes)
        guard self.stubHeads.insert(head).inserted, head.withUnsafeBytes({ MatchMark.isIn($0) }) else { return }
        self.markedStubHeads.append(head)
    }

    /// Whether some exchanges may be stubs.
    var haveStubs: Bool { !self.stubHeads.isEmpty }

    /// Whether a key has no query, because a stub has this method and URL.
    func hasStubs(_ key: Int) -> Bool { self.stubKeys.contains(key) }

    /// The head without its query if a stub has this method and URL; nil otherwise.
    private func stubHead(of bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard self.haveStubs else { return nil }
        let head = Self.withoutQuery(bytes)
        let isOfStub =
            self.stubHeads.contains(head)
            || self.markedStubHeads.contains { marked in
                marked.withUnsafeBytes { marked in head.withUnsafeBytes { MatchMark.headKey(marked, fits: $0) } }
            }
        return isOfStub ? head : nil
    }

    private mutating func appendKey(_ bytes: UnsafeRawBufferPointer, mayHaveBody: Bool, isBound: Bool) {
        let hash = RequestKey.hash(bytes)
        let slot = self.slot(of: bytes, hash: hash)
        guard self.slots[slot].number == 0 else {
            let number = self.slots[slot].number - 1
            self.keyNumbers.append(number)
            if mayHaveBody { self.bodies[Int(number)] = true }
            if isBound { self.bound[Int(number)] = true }
            return
        }
        let number = UInt32(self.keys.count)
        self.keys.append(Key(hash: hash, start: self.arena.count, count: bytes.count))
        self.bodies.append(mayHaveBody)
        self.bound.append(isBound)
        if MatchMark.isIn(bytes) { self.marked.append(Int(number)) }
        self.arena.append(contentsOf: bytes)
        self.slots[slot] = Slot(number: number + 1, tag: Self.tag(hash))
        self.keyNumbers.append(number)
        if self.keys.count * 2 > self.slots.count { self.growSlots() }
    }

    /// Passes the key by which a live head is looked up.
    func withKey<Result>(of head: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        self.stubHead(of: head)?.withUnsafeBytes(body) ?? body(head)
    }

    private static func withoutQuery(_ head: UnsafeRawBufferPointer) -> [UInt8] {
        let layout = RequestLayout(head)
        guard let query = layout.query else { return Array(head) }
        return Array(head[..<(query.lowerBound - 1)]) + head[query.upperBound...]
    }

    /// An exchange's key with its query, by its index; nil if the key itself has it.
    func text(ofExchange index: Int) -> [UInt8]? { self.texts[index] }

    /// Whether one of a key's requests may have a body.
    func mayHaveBodies(_ number: Int) -> Bool { self.bodies[number] }

    /// Whether the answer to one of a key's requests may depend on preconditions or ranges.
    func isBound(_ number: Int) -> Bool { self.bound[number] }

    /// The first key that has a mark and fits a live key.
    func firstMarked(fitting live: UnsafeRawBufferPointer) -> Int? {
        self.marked.first { key in self.withBytes(ofKey: key) { MatchMark.headKey($0, fits: live) } }
    }

    /// The number of the key with these bytes.
    func number(of bytes: UnsafeRawBufferPointer) -> Int? {
        let found = self.slots[self.slot(of: bytes, hash: RequestKey.hash(bytes))].number
        return found == 0 ? nil : Int(found - 1)
    }

    func withBytes<Result>(ofKey number: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let key = self.keys[number]
        return self.arena.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[key.start..<key.start + key.count])) }
    }

    /// The slot of the key, or the empty slot for it. Ends because at most half of the slots are taken.
    private func slot(of bytes: UnsafeRawBufferPointer, hash: UInt64) -> Int {
        let mask = self.slots.count - 1
        let tag = Self.tag(hash)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let held = self.slots[slot]
            if held.number == 0 || (held.tag == tag && self.isKey(Int(held.number - 1), bytes)) { return slot }
            slot = (slot + 1) & mask
        }
    }

    private static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

    private func isKey(_ number: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        self.withBytes(ofKey: number) { Self.areEqual($0, bytes) }
    }

    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        // A key contains at least a space, so both buffers have an address.
        guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return left.count == right.count }
        return left.count == right.count && memcmp(leftStart, rightStart, left.count) == 0
    }

    private mutating func growSlots() {
        // By a factor of four, since all keys have to be reinserted each time.
        var slots = [Slot](repeating: .empty, count: self.slots.count * 4)
        let mask = slots.count - 1
        for (number, key) in self.keys.enumerated() {
            var slot = Int(truncatingIfNeeded: key.hash) & mask
            while slots[slot].number != 0 { slot = (slot + 1) & mask }
            slots[slot] = Slot(number: UInt32(number + 1), tag: Self.tag(key.hash))
        }
        self.slots = slots
    }
}

/// The recorded exchanges of each key, in recorded order.
struct KeyGroups: Sendable {
    /// The start of each key's exchanges in `order`, and the end of the last.
    private let starts: [UInt32]
    /// The indexes of all exchanges with a key, grouped by key, ascending within a key.
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
