internal import CassetteModel
internal import TapeBytes

/// What to write instead of some bytes: of one field line, or of a place in the body.
package struct LintChange: Equatable {
    /// The bytes as they are and as they should be, with what is around them. Bytes that are not printable are spelled `\r`, `\n`, `\xe9`.
    package var before: String?
    package var after: String?
    /// The offset in the body; nil for a field line.
    package var offset: Int?
    package var removed: [UInt8] = []
    package var inserted: [UInt8] = []

    /// How many bytes are shown before and after the change.
    private static let margin = 24
    /// The most bytes of a change that are shown.
    private static let shown = 80

    /// A field line that is replaced; nil to leave out or to add one.
    package init(field old: [UInt8]?, by new: [UInt8]?) {
        self.before = old.map { Self.spelled($0) }
        self.after = new.map { Self.spelled($0) }
        self.removed = old ?? []
        self.inserted = new ?? []
    }

    /// A range of the body that is replaced.
    package init(_ range: Range<Int>, by new: [UInt8], in contents: BodyContents) throws {
        let range = range.clamped(to: 0..<max(contents.size, range.upperBound))
        self.offset = range.lowerBound
        self.removed = try contents.part(range).prefix(range.count)
        self.inserted = new
        let lead = try contents.part(max(0, range.lowerBound - Self.margin)..<range.lowerBound).prefix(Self.margin)
        let rest = try contents.part(range.upperBound..<max(range.upperBound, min(contents.size, range.upperBound + Self.margin)))
            .prefix(Self.margin)
        let isCutBefore = range.lowerBound > Self.margin
        let isCutAfter = range.upperBound + Self.margin < contents.size
        func line(_ bytes: [UInt8]) -> String {
            (isCutBefore ? "…" : "") + Self.spelled(lead + bytes + rest) + (isCutAfter ? "…" : "")
        }
        self.before = line(Self.short(self.removed))
        self.after = line(Self.short(new))
    }

    /// Two lines, as in a diff of text.
    package var lines: [String] {
        [
            self.before.map { "- " + $0 + Self.digits(self.offset == nil ? [] : self.removed) },
            self.after.map { "+ " + $0 + Self.digits(self.offset == nil ? [] : self.inserted) },
        ]
        .compactMap { $0 }
    }

    /// The changed bytes themselves, since a line end is easily overlooked.
    private static func digits(_ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty, bytes.count <= 8 else { return "" }
        return "    " + bytes.map { Hex.encode([$0]) }.joined(separator: " ")
    }

    private static func short(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count > self.shown else { return bytes }
        return Array(bytes.prefix(self.shown / 2)) + Array("…".utf8) + Array(bytes.suffix(self.shown / 2))
    }

    /// Text as it is; other bytes as a programmer would write them.
    static func spelled(_ bytes: [UInt8]) -> String {
        var text = ""
        var run: [UInt8] = []
        func flush() {
            guard !run.isEmpty else { return }
            let isText = UTF8Validator.isValid(run)
            text += isText ? VisibleText.line(run) : run.map { $0 < 0x80 ? String(Unicode.Scalar($0)) : "\\x" + Hex.encode([$0]) }.joined()
            run.removeAll()
        }
        for byte in bytes {
            switch byte {
            case 10: flush(); text += "\\n"
            case 13: flush(); text += "\\r"
            case 9: flush(); text += "\\t"
            case 0..<32, 127: flush(); text += "\\x" + Hex.encode([byte])
            default: run.append(byte)
            }
        }
        flush()
        return text
    }

    // MARK: Defects of the form

    /// What to write for a defect of the multipart form; nil if the defect has no single remedy.
    init?(_ problem: MultipartProblem, in contents: BodyContents, headers: HeaderFields, boundary: MultipartBoundary?) throws {
        let lineEnd: [UInt8] = [13, 10]
        func byte(_ offset: Int) throws -> UInt8? { try contents.part(offset..<offset + 1).prefix(1).first }
        /// The line end at an offset, or none.
        func lineEndLength(_ offset: Int) throws -> Int {
            let bytes = try contents.part(offset..<min(contents.size, offset + 2)).prefix(2)
            return bytes.starts(with: lineEnd) ? 2 : bytes.first == 10 ? 1 : 0
        }
        guard let offset = problem.offset, problem.proposal == nil else {
            guard let change = Self.field(problem, headers) else { return nil }
            self = change
            return
        }
        switch problem.kind {
        case .notClosed:
            guard let boundary else { return nil }
            let tail = try contents.part(max(0, contents.size - 2)..<contents.size).prefix(2)
            let closing = (tail == lineEnd ? [] : lineEnd) + Array("--".utf8) + boundary.bytes + Array("--\r\n".utf8)
            try self.init(contents.size..<contents.size, by: closing, in: contents)
        case .lineEndMissing, .lastLineEndMissing, .emptyLineMissing:
            try self.init(offset..<offset, by: lineEnd, in: contents)
        case .lineEndBeforeFirst, .lineEndDoubled:
            let count = try lineEndLength(offset)
            guard count > 0 else { return nil }
            try self.init(offset..<offset + count, by: [], in: contents)
        case .lineFeedOnly:
            guard try byte(offset) == 10 else { return nil }
            try self.init(offset..<offset + 1, by: lineEnd, in: contents)
        case .padding:
            let bytes = try contents.part(offset..<min(contents.size, offset + 256)).prefix(256)
            let count = bytes.prefix { $0 == 32 || $0 == 9 }.count
            try self.init(offset..<offset + count, by: [], in: contents)
        case .epilogue: try self.init(offset..<contents.size, by: [], in: contents)
        case .nul: try self.init(offset..<offset + 1, by: [], in: contents)
        case .nameMissing, .notFormData:
            let head = try contents.part(offset..<min(contents.size, offset + 4096)).prefix(4096)
            guard let change = try Self.disposition(head, at: offset, contents) else { return nil }
            self = change
        case .boundaryMissing, .boundaryEmpty, .boundaryTooLong, .boundaryCharacters, .boundaryQuoted, .boundaryWrong, .contentTypeTwice,
            .noDelimiter, .preamble, .boundaryInHeaders, .boundaryInData, .colonMissing, .fieldTwice, .tooDeep, .tooMuch, .more:
            return nil
        }
    }

    /// The message's Content-Type as it should be.
    private static func field(_ problem: MultipartProblem, _ headers: HeaderFields) -> LintChange? {
        guard let index = headers.firstIndex(of: "content-type") else { return nil }
        let line = Array(headers.line(at: index))
        switch problem.kind {
        case .boundaryWrong:
            guard let proposal = problem.proposal else { return nil }
            let type = MIMEParameters(headers.valueBytes(at: index)).value
            return LintChange(field: line, by: Array("Content-Type: \(type); boundary=".utf8) + proposal.bytes)
        case .boundaryQuoted: return LintChange(field: line, by: line.filter { $0 != UInt8(ascii: "\"") })
        case .contentTypeTwice:
            guard let second = headers.firstIndex(of: "content-type", from: index + 1) else { return nil }
            // The field that names the boundary is the one to keep.
            let kept = MIMEParameters(headers.valueBytes(at: second))["boundary"] == nil ? second : index
            return LintChange(field: Array(headers.line(at: kept)), by: nil)
        default: return nil
        }
    }

    private static func disposition(_ head: [UInt8], at offset: Int, _ contents: BodyContents) throws -> LintChange? {
        var start = 0
        while start < head.count, let end = head[start...].firstIndex(of: 10) {
            let line = head[start..<end].last == 13 ? head[start..<(end - 1)] : head[start..<end]
            guard !line.isEmpty else { break }
            guard line.prefix(20).map({ $0 | 32 }) == Array("content-disposition:".utf8) else {
                start = end + 1
                continue
            }
            let value = MIMEParameters(line.dropFirst(20))
            if value.value != "form-data", let semicolon = line.firstIndex(of: UInt8(ascii: ";")) ?? Optional(line.endIndex) {
                return try LintChange(offset + start + 20..<offset + semicolon, by: Array(" form-data".utf8), in: contents)
            }
            let after = line.firstIndex(of: UInt8(ascii: ";")) ?? line.endIndex
            return try LintChange(offset + after..<offset + after, by: Array("; name=\"…\"".utf8), in: contents)
        }
        return try LintChange(offset..<offset, by: Array("Content-Disposition: form-data; name=\"…\"\r\n".utf8), in: contents)
    }
}
