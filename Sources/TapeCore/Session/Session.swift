/// Decides for each request of a run whether it is replayed, forwarded or refused.
///
/// Names recorded exchanges by their index in order of request start; reads no cassette, sends nothing and keeps no clock.
///
/// Each recorded exchange answers one request. Among equal ones (see `RequestKey`) the earliest recorded that is left answers,
/// and it is assigned when `decide` is called, at the request's start: which of several concurrent equal requests gets which
/// exchange depends on their order of arrival, what they get together does not. A client that abandons its request has consumed
/// the exchange. Exchanges recorded during the run are not replayed in it.
public final class Session: Sendable {
    /// A verdict holds so many miss reports; further ones are counted.
    public static let reportLimit = 100

    public let mode: RecordMode
    public let repetition: Repetition
    private let hasCassette: Bool
    private let keys: RecordedKeys
    private let groups: KeyGroups
    private let state: Guarded<State>

    private struct State: Sendable {
        /// How often each key was answered.
        var answered: [Int]
        var verdict = Verdict()
    }

    /// `keys` are those of the cassette, and not looked at without one.
    public init(mode: RecordMode, keys: RecordedKeys, hasCassette: Bool, repetition: Repetition = .never) {
        let keys = hasCassette && mode.replays ? keys : RecordedKeys()
        self.mode = mode
        self.repetition = repetition
        self.hasCassette = hasCassette
        self.keys = keys
        self.groups = KeyGroups(keys)
        self.state = Guarded(State(answered: Array(repeating: 0, count: keys.distinctCount)))
    }

    /// Whether recorded exchanges are looked up.
    public var looksUp: Bool { self.hasCassette && self.mode.replays }

    /// Whether there is any request that would be forwarded.
    public var mayForward: Bool {
        switch self.mode.missRule(hasCassette: self.hasCassette) {
        case .forward: true
        case .refuse: false
        }
    }

    /// Decides on a request that has just started, and takes note of the decision. Can be called from any thread and never waits
    /// for anything.
    public func decide(method: String, url: String) -> Decision {
        // Nothing is looked up: no key is needed.
        if !self.mode.replays, case .forward(let record) = self.mode.missRule(hasCassette: self.hasCassette) { return self.forward(record) }
        return RequestKey.withBytes(method: method, url: url) { self.decide($0) }
    }

    /// The same for a method and a URL that lie in memory.
    public func decide(method: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer) -> Decision {
        RequestKey.withBytes(method: method, url: url) { self.decide($0) }
    }

    /// The same for a key made earlier.
    public func decide(_ key: RequestKey) -> Decision {
        key.bytes.withUnsafeBytes { self.decide($0) }
    }

    private func forward(_ record: Bool) -> Decision {
        self.state.withLock { $0.verdict.forwarded += 1 }
        return .forward(record: record)
    }

    private func decide(_ bytes: UnsafeRawBufferPointer) -> Decision {
        let key = self.mode.replays ? self.keys.number(of: bytes) : nil
        if let key, let index = self.take(key) { return .replay(index: index) }
        switch self.mode.missRule(hasCassette: self.hasCassette) {
        case .forward(let record):
            return self.forward(record)
        case .refuse:
            return .refuse(self.refuse(bytes, key: key))
        }
    }

    /// The index of the exchange that answers now; nil when all are used up.
    private func take(_ key: Int) -> Int? {
        let count = self.groups.count(ofKey: key)
        return self.state.withLock { state in
            var position = state.answered[key]
            if position >= count {
                switch self.repetition {
                case .never: return nil
                case .last: position = count - 1
                case .cycle: position %= count
                }
                state.verdict.repeatedHits += 1
            }
            state.answered[key] += 1
            state.verdict.hits += 1
            return self.groups.index(ofKey: key, at: position)
        }
    }

    /// Searches outside the lock: the recorded keys never change.
    private func refuse(_ bytes: UnsafeRawBufferPointer, key: Int?) -> MissReport {
        let matches = NearestRequests(in: self.keys).search(for: bytes)
        let answered = self.state.withLock { state in matches.map { state.answered[$0.key] } }
        let nearest = zip(matches, answered).map { match, answered in
            NearRequest(
                index: self.groups.index(ofKey: match.key, at: 0),
                request: self.keys.withBytes(ofKey: match.key) { MissReport.text($0) },
                isUsedUp: answered >= self.groups.count(ofKey: match.key),
                differences: match.differences)
        }
        let report = MissReport(request: MissReport.text(bytes), mode: self.mode, reason: self.reason(key), nearest: nearest)
        self.state.withLock { state in
            state.verdict.misses += 1
            if state.verdict.reports.count < Self.reportLimit { state.verdict.reports.append(report) }
        }
        return report
    }

    private func reason(_ key: Int?) -> MissReport.Reason {
        guard self.hasCassette else { return .noCassette }
        return key.map { .usedUp(count: self.groups.count(ofKey: $0)) } ?? .notRecorded
    }

    /// What has been decided so far; can be asked at any time.
    public func verdict() -> Verdict {
        let state = self.state.withLock { $0 }
        var verdict = state.verdict
        for (key, answered) in state.answered.enumerated() {
            let count = self.groups.count(ofKey: key)
            for position in min(answered, count)..<count { verdict.unused.append(self.groups.index(ofKey: key, at: position)) }
        }
        verdict.unused.sort()
        return verdict
    }
}
