internal import TapeBytes

/// The secrets of a run and their placeholders: the same secret, the same placeholder.
///
/// Lives in memory only. Any thread may use it.
public final class SecretVault: Sendable {
    private struct State: Sendable {
        let byteLimit: Int
        var placeholders = PlaceholderList()
        /// By the bytes without escapes, so that all spellings are one secret.
        var numbers = SecretList()
        /// By number: whether the secret without escapes is searched for.
        var isSearched: [Bool] = []
        /// Spellings with escapes that are searched for, within the same limits.
        var spellings = SecretList()
        var counts: [String: Int] = [:]
        var index = NeedleLayers()
        /// What was given out last to search with. Nil before anything changes that it holds, of which the youngest part would be copied.
        var known: KnownSecrets?
        /// Names of cookies that scripts may not read.
        var hiddenCookies: Set<[UInt8]> = []
        /// Of all secrets and spellings.
        var bytes = 0
        var generation = 0
        var unsearched = 0
    }

    /// Secrets of one run, and as many spellings of them with escapes: each takes some 300 bytes beside its own.
    public static let limit = 100_000
    /// Bytes of all secrets of one run and of their spellings with escapes. Each is held up to four times.
    public static let byteLimit = 16 << 20

    private let state: Guarded<State>
    private let own = Guarded(0)

    public convenience init() { self.init(byteLimit: Self.byteLimit) }

    init(byteLimit: Int) { self.state = Guarded(State(byteLimit: byteLimit)) }

    /// Another way to the same secrets, for a second thread: what is learned through one is found through the other, and counted apart.
    package init(sharing other: SecretVault) { self.state = other.state }

    /// One that knows what another does, and keeps to itself what it learns.
    init(copying other: SecretVault) { self.state = Guarded(other.state.withLock { $0 }) }

    /// Secrets held.
    public var count: Int { self.state.withLock { $0.placeholders.count } }

    /// Counts up with each secret that is searched for: bytes looked at with this number need no second look while it stays.
    public var generation: Int { self.state.withLock { $0.generation } }

    /// Counts up with each secret that is searched for first through this object. While it stays, a search has taught nothing that it
    /// should itself be repeated for.
    package var learned: Int { self.own.withLock { $0 } }

    /// Counts up each time with a secret, or a spelling of one, that there is no room for: it is taken out at its own place only. Such a
    /// secret has a placeholder of number 0.
    public var unsearched: Int { self.state.withLock { $0.unsearched } }

    /// The placeholder of a secret, which is a new one for one not seen yet. Its number is 0 where there is no room for more.
    ///
    /// - Parameter isSure: the place it comes from holds nothing but secrets; see `SecretReach`.
    public func placeholder(for secret: [UInt8], kind: String, isSure: Bool = true) -> Placeholder {
        self.placeholder(for: secret, kind: kind, reach: SecretReach(secret, isSure: isSure))
    }

    func placeholder(
        for secret: [UInt8], kind: String, isSure: Bool, isRuled: Bool = false, under rules: RedactionRules
    ) -> Placeholder {
        self.placeholder(for: secret, kind: kind, reach: SecretReach(secret, isSure: isSure, isRuled: isRuled), keeping: rules.keptShape)
    }

    /// - Parameter shape: what of the secret's the placeholder keeps.
    func placeholder(
        for secret: [UInt8], kind: String, reach: SecretReach, pieces: [[UInt8]] = [], keeping shape: KeptShape = KeptShape()
    ) -> Placeholder {
        // A placeholder, or the beginning of one that was cut, stands in many places where it is no secret.
        let reach = Placeholder.isAll(secret, mayBeCut: true) ? .place : reach
        var canonical = EscapeView.canonical(secret)
        var pieces = pieces
        let written = canonical
        if UUIDPlaceholder.isUUID(canonical) {
            // Its letters are the same in either case, and programs write them as they like (RFC 9562, 4).
            canonical = written.map { $0 >= 65 && $0 <= 70 ? $0 | 32 : $0 }
            let upper = canonical.map { $0 >= 97 ? $0 & ~32 : $0 }
            pieces += [canonical, upper].filter { $0 != secret }
        }
        return self.state.withLock { state in
            let number: Int
            if let known = state.numbers.number(of: canonical) {
                number = known
            } else {
                guard state.placeholders.count < Self.limit, secret.count <= state.byteLimit - state.bytes else {
                    state.unsearched += 1
                    return Placeholder(for: written, kind: kind, keeping: shape) { _ in 0 }
                }
                number = state.numbers.append(canonical)
                state.isSearched.append(false)
                state.bytes += secret.count
                let counts = state.counts
                let placeholder = Placeholder(for: written, kind: kind, keeping: shape) { counts[$0, default: 0] + 1 }
                state.counts[placeholder.kind] = placeholder.number
                state.bytes += placeholder.heldBytes
                state.known = nil
                state.placeholders.append(placeholder)
            }
            if reach != .place, Self.isNew(secret, secret == canonical ? number : nil, &state) {
                state.known = nil
                var hasRoom = state.index.insert(secret, as: number, standsAlone: reach == .word)
                for piece in pieces { hasRoom = state.index.insert(piece, as: number, standsAlone: false) && hasRoom }
                if !hasRoom { state.unsearched += 1 }
                state.generation += 1
                self.own.withLock { $0 += 1 }
            }
            return state.placeholders[number]
        }
    }

    /// Whether it is to be searched for from now on. A spelling that there is no room for is not.
    ///
    /// - Parameter number: of a secret that has no escapes in it.
    private static func isNew(_ secret: [UInt8], _ number: Int?, _ state: inout State) -> Bool {
        if let number {
            defer { state.isSearched[number] = true }
            return !state.isSearched[number]
        }
        guard state.spellings.number(of: secret) == nil else { return false }
        guard state.spellings.count < Self.limit, secret.count <= state.byteLimit - state.bytes else {
            state.unsearched += 1
            return false
        }
        _ = state.spellings.append(secret)
        state.bytes += secret.count
        return true
    }

    /// Cookies of one run whose names are remembered, and bytes of a name.
    private static let cookieLimit = 1000
    private static let cookieNameLimit = 128

    /// Remembers that scripts may not read a cookie, so that its value is a secret in requests, too.
    func hide(cookie name: [UInt8]) {
        guard name.count <= Self.cookieNameLimit else { return }
        let isNew = self.state.withLock { state in
            guard state.hiddenCookies.count < Self.cookieLimit, state.hiddenCookies.insert(name).inserted else { return false }
            // Lines that were searched before are searched again.
            state.generation += 1
            return true
        }
        if isNew { self.own.withLock { $0 += 1 } }
    }

    func hides(cookie name: [UInt8]) -> Bool { self.state.withLock { $0.hiddenCookies.contains(name) } }

    /// Counts on after existing placeholders whose secrets are unknown.
    public func countOn(behind tally: PlaceholderTally) {
        self.state.withLock { $0.counts.merge(tally.highest) { max($0, $1) } }
    }

    /// Whether a secret has a placeholder.
    func knows(_ secret: [UInt8]) -> Bool {
        let canonical = EscapeView.canonical(secret)
        return self.state.withLock { $0.numbers.number(of: canonical) != nil }
    }

    /// What is searched for now; nil if nothing is. Take it anew after learning.
    func known() -> KnownSecrets? {
        self.state.withLock { state in
            if let known = state.known { return known }
            guard !state.index.isEmpty else { return nil }
            state.known = KnownSecrets(index: state.index, placeholders: state.placeholders)
            return state.known
        }
    }

    /// Whether nothing is searched for.
    var isEmpty: Bool { self.state.withLock { $0.index.isEmpty } }
}

/// What is searched for at one time, with the placeholders by number.
///
/// A class, so that each search takes one reference.
final class KnownSecrets: Sendable {
    let index: NeedleLayers
    let placeholders: PlaceholderList

    init(index: NeedleLayers, placeholders: PlaceholderList) {
        self.index = index
        self.placeholders = placeholders
    }
}

/// Placeholders by number, in blocks: who adds one copies the last block at most.
struct PlaceholderList: Sendable {
    private static let blockSize = 1024

    private var blocks: [[Placeholder]] = []
    private var last: [Placeholder] = []

    var count: Int { self.blocks.count * Self.blockSize + self.last.count }

    subscript(_ number: Int) -> Placeholder {
        let (block, place) = number.quotientAndRemainder(dividingBy: Self.blockSize)
        return block < self.blocks.count ? self.blocks[block][place] : self.last[place]
    }

    mutating func append(_ placeholder: Placeholder) {
        self.last.append(placeholder)
        guard self.last.count == Self.blockSize else { return }
        self.blocks.append(self.last)
        self.last = []
    }
}

/// The placeholders in a text: how many of each kind, and the highest number of each.
public struct PlaceholderTally: Sendable, Hashable {
    public private(set) var counts: [String: Int] = [:]
    public private(set) var highest: [String: Int] = [:]

    public init() {}

    /// Larger numbers are ignored: continuing after one could exhaust the numbers.
    private static let highestNumber = 1_000_000

    public mutating func add(_ text: UnsafeRawBufferPointer) {
        self.forEach(in: text) { kind, number in
            self.counts[kind, default: 0] += 1
            if number <= Self.highestNumber { self.highest[kind] = max(self.highest[kind] ?? 0, number) }
        }
    }

    public mutating func add(_ other: PlaceholderTally) {
        self.counts.merge(other.counts) { $0 + $1 }
        self.highest.merge(other.highest) { max($0, $1) }
    }

    /// Takes away what stood in a text before.
    public mutating func remove(_ text: UnsafeRawBufferPointer) {
        self.forEach(in: text) { kind, _ in self.counts[kind, default: 0] -= 1 }
    }

    private func forEach(in text: UnsafeRawBufferPointer, _ body: (_ kind: String, _ number: Int) -> Void) {
        var offset = 0
        while offset < text.count {
            let byte = text[offset]
            guard byte == UInt8(ascii: "{") || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "5"),
                let found = Placeholder.spelled(in: text, at: offset)
            else {
                offset += 1
                continue
            }
            body(found.placeholder.kind, found.placeholder.number)
            offset += found.length
        }
    }
}
