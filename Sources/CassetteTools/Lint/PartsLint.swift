internal import CassetteModel
internal import TapeBytes

/// Checks the parts of a multipart body: their names, their types against their bytes, and the limits of a server.
///
/// The form of the body itself, its delimiters and line ends, is checked by `MultipartLint`.
struct PartsLint {
    /// Larger texts are not searched for bytes outside their charset, and not parsed.
    private static let textSize = 16 << 20

    private(set) var findings: [BodyLint.Finding] = []
    private let contents: BodyContents
    private let isFormData: Bool
    private let server: UploadServer?
    private let charset: FormCharset?

    init(_ parts: BodyParts, in contents: BodyContents, isFormData: Bool, _ server: UploadServer?) throws {
        self.contents = contents
        self.isFormData = isFormData
        self.server = server
        self.charset = parts.all.first?.charset
        for part in parts.all where !part.isMultipart { try self.check(part) }
        if isFormData {
            self.names(parts.all.filter { !$0.label.contains(".") })
            if let server { self.limits(parts.all.filter { !$0.isMultipart }, server) }
        }
    }

    private func label(_ part: BodyPart) -> String {
        "part \(part.label)" + (part.name.map { " (\"\(PlainText.escape($0.utf8, limit: 60))\")" } ?? "")
    }

    private mutating func add(_ kind: String, _ offset: Int, _ sentence: String, _ change: LintChange? = nil) {
        guard self.findings.count < MultipartLint.limit else { return }
        self.findings.append(BodyLint.Finding(kind, offset: offset, sentence, change: change))
    }

    // MARK: One part

    private mutating func check(_ part: BodyPart) throws {
        if self.isFormData { try self.fileName(part) }
        let data = try part.contents(in: self.contents)
        let beginning = try data.prefix(FileSignature.prefixSize)
        let type = MediaType(part.fields.firstIndex(of: "content-type").map { part.fields.valueBytes(at: $0) })
        let isFile = part.filename != nil || (part.disposition?.isFilenameExtended ?? false)
        if let object = try SpelledObject(data), !isFile || type.kind != .text {
            return self.add("objectAsText", part.data.lowerBound, object.sentence(self.label(part)))
        }
        if self.isFormData, !isFile, SpelledObject.isPath(beginning) {
            self.add(
                "pathAsText", part.data.lowerBound,
                "\(self.label(part)) is the path of a file as text, and not the file; send the file's contents with a file name")
        }
        if self.isFormData, !isFile, part.name != nil { try self.nameless(part, type, beginning) }
        switch FileSignature.compare(type.essence, beginning, isFile: isFile) {
        case .fits: break
        case .other(let name, let essence):
            self.add(
                "typeContradicted", part.data.lowerBound,
                "\(self.label(part)) says \(type.essence), and its bytes are \(name); write the type that it has",
                try self.typeChange(part, to: essence))
        case .not(let name):
            self.add(
                "typeContradicted", part.data.lowerBound,
                "\(self.label(part)) says \(type.essence), and its bytes do not begin as \(name) does; send the file itself, or write the type that it has"
            )
        case .base64:
            self.add(
                "fileInBase64", part.data.lowerBound,
                "\(self.label(part)) is a file in base64, which servers store as it is; decode it before you send it")
        }
        if self.isFormData { self.transferEncoding(part) }
        try self.text(part, data, type, isFile: isFile)
    }

    private func typeChange(_ part: BodyPart, to essence: String) throws -> LintChange? {
        guard let index = part.fields.firstIndex(of: "content-type") else { return nil }
        return LintChange(field: Array(part.fields.line(at: index)), by: Array("Content-Type: \(essence)".utf8))
    }

    /// A file whose part has no file name is text for most servers.
    private mutating func nameless(_ part: BodyPart, _ type: MediaType, _ beginning: [UInt8]) throws {
        let name = FileSignature.name(beginning)
        let isBinary = type.kind == .binary || type.essence == "application/octet-stream"
        let isSigned = name != nil && beginning.contains { $0 < 32 && $0 != 9 && $0 != 10 && $0 != 13 || $0 >= 0x80 }
        guard part.data.count > 0, isBinary || isSigned else { return }
        let what = name.map { "a \($0) file" } ?? "a file of type \(type.essence)"
        self.add(
            "fileNameMissing", part.head.lowerBound,
            "\(self.label(part)) is \(what) without a file name, so most servers take it for text; add \"filename=\"",
            try self.dispositionChange(part) { $0 + Array("; filename=\"…\"".utf8) })
    }

    private mutating func transferEncoding(_ part: BodyPart) {
        switch ContentTransferEncoding(part.fields) {
        case .base64, .quotedPrintable:
            self.add(
                "transferEncoding", part.head.lowerBound,
                "\(self.label(part)) has a \"Content-Transfer-Encoding\", which forms must not have (RFC 7578, 4.7) and most servers leave on; send the bytes themselves"
            )
        case .identity, .other: break
        }
    }

    /// The text of a part in another charset than it says, and JSON that is none.
    private mutating func text(_ part: BodyPart, _ data: BodyContents, _ type: MediaType, isFile: Bool) throws {
        guard data.size > 0, data.size <= Self.textSize else { return }
        let parameters = part.fields.firstIndex(of: "content-type").map { MIMEParameters(part.fields.valueBytes(at: $0)) }
        let label = parameters?["charset"].map { String(decoding: $0.value.prefix(64), as: UTF8.self).lowercased() }
        var validator = UTF8Validator()
        var (offset, invalid, isASCII) = (0, Int?.none, true)
        try data.forEachPiece(while: { piece in
            if isASCII { isASCII = piece.allSatisfy { $0 < 0x80 } }
            if let found = validator.firstInvalid(in: piece) { invalid = offset + found }
            offset += piece.count
            return invalid == nil
        })
        if invalid == nil, !validator.isAtCharacterEnd { invalid = max(0, data.size - 1) }
        // The last part of a body that was cut may end within a character.
        if let found = invalid, part.data.upperBound == self.contents.size, found >= data.size - 3 { invalid = nil }
        let place = part.data.lowerBound + (invalid ?? 0)
        switch label {
        case "utf-8", "utf8":
            if invalid != nil {
                self.add(
                    "charsetContradicted", place,
                    "\(self.label(part)) says charset=utf-8, and this byte is not UTF-8; write the charset that it has")
            }
        case "us-ascii", "ascii":
            if !isASCII {
                self.add(
                    "charsetContradicted", place,
                    "\(self.label(part)) says charset=us-ascii, and it has other characters; write charset=utf-8")
            }
        case "iso-8859-1", "latin1", "windows-1252":
            if !isASCII, invalid == nil {
                self.add(
                    "charsetContradicted", part.data.lowerBound,
                    "\(self.label(part)) says charset=\(label ?? ""), and its bytes are UTF-8, so servers read other characters; write charset=utf-8"
                )
            }
        case nil where self.isFormData && !isFile && self.charset == nil && (type.essence.isEmpty || type.kind == .text) && invalid != nil:
            guard FileSignature.name(try data.prefix(FileSignature.prefixSize)) == nil else { break }
            self.add(
                "textNotUTF8", place,
                "the text of \(self.label(part)) is not UTF-8 from here on, which forms are in unless they say otherwise (RFC 7578, 5.1.2); encode it in UTF-8"
            )
        default: break
        }
        guard type.kind == .json, invalid == nil, let bytes = try data.load(limit: 4 << 20) else { return }
        do {
            _ = try JSONDocument(bytes)
        } catch {
            self.add(
                "notJSON", part.data.lowerBound,
                "\(self.label(part)) says JSON, and it is not: line \(error.line): \(error.reason); write JSON, or another type")
        }
    }

    // MARK: Names

    private mutating func fileName(_ part: BodyPart) throws {
        guard let index = part.fields.firstIndex(of: "content-disposition") else { return }
        let parameters = MIMEParameters(part.fields.valueBytes(at: index))
        for (name, what) in [("name", "name"), ("filename", "file name")] {
            guard let raw = parameters[name]?.raw, !raw.isEmpty else { continue }
            if !UTF8Validator.isValid(raw), self.charset == nil {
                let text = Latin1.decode(raw)
                self.add(
                    name == "name" ? "nameNotUTF8" : "fileNameNotUTF8", part.head.lowerBound,
                    "the \(what) of part \(part.label) is not UTF-8 (\"\(PlainText.escape(text.utf8, limit: 60))\" if it is Latin-1), which forms are in (RFC 7578, 5.1.2); encode it in UTF-8",
                    try self.rawChange(part, raw, by: Array(text.utf8)))
            } else if let meant = Misreading.undone(raw) {
                self.add(
                    name == "name" ? "nameMisread" : "fileNameMisread", part.head.lowerBound,
                    "the \(what) of part \(part.label) is \"\(PlainText.escape(raw, limit: 60))\", which is \"\(PlainText.escape(meant, limit: 60))\" in UTF-8, read as Latin-1 and encoded again; encode it once",
                    try self.rawChange(part, raw, by: meant))
            }
        }
        if let raw = parameters["filename"]?.raw, raw.starts(with: Array("C:\\fakepath\\".utf8)) {
            self.add(
                "fileNamePath", part.head.lowerBound,
                "the file name of \(self.label(part)) is the value of a browser's input field, not the file's name; use the name of the file object",
                try self.rawChange(part, raw, by: Array(raw.dropFirst(12))))
        }
        if let name = parameters["name"], name.raw.isEmpty {
            self.add("nameEmpty", part.head.lowerBound, "part \(part.label) has an empty name, and servers leave it out; name it")
        }
        if let server, server.ignoresExtendedNames, parameters["filename"] == nil, part.disposition?.isFilenameExtended == true {
            self.add(
                "fileNameExtended", part.head.lowerBound,
                "\(self.label(part)) has only \"filename*\", which forms must not have (RFC 7578, 4.2) and \(server.name) ignores; write \"filename=\" in UTF-8"
            )
        }
    }

    /// The first place of a value in a part's header section, with another value.
    private func rawChange(_ part: BodyPart, _ raw: [UInt8], by new: [UInt8]) throws -> LintChange? {
        let head = try self.contents.part(part.head).prefix(part.head.count)
        guard let start = head.indices.first(where: { head[$0...].starts(with: raw) }) else { return nil }
        return try LintChange(part.head.lowerBound + start..<part.head.lowerBound + start + raw.count, by: new, in: self.contents)
    }

    private func dispositionChange(_ part: BodyPart, _ change: ([UInt8]) -> [UInt8]) throws -> LintChange? {
        guard let index = part.fields.firstIndex(of: "content-disposition") else { return nil }
        let line = Array(part.fields.line(at: index))
        return LintChange(field: line, by: change(line))
    }

    /// Names that occur several times.
    private mutating func names(_ parts: [BodyPart]) {
        var seen: [String: (isFile: Bool, isReported: Bool)] = [:]
        for part in parts {
            guard let name = part.name, !name.isEmpty else { continue }
            let isFile = part.filename != nil
            guard let known = seen[name] else {
                seen[name] = (isFile, false)
                continue
            }
            guard !known.isReported else { continue }
            if known.isFile != isFile {
                seen[name]?.isReported = true
                self.add(
                    "nameTwice", part.head.lowerBound,
                    "\(self.label(part)) has the name of an earlier part, and only one of them is a file, so servers keep one or both; name them differently"
                )
            } else if let server, server.keepsLastOfName, !name.hasSuffix("]") {
                seen[name]?.isReported = true
                self.add(
                    "nameTwice", part.head.lowerBound,
                    "\(self.label(part)) has the name of an earlier part, and \(server.name) keeps the last one; write \"\(PlainText.escape(name.utf8, limit: 60))[]\" for all"
                )
            }
        }
    }

    // MARK: Limits

    private mutating func limits(_ parts: [BodyPart], _ server: UploadServer) {
        let limits = server.limits
        let start = parts.first?.head.lowerBound ?? 0
        let files = parts.filter { $0.filename != nil }
        let fields = parts.filter { $0.filename == nil }
        let counted = server == .flask ? parts : fields
        for part in files where part.data.count > limits.file {
            self.add(
                "tooLarge", part.data.lowerBound,
                "\(self.label(part)) has \(Quantity.bytes(part.data.count)), and \(server.name) accepts files of \(Quantity.bytes(limits.file)) (\(limits.fileSetting))"
            )
        }
        for part in fields where part.data.count > limits.value {
            self.add(
                "tooLarge", part.data.lowerBound,
                "\(self.label(part)) has \(Quantity.bytes(part.data.count)), and \(server.name) accepts values of \(Quantity.bytes(limits.value)) (\(limits.valueSetting))"
            )
        }
        for part in parts where (part.name?.utf8.count ?? 0) > limits.name {
            self.add(
                "tooLarge", part.head.lowerBound,
                "the name of part \(part.label) has more than the \(limits.name) bytes that \(server.name) accepts (\(limits.nameSetting))")
        }
        if files.count > limits.files {
            self.add(
                "tooMany", start, "there are \(files.count) files, and \(server.name) accepts \(limits.files) (\(limits.filesSetting))")
        }
        if counted.count > limits.fields {
            self.add(
                "tooMany", start, "there are \(counted.count) fields, and \(server.name) accepts \(limits.fields) (\(limits.fieldsSetting))"
            )
        }
        let text = fields.reduce(0) { $0 + $1.data.count }
        if text > limits.text {
            self.add(
                "tooLarge", start,
                "the fields that are not files have \(Quantity.bytes(text)), and \(server.name) accepts \(Quantity.bytes(limits.text)) (\(limits.textSetting))"
            )
        }
    }
}

/// UTF-8 that a program has read as Latin-1 or Windows-1252 and encoded again: `cafÃ©`.
enum Misreading {
    /// The bytes before the misreading; nil if there was none.
    static func undone(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.contains(where: { $0 >= 0x80 }), let text = String(validUTF8: bytes) else { return nil }
        var read: [UInt8] = []
        for scalar in text.unicodeScalars {
            if scalar.value < 0x100 {
                read.append(UInt8(scalar.value))
            } else if let byte = self.windows[scalar.value] {
                read.append(byte)
            } else {
                return nil
            }
        }
        guard read != bytes, UTF8Validator.isValid(read), read.contains(where: { $0 >= 0x80 }) else { return nil }
        return read
    }

    /// The characters of Windows-1252 at 0x80 to 0x9F.
    private static let windows: [UInt32: UInt8] = [
        0x20AC: 0x80, 0x201A: 0x82, 0x0192: 0x83, 0x201E: 0x84, 0x2026: 0x85, 0x2020: 0x86, 0x2021: 0x87, 0x02C6: 0x88, 0x2030: 0x89,
        0x0160: 0x8A, 0x2039: 0x8B, 0x0152: 0x8C, 0x017D: 0x8E, 0x2018: 0x91, 0x2019: 0x92, 0x201C: 0x93, 0x201D: 0x94, 0x2022: 0x95,
        0x2013: 0x96, 0x2014: 0x97, 0x02DC: 0x98, 0x2122: 0x99, 0x0161: 0x9A, 0x203A: 0x9B, 0x0153: 0x9C, 0x017E: 0x9E, 0x0178: 0x9F,
    ]
}
