internal import TapeBytes

/// The secrets of a run and their placeholders. Equal secrets have equal placeholders.
///
/// Kept in memory only. Any thread may use it.
public final class SecretVault: Sendable {
    private struct State: Sendable {
        let byteLimit: Int
        var placeholders = PlaceholderList()
        /// Numbers by the bytes without escapes, so that all spellings are the same secret.
        var numbers = SecretList()
        /// By number, the numbers of the secrets that a secret contained when it was learned. Most contain none.
        var inner: [Int: [Int]] = [:]
        /// By number, whether the secret without escapes is searched for.
        var isSearched: [Bool] = []
        /// Spellings with escapes that are searched for, within the same limits.
        var spellings = SecretList()
        var counts: [String: Int] = [:]
        var index = NeedleLayers()
        /// The snapshot last handed out for searches. Set to nil before its parts are changed, as the newest part would be copied
        /// otherwise.
        var known: KnownSecrets?
        /// Names of cookies that scripts may not read.
        var hiddenCookies: Set<[UInt8]> = []
        /// The size of all secrets and spellings.
        var bytes = 0
        var generation = 0
        var gaps = Gaps()
    }

    /// What could not be searched for, or not searched, so far.
    struct Gaps: Sendable, Hashable {
        /// Secrets, or spellings of them, that there is no room for. They are only removed at their own places. Such a secret has a
        /// placeholder with number 0.
        var beyondLimits = 0
        /// The same for secrets that are longer than `longest`.
        var long = 0
        /// JSON, or a tree in another format, that is broken or nested too deeply, so that the places of rules in it are unknown.
        var unreadPlaces = 0
        /// Contents in formats that redaction does not read, and how often each was met through this object.
        var opaque: [OpaqueContent: Int] = [:]
    }

    /// The most secrets of one run, and the most spellings of them with escapes. Each takes some 300 bytes in addition to its own.
    public static let limit = 100_000
    /// The total size of all secrets of one run and their spellings with escapes, in bytes. Each is held up to four times.
    public static let byteLimit = 16 << 20

    private let state: Guarded<State>
    /// Whether the "secrets" are placeholders that get other numbers, so that nothing else is searched for.
    let renumbers: Bool
    private let own = Guarded(0)
    /// Not shared, as another thread searches other messages.
    private let opaque = Guarded([OpaqueContent: Int]())

    public convenience init() { self.init(byteLimit: Self.byteLimit) }

    init(byteLimit: Int) {
        self.state = Guarded(State(byteLimit: byteLimit))
        self.renumbers = false
    }

    /// A vault that replaces placeholders by others, in all spellings that a secret may have. Learns nothing.
    init(renumbering placeholders: [(old: [UInt8], new: Placeholder)]) {
        var state = State(byteLimit: Self.byteLimit)
        for (old, new) in placeholders {
            let isNumber = old.withUnsafeBytes { NumberPlaceholder.number($0) } != nil
            if !state.index.insert(old, as: state.placeholders.count, standsAlone: isNumber) { state.gaps.beyondLimits += 1 }
            state.placeholders.append(new)
        }
        self.state = Guarded(state)
        self.renumbers = true
    }

    /// Another handle to the same secrets, for a second thread. Secrets learned through one are found through the other, but counted
    /// separately.
    package init(sharing other: SecretVault) {
        self.state = other.state
        self.renumbers = other.renumbers
    }

    /// A vault that knows the secrets of another, but keeps what it learns to itself.
    init(copying other: SecretVault) {
        self.state = Guarded(other.state.withLock { $0 })
        self.renumbers = other.renumbers
    }

    /// The number of secrets.
    public var count: Int { self.state.withLock { $0.placeholders.count } }

    /// Incremented with each secret that is searched for. Bytes that were searched need not be searched again until it changes.
    public var generation: Int { self.state.withLock { $0.generation } }

    /// Incremented with each secret that is first searched for through this object. If it is unchanged after a search, the search need not
    /// be repeated.
    package var learned: Int { self.own.withLock { $0 } }

    var gaps: Gaps {
        var gaps = self.state.withLock { $0.gaps }
        gaps.opaque = self.opaque.withLock { $0 }
        return gaps
    }

    /// Incremented each time with a secret, or a spelling of one, that there is no room for. It is only removed at its own place.
    public var unsearched: Int { self.state.withLock { $0.gaps.beyondLimits } }

    /// Notes that the places of rules in a content are unknown.
    func noteUnreadPlaces() { self.state.withLock { $0.gaps.unreadPlaces += 1 } }

    /// Notes a content that was searched as bytes only.
    func note(_ content: OpaqueContent) { self.opaque.withLock { $0[content, default: 0] += 1 } }

    /// The placeholder of a secret; a new secret gets a new one. Its number is 0 if there is no room for more.
    ///
    /// - Parameter isSure: whether the place holds nothing but secrets; see `SecretReach`.
    public func placeholder(for secret: [UInt8], kind: String, isSure: Bool = true) -> Placeholder {
        self.placeholder(for: secret, kind: kind, reach: SecretReach(secret, isSure: isSure))
    }

    func placeholder(
        for secret: [UInt8], kind: String, isSure: Bool, isRuled: Bool = false, under rules: RedactionRules
    ) -> Placeholder {
        self.placeholder(for: secret, kind: kind, reach: SecretReach(secret, isSure: isSure, isRuled: isRuled), keeping: rules.keptShape)
    }

    /// - Parameter shape: the properties of the secret that the placeholder keeps.
    func placeholder(
        for secret: [UInt8], kind: String, reach: SecretReach, pieces: [[UInt8]] = [], keeping shape: KeptShape = KeptShape()
    ) -> Placeholder {
        guard secret.count <= Self.longest else { return self.placeholder(forLong: secret, kind: kind) }
        // A placeholder, or the beginning of a cut one, occurs in many places where it is not a secret.
        let reach = Placeholder.isAll(secret, mayBeCut: true) ? .place : reach
        let written = EscapeView.canonical(secret)
        let canonical = LetterCase.canonical(written)
        var pieces = pieces
        if LetterCase.isFree(written) { pieces += [canonical, LetterCase.upper(canonical)].filter { $0 != secret } }
        return self.state.withLock { state in
            let number: Int
            if let known = state.numbers.number(of: canonical) {
                number = known
            } else {
                guard state.placeholders.count < Self.limit, secret.count <= state.byteLimit - state.bytes else {
                    state.gaps.beyondLimits += 1
                    return Placeholder(for: written, kind: kind, keeping: shape) { _ in 0 }
                }
                let inner = Self.inner(of: secret, &state)
                number = state.numbers.append(canonical)
                if !inner.isEmpty { state.inner[number] = inner }
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
                if reach == .anywhere { state.index.insert(spellings: LetterCase.others(of: secret, kind: kind), as: number) }
                if !hasRoom { state.gaps.beyondLimits += 1 }
                state.generation += 1
                self.own.withLock { $0 += 1 }
            }
            return state.placeholders[number]
        }
    }

    /// A shorter secret in a value may be there by chance, or tell too much about the value.
    private static let innerLength = 16
    private static let innerLimit = 4

    private static func inner(of secret: [UInt8], _ state: inout State) -> [Int] {
        guard secret.count > Self.innerLength, !state.index.isEmpty else { return [] }
        var found: Set<Int> = []
        secret.withUnsafeBytes { value in
            state.index.search(value) { hit in
                if hit.range.count >= Self.innerLength { found.insert(hit.secret) }
            }
        }
        return Array(found.sorted().prefix(Self.innerLimit))
    }

    /// The placeholders of the secrets that a secret contained when it was learned, in the form `{{kind:number}}`.
    func inner(of secret: [UInt8]) -> [Placeholder] {
        self.state.withLock { state in
            guard !state.inner.isEmpty, let number = state.numbers.number(of: LetterCase.canonical(EscapeView.canonical(secret))),
                let inner = state.inner[number]
            else { return [] }
            return inner.map { Placeholder(kind: state.placeholders[$0].kind, number: state.placeholders[$0].number) }
        }
    }

    /// The longest secret that is searched for, in bytes. Only the places of rules hold longer ones.
    static let longest = NamedValue.limit

    /// The placeholder of a secret that is too long to be searched for.
    private func placeholder(forLong secret: [UInt8], kind: String) -> Placeholder {
        var digest = PortableSHA256()
        secret.withUnsafeBytes { digest.update($0) }
        return self.placeholder(forLong: digest.finalize(), count: secret.count, kind: kind)
    }

    /// - Parameters:
    ///   - digest: the SHA-256 of the secret, which stands for it.
    ///   - count: its length in bytes.
    func placeholder(forLong digest: [UInt8], count: Int, kind: String) -> Placeholder {
        let name = Array("\(count) bytes, SHA-256 \(Hex.encode(digest))".utf8)
        self.state.withLock { $0.gaps.long += 1 }
        return self.placeholder(for: name, kind: kind, reach: .place)
    }

    /// Whether it is to be searched for from now on. False for a spelling that there is no room for.
    ///
    /// - Parameter number: the number of a secret without escapes.
    private static func isNew(_ secret: [UInt8], _ number: Int?, _ state: inout State) -> Bool {
        if let number {
            defer { state.isSearched[number] = true }
            return !state.isSearched[number]
        }
        guard state.spellings.number(of: secret) == nil else { return false }
        guard state.spellings.count < Self.limit, secret.count <= state.byteLimit - state.bytes else {
            state.gaps.beyondLimits += 1
            return false
        }
        _ = state.spellings.append(secret)
        state.bytes += secret.count
        return true
    }

    /// How many cookie names are remembered in one run, and the longest name in bytes.
    private static let cookieLimit = 1000
    private static let cookieNameLimit = 128

    /// Remembers that a cookie is hidden from scripts, so that its value is a secret in requests, too.
    func hide(cookie name: [UInt8]) {
        guard name.count <= Self.cookieNameLimit else { return }
        let isNew = self.state.withLock { state in
            guard state.hiddenCookies.count < Self.cookieLimit, state.hiddenCookies.insert(name).inserted else { return false }
            // Lines searched before have to be searched again.
            state.generation += 1
            return true
        }
        if isNew { self.own.withLock { $0 += 1 } }
    }

    func hides(cookie name: [UInt8]) -> Bool { self.state.withLock { $0.hiddenCookies.contains(name) } }

    /// Continues the numbering after existing placeholders, whose secrets are unknown.
    public func countOn(behind tally: PlaceholderTally) {
        self.state.withLock { $0.counts.merge(tally.highest) { max($0, $1) } }
    }

    /// Whether a secret has a placeholder.
    func knows(_ secret: [UInt8]) -> Bool {
        let canonical = LetterCase.canonical(EscapeView.canonical(secret))
        return self.state.withLock { $0.numbers.number(of: canonical) != nil }
    }

    /// The secrets that are searched for now; nil if there are none. Call again after learning.
    func known() -> KnownSecrets? {
        self.state.withLock { state in
            if let known = state.known { return known }
            guard !state.index.isEmpty else { return nil }
            state.known = KnownSecrets(index: state.index, placeholders: state.placeholders)
            return state.known
        }
    }

    /// Whether no secrets are searched for.
    var isEmpty: Bool { self.state.withLock { $0.index.isEmpty } }
}

/// The secrets searched for at one time, with the placeholders by number.
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

/// Placeholders by number, in blocks. Adding one copies at most the last block.
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

    /// Larger numbers are ignored, as continuing after one could exhaust the numbers.
    private static let highestNumber = 1_000_000

    public mutating func add(_ text: UnsafeRawBufferPointer) {
        Self.forEach(in: text) { placeholder in
            self.counts[placeholder.kind, default: 0] += 1
            guard placeholder.number <= Self.highestNumber else { return }
            self.highest[placeholder.kind] = max(self.highest[placeholder.kind] ?? 0, placeholder.number)
        }
    }

    public mutating func add(_ other: PlaceholderTally) {
        self.counts.merge(other.counts) { $0 + $1 }
        self.highest.merge(other.highest) { max($0, $1) }
    }

    /// Subtracts the placeholders of a previous text.
    public mutating func remove(_ text: UnsafeRawBufferPointer) {
        Self.forEach(in: text) { self.counts[$0.kind, default: 0] -= 1 }
    }

    package static func forEach(in text: [UInt8], _ body: (Placeholder) -> Void) {
        text.withUnsafeBytes { self.forEach(in: $0, body) }
    }

    private static func forEach(in text: UnsafeRawBufferPointer, _ body: (Placeholder) -> Void) {
        var offset = 0
        while offset < text.count {
            let byte = text[offset]
            guard byte == UInt8(ascii: "{") || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "5"),
                let found = Placeholder.spelled(in: text, at: offset)
            else {
                offset += 1
                continue
            }
            body(found.placeholder)
            offset += found.length
        }
    }
}
