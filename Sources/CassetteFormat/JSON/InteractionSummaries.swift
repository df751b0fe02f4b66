internal import CassetteModel
public import TapeBytes

/// The summaries of a cassette's interactions, in the order of the file.
///
/// Keeps their texts in one arena: a hundred thousand take some 10 MB.
public struct InteractionSummaries: Sendable {
    private var arena: [UInt8] = []
    private var entries: [Entry] = []
    /// The first interaction that lacks a member, or is not JSON up to it.
    public private(set) var firstUnreadable: Int?
    /// The positions of interactions that may have the member `repeat`, ascending.
    public private(set) var mayRepeat: [Int] = []
    /// The positions of interactions that may be stubs, ascending.
    public private(set) var mayBeStubs: [Int] = []
    /// Whether a request may have credentials that authenticate its connection.
    public private(set) var mayLogIn = false

    private struct Entry: Sendable {
        var id: Int
        var started: Int64
        var start: Int
        // An interaction is far shorter than 4 GiB.
        var methodLength: UInt32
        var urlLength: UInt32
        var mayHaveBody: Bool
        var mayHaveDecidingFields: Bool
        /// 0 if it is unknown.
        var status: UInt16
    }

    public init() {}

    public var count: Int { self.entries.count }

    /// Skims the JSON text of the next interaction.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if ByteSearch.contains("\"repeat\"", in: bytes) { self.mayRepeat.append(self.count) }
        // The member without which `stub` is invalid; its name has a rare letter.
        if ByteSearch.contains("\"exact\"", in: bytes) { self.mayBeStubs.append(self.count) }
        guard let skimmed = InteractionSummaryReader.skim(bytes) else { return self.appendUnreadable() }
        if skimmed.mayLogIn { self.mayLogIn = true }
        guard !skimmed.hasEscapes else {
            guard let summary = InteractionSummaryReader.read(bytes) else { return self.appendUnreadable() }
            return self.append(summary)
        }
        self.append(
            id: skimmed.id, started: skimmed.started, method: bytes[skimmed.method], url: bytes[skimmed.url],
            mayHaveBody: skimmed.mayHaveRequestBody, status: skimmed.status, mayHaveDecidingFields: skimmed.mayHaveDecidingFields)
    }

    public mutating func append(_ summary: InteractionSummary) {
        if summary.mayLogIn { self.mayLogIn = true }
        self.append(
            id: summary.id, started: summary.started, method: summary.method.utf8, url: summary.url.utf8,
            mayHaveBody: summary.mayHaveRequestBody, status: summary.status, mayHaveDecidingFields: summary.mayHaveDecidingFields)
    }

    /// Appends the summaries of the next part of the file.
    public mutating func append(_ others: InteractionSummaries) {
        self.firstUnreadable = self.firstUnreadable ?? others.firstUnreadable.map { self.count + $0 }
        self.mayRepeat += others.mayRepeat.map { self.count + $0 }
        self.mayBeStubs += others.mayBeStubs.map { self.count + $0 }
        if others.mayLogIn { self.mayLogIn = true }
        let start = self.arena.count
        self.arena += others.arena
        self.entries.reserveCapacity(self.count + others.count)
        for var entry in others.entries {
            entry.start += start
            self.entries.append(entry)
        }
    }

    private mutating func appendUnreadable() {
        self.firstUnreadable = self.firstUnreadable ?? self.count
        self.append(
            id: 0, started: Timestamp(microseconds: 0), method: [], url: [], mayHaveBody: true, status: nil,
            mayHaveDecidingFields: true)
    }

    @inline(__always)
    private mutating func append(
        id: Int, started: Timestamp, method: some Collection<UInt8>, url: some Collection<UInt8>, mayHaveBody: Bool, status: Int?,
        mayHaveDecidingFields: Bool
    ) {
        let start = self.arena.count
        self.arena.append(contentsOf: method)
        let methodEnd = self.arena.count
        self.arena.append(contentsOf: url)
        self.entries.append(
            Entry(
                id: id, started: started.microseconds, start: start, methodLength: UInt32(truncatingIfNeeded: methodEnd - start),
                urlLength: UInt32(truncatingIfNeeded: self.arena.count - methodEnd), mayHaveBody: mayHaveBody,
                mayHaveDecidingFields: mayHaveDecidingFields, status: UInt16(exactly: status ?? 0) ?? 0))
    }

    public func id(at position: Int) -> Int { self.entries[position].id }

    public func start(at position: Int) -> Timestamp { Timestamp(microseconds: self.entries[position].started) }

    /// False if the request certainly has no body.
    public func mayHaveBody(at position: Int) -> Bool { self.entries[position].mayHaveBody }

    /// False if the request certainly has none of `DecidingFields`.
    public func mayHaveDecidingFields(at position: Int) -> Bool { self.entries[position].mayHaveDecidingFields }

    /// The status of the response; nil if it is not in the skimmed part of the interaction, as after a request body.
    public func status(at position: Int) -> Int? {
        let status = self.entries[position].status
        return status == 0 ? nil : Int(status)
    }

    /// Passes method and URL without copying.
    public func withRequest<Result>(
        at position: Int, _ body: (_ method: UnsafeRawBufferPointer, _ url: UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let entry = self.entries[position]
        let urlStart = entry.start + Int(entry.methodLength)
        return self.arena.withUnsafeBytes {
            body(
                UnsafeRawBufferPointer(rebasing: $0[entry.start..<urlStart]),
                UnsafeRawBufferPointer(rebasing: $0[urlStart..<urlStart + Int(entry.urlLength)]))
        }
    }
}
