internal import Dispatch
internal import TapeBytes

/// Finds the recorded requests that are most similar to one that was not recorded.
///
/// Scans all sketches, then compares the few best candidates in full. This takes half a millisecond among a hundred thousand requests once
/// the sketches are made, which takes a third of a microsecond each.
final class NearestRequests: Sendable {
    struct Match {
        var key: Int
        var differences: [RequestDifference]
    }

    static let limit = 3
    static let candidateLimit = 24

    /// Making sketches of more keys takes longer than a search on an event loop may.
    private static let quickCount = 2048

    private let keys: RecordedKeys
    /// One for each key; nil until they are needed, so that the first answers of a replay are not delayed.
    private let sketches = Guarded<[RequestSketch]?>(nil)

    init(in keys: RecordedKeys) {
        self.keys = keys
    }

    /// Makes the sketches before the first search, if that would otherwise take long.
    ///
    /// - Parameter later: runs the work on another thread, after the replay has had time for its first answers.
    func makeSketchesAhead(_ later: (_ work: @escaping @Sendable () -> Void) -> Void = NearestRequests.inHalfASecond) {
        guard self.keys.distinctCount > Self.quickCount else { return }
        later { [weak self] in _ = self?.madeSketches() }
    }

    private static func inHalfASecond(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 0.5, execute: work)
    }

    var hasSketches: Bool { self.sketches.withLock { $0 != nil } }

    /// The nearest first; equally near ones in recorded order. Leaves out the request itself.
    func search(for request: UnsafeRawBufferPointer) -> [Match] {
        let parts = RequestParts(request)
        let itself = self.keys.number(of: request)
        var matches: [(key: Int, comparison: RequestComparison)] = []
        for key in self.candidates(RequestSketch(request)) where key != itself {
            let recorded = self.keys.withBytes(ofKey: key) { RequestParts($0) }
            matches.append((key, RequestComparison(parts, recorded)))
        }
        matches.sort { ($0.comparison.distance, $0.key) < ($1.comparison.distance, $1.key) }
        return matches.prefix(Self.limit).map { Match(key: $0.key, differences: $0.comparison.differences) }
    }

    private func candidates(_ sketch: RequestSketch) -> [Int] {
        var best: [(key: Int, distance: Int)] = []
        best.reserveCapacity(Self.candidateLimit + 1)
        var worst = Int.max
        for (key, recorded) in self.madeSketches().enumerated() {
            let distance = recorded.distance(to: sketch)
            guard distance < worst else { continue }
            let place = best.firstIndex { $0.distance > distance } ?? best.count
            best.insert((key, distance), at: place)
            if best.count > Self.candidateLimit { best.removeLast() }
            if best.count == Self.candidateLimit { worst = best[Self.candidateLimit - 1].distance }
        }
        return best.map(\.key)
    }

    private func madeSketches() -> [RequestSketch] {
        if let sketches = self.sketches.withLock({ $0 }) { return sketches }
        let made = (0..<self.keys.distinctCount).map { self.keys.withBytes(ofKey: $0) { RequestSketch($0) } }
        self.sketches.withLock { $0 = made }
        return made
    }
}

/// A compact summary of a request, enough to estimate its distance from another without its bytes.
///
/// Path segments and query items are sets of 64 bits; shared ones cancel out.
struct RequestSketch: Sendable, Hashable {
    private var path: UInt64 = 0
    private var query: UInt64 = 0
    private var origin: UInt32
    private var method: UInt32

    init(_ bytes: UnsafeRawBufferPointer) {
        let layout = RequestLayout(bytes)
        self.method = Self.hash(bytes, layout.method)
        self.origin = Self.hash(bytes, layout.scheme.lowerBound..<layout.path.lowerBound)
        self.path = Self.bits(bytes, layout.path, separator: UInt8(ascii: "/"))
        if let query = layout.query { self.query = Self.bits(bytes, query, separator: UInt8(ascii: "&")) }
    }

    /// Estimates `RequestComparison.distance` in a few nanoseconds. Ignores order, and beyond some twenty also the number of items.
    func distance(to other: RequestSketch) -> Int {
        (self.path ^ other.path).nonzeroBitCount * 2 + (self.query ^ other.query).nonzeroBitCount
            + (self.origin == other.origin ? 0 : 6) + (self.method == other.method ? 0 : 3)
    }

    private static func bits(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, separator: UInt8) -> UInt64 {
        var bits: UInt64 = 0
        var start = range.lowerBound
        for index in range where bytes[index] == separator {
            bits |= 1 << UInt64(Self.hash(bytes, start..<index) >> 26)
            start = index + 1
        }
        return bits | 1 << UInt64(Self.hash(bytes, start..<range.upperBound) >> 26)
    }

    /// FNV-1a with a multiplicative finish. Not seeded, since a collision only makes the estimate less accurate.
    private static func hash(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> UInt32 {
        var hash: UInt32 = 2_166_136_261
        for index in range { hash = (hash ^ UInt32(bytes[index])) &* 16_777_619 }
        return (hash ^ hash >> 15) &* 0x9E37_79B1
    }
}

/// A request split for comparison with another: equal pieces have equal hashes and bytes.
///
/// Bounded for any request: keeps the first `byteLimit` bytes of a key. Beyond `pieceLimit` segments or items, the rest is one piece.
struct RequestParts: Sendable {
    struct Piece: Sendable, Equatable {
        var bytes: ArraySlice<UInt8>
        private var hash: Int

        init(_ bytes: ArraySlice<UInt8>) {
            self.bytes = bytes
            var hasher = Hasher()
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
            self.hash = hasher.finalize()
        }

        static func == (left: Piece, right: Piece) -> Bool { left.hash == right.hash && left.bytes == right.bytes }

        /// The part before the first `=`, or everything.
        var name: ArraySlice<UInt8> { self.bytes.prefix { $0 != UInt8(ascii: "=") } }

        /// Whether it is a query item without `=` that is not a word, unlike `acl`.
        var isNameless: Bool {
            !self.bytes.contains(UInt8(ascii: "=")) && self.bytes.contains { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        }

        /// The part before the first colon, or everything.
        var fieldName: ArraySlice<UInt8> { self.bytes.prefix { $0 != UInt8(ascii: ":") } }

        /// The part after the colon and a space.
        var fieldValue: ArraySlice<UInt8> { self.bytes.dropFirst(self.fieldName.count + 2) }
    }

    /// Longer than the request lines that servers commonly accept (8,000 bytes, RFC 9112, 3).
    static let byteLimit = 8192
    static let pieceLimit = 32

    var method: Piece
    var scheme: Piece
    var userInformation: Piece
    var host: Piece
    var port: Piece
    var path: ArraySlice<UInt8>
    var segments: [Piece]
    var items: [Piece]
    /// Header fields, `name: value`.
    var fields: [Piece]

    init(_ key: UnsafeRawBufferPointer) {
        let bytes = Array(key.prefix(Self.byteLimit))
        let layout = bytes.withUnsafeBytes { RequestLayout($0) }
        self.method = Piece(bytes[layout.method])
        self.scheme = Piece(bytes[layout.scheme])
        self.userInformation = Piece(bytes[layout.userInformation])
        self.host = Piece(bytes[layout.host])
        self.port = Piece(bytes[layout.port])
        self.path = bytes[layout.path]
        self.segments = Self.pieces(bytes[layout.path], separator: UInt8(ascii: "/"))
        self.items = layout.query.map { Self.pieces(bytes[$0], separator: UInt8(ascii: "&")) } ?? []
        self.fields = layout.fields.isEmpty ? [] : Self.pieces(bytes[layout.fields], separator: 10)
    }

    private static func pieces(_ bytes: ArraySlice<UInt8>, separator: UInt8) -> [Piece] {
        bytes.split(separator: separator, maxSplits: Self.pieceLimit - 1, omittingEmptySubsequences: false).map { Piece($0) }
    }
}

/// How a request differs from a recorded one, and by how much.
struct RequestComparison: Sendable, Hashable {
    /// A part of a difference is truncated to this many bytes of text.
    static let textLimit = 120

    private(set) var differences: [RequestDifference] = []
    /// The sum of the weights. Parts that a test rarely gets wrong by accident (method, host) weigh more.
    private(set) var distance = 0

    init(_ request: RequestParts, _ recorded: RequestParts) {
        let request = request.adopting(recorded).hidingSecrets(where: recorded)
        if request.method != recorded.method {
            self.add(.method(here: Self.text(request.method.bytes), recorded: Self.text(recorded.method.bytes)), weight: 3)
        }
        if request.scheme != recorded.scheme {
            self.add(.scheme(here: Self.text(request.scheme.bytes), recorded: Self.text(recorded.scheme.bytes)), weight: 1)
        }
        if request.userInformation != recorded.userInformation { self.add(.userInformation, weight: 1) }
        if request.host != recorded.host {
            self.add(.host(here: Self.text(request.host.bytes), recorded: Self.text(recorded.host.bytes)), weight: 6)
        }
        if request.port != recorded.port {
            self.add(.port(here: Self.text(request.port.bytes), recorded: Self.text(recorded.port.bytes)), weight: 2)
        }
        let edits = Self.edits(request.segments, recorded.segments)
        if edits > 0 {
            self.add(.path(here: Self.text(request.path), recorded: Self.text(recorded.path), edits: edits), weight: 4 * edits)
        }
        self.compareItems(request.items, recorded.items)
        self.compareFields(request.fields, recorded.fields)
        if self.differences.isEmpty { self.add(.remainder, weight: 1) }
    }

    private mutating func add(_ difference: RequestDifference, weight: Int) {
        self.differences.append(difference)
        self.distance += weight
    }

    /// Equal items cancel out at any position. Of the rest, items of the same name are paired in order.
    private mutating func compareItems(_ request: [RequestParts.Piece], _ recorded: [RequestParts.Piece]) {
        guard request != recorded else { return }
        var missing = recorded
        var added: [RequestParts.Piece] = []
        for item in request {
            if let index = missing.firstIndex(of: item) { missing.remove(at: index) } else { added.append(item) }
        }
        if missing.isEmpty, added.isEmpty { self.add(.queryOrder, weight: 1) }
        for item in added {
            // Items without a name are paired as well: "?1732720000000" has a different value each time.
            if let index = missing.firstIndex(where: { $0.name == item.name })
                ?? (item.isNameless ? missing.firstIndex(where: \.isNameless) : nil)
            {
                let other = missing.remove(at: index)
                self.add(.queryItemChanged(here: Self.text(item.bytes), recorded: Self.text(other.bytes)), weight: 2)
            } else {
                self.add(.queryItemAdded(Self.text(item.bytes)), weight: 2)
            }
        }
        for item in missing { self.add(.queryItemRemoved(Self.text(item.bytes)), weight: 2) }
    }

    private mutating func compareFields(_ request: [RequestParts.Piece], _ recorded: [RequestParts.Piece]) {
        guard request != recorded else { return }
        var missing = recorded.filter { !request.contains($0) }
        for field in request where !recorded.contains(field) {
            let index = missing.firstIndex { $0.fieldName == field.fieldName }
            let other = index.map { missing.remove(at: $0) }
            self.add(
                .header(
                    name: Self.text(field.fieldName), here: Self.text(field.fieldValue), recorded: other.map { Self.text($0.fieldValue) }),
                weight: 2)
        }
        for field in missing {
            self.add(.header(name: Self.text(field.fieldName), here: nil, recorded: Self.text(field.fieldValue)), weight: 2)
        }
    }

    /// The Levenshtein distance between lists of segments.
    private static func edits(_ left: [RequestParts.Piece], _ right: [RequestParts.Piece]) -> Int {
        guard left != right else { return 0 }
        var row = Array(0...right.count)
        for (leftIndex, segment) in left.enumerated() {
            var diagonal = row[0]
            row[0] = leftIndex + 1
            for (rightIndex, other) in right.enumerated() {
                let substituted = diagonal + (segment == other ? 0 : 1)
                diagonal = row[rightIndex + 1]
                row[rightIndex + 1] = min(substituted, diagonal + 1, row[rightIndex] + 1)
            }
        }
        return row[right.count]
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { PlainText.escape(bytes, limit: Self.textLimit) }
}
