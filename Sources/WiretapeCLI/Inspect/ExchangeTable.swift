internal import TapeCore

/// The list of a cassette's exchanges as a table, row by row.
///
/// Columns are as wide as the first rows need and grow when a later one needs more, so that any number of rows passes through.
struct ExchangeTable {
    private enum Column: Int, CaseIterable {
        case number, method, url, status, type, size, total, phases, offset

        var side: TextWidth.Side {
            switch self {
            case .number, .size, .total, .offset: .right
            case .method, .url, .status, .type, .phases: .left
            }
        }

        var title: String {
            switch self {
            case .number: "#"
            case .method: "method"
            case .url: "url"
            case .status: "status"
            case .type: "type"
            case .size: "size"
            case .total: "time"
            case .phases: "phases"
            case .offset: "start"
            }
        }
    }

    private struct Line {
        var cells: [String]
        var statusColor: Paint.Color?
        var phases: PhaseBar?
    }

    /// Rows and octets after which the first widths are taken.
    private static let settlingRows = 500
    private static let settlingOctets = 1 << 20
    private static let gap = "  "
    /// Before a URL is cut shorter, other columns go.
    private static let leastURLWidth = 24
    /// Into a file, a longer URL stands out of its column.
    private static let widestPipedURL = 80
    private static let longestType = 40
    private static let shortestType = 12

    private let screen: InspectScreen
    private let write: (String) throws -> Void
    private var widths: [Int]
    private var waiting: [Line] = []
    private var waitingOctets = 0
    private var isSettled = false
    /// Whether a row was shown with a bar.
    private var showsPhases = false

    private var count = 0
    private var octets = 0
    private var first: Timestamp?
    /// In microseconds since the first start.
    private var end: Double = 0
    private var failed = 0
    private var cut = 0

    /// - Parameters:
    ///   - count: of rows to come, which tells how wide the numbers get.
    ///   - first: when the cassette's first exchange started; that of the first row without.
    init(count: Int, first: Timestamp? = nil, screen: InspectScreen, write: @escaping (String) throws -> Void) {
        self.first = first
        self.screen = screen
        self.write = write
        self.widths = Column.allCases.map { TextWidth.columns($0.title) }
        self.widths[Column.number.rawValue] = "\(count)".utf8.count
    }

    mutating func append(_ row: ExchangeRow) throws {
        self.tally(row)
        var cells = Column.allCases.map { self.cell($0, row) }
        for column in Column.allCases {
            if let width = self.screen.width, column == .url {
                cells[column.rawValue] = TextWidth.shortened(cells[column.rawValue], to: width)
            }
            let width = TextWidth.columns(cells[column.rawValue])
            let limit = column == .url && !self.screen.isTerminal ? Self.widestPipedURL : Int.max
            self.widths[column.rawValue] = max(self.widths[column.rawValue], min(width, limit))
        }
        let line = Line(cells: cells, statusColor: row.statusColor, phases: PhaseBar(row.timing))
        guard !self.isSettled else { return try self.show(line) }
        self.waiting.append(line)
        self.waitingOctets += cells.reduce(0) { $0 + $1.utf8.count }
        if self.waiting.count >= Self.settlingRows || self.waitingOctets >= Self.settlingOctets { try self.settle() }
    }

    /// Ends with a line on what the bars mean, and one on the whole.
    ///
    /// - Parameter total: exchanges of the cassette, where not all of them came.
    mutating func finish(of total: Int? = nil) throws {
        try self.settle()
        if self.showsPhases { try self.write(self.screen.paint("phases: ", .dim) + PhaseBar.legend(self.screen.paint) + "\n") }
        var text =
            "\(total == nil ? "" : "\(self.count) of ")\(Quantity.count(total ?? self.count, "exchange")), \(Quantity.bytes(self.octets)) of bodies in \(Quantity.milliseconds(self.end / 1000))"
        let problems = [(self.failed, "failed"), (self.cut, "cut")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if !problems.isEmpty { text += "; " + problems.joined(separator: ", ") }
        try self.write(self.screen.paint(text + ".", .dim) + "\n")
    }

    // MARK: Rows

    private mutating func tally(_ row: ExchangeRow) {
        self.count += 1
        self.octets = ExchangeRow.sum(self.octets, row.bodyOctets)
        self.first = self.first ?? row.started
        self.end = max(self.end, self.offset(row) + (row.total ?? 0) * 1000)
        switch row.outcome {
        case .complete: break
        case .cut: self.cut += 1
        case .failed: self.failed += 1
        }
    }

    private func offset(_ row: ExchangeRow) -> Double {
        Double(row.started.microseconds) - Double((self.first ?? row.started).microseconds)
    }

    private func cell(_ column: Column, _ row: ExchangeRow) -> String {
        switch column {
        case .number: "\(row.number)"
        case .method: TextWidth.shortened(VisibleText.line(row.method), to: 16)
        case .url: VisibleText.line(row.url)
        case .status: row.statusWords
        case .type: row.type.map { TextWidth.shortened(VisibleText.line($0), to: Self.longestType) } ?? "-"
        case .size: row.size.map { Quantity.bytes($0) } ?? "-"
        case .total: row.total.map { Quantity.milliseconds($0) } ?? "-"
        case .phases: PhaseBar(row.timing).text
        case .offset: "+" + Quantity.seconds(self.offset(row) / 1_000_000)
        }
    }

    private mutating func settle() throws {
        guard !self.isSettled else { return }
        self.isSettled = true
        try self.show(Line(cells: Column.allCases.map(\.title)), .dim)
        for line in self.waiting { try self.show(line) }
        self.waiting = []
    }

    private mutating func show(_ line: Line, _ color: Paint.Color? = nil) throws {
        var columns = Column.allCases
        var cells = line.cells
        var widths = self.widths
        if let width = self.screen.width { self.fit(&columns, &cells, &widths, into: width) }
        if columns.contains(.phases), line.phases?.isEmpty == false { self.showsPhases = true }
        let text = columns.map { column in
            let cell = TextWidth.padded(cells[column.rawValue], to: widths[column.rawValue], column.side)
            if column == .phases, let phases = line.phases, !phases.isEmpty { return phases.painted(self.screen.paint) }
            return self.screen.paint(cell, column == .status && color == nil ? line.statusColor : color)
        }
        try self.write(text.joined(separator: Self.gap) + "\n")
    }

    /// Gives the URL what the others leave; where that is too little, types lose their first half, and then columns go.
    private func fit(_ columns: inout [Column], _ cells: inout [String], _ widths: inout [Int], into width: Int) {
        let url = Column.url.rawValue
        let type = Column.type.rawValue
        let wanted = min(widths[url], Self.leastURLWidth)
        func left() -> Int {
            width - columns.reduce(0) { $0 + ($1 == .url ? 0 : widths[$1.rawValue]) } - Self.gap.utf8.count * (columns.count - 1)
        }
        if left() < min(widths[url], Self.leastURLWidth * 2), widths[type] > Self.shortestType {
            widths[type] = Self.shortestType
            if TextWidth.columns(cells[type]) > widths[type] { cells[type] = String(cells[type].drop { $0 != "/" }.dropFirst()) }
        }
        for column in [Column.offset, .phases, .type, .total] where left() < wanted { columns.removeAll { $0 == column } }
        widths[url] = min(widths[url], max(left(), 1))
        cells[type] = TextWidth.shortened(cells[type], to: widths[type])
        cells[url] = TextWidth.shortened(cells[url], to: widths[url])
    }
}
