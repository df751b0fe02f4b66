internal import CassetteModel
internal import TapeBytes

/// Finds the values in the columns of a text table (RFC 4180, also with semicolons or tabs) whose header names indicate secrets.
///
/// Reads the text from its beginning, in any number of pieces.
struct ColumnSurvey {
    private let delimiter: UInt8
    /// By column; nil for a column without secrets.
    private let meanings: [SecretNames.Meaning?]

    /// The state at the end of the text read so far.
    private var isHead = true
    private var column = 0
    private var isInField = false
    private var isQuoted = false
    /// Whether the field began with a quote. Two quotes within it then represent one (RFC 4180, 2).
    private var hasQuotes = false

    /// The longest first line, and the longest line after it, in bytes.
    private static let headLimit = 4096
    private static let lineLimit = 64 << 10

    /// Nil for a text that is not a table, or has no column of secrets.
    init?(_ text: UnsafeRawBufferPointer) {
        let start = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let head = UnsafeRawBufferPointer(rebasing: text[..<min(text.count, Self.headLimit)])
        // JSON and markup do not begin with a name.
        guard start < head.count, Self.surroundsName(head[start]) || Self.mayStandInName(head[start]) else { return nil }
        let end = ByteScan.index(of: 10, in: head, from: start)
        guard end < head.count, let delimiter = head[start..<end].first(where: { $0 == 44 || $0 == 59 || $0 == 9 }),
            let meanings = Self.meanings(head[start..<end], delimiter)
        else { return nil }
        self.delimiter = delimiter
        self.meanings = meanings
        // A second line that is not a row shows that the text is not a table.
        var row = self
        row.isHead = false
        var columns = 0
        let most = min(text.count, end + 1 + Self.lineLimit)
        row.follow(text, from: end + 1, to: most) { column, _, isLast in
            columns = max(columns, column + 1)
            return !isLast
        }
        guard columns == meanings.count else { return nil }
    }

    /// Nil if one of the fields is not a name, or none indicates a secret.
    private static func meanings(_ line: Slice<UnsafeRawBufferPointer>, _ delimiter: UInt8) -> [SecretNames.Meaning?]? {
        var meanings: [SecretNames.Meaning?] = []
        var rest = line
        // Field by field: most texts are not tables, and fail at the first field.
        while true {
            let end = rest.firstIndex(of: delimiter) ?? rest.endIndex
            var field = rest[rest.startIndex..<end]
            while let first = field.first, Self.surroundsName(first) { field.removeFirst() }
            while let last = field.last, Self.surroundsName(last) { field.removeLast() }
            guard !field.isEmpty, field.count <= SecretNames.lengthLimit, field.allSatisfy(Self.mayStandInName) else { return nil }
            meanings.append(Self.meaning(Array(field)))
            guard end < rest.endIndex else { break }
            rest = rest[rest.index(after: end)...]
        }
        return meanings.count > 1 && meanings.contains { $0 != nil } ? meanings : nil
    }

    private static func surroundsName(_ byte: UInt8) -> Bool { byte <= 32 || byte == 34 }

    private static func mayStandInName(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte >= 128 || "_-. ()/#".utf8.contains(byte)
    }

    private static func meaning(_ name: [UInt8]) -> SecretNames.Meaning? {
        // `API key` in tables for people.
        guard var meaning = SecretNames.meaning(of: name.map { $0 == 32 ? UInt8(ascii: "_") : $0 }), !meaning.needsCompany else {
            return nil
        }
        // Tables of words have tokens, and tables of visits have sessions.
        if ["token", "session", "authorization", "signature"].contains(meaning.kind) { meaning.needsKeyShape = true }
        return meaning
    }

    /// - Returns: an incomplete list if the budget is spent.
    static func findings(in text: UnsafeRawBufferPointer, budget: SearchBudget?) -> [Finding] {
        var survey = ColumnSurvey(text)
        return survey?.findings(in: text, from: 0, to: text.count, hasMore: false, budget: budget) ?? []
    }

    /// How many fields are read before the budget is checked.
    private static let fieldsAtOnce = 64

    /// Finds the values in columns of secrets in the next piece of the text. Incomplete if the budget is spent.
    mutating func findings(
        in text: UnsafeRawBufferPointer, from start: Int, to end: Int, hasMore: Bool, budget: SearchBudget?
    ) -> [Finding] {
        var findings: [Finding] = []
        let meanings = self.meanings
        var (fields, found) = (0, 0)
        self.follow(text, from: start, to: end) { column, range, _ in
            fields += 1
            if fields == Self.fieldsAtOnce {
                let work = fields * SearchBudget.costOfPlace + (findings.count - found) * SearchBudget.costOfFinding
                guard budget?.spend(work: work) != false else { return false }
                (fields, found) = (0, findings.count)
            }
            guard column < meanings.count, let meaning = meanings[column], range.count <= NamedValue.limit,
                !hasMore || range.upperBound < end
            else { return true }
            if meaning.isEveryday, text[range].allSatisfy({ $0 >= 48 && $0 <= 57 || $0 == UInt8(ascii: ".") }) { return true }
            if !NamedValue.isWord(text[range]), let finding = NamedValue.finding(in: text, range, meaning, .plain) {
                findings.append(finding)
            }
            return true
        }
        return findings
    }

    /// Delivers each field that ends in this piece and is not in the first line, without its quotes. `deliver` returns whether to continue.
    private mutating func follow(
        _ text: UnsafeRawBufferPointer, from start: Int, to end: Int,
        _ deliver: (_ column: Int, _ range: Range<Int>, _ isLast: Bool) -> Bool
    ) {
        // Nil for a field that began in an earlier piece.
        var field: Int? = self.isInField ? nil : start
        var offset = start
        func value(_ end: Int) -> Range<Int>? {
            guard let field, !self.isHead else { return nil }
            let isQuoted = end - field >= 2 && text[field] == 34 && text[end - 1] == 34
            let isOpen = field < end && text[field] == 34 && !isQuoted
            return isQuoted ? field + 1..<end - 1 : isOpen ? field + 1..<end : field..<end
        }
        while offset < end {
            let byte = text[offset]
            if byte == 34 {
                if !self.isInField { self.hasQuotes = true }
                if !self.isInField || self.isQuoted {
                    self.isQuoted.toggle()
                } else if self.hasQuotes, offset > 0, text[offset - 1] == 34 {
                    self.isQuoted = true
                }
                self.isInField = true
            } else if !self.isQuoted, byte == self.delimiter || byte == 10 {
                var last = offset
                if byte == 10, last > start, text[last - 1] == 13 { last -= 1 }
                let goesOn = value(max(last, field ?? last)).map { deliver(self.column, $0, byte == 10) } ?? true
                self.column = byte == 10 ? 0 : self.column + 1
                if byte == 10 { self.isHead = false }
                self.isInField = false
                self.hasQuotes = false
                field = offset + 1
                guard goesOn else { return }
            } else {
                self.isInField = true
            }
            offset += 1
        }
        if self.isInField || self.column > 0, let range = value(end) { _ = deliver(self.column, range, true) }
    }
}
