internal import TapeBytes

/// Checks one part: its header section, and whether its data has an extra line end.
///
/// Keeps only the first and last bytes of the data.
struct PartLint {
    /// Counted from 1.
    let number: Int
    private let isFormData: Bool
    private var name: String?
    private var isFile = false
    private var type = MediaType(nil)
    private var end: Int
    private(set) var hasEmptyLine = false
    /// Whether the missing empty line was reported, which happens only once.
    var isEmptyLineReported = false
    private(set) var usesLineFeed: Int?

    private var first: [UInt8] = []
    private var last: [UInt8] = []
    private var count = 0
    private var lineFeeds = 0
    private var firstNUL: Int?

    init(number: Int, isFormData: Bool, offset: Int) {
        self.number = number
        self.isFormData = isFormData
        self.end = offset
    }

    /// `part 2 ("photo")`.
    var label: String {
        "part \(self.number)" + (self.name.map { " (\"\(PlainText.escape($0.utf8, limit: 60))\")" } ?? "")
    }

    mutating func headers(_ section: PartHeaderSection, offset: Int, boundary: MultipartBoundary) -> [MultipartProblem] {
        let fields = section.fields
        let disposition = ContentDisposition(fields)
        self.name = disposition?.name
        self.isFile = disposition?.filename != nil
        self.type = MediaType(fields.firstIndex(of: "content-type").map { fields.valueBytes(at: $0) })
        self.end = offset + section.bytes.count

        var problems: [MultipartProblem] = []
        section.bytes.withUnsafeBytes { bytes in
            var isFirst = true
            section.forEachLine { line in
                if line.lineEnd == .lineFeed { self.usesLineFeed = self.usesLineFeed ?? offset + line.content.upperBound }
                let content = UnsafeRawBufferPointer(rebasing: bytes[line.content])
                self.hasEmptyLine = content.isEmpty
                problems += self.line(content, offset: offset + line.content.lowerBound, boundary: boundary, isFirst: isFirst)
                isFirst = false
            }
        }
        for field in ["Content-Disposition", "Content-Type"] {
            let count = (0..<fields.count).filter { fields.name(at: $0).lowercased() == field.lowercased() }.count
            guard count > 1 else { continue }
            problems.append(MultipartProblem(.fieldTwice, offset: offset, "\(self.label) has \"\(field)\" \(count) times; write it once"))
        }
        return problems + self.formProblems(disposition, offset: offset)
    }

    private func line(
        _ line: UnsafeRawBufferPointer, offset: Int, boundary: MultipartBoundary, isFirst: Bool
    ) -> [MultipartProblem] {
        guard let byte = line.first else { return [] }
        var problems: [MultipartProblem] = []
        let isFolded = !isFirst && (byte == 32 || byte == 9)
        if !isFolded, !line.contains(UInt8(ascii: ":")) {
            let sentence =
                "the line \"\(PlainText.escape(line, limit: 60))\" in the header section of \(self.label) has no colon; "
                + "write \"Name: value\", or an empty line before it if it is data"
            problems.append(MultipartProblem(.colonMissing, offset: offset, sentence))
        }
        if let nul = line.firstIndex(of: 0) {
            problems.append(
                MultipartProblem(
                    .nul, offset: offset + nul, "the header section of \(self.label) has a NUL, which ends it for some servers; remove it"))
        }
        if let found = boundary.find(in: line, from: 0) {
            problems.append(
                MultipartProblem(
                    .boundaryInHeaders, offset: offset + found,
                    "a header line of \(self.label) contains the boundary, and servers that only search for it cut there; choose another boundary"
                ))
        }
        return problems
    }

    private func formProblems(_ disposition: ContentDisposition?, offset: Int) -> [MultipartProblem] {
        guard self.isFormData else { return [] }
        guard let disposition else {
            return [
                MultipartProblem(
                    .nameMissing, offset: offset,
                    "\(self.label) has no \"Content-Disposition\" (RFC 7578, 4.2); add \"Content-Disposition: form-data; name=\"…\"\"")
            ]
        }
        if disposition.type != "form-data" {
            let type = PlainText.escape(disposition.type.utf8, limit: 40)
            return [
                MultipartProblem(
                    .notFormData, offset: offset,
                    "\"Content-Disposition\" of \(self.label) is \"\(type)\"; write \"form-data\" (RFC 7578, 4.2)")
            ]
        }
        guard disposition.name == nil else { return [] }
        return [
            MultipartProblem(
                .nameMissing, offset: offset, "\(self.label) has no name (RFC 7578, 4.2); add \"name=\" to its \"Content-Disposition\"")
        ]
    }

    mutating func data(_ bytes: UnsafeRawBufferPointer) {
        if self.first.count < MagicNumber.prefixSize { self.first += bytes.prefix(MagicNumber.prefixSize - self.first.count) }
        self.last = Array((self.last + bytes.suffix(2)).suffix(2))
        if !self.isFile {
            if self.lineFeeds < 2 { self.lineFeeds += ByteScan.count(of: 10, in: bytes, upTo: min(bytes.count, 4096)) }
            if self.firstNUL == nil, self.type.kind == .text || self.type.essence.isEmpty {
                let found = ByteScan.index(of: 0, in: bytes, from: 0)
                if found < bytes.count { self.firstNUL = self.end + self.count + found }
            }
        }
        self.count += bytes.count
    }

    /// Ends the part.
    ///
    /// - Parameter isDelimited: whether it ended with a delimiter. If the body ended instead, a line end is the rest of the missing
    ///   delimiter.
    func finish(isDelimited: Bool = true) -> [MultipartProblem] {
        var problems: [MultipartProblem] = []
        let start = LineEnd.leading(self.first)
        if start != .none, self.mayNotBegin(with: start) {
            problems.append(
                MultipartProblem(
                    .lineEndDoubled, offset: self.end,
                    "the data of \(self.label) begins with a line end, as if two empty lines followed the header section; write one"))
        }
        if isDelimited, self.last == [13, 10], self.count > start.count, self.mayNotEndWithLineEnd() {
            problems.append(
                MultipartProblem(
                    .lineEndDoubled, offset: self.end + self.count - 2,
                    "the data of \(self.label) ends with a line end of its own before the delimiter's; write one, unless it belongs to the data"
                ))
        }
        if let firstNUL = self.firstNUL {
            problems.append(
                MultipartProblem(
                    .nul, offset: firstNUL, "the text of \(self.label) has a NUL, which ends it for some servers; remove it or send a file")
            )
        }
        return problems
    }

    private func mayNotBegin(with lineEnd: LineEnd) -> Bool {
        if self.isFormData, !self.isFile { return true }
        return self.isBinary || self.magic(Array(self.first.dropFirst(lineEnd.count))) != nil
    }

    /// A PDF or a text of several lines may end with a line end.
    private func mayNotEndWithLineEnd() -> Bool {
        if self.isFormData, !self.isFile, self.type.kind != .binary { return self.lineFeeds == 1 }
        let magic = self.magic(self.first)
        return self.type.essence != "application/pdf" && magic != "pdf" && (self.isBinary || magic != nil)
    }

    /// By type, or by control characters in the first bytes: clients send `application/octet-stream` for files of unknown type.
    private var isBinary: Bool {
        guard self.type.kind == .unknown else { return self.type.kind == .binary }
        return self.first.contains { $0 < 32 && $0 != 9 && $0 != 10 && $0 != 12 && $0 != 13 || $0 == 127 }
    }

    private func magic(_ bytes: [UInt8]) -> String? {
        bytes.withUnsafeBytes { MagicNumber.fileExtension(of: $0) }
    }
}
