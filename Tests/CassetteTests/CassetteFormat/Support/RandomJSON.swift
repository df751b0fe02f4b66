import TapeBytes
import TapeTestSupport

/// Random JSON texts for property tests.
struct RandomJSON {
    var generator: SeededGenerator

    init(seed: UInt64) { self.generator = SeededGenerator(seed: seed) }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self.generator) }
    private mutating func pick(_ choices: [String]) -> String { choices[self.below(choices.count)] }

    mutating func style() -> JSONStyle {
        let tail = self.pick(["", "", "\n", "\r\n", " \n"])
        guard self.below(2) == 0 else {
            return JSONStyle(colon: self.pick(["", " ", "  "]), comma: self.pick(["", " ", "\n"]), tail: tail)
        }
        return JSONStyle(indent: self.below(9), colon: self.pick(["", " "]), tail: tail)
    }

    /// An object or array in the given style.
    mutating func text(_ style: JSONStyle) -> String {
        self.container(style, depth: 0, limit: 1 + self.below(6)) + style.tail
    }

    private mutating func container(_ style: JSONStyle, depth: Int, limit: Int) -> String {
        let isObject = self.below(2) == 0
        let count = self.below(6)
        var parts: [String] = []
        for _ in 0..<count {
            let value = self.value(style, depth: depth + 1, limit: limit)
            parts.append(isObject ? self.string() + ":" + style.colon + value : value)
        }
        guard count > 0 else { return isObject ? "{}" : "[]" }
        func lineBreak(_ depth: Int) -> String {
            style.indent.map { "\n" + String(repeating: " ", count: $0 * depth) } ?? ""
        }
        let comma = style.indent == nil ? "," + style.comma : "," + lineBreak(depth + 1)
        return (isObject ? "{" : "[") + lineBreak(depth + 1) + parts.joined(separator: comma) + lineBreak(depth) + (isObject ? "}" : "]")
    }

    private mutating func value(_ style: JSONStyle, depth: Int, limit: Int) -> String {
        if depth < limit, self.below(3) == 0 { return self.container(style, depth: depth, limit: limit) }
        switch self.below(4) {
        case 0: return self.string()
        case 1: return self.pick(["0", "-0", "1.50", "1E+2", "123456789012345678901234567890", "-0.0e-10", "42"])
        case 2: return self.pick(["true", "false", "null"])
        default: return String(self.below(100_000))
        }
    }

    mutating func string() -> String {
        var text = "\""
        for _ in 0..<self.below(self.below(10) == 0 ? 60 : 8) {
            text += self.pick([
                "a", "b", "x y", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\/", "é", "음식", "😀", "\\\"", "{", ",", ": ", "\u{7f}",
            ])
        }
        return text + "\""
    }
}
