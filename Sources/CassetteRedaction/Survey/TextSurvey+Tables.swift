internal import CassetteModel
internal import TapeBytes

// Tables with bars between their columns, as in Markdown and in the output of psql and mysql.
extension TextSurvey {
    /// The longest line, in bytes.
    private static let lineLimit = 16 << 10

    /// Finds the values under the names of secrets in each table of the text. A line of hyphens indicates a table.
    mutating func tables() {
        guard self.isFree,
            ByteScan.index(of: UInt8(ascii: "|"), in: self.bytes, from: 0) < self.bytes.count || ByteSearch.contains("│", in: self.bytes)
                || ByteSearch.contains("║", in: self.bytes)
        else { return }
        var line = 0
        var previous: Range<Int>?
        var meanings: [SecretNames.Meaning?] = []
        // Whether a line divides the head from the rows. Without one, the head may be a row itself.
        var isRuled = true
        while line < self.bytes.count {
            let end = ByteScan.index(of: 10, in: self.bytes, from: line)
            var range = line..<end
            if !range.isEmpty, self.bytes[end - 1] == 13 { range = line..<end - 1 }
            if self.isRule(range) {
                // The line is between the head and the first row; mysql also prints one before the head.
                if let head = previous { (meanings, isRuled) = (self.columnsOfTable(head), true) }
            } else if range.count > Self.lineLimit || !range.contains(where: { self.bar(at: $0) > 0 }) {
                meanings = []
                previous = nil
            } else {
                if meanings.isEmpty, let head = previous { (meanings, isRuled) = (self.columnsOfTable(head), false) }
                let cells = meanings.isEmpty ? [] : self.cells(range)
                if !isRuled, cells.count != meanings.count { meanings = [] }
                for (cell, meaning) in zip(cells, meanings) {
                    if let meaning, isRuled || self.isLikely(cell, meaning) { self.addCell(cell, meaning) }
                }
                previous = meanings.isEmpty ? range : nil
            }
            line = end + 1
        }
    }

    /// `|---|:--:|` or `-----+-----`
    private func isRule(_ line: Range<Int>) -> Bool {
        guard line.count >= 3, line.count <= Self.lineLimit else { return false }
        // Box characters are E2 94 80 to E2 95 BF; a row has bars and texts.
        if let first = line.first(where: { self.bytes[$0] > 32 }), self.bytes[first] == 0xE2, self.bar(at: first) == 0 || self.isBoxes(line)
        {
            return self.isBoxes(line)
        }
        guard "|+-: ".utf8.contains(self.bytes[line.lowerBound]) else { return false }
        return self.bytes[line].allSatisfy { "|+-: \t".utf8.contains($0) }
            && self.bytes[line].contains(where: { $0 == UInt8(ascii: "|") || $0 == UInt8(ascii: "+") })
            && ByteSearch.contains("--", in: UnsafeRawBufferPointer(rebasing: self.bytes[line]))
    }

    private func isBoxes(_ line: Range<Int>) -> Bool {
        self.bytes[line].allSatisfy { $0 <= 32 || $0 == 0xE2 || $0 >= 0x80 && $0 < 0xC0 } && self.bytes[line].contains(0xE2)
            && (ByteSearch.contains("──", in: UnsafeRawBufferPointer(rebasing: self.bytes[line]))
                || ByteSearch.contains("══", in: UnsafeRawBufferPointer(rebasing: self.bytes[line]))
                || ByteSearch.contains("━━", in: UnsafeRawBufferPointer(rebasing: self.bytes[line])))
    }

    private func columnsOfTable(_ line: Range<Int>) -> [SecretNames.Meaning?] {
        var cells = self.cells(line)
        // A string that contains the table begins before its first bar.
        if let first = cells.first, !first.isEmpty, self.text.isQuote(self.text.byte(first.upperBound - 1)) { cells.removeFirst() }
        let meanings = cells.map { cell -> SecretNames.Meaning? in
            guard !cell.isEmpty, var meaning = self.meaning(cell.lowerBound, cell.upperBound), !meaning.needsCompany else { return nil }
            // In tables of parameters, such names have words below them.
            if meaning.kind != "password" { meaning.needsKeyShape = true }
            return meaning
        }
        return meanings.contains { $0 != nil } ? meanings : []
    }

    /// The cells of a line, without bars, blanks and surrounding punctuation.
    private func cells(_ line: Range<Int>) -> [Range<Int>] {
        var line = self.text.trimmed(line)
        if case let length = self.bar(at: line.lowerBound), length > 0, line.count >= length {
            line = line.lowerBound + length..<line.upperBound
        }
        if !line.isEmpty, self.bytes[line.upperBound - 1] == UInt8(ascii: "|") {
            line = line.lowerBound..<line.upperBound - 1
        } else if line.count > 2, self.bar(at: line.upperBound - 3) == 3 {
            line = line.lowerBound..<line.upperBound - 3
        }
        var cells: [Range<Int>] = []
        var start = line.lowerBound
        while start <= line.upperBound {
            var end = start
            while end < line.upperBound, self.bar(at: end) == 0 { end += 1 }
            var range = self.text.trimmed(start..<end)
            while range.count > 2, let first = self.text.byte(range.lowerBound), first == UInt8(ascii: "`") || first == UInt8(ascii: "*"),
                self.bytes[range.upperBound - 1] == first
            {
                range = range.lowerBound + 1..<range.upperBound - 1
            }
            cells.append(range)
            start = end + max(1, self.bar(at: end))
        }
        return cells
    }

    private mutating func addCell(_ cell: Range<Int>, _ meaning: SecretNames.Meaning) {
        let value = UnsafeRawBufferPointer(rebasing: self.bytes[cell])
        guard value.count >= 4, !value.contains(where: { $0 <= 32 }) else { return }
        self.addFree(cell, meaning)
    }
}
