internal import CassetteModel

/// What is wrong with one multipart body, each defect with the octets around it.
struct BodyLint {
    struct Finding {
        var problem: MultipartProblem
        var excerpt: LintExcerpt?
    }

    var findings: [Finding]

    /// Nil for a body that nobody says is multipart. Reads it twice where something is wrong.
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

/// The octets around a place in a body, with a mark below the one that is meant.
struct LintExcerpt {
    /// Octets in front of the row that holds the place, and behind it.
    static let margin = HexDump.rowSize

    /// Octets of the body that it takes.
    let range: Range<Int>
    private let offset: Int
    private var octets: [UInt8] = []

    init(_ offset: Int, size: Int) {
        let row = offset / HexDump.rowSize * HexDump.rowSize
        self.range = max(0, row - Self.margin)..<max(0, row - Self.margin, min(size, row + HexDump.rowSize + Self.margin))
        self.offset = offset
    }

    /// Takes from a piece what belongs here; pieces come in order.
    mutating func take(_ piece: UnsafeRawBufferPointer, at start: Int) {
        let wanted = self.range.clamped(to: start..<start + piece.count)
        guard !wanted.isEmpty else { return }
        self.octets += piece[(wanted.lowerBound - start)..<(wanted.upperBound - start)]
    }

    var lines: [String] {
        let rows = HexDump.rows(self.octets, from: self.range.lowerBound)
        guard !rows.isEmpty else { return [] }
        let index = self.offset - self.range.lowerBound
        // A place behind the last octet stands behind the last row.
        let row = min(index / HexDump.rowSize, max(0, rows.count - 1))
        let columns = HexDump.columns(of: index - row * HexDump.rowSize)
        let gap = columns.character - columns.digits - 2
        let mark = String(repeating: " ", count: columns.digits) + "^^" + String(repeating: " ", count: max(0, gap)) + "^"
        guard index - row * HexDump.rowSize < HexDump.rowSize else { return rows }
        return Array(rows.prefix(row + 1)) + [mark] + rows.dropFirst(row + 1)
    }
}
