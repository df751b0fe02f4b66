internal import CassetteModel
internal import TapeBytes

/// Checks whether a message's header fields fit its body: its length, its type, and whether it is a multipart body under another type.
struct MessageLint {
    /// Larger bodies are not parsed as JSON.
    private static let parsedSize = 4 << 20

    private(set) var findings: [BodyLint.Finding] = []
    /// The message's fields, with the Content-Type that a hidden multipart body would need.
    private(set) var headers: HeaderFields
    /// Whether the body is to be checked part by part.
    private(set) var isMultipart: Bool
    /// Whether another finding already says what is wrong with the type.
    private var explainsType = false
    private var announced: Int?
    private let size: Int

    var isFormData: Bool { MultipartType(self.headers)?.isFormData == true }

    init(_ contents: BodyContents, headers: HeaderFields, _ context: BodyLint.Context) throws {
        self.headers = headers
        self.isMultipart = MultipartType(headers) != nil
        self.size = context.body?.size ?? contents.size
        guard context.side == .request else { return }
        let isWhole = context.body?.isComplete ?? true
        if let body = context.body { self.length(body) }
        guard contents.size > 0 else { return }
        // Nothing is said about bytes whose codings are not removed.
        guard try self.isReadable(contents, context.body, isWhole: isWhole) else { return }
        if self.isMultipart {
            try self.wrongInMultipart(contents)
        } else if let boundary = try HiddenMultipart.boundary(contents) {
            self.hidden(boundary)
        } else {
            try self.wrongType(contents, isWhole: isWhole)
        }
        if let server = context.server, contents.size > server.limits.body {
            self.findings.append(
                BodyLint.Finding(
                    "tooLarge", offset: nil,
                    "the body has \(Quantity.bytes(contents.size)), and \(server.name) accepts \(Quantity.bytes(server.limits.body)) (\(server.limits.bodySetting))"
                ))
        }
    }

    /// Whether a finding of the form is left out, because another one says it better.
    func replaces(_ kind: MultipartProblem.Kind) -> Bool {
        self.explainsType && [.boundaryMissing, .boundaryEmpty, .noDelimiter, .boundaryWrong].contains(kind)
    }

    /// A body that just stops has been cut by its length if that is all that was announced.
    func sentence(_ problem: MultipartProblem) -> String {
        guard problem.kind == .notClosed, let announced, announced == self.size else { return problem.sentence }
        return problem.sentence
            + "; \"Content-Length: \(announced)\" ends the body here, so count bytes and not characters if more was to be sent"
    }

    // MARK: Length

    private mutating func length(_ body: Body) {
        let indices = (0..<self.headers.count).filter { self.headers.isNamed("content-length", at: $0) }
        guard !indices.isEmpty, !self.headers.contains("transfer-encoding") else { return }
        let values = Set(indices.map { self.headers.value(at: $0) })
        guard values.count == 1, let value = values.first, let announced = Int(value) else {
            self.findings.append(
                BodyLint.Finding(
                    "contentLength", offset: nil,
                    "\"Content-Length\" says \(values.sorted().joined(separator: " and ")), which no server can follow; let the HTTP library write it"
                ))
            return
        }
        self.announced = announced
        guard !body.isComplete, announced > body.size else { return }
        self.findings.append(
            BodyLint.Finding(
                "contentLength", offset: nil,
                "\"Content-Length\" announces \(Quantity.count(announced, "byte")), and \(body.size) came, so the server waits for the rest; let the HTTP library write it",
                change: LintChange(field: Array(self.headers.line(at: indices[0])), by: Array("Content-Length: \(body.size)".utf8))))
    }

    // MARK: Codings

    /// Whether the contents have no coding any more. Reports a body that never had the coding that is announced.
    private mutating func isReadable(_ contents: BodyContents, _ body: Body?, isWhole: Bool) throws -> Bool {
        // `original` is kept of a body that was decoded, too.
        guard body?.codings.isEmpty ?? true, body?.original == nil, contents.inflated == nil else { return true }
        switch ContentEncoding(self.headers) {
        case .none: return true
        case .other: return false
        case .coded(let names):
            // The last one was applied last.
            guard let outer = names.last, isWhole, try Self.isPlain(contents, outer) else { return false }
            let index = self.headers.firstIndex(of: "content-encoding")
            self.findings.append(
                BodyLint.Finding(
                    "contentEncoding", offset: nil,
                    "\"Content-Encoding\" says \(outer.rawValue), and the body is not compressed; leave the field out, or compress the body",
                    change: index.map { LintChange(field: Array(self.headers.line(at: $0)), by: nil) }))
            return true
        }
    }

    /// Whether the bytes cannot be those of a coding: they have not its signature, or are JSON, a form, a multipart body or a known file.
    private static func isPlain(_ contents: BodyContents, _ coding: ContentEncoding.Name) throws -> Bool {
        let beginning = try contents.prefix(FileSignature.prefixSize)
        switch coding {
        case .gzip: return !beginning.starts(with: [0x1f, 0x8b])
        case .zstd:
            // A frame, or one that is skipped (RFC 8878, 3.1).
            let isSkipped = beginning.count >= 4 && beginning[0] & 0xf0 == 0x50 && beginning[1...3].elementsEqual([0x2a, 0x4d, 0x18])
            return !beginning.starts(with: [0x28, 0xb5, 0x2f, 0xfd]) && !isSkipped
        case .br, .deflate:
            if try self.kind(contents) != nil || HiddenMultipart.boundary(contents) != nil { return true }
            return FileSignature.binary(beginning) != nil
        }
    }

    // MARK: Type

    private var type: (line: [UInt8], media: MediaType)? {
        guard let index = self.headers.firstIndex(of: "content-type") else { return nil }
        return (Array(self.headers.line(at: index)), MediaType(self.headers.valueBytes(at: index)))
    }

    private mutating func hidden(_ boundary: MultipartBoundary) {
        let shown = PlainText.escape(boundary.bytes, limit: 80)
        let type = self.type
        let essence = type.map { PlainText.escape($0.media.essence.utf8, limit: 60) } ?? ""
        let says = type == nil ? "no \"Content-Type\" says so" : "\"Content-Type\" says \"\(essence)\""
        self.findings.append(
            BodyLint.Finding(
                "multipartHidden", offset: nil,
                "the body is multipart with the boundary \"\(shown)\", but \(says), so servers see no parts; leave \"Content-Type\" to the HTTP library, or write what is shown",
                change: LintChange(field: type?.line, by: Array("Content-Type: ".utf8) + HiddenMultipart.type(boundary))))
        self.headers = HiddenMultipart.headers(self.headers, boundary: boundary)
        self.isMultipart = true
    }

    /// A body of another kind under a multipart type.
    private mutating func wrongInMultipart(_ contents: BodyContents) throws {
        let first = try contents.prefix(512).first { $0 > 32 }
        if try self.strippedLineEnds(contents) { return }
        guard first != UInt8(ascii: "-"), let kind = try Self.kind(contents) else { return }
        self.explainsType = true
        self.isMultipart = false
        self.mismatch(kind, "multipart")
    }

    /// A body in which a client has removed every line end, as `curl -d @file` does.
    private mutating func strippedLineEnds(_ contents: BodyContents) throws -> Bool {
        guard let boundary = MultipartType(self.headers)?.boundary else { return false }
        guard let bytes = try contents.load(limit: Self.parsedSize) else { return false }
        let start = [45, 45] + boundary.bytes
        let field = Array("content-disposition:".utf8)
        guard bytes.starts(with: start), bytes.dropFirst(start.count).prefix(field.count).map({ $0 | 32 }) == field.map({ $0 | 32 }),
            !bytes.contains(10)
        else { return false }
        self.findings.append(
            BodyLint.Finding(
                "lineEndsStripped", offset: start.count,
                "the body has no line ends at all, so servers see no parts; \"curl -d @FILE\" removes them: use --data-binary @FILE"))
        self.isMultipart = false
        return true
    }

    private mutating func wrongType(_ contents: BodyContents, isWhole: Bool) throws {
        if let object = try SpelledObject(contents) {
            self.findings.append(BodyLint.Finding("objectAsText", offset: 0, object.sentence("the body")))
            return
        }
        guard let type = self.type, GRPCType(type.media) == nil else { return }
        if type.media.declaresJSON {
            try self.wrongJSON(contents, isWhole: isWhole)
        } else if type.media.essence == "application/x-www-form-urlencoded" {
            let beginning = try contents.prefix(FileSignature.prefixSize)
            if let file = FileSignature.binary(beginning) {
                self.fileAsForm(file.name, file.essence, isStripped: file.isStripped)
            } else if try Self.kind(contents) == .json {
                self.mismatch(.json, "application/x-www-form-urlencoded")
            } else {
                try self.wrongForm(contents)
            }
        } else {
            try self.wrongFile(contents, type.media, isWhole: isWhole)
        }
    }

    /// A file under the type that curl and others write for a body without a type.
    private mutating func fileAsForm(_ name: String, _ essence: String, isStripped: Bool) {
        let stripped = "; \"curl -d @FILE\" also removes line ends and NUL, which breaks the file: use --data-binary @FILE"
        self.findings.append(
            BodyLint.Finding(
                "typeContradicted", offset: 0,
                "\"Content-Type\" says application/x-www-form-urlencoded, and the bytes are \(name); write the type that they have"
                    + (isStripped ? stripped : ""),
                change: LintChange(field: self.type?.line, by: Array("Content-Type: \(essence)".utf8))))
    }

    /// A body whose bytes are another file's than its type says.
    private mutating func wrongFile(_ contents: BodyContents, _ type: MediaType, isWhole: Bool) throws {
        // A piece of an upload, or its chunks with a signature each, do not begin as the file does.
        let isPiece = self.headers.contains("content-range") || self.headers.contains("upload-offset")
        let isSigned = self.headers.first("x-amz-content-sha256")?.hasPrefix("STREAMING-") == true
        guard !isPiece, !isSigned else { return }
        let beginning = try contents.prefix(FileSignature.prefixSize)
        guard isWhole || beginning.count >= 16 else { return }
        switch FileSignature.compare(type.essence, beginning, isFile: type.kind == .binary) {
        case .fits: break
        case .other(let name, let essence):
            self.findings.append(
                BodyLint.Finding(
                    "typeContradicted", offset: 0,
                    "\"Content-Type\" says \(PlainText.escape(type.essence.utf8, limit: 60)), and the bytes are \(name); write the type that they have",
                    change: LintChange(field: self.type?.line, by: Array("Content-Type: \(essence)".utf8))))
        case .not(let name):
            self.findings.append(
                BodyLint.Finding(
                    "typeContradicted", offset: 0,
                    "\"Content-Type\" says \(PlainText.escape(type.essence.utf8, limit: 60)), and the bytes do not begin as \(name) does; send the file itself, or write the type that it has"
                ))
        case .base64:
            self.findings.append(
                BodyLint.Finding(
                    "fileInBase64", offset: 0,
                    "the body is a file in base64, which servers store as it is; decode it before you send it"))
        }
    }

    private mutating func wrongJSON(_ contents: BodyContents, isWhole: Bool) throws {
        guard contents.size <= Self.parsedSize, let bytes = try contents.load(limit: Self.parsedSize) else { return }
        let root: JSONValue
        do {
            root = try JSONDocument(bytes).root
        } catch {
            return try self.brokenJSON(error, bytes, contents, isWhole: isWhole)
        }
        guard let text = root.string, let inner = try? JSONDocument(Array(text.utf8)).root, inner.kind == .object || inner.kind == .array
        else { return }
        self.findings.append(
            BodyLint.Finding(
                "jsonTwice", offset: 0,
                "the body is a string that holds JSON, so servers get a string and not \(inner.kind == .object ? "an object" : "an array"); encode it once",
                change: bytes.count <= 4096 ? try LintChange(0..<bytes.count, by: Array(text.utf8), in: contents) : nil))
    }

    /// Whether a body is several lines of JSON, and whether they are a bulk request of Elasticsearch or OpenSearch, which may be sent as
    /// `application/json` (Elasticsearch, "Bulk index or delete documents" and "Run multiple searches"). Nil if it is something else.
    private static func isBulk(_ bytes: [UInt8]) -> Bool? {
        let lines = bytes.split(separator: 10).filter { !$0.allSatisfy { $0 <= 32 } }
        guard lines.count > 1, let first = try? JSONDocument(Array(lines[0])).root, first.kind == .object,
            lines.dropFirst().allSatisfy({ (try? JSONDocument(Array($0))) != nil })
        else { return nil }
        let names = first.members.map { $0.name }
        return names.isEmpty || ["index", "create", "update", "delete"].contains { first[$0]?.kind == .object }
            || ["index", "indices"].contains { first[$0] != nil }
    }

    private mutating func brokenJSON(_ error: JSONSyntaxError, _ bytes: [UInt8], _ contents: BodyContents, isWhole: Bool) throws {
        if let isBulk = Self.isBulk(bytes) {
            guard !isBulk else { return }
            self.findings.append(
                BodyLint.Finding(
                    "notJSON", offset: 0, "\"Content-Type\" says JSON, and the body is lines of JSON; write application/x-ndjson",
                    change: LintChange(field: self.type?.line, by: Array("Content-Type: application/x-ndjson".utf8))))
            return
        }
        if try Self.kind(contents) == .form { return self.mismatch(.form, "application/json") }
        if let encoding = Self.encoding(bytes) {
            self.findings.append(
                BodyLint.Finding(
                    "notJSON", offset: 0,
                    "\"Content-Type\" says JSON, and the body is in \(encoding), which JSON must not be in (RFC 8259, 8.1); send UTF-8 without a byte-order mark",
                    change: encoding == Self.marked ? try LintChange(0..<3, by: [], in: contents) : nil))
            return
        }
        // Only a text that just ends can have been cut by its length.
        let isCut = error.offset >= bytes.count || error.reason.contains("ends early")
        let end = isCut && self.announced == self.size && isWhole ? self.announced : nil
        let length =
            end.map { "; \"Content-Length: \($0)\" ends the body here, so count bytes and not characters if more was to be sent" } ?? ""
        self.findings.append(
            BodyLint.Finding(
                "notJSON", offset: nil,
                "\"Content-Type\" says JSON, and the body is not: line \(error.line): \(error.reason)"
                    + (isWhole ? length : "; it was cut")))
    }

    private static let marked = "UTF-8 with a byte-order mark"

    /// The encoding of a text that is not plain UTF-8, by its mark, or by the zeros of its ASCII characters.
    private static func encoding(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { return self.marked }
        // UTF-32's mark begins with that of UTF-16.
        if bytes.starts(with: [0xff, 0xfe, 0, 0]) || bytes.starts(with: [0, 0, 0xfe, 0xff]) { return "UTF-32" }
        if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) { return "UTF-16" }
        let zeros = bytes.prefix(4).map { $0 == 0 }
        guard bytes.count >= 4, bytes.count % 2 == 0 else { return nil }
        switch zeros {
        case [false, true, true, true], [true, true, true, false]: return "UTF-32"
        case [false, true, false, true], [true, false, true, false]: return "UTF-16"
        default: return nil
        }
    }

    /// A value in a form may be the text of an object, too.
    private mutating func wrongForm(_ contents: BodyContents) throws {
        guard contents.size <= Self.parsedSize, let bytes = try contents.load(limit: Self.parsedSize) else { return }
        for field in FormFields.decode(bytes) {
            guard let object = SpelledObject(field.value) else { continue }
            let name = PlainText.escape(field.name, limit: 60)
            self.findings.append(BodyLint.Finding("objectAsText", offset: nil, object.sentence("the field \"\(name)\"")))
        }
    }

    private mutating func mismatch(_ kind: Kind, _ declared: String) {
        let line = self.type?.line
        self.findings.append(
            BodyLint.Finding(
                "typeWrong", offset: nil,
                "\"Content-Type\" says \(declared), and the body is \(kind.name); "
                    + (declared == "multipart" ? "send a form, or write the type that the body has" : "write the type that the body has"),
                change: LintChange(field: line, by: Array("Content-Type: \(kind.type)".utf8))))
    }

    private enum Kind {
        case json, form

        var name: String { self == .json ? "JSON" : "an urlencoded form" }
        var type: String { self == .json ? "application/json" : "application/x-www-form-urlencoded" }
    }

    /// What the bytes are without doubt; nil for anything else.
    private static func kind(_ contents: BodyContents) throws -> Kind? {
        guard let bytes = try contents.load(limit: Self.parsedSize), let first = bytes.first(where: { $0 > 32 }) else { return nil }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return (try? JSONDocument(bytes)) == nil ? nil : .json }
        // A form has no byte that needs an escape, and each of its fields has a name and a value.
        let allowed = bytes.allSatisfy { byte in
            (byte | 32) >= 97 && (byte | 32) <= 122 || byte >= 48 && byte <= 57 || "-._~*+%&=!'()[],:@/".utf8.contains(byte)
        }
        let fields = bytes.split(separator: UInt8(ascii: "&"))
        return allowed && !fields.isEmpty && fields.allSatisfy { ($0.firstIndex(of: UInt8(ascii: "=")) ?? $0.startIndex) > $0.startIndex }
            ? .form : nil
    }
}
