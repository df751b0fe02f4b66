internal import CassetteModel
internal import TapeBytes

/// Writes and reads the member `transfer` of a part: the encoding's name, and in what its spelling is not the usual one.
enum TransferCoder {
    private static let names = ["base64", "quoted-printable"]

    static func write(_ spelling: TransferSpelling, into writer: inout JSONWriter) {
        writer.beginObject(.inline)
        switch spelling {
        case .base64(let spelling):
            writer.member("base64")
            writer.beginObject(.inline)
            self.lines(spelling.line, usual: Base64Spelling.usualLine, spelling.lineEnd, &writer)
            if spelling.isEnded {
                writer.member("ended")
                writer.bool(true)
            }
        case .quotedPrintable(let spelling):
            writer.member("quoted-printable")
            writer.beginObject(.inline)
            self.lines(spelling.line, usual: QuotedPrintableSpelling.usualLine, spelling.lineEnd, &writer)
            if spelling.usesLowerCaseHex {
                writer.member("hex")
                writer.raw("\"lower\"")
            }
            if !spelling.escaped.isEmpty {
                writer.member("escaped")
                spelling.escaped.withUnsafeBytes { writer.string(utf8: $0) }
            }
        }
        writer.endObject()
        writer.endObject()
    }

    private static func lines(_ line: Int, usual: Int, _ lineEnd: LineEnd, _ writer: inout JSONWriter) {
        if line != usual {
            writer.member("line")
            writer.integer(line)
        }
        if lineEnd == .lineFeed {
            writer.member("lineEnd")
            writer.raw("\"\\n\"")
        }
    }

    static func decode(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> TransferSpelling {
        let object = try ObjectReader(value, reader.memberPath("transfer"), reader.place, known: self.names)
        try object.refuseUnknown()
        guard let (name, value) = try ContentDecoder.choice(of: self.names, object) else {
            throw reader.error(value, "transfer", "expected 'base64' or 'quoted-printable'")
        }
        let isBase64 = name == "base64"
        let known = ["line", "lineEnd"] + (isBase64 ? ["ended"] : ["hex", "escaped"])
        let inner = try ObjectReader(value, object.memberPath(name), reader.place, known: known)
        try inner.refuseUnknown()
        let lineEnd = try ContentDecoder.lineEnd(inner, usual: .carriageReturnLineFeed)
        if isBase64 {
            let line = try inner.int("line", in: 0...Base64Spelling.longestLine) ?? Base64Spelling.usualLine
            return .base64(Base64Spelling(line: line, lineEnd: lineEnd, isEnded: try inner.bool("ended") ?? false))
        }
        let line = try inner.int("line", in: 0...QuotedPrintableSpelling.longestLine) ?? QuotedPrintableSpelling.usualLine
        guard line == 0 || line >= QuotedPrintableSpelling.shortestLine else {
            throw inner.error(inner["line"] ?? value, "line", "expected 0, or at least \(QuotedPrintableSpelling.shortestLine)")
        }
        let hex = try inner.string("hex") ?? "upper"
        guard hex == "upper" || hex == "lower" else { throw inner.error(inner["hex"] ?? value, "hex", "expected 'upper' or 'lower'") }
        let escaped = try inner.utf8("escaped") ?? []
        guard escaped.allSatisfy(QuotedPrintableSpelling.mayBePlain) else {
            throw inner.error(inner["escaped"] ?? value, "escaped", "expected ASCII characters that need no escape")
        }
        return .quotedPrintable(QuotedPrintableSpelling(line: line, lineEnd: lineEnd, usesLowerCaseHex: hex == "lower", escaped: escaped))
    }
}
