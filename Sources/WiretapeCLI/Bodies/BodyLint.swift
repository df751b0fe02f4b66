internal import CassetteModel

/// The defects of one multipart body, each with the bytes around it.
struct BodyLint {
    struct Finding {
        var problem: MultipartProblem
        var excerpt: LintExcerpt?
    }

    var findings: [Finding]

    /// Nil if the header fields do not say multipart. Reads the body a second time if it has defects.
    init?(_ contents: BodyContents, headers: HeaderFields) throws {
        guard MultipartType(headers) != nil else { return nil }
        var lint = MultipartLint(headers: headers)
        try contents.forEachPiece { lint.push($0) }
        var findings = lint.finish().map { problem in
            Finding(problem: problem, excerpt: problem.offset.map { LintExcerpt($0, size: contents.size) })
        }
        if findings.contains(where: { $0.excerpt != nil }) {
            var offset = 0
            try contents.forEachPiece(while: { piece in
                for index in findings.indices { findings[index].excerpt?.take(piece, at: offset) }
                offset += piece.count
                return true
            })
        }
        self.findings = findings
    }
}

/// The bytes around a place in a body, with a mark below the byte in question.
struct LintExcerpt {
    /// Bytes before and after the row that contains the place.
    private static let margin = HexDump.rowSize

    /// The range of the body that is shown.
    private let range: Range<Int>
    private let offset: Int
    private var bytes: [UInt8] = []

    init(_ offset: Int, size: Int) {
        let row = offset / HexDump.rowSize * HexDump.rowSize
        self.range = max(0, row - Self.margin)..<max(0, row - Self.margin, min(size, row + HexDump.rowSize + Self.margin))
        self.offset = offset
    }

    /// Takes the wanted bytes from a piece; pieces come in order.
    mutating func take(_ piece: UnsafeRawBufferPointer, at start: Int) {
        let wanted = self.range.clamped(to: start..<start + piece.count)
        guard !wanted.isEmpty else { return }
        self.bytes += piece[(wanted.lowerBound - start)..<(wanted.upperBound - start)]
    }

    var lines: [String] {
        let rows = HexDump.rows(self.bytes, from: self.range.lowerBound)
        guard !rows.isEmpty else { return [] }
        let index = self.offset - self.range.lowerBound
        // A place after the last byte belongs to the last row.
        let row = min(index / HexDump.rowSize, max(0, rows.count - 1))
        let columns = HexDump.columns(of: index - row * HexDump.rowSize)
        let gap = columns.character - columns.digits - 2
        let mark = String(repeating: " ", count: columns.digits) + "^^" + String(repeating: " ", count: max(0, gap)) + "^"
        guard index - row * HexDump.rowSize < HexDump.rowSize else { return rows }
        return Array(rows.prefix(row + 1)) + [mark] + rows.dropFirst(row + 1)
    }
}

/// The lint view of multipart bodies: each defect with its offset, a sentence, and the bytes around it.
///
/// Offsets count in the decoded body.
struct LintPage {
    private let screen: InspectScreen
    private let write: (String) throws -> Void
    private var bodies = 0
    private var defects = 0

    init(screen: InspectScreen, write: @escaping (String) throws -> Void) {
        self.screen = screen
        self.write = write
    }

    /// - Parameter isCoded: adds a note that offsets are not those of the wire.
    mutating func show(_ lint: BodyLint, exchange: Int, message: MessageChoice, request: RecordedRequest, isCoded: Bool) throws {
        self.bodies += 1
        self.defects += lint.findings.count
        let what = VisibleText.line("exchange \(exchange), \(message.rawValue) of \(request.method) \(request.url)")
        let count = lint.findings.isEmpty ? "no defects" : Quantity.count(lint.findings.count, "defect")
        try self.line("\(what): \(count)", lint.findings.isEmpty ? .green : .bold)
        if isCoded, !lint.findings.isEmpty { try self.line("  offsets are those of the decoded body", .dim) }
        for finding in lint.findings {
            try self.write("\n")
            let place = finding.problem.offset.map { "offset \($0)" } ?? "header fields"
            let sentence = VisibleText.line("\(place): \(finding.problem.sentence)")
            let lines = self.screen.width.map { TextWidth.wrapped(sentence, to: max($0 - 2, place.utf8.count + 1)) } ?? [sentence]
            for (index, line) in lines.enumerated() {
                let marked = index == 0 ? self.screen.paint(place, .yellow) + line.dropFirst(place.count) : line
                try self.write("  \(marked)\n")
            }
            for row in finding.excerpt?.lines ?? [] { try self.line("    \(row)", row.hasPrefix(" ") ? .yellow : .dim) }
        }
        if !lint.findings.isEmpty { try self.write("\n") }
    }

    func finish() throws {
        guard self.bodies > 0 else { return try self.write("no body is multipart: nothing to check.\n") }
        let found = self.defects == 0 ? "no defects" : Quantity.count(self.defects, "defect")
        try self.line("\(found) in \(Quantity.count(self.bodies, "multipart body", plural: "multipart bodies")).", .dim)
    }

    private func line(_ text: String, _ color: Paint.Color) throws { try self.write(self.screen.paint(text, color) + "\n") }
}
