internal import CassetteModel
internal import CassetteTools
internal import TapeBytes

/// The list of a cassette's exchanges as a table, row by row.
///
/// Column widths come from the first rows and grow when a later row needs more, so that any number of rows can be shown.
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
        /// The status for narrow screens.
        var shortStatus: String?
        var statusColor: Paint.Color?
        var phases: PhaseBar?
    }

    /// A line with its layout.
    private struct Row {
        var columns = Column.allCases
        var cells: [String]
        var widths: [Int]
        var gap = ExchangeTable.gaps[0]
    }

    /// After this many rows or bytes, the first widths are fixed.
    private static let settlingRows = 500
    private static let settlingBytes = 1 << 20
    /// The second gap, with shorter statuses, is used if a URL would be cut too short.
    private static let gaps = ["  ", " "]
    /// If a URL is cut shorter than the first, other columns shrink; if it is cut shorter than the second, they are left out.
    private static let leastURLWidths = [24, 16]
    /// In a file, a longer URL overflows its column.
    private static let widestPipedURL = 80
    private static let longestType = 40
    private static let shortestType = 12

    private let screen: InspectScreen
    private let write: (String) throws -> Void
    private var widths: [Int]
    private var shortStatusWidth = TextWidth.columns(Column.status.title)
    private var waiting: [Line] = []
    private var waitingBytes = 0
    private var isSettled = false
    /// Whether a row was shown with a phase bar.
    private var showsPhases = false

    private var count = 0
    private var bytes = 0
    private var first: Timestamp?
    /// In microseconds since the first start.
    private var end: Double = 0
    private var failed = 0
    private var cut = 0
    private var open = 0

    /// - Parameters:
    ///   - count: the number of rows to come, for the width of the numbers.
    ///   - first: when the cassette's first exchange started; by default, the first row's start.
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
        let line = Line(
            cells: cells, shortStatus: row.shortStatusWords + Self.suffix(row), statusColor: row.statusColor, phases: PhaseBar(row.timing))
        self.shortStatusWidth = max(self.shortStatusWidth, TextWidth.columns(row.shortStatusWords + Self.suffix(row)))
        guard !self.isSettled else { return try self.show(line) }
        self.waiting.append(line)
        self.waitingBytes += cells.reduce(0) { $0 + $1.utf8.count }
        if self.waiting.count >= Self.settlingRows || self.waitingBytes >= Self.settlingBytes { try self.settle() }
    }

    /// Marks a broken upload.
    static let mark = "⚠"

    private static func suffix(_ row: ExchangeRow) -> String { row.defects ?? 0 > 0 ? " \(self.mark)" : "" }

    /// Ends with a legend for the bars and a line of totals.
    ///
    /// - Parameter total: the number of exchanges in the cassette, if a filter left some out.
    mutating func finish(of total: Int? = nil) throws {
        try self.settle()
        if self.showsPhases { try self.write(self.screen.paint("phases: ", .dim) + PhaseBar.legend(self.screen.paint) + "\n") }
        var text =
            "\(total == nil ? "" : "\(self.count) of ")\(Quantity.count(total ?? self.count, "exchange")), \(Quantity.bytes(self.bytes)) of bodies in \(Quantity.milliseconds(self.end / 1000))"
        let problems = [(self.failed, "failed"), (self.cut, "cut"), (self.open, "open")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if !problems.isEmpty { text += "; " + problems.joined(separator: ", ") }
        try self.write(self.screen.paint(text + ".", .dim) + "\n")
    }

    // MARK: Rows

    private mutating func tally(_ row: ExchangeRow) {
        self.count += 1
        self.bytes = ExchangeRow.sum(self.bytes, row.bodyBytes)
        self.first = self.first ?? row.started
        self.end = max(self.end, self.offset(row) + (row.total ?? 0) * 1000)
        switch row.outcome {
        case _ where row.isOpen: self.open += 1
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
        case .status: row.statusWords + Self.suffix(row)
        case .type: row.typeWords.map { TextWidth.shortened(VisibleText.line($0), to: Self.longestType) } ?? "-"
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
        var row = Row(cells: line.cells, widths: self.widths)
        if let width = self.screen.width { self.fit(&row, line.shortStatus, into: width) }
        if row.columns.contains(.phases), line.phases?.isEmpty == false { self.showsPhases = true }
        let text = row.columns.map { column in
            let cell = TextWidth.padded(row.cells[column.rawValue], to: row.widths[column.rawValue], column.side)
            if column == .phases, let phases = line.phases, !phases.isEmpty { return phases.painted(self.screen.paint) }
            return self.screen.paint(cell, column == .status && color == nil ? line.statusColor : color)
        }
        try self.write(text.joined(separator: row.gap) + "\n")
    }

    /// Gives the URL the remaining width. If that is too little, first types are shortened and the start is left out, then gaps, statuses
    /// and `http://` are shortened, and then columns are left out.
    private func fit(_ row: inout Row, _ shortStatus: String?, into width: Int) {
        let (url, type, status) = (Column.url.rawValue, Column.type.rawValue, Column.status.rawValue)
        func left() -> Int {
            width - row.columns.reduce(0) { $0 + ($1 == .url ? 0 : row.widths[$1.rawValue]) } - row.gap.utf8.count * (row.columns.count - 1)
        }
        func isTight(_ least: Int) -> Bool { left() < min(row.widths[url], least) }
        if isTight(Self.leastURLWidths[0] * 2), row.widths[type] > Self.shortestType {
            row.widths[type] = Self.shortestType
            // "event-stream", "120 messages"
            let mark = row.cells[type].firstIndex { $0 == "/" || $0 == " " }
            if let mark, TextWidth.columns(row.cells[type]) > Self.shortestType {
                row.cells[type] = String(row.cells[type][mark...].dropFirst())
            }
        }
        if isTight(Self.leastURLWidths[0]) { row.columns.removeAll { $0 == .offset } }
        if isTight(Self.leastURLWidths[0]) {
            row.gap = Self.gaps[1]
            row.widths[status] = self.shortStatusWidth
            row.cells[status] = shortStatus ?? row.cells[status]
            // A URL without a scheme is http.
            if row.cells[url].hasPrefix("http://") { row.cells[url].removeFirst(7) }
        }
        for column in [Column.phases, .type, .total] where isTight(Self.leastURLWidths[1]) { row.columns.removeAll { $0 == column } }
        row.widths[url] = min(row.widths[url], max(left(), 1))
        row.cells[type] = TextWidth.shortened(row.cells[type], to: row.widths[type])
        row.cells[url] = TextWidth.shortened(row.cells[url], to: row.widths[url])
    }
}

/// The phases of an exchange as a bar of eight characters: the share of each phase, not its length.
struct PhaseBar {
    static let width = 8

    /// In order of time; each phase has its own shade, for screens without colours.
    private enum Phase: CaseIterable {
        case connect, send, wait, receive

        var shade: Character {
            switch self {
            case .connect: "░"
            case .send: "▒"
            case .wait: "▓"
            case .receive: "█"
            }
        }

        var color: Paint.Color {
            switch self {
            case .connect: .magenta
            case .send: .yellow
            case .wait: .cyan
            case .receive: .green
            }
        }
    }

    private let lengths: [Int]

    init(_ timing: Timing) {
        let connect = [timing.blocked, timing.dns, timing.connect, timing.tls].reduce(0) { $0 + Self.sane($1) }
        let times = [connect, Self.sane(timing.send), Self.sane(timing.wait), Self.sane(timing.receive)]
        let whole = times.reduce(0, +)
        guard whole > 0, whole.isFinite else {
            self.lengths = []
            return
        }
        // A phase ends at its cumulative share, so that the lengths add up.
        var (elapsed, end) = (0.0, 0)
        self.lengths = times.map { time in
            elapsed += time
            let next = min(Self.width, Int(elapsed / whole * Double(Self.width) + 0.5))
            defer { end = next }
            return next - end
        }
    }

    private static func sane(_ value: Double?) -> Double { value.map { $0 > 0 && $0.isFinite ? min($0, 0x1p53) : 0 } ?? 0 }

    /// Whether no phase was recorded.
    var isEmpty: Bool { self.lengths.isEmpty }

    var text: String { self.painted(Paint(isOn: false)) }

    func painted(_ paint: Paint) -> String {
        zip(Phase.allCases, self.lengths).map { phase, length in paint(String(repeating: phase.shade, count: length), phase.color) }
            .joined()
    }

    /// `░ connect  ▒ send  ▓ wait  █ receive`
    static func legend(_ paint: Paint) -> String {
        Phase.allCases.map { "\(paint(String($0.shade), $0.color)) \($0)" }.joined(separator: "  ")
    }
}

extension ExchangeRow {
    var statusColor: Paint.Color? {
        if self.isOpen { return .yellow }
        return switch self.outcome {
        case .complete: (self.grpc?.likeHTTP ?? self.status).flatMap { Paint.color(status: $0) }
        case .cut, .failed: .red
        }
    }
}
