internal import TapeBytes

/// Octets that are compared as they are: digested as they pass, with their beginning kept to be shown.
struct OctetFacet {
    private var filter = MarkFilter()
    private var digest: any ContentDigest
    /// With marks for placeholders.
    private(set) var beginning: [UInt8] = []
    private(set) var size = 0
    private var keeps: Int
    /// Known beforehand, of octets that were not read.
    private var known: [UInt8]?

    var hasMarks: Bool { self.filter.hasMarks }

    init(digest: any ContentDigest, keeping: Int = BodyFacets.valueLimit) {
        self.digest = digest
        self.keeps = keeping
    }

    mutating func push(_ octets: UnsafeRawBufferPointer) {
        var filter = self.filter
        self.filter = MarkFilter()
        filter.push(octets) { self.take($0) }
        self.filter = filter
    }

    private mutating func take(_ octets: UnsafeRawBufferPointer) {
        self.digest.update(octets)
        self.size += octets.count
        let room = self.keeps - self.beginning.count
        if room > 0 { self.beginning += octets.prefix(room) }
        // It will not be whole, and a beginning is for people.
        if self.size > self.keeps, self.beginning.count > BodyFacets.valueLimit {
            self.beginning = Array(self.beginning.prefix(BodyFacets.valueLimit))
            self.keeps = 0
        }
    }

    /// All octets at once, by their digest; nothing may have been pushed.
    mutating func take(sha256: [UInt8], size: Int) {
        self.known = sha256
        self.size = size
    }

    /// All octets, where they were kept.
    var whole: [UInt8]? { self.known == nil && self.beginning.count == self.size ? self.beginning : nil }

    /// No more octets come: their digest.
    mutating func finish() -> [UInt8] {
        if let known = self.known { return known }
        var filter = self.filter
        self.filter = MarkFilter()
        filter.finish { self.take($0) }
        self.filter = filter
        return self.digest.finalize()
    }
}

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
