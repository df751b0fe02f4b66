package import CassetteModel

/// The defects of one multipart body, each with the bytes around it.
package struct BodyLint {
    package struct Finding {
        package var problem: MultipartProblem
        package var excerpt: LintExcerpt?
    }

    package var findings: [Finding]

    /// Nil if the header fields do not declare a multipart body. Reads the body a second time if it has defects.
    package init?(_ contents: BodyContents, headers: HeaderFields) throws {
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

/// The bytes around an offset in a body, with a mark below the byte in question.
package struct LintExcerpt {
    /// How many bytes are shown before and after the row with the offset.
    private static let margin = HexDump.rowSize

    /// The range of the body that is shown.
    private let range: Range<Int>
    private let offset: Int
    private var bytes: [UInt8] = []

    package init(_ offset: Int, size: Int) {
        let row = offset / HexDump.rowSize * HexDump.rowSize
        self.range = max(0, row - Self.margin)..<max(0, row - Self.margin, min(size, row + HexDump.rowSize + Self.margin))
        self.offset = offset
    }

    /// Takes the wanted bytes from a piece. Pieces come in order.
    package mutating func take(_ piece: UnsafeRawBufferPointer, at start: Int) {
        let wanted = self.range.clamped(to: start..<start + piece.count)
        guard !wanted.isEmpty else { return }
        self.bytes += piece[(wanted.lowerBound - start)..<(wanted.upperBound - start)]
    }

    package var lines: [String] {
        let rows = HexDump.rows(self.bytes, from: self.range.lowerBound)
        guard !rows.isEmpty else { return [] }
        let index = self.offset - self.range.lowerBound
        // An offset after the last byte belongs to the last row.
        let row = min(index / HexDump.rowSize, max(0, rows.count - 1))
        let columns = HexDump.columns(of: index - row * HexDump.rowSize)
        let gap = columns.character - columns.digits - 2
        let mark = String(repeating: " ", count: columns.digits) + "^^" + String(repeating: " ", count: max(0, gap)) + "^"
        guard index - row * HexDump.rowSize < HexDump.rowSize else { return rows }
        return Array(rows.prefix(row + 1)) + [mark] + rows.dropFirst(row + 1)
    }
}
