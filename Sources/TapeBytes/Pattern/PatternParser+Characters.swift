/// Characters, by themselves, in classes and behind a backslash.
extension PatternParser {
    func cased(_ set: PatternCharacters) -> PatternCharacters { self.ignoresCase ? set.withoutCase : set }

    mutating func characterClass(from start: Int) throws(PatternError) -> PatternCharacters {
        var set = PatternCharacters()
        let isInverted = self.take("^")
        if self.next == "]" { throw self.error(at: self.index, "has a class without characters: write \\] for the character itself") }
        while true {
            let place = self.index
            guard let first = try self.classMember(from: start) else { break }
            guard self.next == "-", let after = self.scalar(at: self.index + 1), after != "]" else {
                set.formUnion(first)
                continue
            }
            self.index += 1
            guard let last = try self.classMember(from: start), let low = first.only, let high = last.only else {
                throw self.error(at: place, "has a range with more than one character at an end: write \\- for the character itself")
            }
            guard low <= high else {
                throw self.error(at: place, "has a range whose ends are the wrong way round: write the lower one first")
            }
            set.insert(low...high)
        }
        set = self.cased(set)
        return isInverted ? set.inverted : set
    }

    /// Nil at the class's end.
    private mutating func classMember(from start: Int) throws(PatternError) -> PatternCharacters? {
        guard let scalar = self.next else {
            throw self.error(at: start, "has a \"[\" without a \"]\": add it, or write \\[ for the character itself")
        }
        let place = self.index
        self.index += 1
        switch scalar {
        case "]": return nil
        case "\\": return try self.escape(from: place)
        case "[" where self.next == ":" || self.next == "=" || self.next == ".":
            throw self.error(at: place, "has a named class, which is not known here: write the characters, such as a-z, \\d, \\w or \\s")
        default: return PatternCharacters([scalar...scalar])
        }
    }

    mutating func escape(from start: Int) throws(PatternError) -> PatternCharacters {
        guard let scalar = self.next else { throw self.error(at: start, "ends with \"\\\": write \\\\ for the character itself") }
        self.index += 1
        switch scalar {
        case "d": return .digits
        case "D": return PatternCharacters.digits.inverted
        case "w": return .word
        case "W": return PatternCharacters.word.inverted
        case "s": return .space
        case "S": return PatternCharacters.space.inverted
        case "n": return .lineFeed
        case "r": return PatternCharacters(["\r"..."\r"])
        case "t": return PatternCharacters(["\t"..."\t"])
        case "f": return PatternCharacters(["\u{C}"..."\u{C}"])
        case "v": return PatternCharacters(["\u{B}"..."\u{B}"])
        case "x": return try self.numbered(digits: 2, from: start)
        case "u": return try self.numbered(digits: 4, from: start)
        case "1"..."9":
            throw self.error(at: start, "refers back to a group, which no search in linear time can: write out what may stand there")
        case "0", "A"..."Z", "a"..."z":
            throw self.error(
                at: start,
                "has \"\\\(scalar)\", which has no meaning here: write the character without \"\\\", or \\xHH or \\x{H…} by its number")
        default: return PatternCharacters([scalar...scalar])
        }
    }

    /// `\xHH`, `\uHHHH`, or either with the number in braces.
    private mutating func numbered(digits: Int, from start: Int) throws(PatternError) -> PatternCharacters {
        let isBraced = self.take("{")
        var (value, count) = (UInt32(0), 0)
        while count < (isBraced ? 6 : digits), let scalar = self.next, let digit = UInt32(String(scalar), radix: 16) {
            value = value << 4 | digit
            count += 1
            self.index += 1
        }
        guard isBraced ? count > 0 && self.take("}") : count == digits, let scalar = Unicode.Scalar(value) else {
            throw self.error(at: start, "has a character by number that is none: write \\xHH, \\uHHHH or \\x{H…} in hexadecimal")
        }
        return PatternCharacters([scalar...scalar])
    }
}
