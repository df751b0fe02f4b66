internal import TapeBytes

/// Finds errors in a multipart body and their positions. With one byte too many or too few, a server may see no parts.
///
/// Takes the body in pieces and keeps none of them. Reports anything that some servers refuse or misread, even if RFC 2046 allows it.
public struct MultipartLint: ~Copyable {
    /// The most problems that are listed; the rest are only counted.
    public static let limit = 100

    private let contentType: [MultipartProblem]
    private let level: LintLevel?
    private var head: [UInt8] = []

    /// - Parameter headers: the message's, for its Content-Type.
    public init(headers: HeaderFields, limits: MultipartLimits = MultipartLimits()) {
        self.contentType = ContentTypeLint.problems(headers, offset: nil)
        let type = MultipartType(headers)
        self.level = type?.boundary.map {
            LintLevel(
                boundary: $0, isFormData: type?.isFormData == true, limits: limits, report: LintReport(limit: Self.limit), depth: 1,
                offset: 0)
        }
    }

    public mutating func push(_ bytes: UnsafeRawBufferPointer) {
        if let level = self.level { return level.push(bytes) }
        if self.head.count < LintLevel.headSize { self.head += bytes.prefix(LintLevel.headSize - self.head.count) }
    }

    /// All problems: those of the message's own fields, then those of the body in its order.
    public consuming func finish() -> [MultipartProblem] {
        guard let level = self.level else { return self.contentType + [BoundaryGuess.problem(self.head, named: nil)].compactMap { $0 } }
        level.finish()
        return self.contentType + level.report.all
    }

    public static func problems(headers: HeaderFields, body: UnsafeRawBufferPointer) -> [MultipartProblem] {
        var lint = MultipartLint(headers: headers)
        lint.push(body)
        return lint.finish()
    }
}

/// Something in a multipart body that some servers refuse or misread, with its position and the remedy.
public struct MultipartProblem: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable, CaseIterable {
        // The message's Content-Type.
        case contentTypeTwice, boundaryMissing, boundaryEmpty, boundaryTooLong, boundaryCharacters, boundaryQuoted
        /// The body has delimiters, but of another boundary.
        case boundaryWrong
        case noDelimiter, notClosed
        /// Only a line end precedes the first delimiter.
        case lineEndBeforeFirst
        case preamble, epilogue
        /// There is no line end before or after a delimiter.
        case lineEndMissing
        /// There is no line end after the closing delimiter.
        case lastLineEndMissing
        /// There is one line end too many between a header section and data, or between data and a delimiter.
        case lineEndDoubled
        case lineFeedOnly, padding
        /// There is no empty line between a header section and data.
        case emptyLineMissing
        /// The boundary occurs within a header section or data, where some servers split the body.
        case boundaryInHeaders, boundaryInData
        case colonMissing, fieldTwice, nameMissing, notFormData, nul
        case tooDeep, tooMuch
        /// There are more problems than are listed.
        case more
    }

    public var kind: Kind
    /// Offset in the body; nil for a problem of the message's header fields.
    public var offset: Int?
    /// In plain words, without the offset.
    public var sentence: String
    /// The boundary that the body uses, if Content-Type specifies another.
    public var proposal: MultipartBoundary?

    public init(_ kind: Kind, offset: Int?, _ sentence: String, proposal: MultipartBoundary? = nil) {
        self.kind = kind
        self.offset = offset
        self.sentence = sentence
        self.proposal = proposal
    }

    public var description: String { self.offset.map { "offset \($0): \(self.sentence)" } ?? self.sentence }
}

/// The problems found on all levels of one body, up to a limit.
///
/// A class, since the levels share it.
final class LintReport {
    private let limit: Int
    private var problems: [MultipartProblem] = []
    private var others = 0
    private var once: Set<MultipartProblem.Kind> = []

    init(limit: Int) {
        self.limit = limit
    }

    func add(_ problem: MultipartProblem) {
        if self.problems.count < self.limit { self.problems.append(problem) } else { self.others += 1 }
    }

    /// For problems that repeat throughout a body: only the first is added.
    func addOnce(_ problem: MultipartProblem) {
        if self.once.insert(problem.kind).inserted { self.add(problem) }
    }

    /// In the order of the body.
    var all: [MultipartProblem] {
        let sorted = self.problems.sorted { ($0.offset ?? -1) < ($1.offset ?? -1) }
        guard self.others > 0 else { return sorted }
        return sorted + [MultipartProblem(.more, offset: nil, "\(self.others) more problems are not listed; fix these first")]
    }
}

/// Checks the Content-Type fields of a multipart message or part.
///
/// Does not look at the body.
enum ContentTypeLint {
    /// - Parameter offset: the offset of the part's header section; nil for the message's own fields.
    static func problems(_ fields: HeaderFields, offset: Int?) -> [MultipartProblem] {
        var problems: [MultipartProblem] = []
        let indices = (0..<fields.count).filter { fields.isNamed("content-type", at: $0) }
        let isJoined = indices.contains { MIMEParameters(fields.valueBytes(at: $0)).rest != nil }
        if indices.count > 1 || isJoined {
            problems.append(
                MultipartProblem(
                    .contentTypeTwice, offset: offset,
                    "\"Content-Type\" appears twice, and servers differ in which one they use; set it once"
                ))
        }
        guard let type = MultipartType(fields) else { return problems }
        guard let boundary = type.parameters["boundary"] else {
            return problems + [
                MultipartProblem(
                    .boundaryMissing, offset: offset, "\"Content-Type\" names no boundary; add \"boundary=\" and the text after \"--\"")
            ]
        }
        return problems + self.problems(boundary, offset: offset)
    }

    private static func problems(_ boundary: MIMEParameters.Parameter, offset: Int?) -> [MultipartProblem] {
        let value = boundary.value
        guard !value.isEmpty else {
            return [MultipartProblem(.boundaryEmpty, offset: offset, "the boundary is empty; use 1 to 70 characters (RFC 2046, 5.1.1)")]
        }
        var problems: [MultipartProblem] = []
        let shown = PlainText.escape(value, limit: 80)
        if value.count > 70 {
            problems.append(
                MultipartProblem(
                    .boundaryTooLong, offset: offset, "the boundary has \(value.count) characters; use at most 70 (RFC 2046, 5.1.1)"))
        }
        if !value.allSatisfy(self.isAllowed) || value.last == 32 {
            problems.append(
                MultipartProblem(
                    .boundaryCharacters, offset: offset,
                    "the boundary \"\(shown)\" has characters that RFC 2046, 5.1.1 does not allow; use letters, digits and hyphens"))
        } else if !boundary.isQuoted, !value.allSatisfy(self.needsNoQuotes) {
            problems.append(
                MultipartProblem(
                    .boundaryCharacters, offset: offset,
                    "the boundary \"\(shown)\" has characters that need quotes (RFC 2045, 5.1); use letters, digits and hyphens"))
        } else if boundary.isQuoted, value.allSatisfy(self.needsNoQuotes) {
            problems.append(
                MultipartProblem(
                    .boundaryQuoted, offset: offset,
                    "the boundary \"\(shown)\" is in quotes, which is allowed, but some servers take them for a part of it; leave them out"
                ))
        }
        return problems
    }

    /// `bchars` of RFC 2046, 5.1.1.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        self.isPlain(byte) || "'()+_,-./:=? ".utf8.contains(byte)
    }

    /// The `bchars` that are also in `token` (RFC 2045, 5.1).
    private static func needsNoQuotes(_ byte: UInt8) -> Bool {
        self.isPlain(byte) || "'+_-.".utf8.contains(byte)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 48 && byte <= 57 || (byte | 32) >= 97 && (byte | 32) <= 122
    }
}

/// Finds the boundary of a body that has no delimiter with the declared one.
enum BoundaryGuess {
    /// - Parameters:
    ///   - head: the body's first bytes.
    ///   - named: the boundary that Content-Type declares; nil if it declares none.
    static func problem(_ head: [UInt8], named: MultipartBoundary?) -> MultipartProblem? {
        if let (found, offset) = self.firstBoundary(head) {
            let shown = PlainText.escape(found.bytes, limit: 80)
            let other =
                named.map { "but \"Content-Type\" says \"\(PlainText.escape($0.bytes, limit: 80))\"" }
                ?? "but \"Content-Type\" does not say so"
            return MultipartProblem(
                .boundaryWrong, offset: offset, "the body uses the boundary \"\(shown)\", \(other); write \"boundary=\(shown)\" there",
                proposal: found)
        }
        guard let named else { return nil }
        let shown = PlainText.escape(named.bytes, limit: 80)
        let what =
            head.isEmpty ? "the body is empty; write the line \"--\(shown)\"" : "the body has no line \"--\(shown)\"; write that line"
        return MultipartProblem(.noDelimiter, offset: 0, "\(what) before each part and \"--\(shown)--\" after the last")
    }

    /// The rest of the first line that begins with two hyphens.
    private static func firstBoundary(_ head: [UInt8]) -> (MultipartBoundary, offset: Int)? {
        var start = 0
        while start < head.count {
            let end = head[start...].firstIndex(of: 10) ?? head.count
            defer { start = end + 1 }
            guard head[start..<end].starts(with: [45, 45]), end < head.count else { continue }
            var line = head[(start + 2)..<end]
            while let last = line.last, last == 13 || last == 32 || last == 9 { line.removeLast() }
            if let found = MultipartBoundary(line) { return (found, start) }
        }
        return nil
    }
}
