internal import CassetteFormat
internal import CassetteModel

/// A compact row: texts that occur in many rows are replaced by numbers in a table.
struct StoredRow: Sendable {
    /// Represents a missing number.
    static let none = Int.min

    var started: Int64
    var offset: Int
    var length: UInt32
    var urlStart: UInt32
    var urlLength: UInt32
    var id: Int
    var requestSize: Int
    var responseSize: Int
    var method: UInt32
    var requestType: UInt32
    var responseType: UInt32
    var remote: UInt32
    var tls: UInt32
    /// The number of the connection; -1 if none is recorded.
    var connection: Int32
    /// The names of traffic rules, one a line.
    var rules: UInt32
    /// Blocked, name, connect, TLS, send, wait, receive, total; NaN for a phase that did not happen.
    var phases: SIMD8<Float>
    var status: Int16
    /// -1 if there is none.
    var grpc: Int32
    /// -1 if it is not a WebSocket.
    var messages: Int32
    var requestVersion: UInt8
    var responseVersion: UInt8
    var outcome: UInt8
    var hasHost: Bool
    var isUnusual: Bool
    var hasPlaceholder: Bool

    var range: Range<Int> { self.offset..<self.offset + Int(self.length) }
    /// In microseconds.
    var end: Int64 { self.started + (self.phases[7].isFinite ? Int64(max(0, self.phases[7]) * 1000) : 0) }
}

/// The rows of a cassette in file order, as of one moment. Cheap to copy.
///
/// Blocks of rows never change once they are full.
struct RowTable: Sendable {
    static let blockSize = 4096

    /// A hundred thousand rows take about 17 MB.
    final class Block: Sendable {
        let rows: [StoredRow]
        let urls: [UInt8]

        init(rows: [StoredRow], urls: [UInt8]) {
            self.rows = rows
            self.urls = urls
        }
    }

    fileprivate(set) var epoch = 0
    fileprivate(set) var blocks: [Block] = []
    fileprivate(set) var tail = Block(rows: [], urls: [])
    fileprivate(set) var texts: [String] = [""]
    /// Whether the file is in the order of request start.
    fileprivate(set) var isSorted = true
    fileprivate(set) var firstStart = Int64.max
    fileprivate(set) var lastEnd = Int64.min

    var count: Int { self.blocks.count * Self.blockSize + self.tail.rows.count }

    subscript(ordinal: Int) -> StoredRow {
        ordinal / Self.blockSize < self.blocks.count
            ? self.blocks[ordinal / Self.blockSize].rows[ordinal % Self.blockSize] : self.tail.rows[ordinal % Self.blockSize]
    }

    func url(_ ordinal: Int) -> ArraySlice<UInt8> {
        let block = ordinal / Self.blockSize < self.blocks.count ? self.blocks[ordinal / Self.blockSize] : self.tail
        let row = block.rows[ordinal % Self.blockSize]
        return block.urls[Int(row.urlStart)..<Int(row.urlStart) + Int(row.urlLength)]
    }

    func text(_ number: UInt32) -> String? { number == 0 ? nil : self.texts[Int(number)] }

    /// The rows in order of request start, as numbered on the command line; nil if that is the order of the file.
    func startOrder() -> [UInt32]? {
        guard !self.isSorted else { return nil }
        var keys: [(started: Int64, ordinal: UInt32)] = []
        keys.reserveCapacity(self.count)
        for ordinal in 0..<self.count { keys.append((self[ordinal].started, UInt32(ordinal))) }
        keys.sort { ($0.started, $0.ordinal) < ($1.started, $1.ordinal) }
        return keys.map(\.ordinal)
    }
}

/// Builds the table: reads rows and shares their texts.
struct RowTableBuilder {
    private var table = RowTable()
    private var rows: [StoredRow] = []
    private var urls: [UInt8] = []
    private var numbers: [String: UInt32] = [:]
    private var lastStart = Int64.min

    init(epoch: Int) {
        self.table.epoch = epoch
        self.rows.reserveCapacity(RowTable.blockSize)
    }

    var count: Int { self.table.blocks.count * RowTable.blockSize + self.rows.count }

    /// The rows added so far.
    mutating func snapshot() -> RowTable {
        if self.table.tail.rows.count != self.rows.count { self.table.tail = RowTable.Block(rows: self.rows, urls: self.urls) }
        return self.table
    }

    mutating func append(_ row: InteractionRow, at range: Range<Int>) {
        let url = Array(row.url.utf8)
        let started = row.started.microseconds
        let timing = row.timing
        let phases = [timing.blocked, timing.dns, timing.connect, timing.tls, timing.send, timing.wait, timing.receive, timing.total]
        let stored = StoredRow(
            started: started, offset: range.lowerBound, length: UInt32(clamping: range.count), urlStart: UInt32(self.urls.count),
            urlLength: UInt32(url.count), id: row.id, requestSize: row.requestSize ?? StoredRow.none,
            responseSize: row.tunnelSize ?? row.responseSize ?? StoredRow.none, method: self.number(row.method),
            requestType: self.number(row.requestType), responseType: self.number(row.responseType), remote: self.number(row.remote),
            tls: self.number(row.tls), connection: Int32(clamping: row.connection ?? -1),
            rules: self.number(row.rules.joined(separator: "\n")),
            phases: SIMD8(phases.map { Float($0 ?? .nan) }), status: Int16(clamping: row.status ?? 0),
            grpc: row.responseType?.hasPrefix("application/grpc") == true ? Int32(clamping: row.grpcStatus ?? -1) : -1,
            messages: row.isWebSocket ? Int32(clamping: row.messages ?? 0) : -1, requestVersion: Self.byte(row.requestVersion),
            responseVersion: Self.byte(row.responseVersion), outcome: Self.byte(row.outcome), hasHost: row.hasHost,
            isUnusual: row.isUnusual,
            hasPlaceholder: row.hasPlaceholder)
        self.rows.append(stored)
        self.urls += url
        self.table.isSorted = self.table.isSorted && started >= self.lastStart
        self.lastStart = max(self.lastStart, started)
        self.table.firstStart = min(self.table.firstStart, started)
        self.table.lastEnd = max(self.table.lastEnd, stored.end)
        guard self.rows.count == RowTable.blockSize else { return }
        self.table.blocks.append(RowTable.Block(rows: self.rows, urls: self.urls))
        self.table.tail = RowTable.Block(rows: [], urls: [])
        self.rows.removeAll(keepingCapacity: true)
        self.urls.removeAll(keepingCapacity: true)
    }

    private mutating func number(_ text: String?) -> UInt32 {
        guard let text, !text.isEmpty else { return 0 }
        if let known = self.numbers[text] { return known }
        let number = UInt32(self.table.texts.count)
        self.table.texts.append(text)
        self.numbers[text] = number
        return number
    }

    private static func byte(_ version: HTTPVersion) -> UInt8 { UInt8(clamping: version.major * 10 + version.minor) }

    private static func byte(_ outcome: RowOutcome) -> UInt8 {
        switch outcome {
        case .complete: 0
        case .cut(let party): UInt8(1 + (Cut.Party.allCases.firstIndex(of: party) ?? 0))
        case .failed(let kind): UInt8(16 + (Failure.Kind.allCases.firstIndex(of: kind) ?? 0))
        }
    }
}

extension StoredRow {
    var isFailed: Bool { self.outcome >= 16 }
    var isComplete: Bool { self.outcome == 0 }

    /// `cut origin`, `failed refused`; nil if it is complete.
    var outcomeWords: String? {
        switch self.outcome {
        case 0: nil
        case ..<16: "cut \(Cut.Party.allCases[Int(self.outcome) - 1].rawValue)"
        default: "failed \(Failure.Kind.allCases[Int(self.outcome) - 16].rawValue)"
        }
    }

    static func version(_ byte: UInt8) -> HTTPVersion { HTTPVersion(major: Int(byte) / 10, minor: Int(byte) % 10) }
}
