internal import TapeCore

/// One body for people: JSON laid out, text as it is, a dump of the first octets of anything else.
struct BodyPage {
    /// JSON up to this is laid out; more of it is shown as the text it is.
    private static let jsonLimit = 4 << 20
    /// Octets of a dump.
    static let dumpSize = 256

    /// How to see the whole body, as a command line.
    var command: String
    var screen: InspectScreen
    var write: (String) throws -> Void

    func show(_ contents: BodyContents, of body: Body, headers: HeaderFields) throws {
        guard contents.size != 0 else { return }
        switch try self.form(contents, body, headers) {
        case .json: try self.showJSON(contents)
        case .text: try self.showText(contents)
        case .binary: try self.showDump(contents)
        }
    }

    enum Form { case json, text, binary }

    private func form(_ contents: BodyContents, _ body: Body, _ headers: HeaderFields) throws -> Form {
        switch body.content {
        case .json: return .json
        case .text, .form, .lines, .events, .empty: return .text
        case .binary, .encodedText: return .binary
        case .file, .raw, .multipart:
            let type = MediaType(headers.firstIndex(of: "content-type").map { headers.valueBytes(at: $0) })
            guard type.kind != .binary, try Self.isText(contents) else { return .binary }
            return type.kind == .json ? .json : .text
        }
    }

    /// UTF-8 without control characters but tabs and line ends.
    static func isText(_ contents: BodyContents) throws -> Bool {
        var validator = UTF8Validator()
        var isText = true
        try contents.forEachPiece(while: { piece in
            isText =
                validator.firstInvalid(in: piece) == nil
                && !piece.contains { $0 < 0x20 && $0 != 9 && $0 != 10 && $0 != 13 || $0 == 0x7F }
            return isText
        })
        return isText && validator.isAtCharacterEnd
    }

    // MARK: Forms

    private func showJSON(_ contents: BodyContents) throws {
        guard let octets = try contents.load(limit: Self.jsonLimit) else { return try self.showText(contents) }
        var writer = JSONWriter()
        guard octets.withUnsafeBytes({ JSONBody.write($0, into: &writer, depth: 0) }) else { return try self.showText(contents) }
        var text = IndentedText(isLimited: self.screen.isTerminal)
        try self.write(text.push(VisibleText.whole(writer.bytes, .json)))
        try self.end(text)
    }

    private func showText(_ contents: BodyContents) throws {
        var text = IndentedText(isLimited: self.screen.isTerminal)
        var visible = VisibleText(.lines)
        try contents.forEachPiece(while: { piece in
            // Small ones, since a body in memory comes as one.
            for start in stride(from: 0, to: piece.count, by: OctetSource.pieceSize) {
                let end = min(piece.count, start + OctetSource.pieceSize)
                try self.write(text.push(visible.push(UnsafeRawBufferPointer(rebasing: piece[start..<end]))))
                if text.isCut { return false }
            }
            return true
        })
        if !text.isCut { try self.write(text.push(visible.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true))) }
        try self.end(text)
    }

    private func end(_ text: IndentedText) throws {
        if !text.isAtLineStart { try self.write("\n") }
        if text.isCut { try self.hint("the beginning; for all of it: \(self.command)") }
    }

    private func showDump(_ contents: BodyContents) throws {
        let octets = try contents.prefix(Self.dumpSize)
        for row in HexDump.rows(octets) { try self.write(IndentedText.indentation + row + "\n") }
        guard let size = contents.size, size > octets.count else { return }
        try self.hint("the first \(octets.count) of \(size) octets; for all of them: \(self.command) > FILE")
    }

    private func hint(_ text: String) throws {
        try self.write(IndentedText.indentation + self.screen.paint("… \(text)", .dim) + "\n")
    }
}
