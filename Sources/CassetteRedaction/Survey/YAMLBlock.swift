/// The values in the YAML lines below a secret's name that are indented further: members, elements, and block scalars.
struct YAMLBlock {
    private static let lineLimit = 64

    /// The name is nil for an element, and for a line of a block scalar.
    private(set) var values: [(name: Range<Int>?, value: Range<Int>)] = []
    /// Whether a member describes the value, as in a schema.
    private(set) var isDescription = false

    /// - Parameters:
    ///   - start: the beginning of the name.
    ///   - rest: the offset after its colon.
    init?(_ text: SurveyText, nameAt start: Int, rest: Int) {
        let afterColon = text.skipBlanks(rest)
        let isScalar = text.byte(afterColon) == UInt8(ascii: "|") || text.byte(afterColon) == UInt8(ascii: ">")
        var lineEnd = afterColon
        while let byte = text.byte(lineEnd), byte != 10 {
            // `|`, `|-`, `>+2`, and comments.
            guard byte <= 32 || byte == UInt8(ascii: "#") || isScalar && "|>+-123456789".utf8.contains(byte) else { return nil }
            if byte == UInt8(ascii: "#") {
                while let next = text.byte(lineEnd), next != 10 { lineEnd += 1 }
                break
            }
            lineEnd += 1
            guard lineEnd - rest < 256 else { return nil }
        }
        guard text.byte(lineEnd) == 10 else { return nil }
        let indent = Self.indent(text, start)
        var line = lineEnd + 1
        for _ in 0..<Self.lineLimit {
            guard line < text.bytes.count, let rest = text.restOfLine(line) else { break }
            let first = text.skipBlanks(line)
            if first < rest.upperBound {
                let isElement = text.byte(first) == UInt8(ascii: "-") && (text.byte(first + 1) ?? 32) <= 32
                guard first - line > indent || isElement && !isScalar && first - line == indent else { break }
                self.add(text, first..<rest.upperBound, isScalar: isScalar)
            }
            line = rest.upperBound
            while let byte = text.byte(line), byte != 10 { line += 1 }
            line += 1
        }
        guard !self.values.isEmpty else { return nil }
    }

    /// The indentation of a line's first word, including that of a dash.
    private static func indent(_ text: SurveyText, _ start: Int) -> Int {
        var line = start
        while line > 0, text.bytes[line - 1] != 10, start - line < 256 { line -= 1 }
        return start - line
    }

    private mutating func add(_ text: SurveyText, _ line: Range<Int>, isScalar: Bool) {
        guard !isScalar else {
            self.values.append((nil, line))
            return
        }
        var start = line.lowerBound
        while text.byte(start) == UInt8(ascii: "-"), text.byte(start + 1) == 32 { start = text.skipBlanks(start + 1) }
        guard start < line.upperBound, text.bytes[start] != UInt8(ascii: "#") else { return }
        var name: Range<Int>?
        if let colon = (start..<line.upperBound).first(where: { text.bytes[$0] == UInt8(ascii: ":") && (text.byte($0 + 1) ?? 32) <= 32 }),
            !text.isQuote(text.bytes[start]), text.bytes[start..<colon].allSatisfy({ $0 > 32 })
        {
            name = start..<colon
            let word = String(decoding: text.bytes[start..<colon].prefix(20), as: UTF8.self).lowercased()
            if ["type", "$ref", "description", "properties", "minlength", "maxlength", "format", "pattern", "required"].contains(word) {
                self.isDescription = true
            }
            start = text.skipBlanks(colon + 1)
        }
        guard start < line.upperBound else { return }
        var end = line.upperBound
        if text.isQuote(text.bytes[start]) {
            guard let close = (start + 1..<end).first(where: { text.bytes[$0] == text.bytes[start] }) else { return }
            if close > start + 1 { self.values.append((name, start + 1..<close)) }
            return
        }
        if let comment = (start..<end).first(where: { text.bytes[$0] == UInt8(ascii: "#") && text.bytes[$0 - 1] <= 32 }) { end = comment }
        while end > start, text.bytes[end - 1] <= 32 { end -= 1 }
        guard end > start, !"[]{}&*!|>%@`".utf8.contains(text.bytes[start]), !text.bytes[start..<end].contains(32) else { return }
        self.values.append((name, start..<end))
    }
}
