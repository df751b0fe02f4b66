import TapeTestSupport

/// Random JSON values that can be written in many spellings, and changed in a single leaf.
struct RespelledJSON {
    indirect enum Value {
        case object([(String, Value)])
        case array([Value])
        case string(String)
        /// An integer times a power of ten.
        case number(Int, exponent: Int)
        case word(String)
    }

    private var generator: SeededGenerator

    init(seed: UInt64) { self.generator = SeededGenerator(seed: seed) }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self.generator) }

    mutating func value(depth: Int) -> Value {
        switch self.below(depth < 4 ? 6 : 4) {
        case 0: return .string(self.string())
        case 1: return .number(self.below(2001) - 1000, exponent: self.below(7) - 3)
        case 2, 3: return .word(["true", "false", "null"][self.below(3)])
        case 4: return .array((0..<self.below(5)).map { _ in self.value(depth: depth + 1) })
        default:
            var names: Set<String> = []
            var members: [(String, Value)] = []
            for _ in 0..<self.below(20) where names.insert(self.string()).inserted {}
            for name in names.sorted() { members.append((name, self.value(depth: depth + 1))) }
            return .object(members)
        }
    }

    private mutating func string() -> String {
        (0..<self.below(5)).map { _ in ["a", "é", "음", "😀", "/", "~", "\"", "\\", "\n", " "][self.below(10)] }.joined()
    }

    // MARK: Spelling

    mutating func text(_ value: Value) -> String {
        switch value {
        case .word(let word): return word
        case .string(let string): return self.text(string)
        case .number(let number, let exponent): return self.text(number, exponent)
        case .array(let elements):
            return "[" + elements.map { self.gap() + self.text($0) + self.gap() }.joined(separator: ",") + self.gap() + "]"
        case .object(let members):
            let shuffled = members.shuffled(using: &self.generator)
            return "{" + self.gap()
                + shuffled.map { self.gap() + self.text($0.0) + self.gap() + ":" + self.gap() + self.text($0.1) + self.gap() }
                .joined(separator: ",") + "}"
        }
    }

    private mutating func gap() -> String { ["", "", " ", "\n", "\t  "][self.below(5)] }

    private mutating func text(_ string: String) -> String {
        var text = "\""
        for scalar in string.unicodeScalars {
            let mustEscape = scalar == "\"" || scalar == "\\" || scalar == "\n"
            if !mustEscape, self.below(2) == 0 {
                text.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16, uppercase: self.below(2) == 0)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return text + "\""
    }

    private mutating func text(_ number: Int, _ exponent: Int) -> String {
        let shift = self.below(4)
        let digits = String(abs(number)) + (number == 0 ? "" : String(repeating: "0", count: shift))
        let sign = number < 0 ? "-" : ""
        let power = exponent - (number == 0 ? 0 : shift)
        guard self.below(2) == 0, digits.count > 1 else { return sign + digits + (power == 0 ? "" : "e\(power)") }
        let point = 1 + self.below(digits.count - 1)
        return sign + digits.prefix(point) + "." + digits.dropFirst(point) + ["e", "E"][self.below(2)] + "\(power + digits.count - point)"
    }

    // MARK: Changing

    /// The value with one leaf changed, and that leaf's pointer; nil if it has no leaf.
    mutating func changed(_ value: Value) -> (Value, String)? {
        switch value {
        case .word(let word): return (.word(word == "true" ? "false" : "true"), "")
        case .string(let string): return (.string(string + "!"), "")
        case .number(let number, let exponent): return (.number(number + 1, exponent: exponent), "")
        case .array(var elements):
            for index in elements.indices.shuffled(using: &self.generator) {
                guard let (changed, pointer) = self.changed(elements[index]) else { continue }
                elements[index] = changed
                return (.array(elements), "/\(index)" + pointer)
            }
            return nil
        case .object(var members):
            for index in members.indices.shuffled(using: &self.generator) {
                guard let (changed, pointer) = self.changed(members[index].1) else { continue }
                members[index].1 = changed
                return (.object(members), "/" + Self.escaped(members[index].0) + pointer)
            }
            return nil
        }
    }

    /// In the form in which a difference shows a pointer.
    private static func escaped(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
