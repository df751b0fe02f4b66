/// Since when a load is timed, and when something of its answer came last; times are those of one clock.
///
/// Off until it begins: nothing is timed for an answer that is there at once.
struct LoadWatch: Sendable {
    private var begin: Duration?
    private var lastSign: Duration = .zero

    var isOn: Bool { self.begin != nil }

    mutating func begins(at now: Duration) { (self.begin, self.lastSign) = (now, now) }

    /// Something has come. Who looked at the clock first may say so last.
    mutating func signed(at now: Duration) { self.lastSign = max(now, self.lastSign) }

    /// Nil while it is off.
    func decide(at now: Duration, _ limits: LoadTimeLimits) -> LoadTimeLimits.Decision? {
        self.begin.map { limits.decide(now: now - $0, lastSign: self.lastSign - $0) }
    }
}
