internal import TapeBytes

/// The lint of one level of nested parts.
///
/// Belongs to one `MultipartLint`. A class, since a level contains another.
final class LintLevel {
    /// How many bytes of a body are searched for a delimiter with another boundary: room for a preamble of a few sentences and the longest
    /// delimiter.
    static let headSize = 1024

    private var parser: MultipartParser
    private let boundary: MultipartBoundary
    private let isFormData: Bool
    private let limits: MultipartLimits
    let report: LintReport
    private let depth: Int
    private let offset: Int
    private var inner: LintLevel?
    private var part: PartLint?
    private var head: [UInt8] = []
    private var parts = 0
    private var size = 0
    private var hasDelimiter = false
    private var isClosed = false

    init(boundary: MultipartBoundary, isFormData: Bool, limits: MultipartLimits, report: LintReport, depth: Int, offset: Int) {
        self.parser = MultipartParser(boundary: boundary, limits: limits)
        self.boundary = boundary
        self.isFormData = isFormData
        self.limits = limits
        self.report = report
        self.depth = depth
        self.offset = offset
    }

    func push(_ bytes: UnsafeRawBufferPointer) {
        self.parser.push(bytes) { self.take($0) }
    }

    func finish() {
        self.parser.finish { self.take($0) }
        self.endPart(isDelimited: false)
        if !self.hasDelimiter {
            let named = self.boundary
            if var problem = BoundaryGuess.problem(self.head, named: named) {
                problem.offset = problem.offset.map { $0 + self.offset }
                self.report.add(problem)
            }
        } else if !self.isClosed {
            let boundary = PlainText.escape(self.boundary.bytes, limit: 80)
            self.report.add(
                MultipartProblem(
                    .notClosed, offset: self.offset + self.size,
                    "the body ends without a closing delimiter; end it with a line end and \"--\(boundary)--\""))
        }
    }

    private func take(_ event: MultipartEvent) {
        let offset = self.offset + event.offset
        self.size = event.offset + event.bytes.count
        switch event.kind {
        case .preamble:
            if self.head.count < Self.headSize { self.head += event.bytes.prefix(Self.headSize - self.head.count) }
        case .delimiter(let delimiter): self.delimiter(delimiter, offset: offset, end: self.offset + self.size)
        case .headers:
            let section = PartHeaderSection(bytes: Array(event.bytes))
            self.part?.headers(section, offset: offset, boundary: self.boundary).forEach(self.report.add)
            if let feed = self.part?.usesLineFeed { self.lineFeedOnly(feed) }
            self.open(section, offset: self.offset + self.size)
        case .data(let resemblesDelimiter):
            if let part = self.part, !part.hasEmptyLine { self.emptyLineMissing(part, offset: offset) }
            if resemblesDelimiter, let part = self.part {
                self.report.add(
                    MultipartProblem(
                        .boundaryInData, offset: offset,
                        "the data of \(part.label) contains the boundary, and servers that only search for it cut there; choose another boundary"
                    ))
            }
            self.part?.data(event.bytes)
            self.inner?.push(event.bytes)
        case .epilogue:
            guard self.isFormData, self.isClosed else { return }
            self.report.addOnce(
                MultipartProblem(
                    .epilogue, offset: offset, "there are bytes after the closing delimiter, which servers ignore; leave them out"))
        case .opaque(let limit):
            let what =
                switch limit {
                case .parts: "there are more than \(self.limits.parts) parts"
                case .headerSection: "a header section has more than \(self.limits.headerSection) bytes"
                case .headerLines: "a header section has more than \(self.limits.headerLines) lines"
                }
            self.isClosed = true
            self.report.addOnce(MultipartProblem(.tooMuch, offset: offset, "\(what), and nothing after that was checked; send less"))
        }
    }

    private func delimiter(_ delimiter: MultipartDelimiter, offset: Int, end: Int) {
        if !self.hasDelimiter {
            self.beforeFirst(delimiter, offset: offset)
        } else if delimiter.lineEndBefore == .none, let part = self.part {
            let what = part.hasEmptyLine ? "there is no line end between the data of \(part.label) and the delimiter" : nil
            if let what { self.report.add(MultipartProblem(.lineEndMissing, offset: offset, "\(what); write CRLF before the \"--\"")) }
        }
        if let part = self.part, !part.hasEmptyLine { self.emptyLineMissing(part, offset: offset) }
        self.endPart()
        self.hasDelimiter = true
        self.isClosed = delimiter.isClosing
        if delimiter.lineEndBefore == .lineFeed { self.lineFeedOnly(offset) }
        if delimiter.lineEndAfter == .lineFeed { self.lineFeedOnly(end - 1) }
        if !delimiter.padding.isEmpty {
            let place = end - delimiter.lineEndAfter.count - delimiter.padding.count
            self.report.addOnce(
                MultipartProblem(.padding, offset: place, "there is white space after a boundary, which some servers refuse; leave it out")
            )
        }
        // After nested parts, the line end belongs to the delimiter of the outer level.
        if delimiter.lineEndAfter == .none, !delimiter.isClosing || self.depth == 1 {
            let kind: MultipartProblem.Kind = delimiter.isClosing ? .lastLineEndMissing : .lineEndMissing
            let which = delimiter.isClosing ? "closing delimiter, and some servers wait for it" : "delimiter"
            self.report.add(MultipartProblem(kind, offset: end, "there is no line end after the \(which); write CRLF there"))
        }
        guard !delimiter.isClosing else { return }
        self.parts += 1
        self.part = PartLint(number: self.parts, isFormData: self.isFormData, offset: end)
    }

    private func beforeFirst(_ delimiter: MultipartDelimiter, offset: Int) {
        if self.head.isEmpty, delimiter.lineEndBefore != .none {
            self.report.add(
                MultipartProblem(
                    .lineEndBeforeFirst, offset: offset,
                    "there is a line end before the first delimiter, which some servers refuse; begin the body with \"--\""))
        } else if !self.head.isEmpty, self.isFormData {
            self.report.add(
                MultipartProblem(
                    .preamble, offset: self.offset,
                    "there are bytes before the first delimiter, which some servers refuse; leave them out"))
        }
    }

    private func open(_ section: PartHeaderSection, offset: Int) {
        let fields = section.fields
        guard let type = MultipartType(fields) else { return }
        ContentTypeLint.problems(fields, offset: offset).filter { $0.kind != .contentTypeTwice }.forEach(self.report.add)
        guard let boundary = type.boundary else { return }
        guard self.depth < self.limits.depth else {
            return self.report.addOnce(
                MultipartProblem(
                    .tooDeep, offset: offset,
                    "there are more than \(self.limits.depth) levels of parts, and those below were not checked; nest less"))
        }
        self.inner = LintLevel(
            boundary: boundary, isFormData: type.isFormData, limits: self.limits, report: self.report, depth: self.depth + 1, offset: offset
        )
    }

    private func endPart(isDelimited: Bool = true) {
        self.inner?.finish()
        self.inner = nil
        self.part?.finish(isDelimited: isDelimited).forEach(self.report.add)
        self.part = nil
    }

    private func emptyLineMissing(_ part: PartLint, offset: Int) {
        guard self.part?.isEmptyLineReported == false else { return }
        self.part?.isEmptyLineReported = true
        self.report.add(
            MultipartProblem(
                .emptyLineMissing, offset: offset,
                "there is no empty line after the header section of \(part.label); write CRLF twice there"))
    }

    private func lineFeedOnly(_ offset: Int) {
        self.report.addOnce(
            MultipartProblem(
                .lineFeedOnly, offset: offset, "lines end in LF alone, which some servers refuse (RFC 2046, 4.1.1); write CRLF"))
    }
}
