/// Puts marks in place of placeholders in octets that come in pieces, however they are cut.
///
/// Holds back no more than the beginning of a placeholder.
struct MarkFilter {
    private var held: [UInt8] = []
    private(set) var hasMarks = false

    mutating func push(_ octets: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) -> Void) {
        guard !self.held.isEmpty else { return self.process(octets, isFinal: false, deliver) }
        // Enough to decide about what is held, and the rest in place.
        let count = min(octets.count, MatchMark.longest)
        var joined = self.held
        joined += octets[..<count]
        self.held = []
        let isAll = count == octets.count
        let rest = UnsafeRawBufferPointer(rebasing: octets[count...])
        joined.withUnsafeBytes { self.process($0, isFinal: false, deliver) }
        guard !isAll else { return }
        if self.held.isEmpty { return self.process(rest, isFinal: false, deliver) }
        self.push(rest, deliver: deliver)
    }

    mutating func finish(deliver: (UnsafeRawBufferPointer) -> Void) {
        let held = self.held
        self.held = []
        held.withUnsafeBytes { self.process($0, isFinal: true, deliver) }
    }

    private mutating func process(_ octets: UnsafeRawBufferPointer, isFinal: Bool, _ deliver: (UnsafeRawBufferPointer) -> Void) {
        var start = 0
        var offset = 0
        func hand(over end: Int) {
            if start < end { deliver(UnsafeRawBufferPointer(rebasing: octets[start..<end])) }
        }
        while let candidate = MatchMark.candidate(in: octets, from: offset) {
            switch MatchMark.judge(octets, at: candidate) {
            case .none: offset = candidate + 1
            case .placeholder(let end):
                hand(over: candidate)
                MatchMark.octets.withUnsafeBytes(deliver)
                self.hasMarks = true
                (start, offset) = (end, end)
            case .needsMore where isFinal: offset = candidate + 1
            case .needsMore:
                hand(over: candidate)
                self.held = Array(octets[candidate...])
                return
            }
        }
        hand(over: octets.count)
    }
}
