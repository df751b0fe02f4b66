public import CassetteModel
internal import TapeBytes

/// Finds the parameters with which zlib reproduces a recorded stream byte for byte.
///
/// Takes bounded time: a candidate ends at its first differing byte, a search at its limit. Whether parameters are found depends on the
/// body alone. Parameters that worked for the origin before are tried first, but only if the search would reach them in any case, and if
/// earlier candidates can give the same bytes, these are tried as well. Thus the form of a body does not depend on the rest of the recording.
public struct DeflateRestorer: ~Copyable {
    /// How many content bytes failing candidates may deflate in one search: about 70 ms of CPU time. A candidate that still agrees at the
    /// limit continues to its end, so a search costs at most this much plus the content once more.
    public static let searchLimit = 2 << 20
    /// The same for short contents: more candidates fit, and each costs more than its bytes. Some 10 ms of CPU time.
    static let shortSearchLimit = 768 << 10
    private static let shortContent = 32 << 10
    /// The cost of each candidate in addition to its bytes, in bytes: zlib clears its tables.
    private static let candidateCost = 16 << 10
    private struct Differs: Error {}

    private enum Attempt {
        case same
        case different(work: Int)
    }

    public var memory = RestorationMemory()
    /// How many content bytes all searches so far have deflated.
    public private(set) var work = 0
    /// The maximum cost of all searches so far if nothing had been known in advance.
    private(set) var charge = 0
    /// The deflater that agreed last, as an origin's next body needs the same one.
    private var kept: Deflater?

    public init() {}

    /// For bytes in memory, including flushes. Several members share the limit.
    ///
    /// `identity` is the SHA-256 of the wire bytes. With a weaker hash, an origin could construct bytes that get another body's result.
    public mutating func parameters(
        producing wire: UnsafeRawBufferPointer, from content: UnsafeRawBufferPointer, format: DeflateFormat, header: GzipHeader?,
        origin: String, identity: [UInt8], limit: Int = Self.searchLimit
    ) -> DeflateParameters? {
        guard !Self.isOfGo(wire, format), let flushes = FlushPoints.find(in: wire, format: format) else { return nil }
        let prefix = UnsafeRawBufferPointer(rebasing: wire.prefix(16))
        let stream = UnsafeRawBufferPointer(
            rebasing: wire.dropFirst(Self.wrappingSize(format, header ?? .plain)))
        let search = Search(
            contentSize: content.count, format: format, prefix: prefix, origin: origin, identity: identity, limit: limit,
            block: FirstDeflateBlock(stream, hasFlushes: !flushes.isEmpty))
        var found = self.search(search) {
            Self.attempt(&$0, wire: wire, content: content, header: header ?? .plain, flushes: flushes, budget: $1)
        }
        found?.flushes = flushes
        return found
    }

    /// The same for bytes that are too many to load, and without flushes: the content is inflated again for each candidate.
    public mutating func parameters(
        producing wire: ByteSource, contentSize: Int, format: DeflateFormat, header: GzipHeader?, origin: String, identity: [UInt8]
    ) throws -> DeflateParameters? {
        var prefix = [UInt8](repeating: 0, count: min(Self.firstBlockSize, wire.size))
        try prefix.withUnsafeMutableBytes { try wire.read(at: 0, into: $0) }
        return try prefix.withUnsafeBytes { prefix in
            let search = Search(
                contentSize: contentSize, format: format, prefix: prefix, origin: origin, identity: identity, limit: Self.searchLimit,
                block: FirstDeflateBlock(
                    UnsafeRawBufferPointer(
                        rebasing: prefix.dropFirst(Self.wrappingSize(format, header ?? .plain))),
                    hasFlushes: false))
            return try self.search(search) {
                try Self.attempt(&$0, wire: wire, header: header ?? .plain, budget: $1)
            }
        }
    }

    /// Whether a stream ends with an empty stored block, as Go writes it. zlib ends with an empty block of another type (RFC 1951, 3.2.4).
    private static func isOfGo(_ wire: UnsafeRawBufferPointer, _ format: DeflateFormat) -> Bool {
        let trailer =
            switch format {
            case .gzip: 8
            case .zlib: 4
            case .raw: 0
            }
        return wire.dropLast(trailer).suffix(4).elementsEqual([0, 0, 0xFF, 0xFF])
    }

    private struct Search {
        var contentSize: Int
        var format: DeflateFormat
        var prefix: UnsafeRawBufferPointer
        var origin: String
        var identity: [UInt8]
        var limit: Int
        /// Nil if it rules out nothing.
        var block: FirstDeflateBlock?
    }

    /// How many bytes contain the first block of a long stream: in usual content, each of 2^15 literals and matches takes at most four
    /// bytes.
    private static let firstBlockSize = 128 << 10

    /// The returned parameters have no flushes.
    private mutating func search(
        _ search: Search, _ attempt: (_ deflater: inout Deflater, _ budget: Int) throws -> Attempt
    ) rethrows -> DeflateParameters? {
        let candidates = DeflateCandidates(contentSize: search.contentSize, format: search.format, wirePrefix: search.prefix).all
            .filter { search.block?.mayHave(memoryLevel: $0.memoryLevel) ?? true }
        let cost = search.contentSize + Self.candidateCost
        let isShort = search.contentSize <= Self.shortContent
        var budget = min(search.limit, isShort ? Self.shortSearchLimit : Self.searchLimit)
        self.charge += min(budget, candidates.count * cost) + search.contentSize
        if let finding = self.memory.finding(of: search.identity) { return finding.parameters }
        var works: [DeflateParameters: Int] = [:]
        var found: DeflateParameters?
        let known = self.memory.parameters(for: search.origin).compactMap { candidates.firstIndex(of: $0) }.sorted()
        // The search reaches them, whatever the candidates before them cost.
        for rank in known where found == nil && (rank + 1) * cost <= budget {
            found = try self.trial(of: candidates[rank], search, budget, &works, attempt)
            guard found != nil else { continue }
            // The first of several that reproduce the stream is the result, as if nothing were known.
            for earlier in candidates[..<rank] where works[earlier] == nil {
                guard isShort || Self.mayCoincide(earlier, candidates[rank]) else { continue }
                guard let first = try self.trial(of: earlier, search, budget, &works, attempt) else { continue }
                found = first
                break
            }
        }
        for candidate in candidates where found == nil && budget > 0 {
            if works[candidate] == nil { found = try self.trial(of: candidate, search, budget, &works, attempt) }
            if let work = works[candidate] { budget -= work + Self.candidateCost }
        }
        self.memory.learn(RestorationMemory.Finding(origin: search.origin, identity: search.identity, parameters: found))
        return found
    }

    /// Whether two candidates can give the same bytes for content that is not short. Until a block is full, the memory and the window make
    /// little difference, and so do the limits of levels with the same search for matches: the one of zlib's levels 1 to 3, or of 4 to 9.
    private static func mayCoincide(_ one: DeflateParameters, _ other: DeflateParameters) -> Bool {
        (one.level < 4) == (other.level < 4) && one.strategy == other.strategy
    }

    /// The candidate, if it reproduces the stream. If not, `works` receives its cost.
    private mutating func trial(
        of candidate: DeflateParameters, _ search: Search, _ budget: Int, _ works: inout [DeflateParameters: Int],
        _ attempt: (_ deflater: inout Deflater, _ budget: Int) throws -> Attempt
    ) rethrows -> DeflateParameters? {
        // With less budget than this, an attempt might end before anything could be compared.
        guard search.contentSize >= budget || !self.memory.proofs.hold(candidate, for: search.identity) else { return candidate }
        guard var deflater = self.deflater(candidate, format: search.format) else { return nil }
        switch try attempt(&deflater, budget) {
        case .same:
            self.work += search.contentSize
            self.kept = consume deflater
            return candidate
        case .different(let work):
            self.work += work
            works[candidate] = work
            return nil
        }
    }

    private mutating func deflater(_ parameters: DeflateParameters, format: DeflateFormat) -> Deflater? {
        if let kept = self.kept.take(), kept.format == format {
            // Flushes are specific to one body.
            var own = kept.parameters
            own.flushes = []
            if own == parameters { return kept }
        }
        return Deflater(parameters, format: format)
    }

    /// How many bytes precede the first one that depends on the parameters.
    private static func wrappingSize(_ format: DeflateFormat, _ header: GzipHeader) -> Int {
        switch format {
        case .gzip: header.bytes.count
        case .zlib: 2
        case .raw: 0
        }
    }

    private static func attempt(
        _ deflater: inout Deflater, wire: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer, header: GzipHeader, flushes: [Int],
        budget: Int
    ) -> Attempt {
        deflater.restart(header: header, flushes: flushes)
        let wrapping = Self.wrappingSize(deflater.format, header)
        var position = 0
        var compared = 0
        repeat {
            let end = min(content.count, position + ByteSource.pieceSize)
            let agrees = deflater.push(UnsafeRawBufferPointer(rebasing: content[position..<end]), isLast: end == content.count) { piece in
                guard piece.count <= wire.count - compared else { return false }
                let expected = UnsafeRawBufferPointer(rebasing: wire[compared..<compared + piece.count])
                compared += piece.count
                return piece.elementsEqualFast(expected)
            }
            position = end
            guard agrees else { return .different(work: position) }
            // The budget is used up and nothing was compared yet; only agreeing bytes extend it.
            guard position < budget || compared > wrapping else { return .different(work: position) }
        } while position < content.count
        return compared == wire.count ? .same : .different(work: position)
    }

    private static func attempt(
        _ deflater: inout Deflater, wire: ByteSource, header: GzipHeader, budget: Int
    ) throws -> Attempt {
        deflater.restart(header: header)
        let format = deflater.format
        let wrapping = Self.wrappingSize(format, header)
        let expected = UnsafeMutableRawBufferPointer.allocate(byteCount: GzipHeader.sizeLimit + Deflater.pieceSize, alignment: 16)
        defer { expected.deallocate() }
        var position = 0
        var compared = 0
        func agrees(_ piece: UnsafeRawBufferPointer) throws -> Bool {
            guard piece.count <= wire.size - compared else { return false }
            let recorded = UnsafeMutableRawBufferPointer(rebasing: expected.prefix(piece.count))
            try wire.read(at: compared, into: recorded)
            compared += piece.count
            return piece.elementsEqualFast(UnsafeRawBufferPointer(recorded))
        }

        // The limits were already checked when the body was first inflated.
        var inflater = Inflater(format: format, limits: InflateLimits(output: .max, ratio: .max))
        do {
            try wire.forEachPiece(while: { input in
                try inflater.push(input) { content in
                    position += content.count
                    let isSame = try deflater.push(content, isLast: false, deliver: agrees)
                    guard isSame, position < budget || compared > wrapping else { throw Differs() }
                } == .needsMore
            })
        } catch is Differs {
            return .different(work: position)
        }
        guard inflater.status == .ended else { return .different(work: position) }
        let isSame = try deflater.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, deliver: agrees)
        return isSame && compared == wire.size ? .same : .different(work: position)
    }
}

/// The parameters that reproduced each origin's coded bodies so far. An origin usually uses one compressor.
///
/// Bounded: the origin that was not asked for the longest is forgotten.
public struct RestorationMemory: Sendable {
    /// The result of one search.
    public struct Finding: Sendable {
        var origin: String
        /// SHA-256 of the wire bytes.
        var identity: [UInt8]
        /// Nil if no parameters reproduce them.
        var parameters: DeflateParameters?
    }

    public static let originLimit = 64
    /// How many results are kept for recurring bytes, as in polling.
    static let findingLimit = 32
    /// How many parameters are kept per origin: for its dynamic, its static and one other kind of answers.
    static let parametersLimit = 3
    /// An origin whose bodies could not be restored this many times in a row uses another compressor (Node, Go).
    static let missLimit = 3

    private struct Entry {
        var parameters: [DeflateParameters] = []
        var misses = 0
        var used = 0
    }

    /// Results that were proved before the searches for them.
    public var proofs = RestorationProofs()
    private var entries: [String: Entry] = [:]
    private var clock = 0
    private var findings: [Finding] = []
    private var nextFinding = 0
    /// All findings since `keepNews`; nil before.
    package private(set) var news: [Finding]?

    public init() {}

    /// Starts to collect findings, to be passed to another memory.
    package mutating func keepNews() { self.news = [] }

    mutating func forgetNews() { self.news = nil }

    /// Whether searches for the origin's bodies are short: its compressor is known, or known not to be zlib.
    package func isSettled(_ origin: String) -> Bool {
        guard let entry = self.entries[origin] else { return false }
        return !entry.parameters.isEmpty || entry.misses >= Self.missLimit
    }

    /// The result for the same bytes; nil if they are not remembered.
    func finding(of identity: [UInt8]) -> Finding? { self.findings.first { $0.identity == identity } }

    public mutating func learn(_ finding: Finding) {
        self.news?.append(finding)
        if let parameters = finding.parameters { self.found(parameters, for: finding.origin) } else { self.missed(for: finding.origin) }
        if self.findings.count < Self.findingLimit {
            self.findings.append(finding)
        } else {
            self.findings[self.nextFinding] = finding
            self.nextFinding = (self.nextFinding + 1) % Self.findingLimit
        }
    }

    /// The parameters that worked for the origin, the latest first.
    public func parameters(for origin: String) -> [DeflateParameters] {
        self.entries[origin]?.parameters ?? []
    }

    mutating func found(_ parameters: DeflateParameters, for origin: String) {
        self.update(origin) { entry in
            entry.misses = 0
            guard entry.parameters.first != parameters else { return }
            entry.parameters.removeAll { $0 == parameters }
            entry.parameters.insert(parameters, at: 0)
            if entry.parameters.count > Self.parametersLimit { entry.parameters.removeLast() }
        }
    }

    mutating func missed(for origin: String) {
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

/// Parameters known to reproduce bodies before anyone searches for them.
///
/// Does not affect any search: a candidate in here need not be tried, but the order of candidates does not depend on it.
public struct RestorationProofs: Sendable {
    /// How many bodies are remembered, some 6 MiB. If there are more, the first ones are.
    static let limit = 1 << 15

    /// By the SHA-256 of the wire bytes.
    private var proved: [[UInt8]: DeflateParameters] = [:]

    public init() {}

    public var isFull: Bool { self.proved.count >= Self.limit }

    public mutating func learn(_ finding: RestorationMemory.Finding) {
        guard let parameters = finding.parameters, !self.isFull else { return }
        self.proved[finding.identity] = parameters
    }

    func hold(_ parameters: DeflateParameters, for identity: [UInt8]) -> Bool {
        !self.proved.isEmpty && self.proved[identity] == parameters
    }
}
