internal import CassetteModel
internal import TapeBytes

/// Reads the parts of a multipart body. Does not check them against the boundary; `MultipartCheck` does when the bytes are restored.
enum MultipartDecoder {
    /// The JSON depth of an interaction leaves room for this many levels, with a JSON body inside.
    private static let depthLimit = 8
    private static let members = ["boundary", "preamble", "parts", "closing", "epilogue"]
    private static let partMembers =
        ["name", "filename", "delimiter", "headers", "head", "file", "size", "sha256", "transfer"] + ContentDecoder.contents
        + ContentDecoder.companions
    private static let partContents = ContentDecoder.contents + ["file"]

    static func decode(
        _ value: JSONValue, named boundary: MultipartBoundary?, _ reader: ObjectReader, depth: Int = 1
    ) throws(CassetteError) -> MultipartBody<PartContent> {
        guard depth <= self.depthLimit else {
            throw reader.error(value, "multipart", "expected at most \(self.depthLimit) levels", code: .tooLarge)
        }
        if value.kind == .array {
            guard let boundary else {
                throw reader.error(value, "multipart", "expected a 'Content-Type' that names a boundary, or an object with 'boundary'")
            }
            let parts = try self.parts(value, isFirst: true, reader, depth)
            let closing = MultipartBody<PartContent>.usualDelimiter(isFirst: parts.isEmpty, isClosing: true)
            return MultipartBody(boundary: boundary, parts: parts, closing: closing)
        }
        let object = try ObjectReader(value, reader.memberPath("multipart"), reader.place, known: self.members)
        try object.refuseUnknown()
        var boundary = boundary
        if let named = object["boundary"] {
            boundary = MultipartBoundary(try HeadBytes.decodeLine(named, "boundary", object))
        }
        guard let boundary else { throw object.error(value, "boundary", "expected 1 to \(MultipartBoundary.longest) bytes") }
        let preamble =
            try object["preamble"].map { (value) throws(CassetteError) in try HeadBytes.decode(value, "preamble", object) } ?? []
        let parts = try self.parts(object.required("parts"), isFirst: preamble.isEmpty, object, depth)
        let usual = MultipartBody<PartContent>.usualDelimiter(isFirst: preamble.isEmpty && parts.isEmpty, isClosing: true)
        var closing: MultipartDelimiter? = usual
        if let value = object["closing"] {
            closing = value.kind == .null ? nil : try self.delimiter(value, "closing", usual: usual, object)
        }
        let epilogue =
            try object["epilogue"].map { (value) throws(CassetteError) in try HeadBytes.decode(value, "epilogue", object) } ?? []
        return MultipartBody(boundary: boundary, preamble: preamble, parts: parts, closing: closing, epilogue: epilogue)
    }

    private static func parts(
        _ value: JSONValue, isFirst: Bool, _ reader: ObjectReader, _ depth: Int
    ) throws(CassetteError) -> [MultipartPart<PartContent>] {
        guard value.kind == .array else { throw reader.error(value, "parts", "expected an array") }
        var parts: [MultipartPart<PartContent>] = []
        for element in value.elements {
            let path = "\(reader.path.isEmpty ? "" : reader.path + ".")parts[\(parts.count)]"
            let part = try ObjectReader(element, path, reader.place, known: self.partMembers)
            try part.refuseUnknown()
            parts.append(try self.part(part, isFirst: isFirst && parts.isEmpty, depth))
        }
        return parts
    }

    private static func part(_ reader: ObjectReader, isFirst: Bool, _ depth: Int) throws(CassetteError) -> MultipartPart<PartContent> {
        let usual = MultipartBody<PartContent>.usualDelimiter(isFirst: isFirst)
        let delimiter = try reader["delimiter"].map { (value) throws(CassetteError) in
            try self.delimiter(value, "delimiter", usual: usual, reader)
        }
        let headers = try self.headers(reader)
        return MultipartPart(delimiter: delimiter ?? usual, headers: headers, content: try self.content(reader, headers.fields, depth))
    }

    private static func headers(_ reader: ObjectReader) throws(CassetteError) -> PartHeaderSection {
        if let head = reader["head"] {
            guard reader["headers"] == nil else { throw reader.error(head, "head", "expected one of 'head' and 'headers'") }
            return PartHeaderSection(bytes: try HeadBytes.decode(head, "head", reader))
        }
        guard let value = reader["headers"] else { return PartHeaderSection(lines: []) }
        guard value.kind == .array else { throw reader.error(value, "headers", "expected an array of field lines") }
        var lines: [[UInt8]] = []
        for element in value.elements {
            let line = try HeadBytes.decodeLine(element, "headers", reader)
            guard !line.isEmpty else { throw reader.error(element, "headers", "expected a field line: an empty line would end the head") }
            lines.append(line)
        }
        return PartHeaderSection(lines: lines)
    }

    private static func content(_ reader: ObjectReader, _ fields: HeaderFields, _ depth: Int) throws(CassetteError) -> MultipartContent<
        PartContent
    > {
        guard let (name, value) = try ContentDecoder.choice(of: self.partContents, reader) else {
            throw reader.error(reader.value, "text", "is missing: a part has a content")
        }
        let transfer = try reader["transfer"].map { (value) throws(CassetteError) in try TransferCoder.decode(value, reader) }
        guard transfer == nil || name != "file" && name != "multipart" else {
            throw reader.error(value, name, "expected content in the cassette itself, because of 'transfer'")
        }
        if name == "file" {
            guard let path = try reader.path("file") else { return .data(.text([])) }
            let digest = try reader.digest("sha256") ?? SidecarName.digest(in: path) ?? ""
            return .data(.file(Sidecar(path: path, size: try reader.requiredInt("size"), sha256: digest)))
        }
        if name == "multipart" {
            return .multipart(try self.decode(value, named: MultipartType(fields)?.boundary, reader, depth: depth + 1))
        }
        let content = try ContentDecoder.decode(name, value, reader, headers: fields)
        guard let part = PartContent(content) else { throw reader.error(value, name, "expected the content of a part") }
        return .data(transfer.map { .transferEncoded(part, $0) } ?? part)
    }

    private static func delimiter(
        _ value: JSONValue, _ name: String, usual: MultipartDelimiter, _ reader: ObjectReader
    ) throws(CassetteError) -> MultipartDelimiter {
        let object = try ObjectReader(value, reader.memberPath(name), reader.place, known: ["before", "padding", "after"])
        try object.refuseUnknown()
        var delimiter = usual
        delimiter.lineEndBefore = try self.lineEnd("before", object) ?? usual.lineEndBefore
        delimiter.lineEndAfter = try self.lineEnd("after", object) ?? usual.lineEndAfter
        delimiter.padding = try object.utf8("padding") ?? []
        guard delimiter.padding.allSatisfy({ $0 == 32 || $0 == 9 }) else {
            throw object.error(value, "padding", "expected spaces and tabs")
        }
        return delimiter
    }

    private static func lineEnd(_ name: String, _ reader: ObjectReader) throws(CassetteError) -> LineEnd? {
        guard let bytes = try reader.utf8(name), let value = reader[name] else { return nil }
        guard let lineEnd = LineEnd.allCases.first(where: { $0.bytes == bytes }) else {
            throw reader.error(value, name, "expected \"\", \"\\n\" or \"\\r\\n\"")
        }
        return lineEnd
    }
}

/// Writes and reads the member `transfer` of a part: the encoding's name, and the differences of its spelling from the default.
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
