public import CassetteModel

/// What reproduced each origin's coded bodies so far: an origin's servers mostly stay with one compressor.
///
/// Bounded: the origin not asked for the longest time is forgotten.
public struct RestorationMemory: Sendable {
    public static let originLimit = 64
    /// Parameters kept of each origin: its dynamic, its static and one other kind of answers.
    static let parametersLimit = 3
    /// An origin whose bodies were not restored this many times in a row (Node, Go) gets a full search only now and then.
    static let patience = 3
    static let retryInterval = 64

    private struct Entry {
        var parameters: [DeflateParameters] = []
        var misses = 0
        var used = 0
    }

    private var entries: [String: Entry] = [:]
    private var clock = 0

    public init() {}

    /// What worked for the origin, the latest first.
    public func parameters(for origin: String) -> [DeflateParameters] {
        self.entries[origin]?.parameters ?? []
    }

    /// Whether more than the likely candidates should be tried.
    public func deservesFullSearch(_ origin: String) -> Bool {
        guard let misses = self.entries[origin]?.misses else { return true }
        return misses < Self.patience || misses % Self.retryInterval == 0
    }

    public mutating func found(_ parameters: DeflateParameters, for origin: String) {
        self.update(origin) { entry in
            entry.misses = 0
            guard entry.parameters.first != parameters else { return }
            entry.parameters.removeAll { $0 == parameters }
            entry.parameters.insert(parameters, at: 0)
            if entry.parameters.count > Self.parametersLimit { entry.parameters.removeLast() }
        }
    }

    public mutating func missed(for origin: String) {
        self.update(origin) { $0.misses += 1 }
    }

    private mutating func update(_ origin: String, _ change: (inout Entry) -> Void) {
        if self.entries[origin] == nil, self.entries.count >= Self.originLimit,
            let oldest = self.entries.min(by: { $0.value.used < $1.value.used })?.key
        {
            self.entries[oldest] = nil
        }
        self.clock += 1
        var entry = self.entries[origin] ?? Entry()
        change(&entry)
        entry.used = self.clock
        self.entries[origin] = entry
    }
}
