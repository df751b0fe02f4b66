package import CassetteModel
package import CassetteStore
internal import TapeBytes

/// What is wrong with one body, above all with an upload, each with the bytes around it and what to write instead.
///
/// Reads the body several times, and keeps only its header sections and the beginnings of its parts.
package struct BodyLint {
    /// What is known about a body besides its bytes and its header fields.
    package struct Context {
        package var side: MessageChoice
        /// Nil for bytes that no cassette holds.
        package var body: Body?
        /// The server whose limits apply; nil for none.
        package var server: UploadServer?

        package init(side: MessageChoice = .request, body: Body? = nil, server: UploadServer? = nil) {
            self.side = side
            self.body = body
            self.server = server
        }
    }

    package struct Finding {
        /// A name for scripts, such as `notClosed`.
        package var kind: String
        /// The offset in the decoded body; nil for a problem of the message's header fields.
        package var offset: Int?
        /// In plain words, without the offset.
        package var sentence: String
        package var excerpt: LintExcerpt?
        /// What to write; nil if that cannot be told from the bytes.
        package var change: LintChange?

        package init(_ kind: String, offset: Int?, _ sentence: String, change: LintChange? = nil) {
            self.kind = kind
            self.offset = offset
            self.sentence = sentence
            self.change = change
        }

        package var description: String { self.offset.map { "offset \($0): \(self.sentence)" } ?? self.sentence }
    }

    package var findings: [Finding]

    /// Nil if the body is not multipart, and nothing is wrong with it.
    package init?(_ contents: BodyContents, headers: HeaderFields, _ context: Context = Context()) throws {
        let whole = try contents.forRandomAccess()
        let message = try MessageLint(whole, headers: headers, context)
        guard message.isMultipart || !message.findings.isEmpty else { return nil }
        var findings = message.findings
        if message.isMultipart {
            var lint = MultipartLint(headers: message.headers)
            try whole.forEachPiece { lint.push($0) }
            let boundary = MultipartType(message.headers)?.boundary
            var problems = lint.finish().filter { !message.replaces($0.kind) }
            // The other problem names the boundary that is missing.
            if problems.contains(where: { $0.proposal != nil && $0.offset == 0 }) { problems.removeAll { $0.kind == .boundaryMissing } }
            findings += try problems.map { problem in
                let change = try LintChange(problem, in: whole, headers: message.headers, boundary: boundary)
                return Finding("\(problem.kind)", offset: problem.offset, message.sentence(problem), change: change)
            }
            if let parts = try BodyParts(whole, headers: message.headers) {
                findings += try PartsLint(parts, in: whole, isFormData: message.isFormData, context.server).findings
            }
        }
        // A stable sort: problems of one place stay in the order in which they were found.
        findings = findings.enumerated().sorted { ($0.element.offset ?? -1, $0.offset) < ($1.element.offset ?? -1, $1.offset) }.map(
            \.element)
        for index in findings.indices { findings[index].excerpt = findings[index].offset.map { LintExcerpt($0, size: whole.size) } }
        if findings.contains(where: { $0.excerpt != nil }) {
            var offset = 0
            try whole.forEachPiece(while: { piece in
                for index in findings.indices { findings[index].excerpt?.take(piece, at: offset) }
                offset += piece.count
                return true
            })
        }
        self.findings = findings
    }
}

extension Interaction {
    /// How many defects each of the bodies has that may be uploads; nil if none is one.
    ///
    /// Bodies above `limit` bytes are not read, because lists show many exchanges.
    package func uploadDefects(_ reader: BodyReader, server: UploadServer? = nil, limit: Int = .max) -> Int? {
        guard let body = self.request.body, body.size <= limit else { return nil }
        // Valid JSON has no defect, except a string that may hold JSON again.
        if case .json(let bytes, _) = body.content, body.isComplete, bytes.first(where: { $0 > 32 }) != UInt8(ascii: "\"") { return nil }
        guard let contents = try? BodyContents(body, headers: self.request.headers, reader: reader, readsBroken: true) else { return nil }
        guard contents.size <= limit else { return nil }
        let context = BodyLint.Context(side: .request, body: body, server: server)
        return try? BodyLint(contents, headers: self.request.headers, context)?.findings.count
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
