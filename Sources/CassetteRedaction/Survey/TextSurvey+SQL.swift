internal import CassetteModel
internal import TapeBytes

// Rows of SQL whose columns are named before them.
extension TextSurvey {
    /// The longest list of columns, in bytes.
    private static let columnsLimit = 4096
    /// The most columns of one table.
    private static let columnCount = 1000

    /// Handles `INSERT INTO t (name, password) VALUES ('a', 'X'), …` (also `REPLACE INTO` and `MERGE`).
    ///
    /// - Parameter end: the end of `VALUES`.
    mutating func rows(after end: Int) {
        guard self.isFree, end >= self.rowsEnd, self.text.isWord("values", endingAt: end),
            let meanings = self.columns(endingAt: self.text.skipSpaceBack(end - 6))
        else { return }
        var offset = self.text.skipSpace(end)
        while self.text.byte(offset) == UInt8(ascii: "("), let next = self.row(offset + 1, meanings) {
            self.rowsEnd = next
            offset = self.text.skipSpace(next)
            guard self.text.byte(offset) == UInt8(ascii: ",") else { return }
            offset = self.text.skipSpace(offset + 1)
        }
    }

    /// The meaning of each column in `(a, b)`; nil if none contains secrets, or if `INTO` does not precede the table's name.
    private func columns(endingAt end: Int) -> [SecretNames.Meaning?]? {
        guard self.text.byte(end - 1) == UInt8(ascii: ")") else { return nil }
        let least = max(0, end - Self.columnsLimit)
        var open = end - 2
        while open >= least, self.bytes[open] != UInt8(ascii: "(") {
            guard self.bytes[open] != UInt8(ascii: ")"), self.bytes[open] != UInt8(ascii: ";") else { return nil }
            open -= 1
        }
        guard open >= least else { return nil }
        let table = UnsafeRawBufferPointer(rebasing: self.bytes[max(0, open - 256)..<open])
        guard ["INTO ", "into ", "Into "].contains(where: { ByteSearch.contains($0, in: table) }) else { return nil }
        let names = self.bytes[(open + 1)..<(end - 1)].split(separator: UInt8(ascii: ","), maxSplits: Self.columnCount)
        let meanings = names.map { name in self.meaning(ofColumn: name) }
        return meanings.contains { $0 != nil } ? meanings : nil
    }

    private func meaning(ofColumn name: Slice<UnsafeRawBufferPointer>) -> SecretNames.Meaning? {
        var name = name
        while let first = name.first, first <= 32 || "\"`'[".utf8.contains(first) { name.removeFirst() }
        while let last = name.last, last <= 32 || "\"`']".utf8.contains(last) { name.removeLast() }
        guard !name.isEmpty, let meaning = self.meaning(name.startIndex, name.endIndex), !meaning.needsCompany else { return nil }
        return meaning
    }

    /// Handles one row, up to its closing parenthesis; nil if it is cut or something else.
    private mutating func row(_ start: Int, _ meanings: [SecretNames.Meaning?]) -> Int? {
        var offset = start
        for column in 0...meanings.count {
            offset = self.text.skipSpace(offset)
            // `N'X'` and `E'X'`
            if let mark = self.text.byte(offset), "NnEeXxBb".utf8.contains(mark), self.text.byte(offset + 1) == UInt8(ascii: "'") {
                offset += 1
            }
            let quote = self.text.byte(offset)
            if quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") {
                guard let close = self.endOfString(offset) else { return nil }
                if column < meanings.count, let meaning = meanings[column], close > offset + 1 {
                    self.addFree(offset + 1..<close, meaning)
                }
                offset = self.text.skipSpace(close + 1)
            } else {
                guard let next = self.endOfExpression(offset) else { return nil }
                offset = next
            }
            switch self.text.byte(offset) {
            case UInt8(ascii: ","): offset += 1
            case UInt8(ascii: ")"): return offset + 1
            default: return nil
            }
        }
        return nil
    }

    /// The closing quote; two quotes represent one.
    private func endOfString(_ open: Int) -> Int? {
        let quote = self.bytes[open]
        var end = open + 1
        let most = min(self.bytes.count, open + NamedValue.limit)
        while end < most {
            if self.bytes[end] == quote {
                guard self.text.byte(end + 1) == quote else { return end }
                end += 2
            } else {
                end += self.bytes[end] == UInt8(ascii: "\\") ? 2 : 1
            }
        }
        return nil
    }

    /// The end of a number, a word or a call.
    private func endOfExpression(_ start: Int) -> Int? {
        var depth = 0
        var end = start
        let most = min(self.bytes.count, start + Self.columnsLimit)
        while end < most {
            switch self.bytes[end] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"):
                if depth == 0 { return end }
                depth -= 1
            case UInt8(ascii: ","): if depth == 0 { return end }
            case UInt8(ascii: "'"):
                guard let close = self.endOfString(end) else { return nil }
                end = close
            case UInt8(ascii: ";"): return nil
            default: break
            }
            end += 1
        }
        return nil
    }
}
