/// Parses a pattern's text into a tree.
///
/// Rejects constructs that cannot be matched in linear time, or that mean something else in other dialects.
struct PatternParser {
    private let text: String
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var depth = 0
    private var ignoresCase = false
    private var dotMatchesLineFeed = false
    /// Groups so far, if their places are asked for; nil otherwise.
    private var groups: Int?

    private init(_ text: String, capturesGroups: Bool) {
        self.text = text
        self.groups = capturesGroups ? 0 : nil
        self.scalars = Array(text.unicodeScalars)
    }

    static func parse(_ text: String) throws(PatternError) -> PatternNode {
        try self.parse(text, capturesGroups: false).node
    }

    /// - Parameter capturesGroups: whether `( )` become numbered groups, from 1.
    static func parse(_ text: String, capturesGroups: Bool) throws(PatternError) -> (node: PatternNode, groups: Int) {
        var parser = Self(text, capturesGroups: capturesGroups)
        guard text.utf8.count <= PatternLimits.length else {
            throw parser.error(at: PatternLimits.length, "is longer than \(PatternLimits.length) bytes: write several shorter patterns")
        }
        try parser.readFlags()
        let node = try parser.choice()
        guard parser.next == nil else {
            throw parser.error(at: parser.index, "has a \")\" without a \"(\": remove it, or write \\) for the character itself")
        }
        return (node, parser.groups ?? 0)
    }

    // MARK: - Structure

    private mutating func readFlags() throws(PatternError) {
        guard self.starts(with: "(?"), let letter = self.scalar(at: 2), letter == "i" || letter == "s" else { return }
        var end = 2
        while let letter = self.scalar(at: end), letter != ")" {
            switch letter {
            case "i": self.ignoresCase = true
            case "s": self.dotMatchesLineFeed = true
            default:
                throw self.error(
                    at: end, "has an unknown flag \"\(letter)\": only i (ignores case) and s (. matches line feeds) are supported")
            }
            end += 1
        }
        guard self.scalar(at: end) != nil else { throw self.error(at: 0, "has flags without a \")\": write (?i) or (?s)") }
        self.index = end + 1
    }

    private mutating func choice() throws(PatternError) -> PatternNode {
        var branches = [try self.sequence()]
        while self.take("|") {
            branches.append(try self.sequence())
            try self.checkCost(branches.reduce(0) { $0 + $1.cost } + 2 * branches.count, at: self.index - 1)
        }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func sequence() throws(PatternError) -> PatternNode {
        var nodes: [PatternNode] = []
        var cost = 0
        while let scalar = self.next, scalar != "|", scalar != ")" {
            let start = self.index
            let node = try self.repetition(of: try self.atom())
            cost += node.cost
            try self.checkCost(cost, at: start)
            if node != .empty { nodes.append(node) }
        }
        return nodes.count == 1 ? nodes[0] : nodes.isEmpty ? .empty : .sequence(nodes)
    }

    private func checkCost(_ cost: Int, at index: Int) throws(PatternError) {
        guard cost >= PatternLimits.states else { return }
        throw self.error(at: index, "needs more than \(PatternLimits.states) states: repeat less, or write several shorter patterns")
    }

    private mutating func repetition(of node: PatternNode) throws(PatternError) -> PatternNode {
        let start = self.index
        guard let (least, most) = try self.quantifier() else { return node }
        if let after = self.next, after == "?" || after == "+" || after == "*" || after == "{" {
            throw self.error(
                at: self.index,
                after == "?"
                    ? "asks for the shortest match, but only the longest one is found: exclude what ends the match, such as [^\"]*"
                    : "repeats a repetition: put the inner one into (?:…), or write \\\(after) for the character itself"
            )
        }
        // An empty node stays empty however often it is repeated: `((){1000}){1000}` must not take long.
        guard node.cost > 0, most != 0 else { return .empty }
        let repeated = PatternNode.repeated(node, least: least, most: most)
        try self.checkCost(repeated.cost, at: start)
        return repeated
    }

    private mutating func quantifier() throws(PatternError) -> (least: Int, most: Int?)? {
        if self.take("*") { return (0, nil) }
        if self.take("+") { return (1, nil) }
        if self.take("?") { return (0, 1) }
        let start = self.index
        guard self.take("{") else { return nil }
        let least = self.number()
        var most = least
        if least != nil, self.take(",") { most = self.number() ?? (self.next == "}" ? .max : nil) }
        guard let least, let most, self.take("}") else {
            throw self.error(at: start, "has a \"{\" that is not {m}, {m,} or {m,n}: write \\{ for the character itself")
        }
        guard least <= PatternLimits.repetitions, most == .max || most <= PatternLimits.repetitions else {
            throw self.error(at: start, "repeats more than \(PatternLimits.repetitions) times: write a smaller number, or * or +")
        }
        guard least <= most else {
            throw self.error(at: start, "has a repetition whose minimum is above its maximum: write {m,n} with m at most n")
        }
        return (least, most == .max ? nil : most)
    }

    /// Saturates past the limit, however many digits follow.
    private mutating func number() -> Int? {
        var value: Int?
        while let digit = self.next, ("0"..."9").contains(digit) {
            self.index += 1
            value = min((value ?? 0) * 10 + Int(digit.value - 48), PatternLimits.repetitions + 1)
        }
        return value
    }

    private mutating func atom() throws(PatternError) -> PatternNode {
        let start = self.index
        guard let scalar = self.next else { return .empty }
        self.index += 1
        switch scalar {
        case "(": return try self.group(from: start)
        case "[": return .characters(try self.characterClass(from: start))
        case ".": return .characters(self.dotMatchesLineFeed ? PatternCharacters().inverted : PatternCharacters.lineFeed.inverted)
        case "^": return .edge(.start)
        case "$": return .edge(.end)
        case "\\":
            if self.take("b") { return .edge(.wordEdge) }
            if self.take("B") { return .edge(.noWordEdge) }
            return .characters(self.cased(try self.escape(from: start)))
        case "*", "+", "?", "{":
            throw self.error(at: start, "has nothing before \"\(scalar)\" to repeat: write \\\(scalar) for the character itself")
        default: return .characters(self.cased(PatternCharacters([scalar...scalar])))
        }
    }

    private mutating func group(from start: Int) throws(PatternError) -> PatternNode {
        let isPlain = self.next != "?"
        if self.take("?"), !self.take(":") {
            throw self.error(
                at: start,
                "has a group that begins with \"(?\": only (?:…) is supported, and (?i) or (?s) at the start of the pattern; lookaround is not"
            )
        }
        guard self.depth < PatternLimits.depth else {
            throw self.error(at: start, "has groups nested more than \(PatternLimits.depth) deep: use fewer")
        }
        var number: Int?
        if isPlain, let groups = self.groups {
            number = groups + 1
            self.groups = number
        }
        self.depth += 1
        let node = try self.choice()
        self.depth -= 1
        guard self.take(")") else {
            throw self.error(at: start, "has a \"(\" without a \")\": add it, or write \\( for the character itself")
        }
        if let number { return .group(number, node) }
        return node
    }

    // MARK: - Text

    private var next: Unicode.Scalar? { self.scalar(at: self.index) }

    private func scalar(at index: Int) -> Unicode.Scalar? { index < self.scalars.count ? self.scalars[index] : nil }

    private func starts(with text: String) -> Bool { self.scalars.starts(with: text.unicodeScalars) }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard self.next == scalar else { return false }
        self.index += 1
        return true
    }

    private func error(at index: Int, _ problem: String) -> PatternError {
        let before = self.scalars.prefix(index)
        return PatternError(
            offset: before.reduce(0) { $0 + String($1).utf8.count },
            message: "pattern \"\(self.shownText)\" at character \(index + 1) \(problem)")
    }

    private var shownText: String {
        self.scalars.count <= 80 ? self.text : String(String.UnicodeScalarView(self.scalars.prefix(79))) + "…"
    }
}

/// Characters: single, in classes and escaped.
extension PatternParser {
    private func cased(_ set: PatternCharacters) -> PatternCharacters { self.ignoresCase ? set.withoutCase : set }

    private mutating func characterClass(from start: Int) throws(PatternError) -> PatternCharacters {
        var set = PatternCharacters()
        let isInverted = self.take("^")
        if self.next == "]" { throw self.error(at: self.index, "has an empty class: write \\] for the character itself") }
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
                throw self.error(at: place, "has a range that runs backwards: write the lower end first")
            }
            set.insert(low...high)
        }
        set = self.cased(set)
        return isInverted ? set.inverted : set
    }

    /// Nil at the end of the class.
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
            throw self.error(at: place, "has a named class, which is not supported: write the characters, such as a-z, \\d, \\w or \\s")
        default: return PatternCharacters([scalar...scalar])
        }
    }

    private mutating func escape(from start: Int) throws(PatternError) -> PatternCharacters {
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
            throw self.error(at: start, "has a backreference, which is not supported: write out what may match there")
        case "0", "A"..."Z", "a"..."z":
            throw self.error(
                at: start,
                "has \"\\\(scalar)\", which is not a known escape: write the character without \"\\\", or \\xHH or \\x{H…} by its number")
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
            throw self.error(at: start, "has a number that is not a character: write \\xHH, \\uHHHH or \\x{H…} in hexadecimal")
        }
        return PatternCharacters([scalar...scalar])
    }
}
