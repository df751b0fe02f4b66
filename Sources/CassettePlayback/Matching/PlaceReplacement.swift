public import TapeBytes

/// A place whose value is rewritten on both sides before it is compared: `PLACE=/REGEX/TEXT/`.
///
/// In the text, `$1` is the first group of a match, `$0` all of it, and `$$` a dollar sign.
public struct PlaceReplacement: Sendable, Hashable {
    private enum Piece: Sendable, Hashable {
        case text([UInt8])
        case group(Int)
    }

    /// The most bytes read to rewrite one value, as a multiple of its size. A pattern that looks at all that follows each of its matches
    /// stops there, on both sides at the same match.
    static let passLimit = 64
    /// A rewritten value may be this many times as long, so that a replacement cannot fill the memory.
    static let growthLimit = 16

    public let place: MatchPlace
    /// Its number among those of the rules: they are applied in this order, however their places are found.
    var position = 0
    private let pattern: CapturingPattern
    private let pieces: [Piece]

    /// The slash after the equals sign may be another sign of punctuation, and a backslash before it makes it part of the expression or text.
    public init(_ text: String) throws(MatchRuleError) {
        let shown = PlainText.escape(text.utf8, limit: 80)
        guard let equals = MatchPlace.end(inRule: text), let halves = Self.halves(of: Array(text.utf8[equals...].dropFirst())) else {
            throw MatchRuleError(
                .badPattern,
                "\"\(shown)\" is not a replacement; write PLACE=/REGEX/TEXT/, for example \"json:/messages/*/content=/[0-9]{4}-[0-9]{2}-[0-9]{2}/DATE/\""
            )
        }
        self.place = try MatchPlace(reaching: String(text[..<equals]))
        try Self.check(self.place)
        do {
            self.pattern = try CapturingPattern(String(decoding: halves.pattern, as: UTF8.self))
        } catch {
            throw MatchRuleError(.badPattern, "\"\(shown)\": \(error.message)", cause: error)
        }
        guard let pieces = Self.pieces(halves.text, groups: self.pattern.groupCount) else {
            throw MatchRuleError(
                .badPattern,
                "\"\(shown)\" has a \"$\" in its text that names no group; write $1 for the first ( ), $0 for the whole match, or $$ for the character"
            )
        }
        self.pieces = pieces
    }

    init(place: MatchPlace, like other: PlaceReplacement) {
        (self.place, self.position, self.pattern, self.pieces) = (place, other.position, other.pattern, other.pieces)
    }

    private static func check(_ place: MatchPlace) throws(MatchRuleError) {
        switch place.innermost {
        case .host, .path, .queryItem, .header, .json, .xml, .grpc, .formField, .body: break
        case .method, .scheme, .port, .query, .part, .partFilename, .within:
            throw MatchRuleError(
                .badPattern,
                "nothing is replaced in \"\(place)\"; write \"path\", \"host\", \"query:NAME\", \"header:NAME\", \"json:/POINTER\", \"xml:/a/b\", \"grpc:/FIELD\", \"form:NAME\", or \"body\" for a text"
            )
        }
        if case .within = place {
            switch place.innermost {
            case .header, .body:
                throw MatchRuleError(.badPattern, "nothing is replaced in \"\(place)\"; name a value in the content of the part or field")
            default: break
            }
        }
    }

    private static func halves(of text: [UInt8]) -> (pattern: [UInt8], text: [UInt8])? {
        guard let delimiter = text.first, "/#|,!%@".utf8.contains(delimiter), text.count >= 3 else { return nil }
        var parts: [[UInt8]] = [[]]
        var rest = text.dropFirst()
        while let byte = rest.popFirst() {
            if byte == delimiter {
                parts.append([])
            } else if byte == UInt8(ascii: "\\"), rest.first == delimiter {
                rest.removeFirst()
                parts[parts.count - 1].append(delimiter)
            } else if byte == UInt8(ascii: "\\"), parts.count == 1, let next = rest.popFirst() {
                parts[0] += [byte, next]
            } else {
                parts[parts.count - 1].append(byte)
            }
        }
        guard parts.count == 3, parts[2].isEmpty, !parts[0].isEmpty else { return nil }
        return (parts[0], parts[1])
    }

    private static func pieces(_ text: [UInt8], groups: Int) -> [Piece]? {
        var pieces: [Piece] = []
        var literal: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "$") else {
                literal.append(byte)
                continue
            }
            guard let next = rest.popFirst() else { return nil }
            if next == byte {
                literal.append(byte)
                continue
            }
            guard 48...57 ~= next, Int(next) - 48 <= groups else { return nil }
            pieces += [.text(literal), .group(Int(next) - 48)]
            literal = []
        }
        return pieces + [.text(literal)]
    }

    /// The value with its matches replaced; nil if nothing matches, or if the result would be too long.
    func applied(to value: UnsafeRawBufferPointer) -> [UInt8]? {
        var result: [UInt8] = []
        var (copied, from, read) = (0, 0, 0)
        var isChanged = false
        let budget = Self.passLimit * (value.count + 64)
        while read < budget, let match = self.pattern.pattern.firstRange(in: value, from: from, read: &read) {
            from = match.isEmpty ? match.upperBound + 1 : match.upperBound
            result += value[copied..<match.lowerBound]
            let groups = self.pattern.groups(of: match, in: value)
            for piece in self.pieces {
                switch piece {
                case .text(let text): result += text
                case .group(let group): if let range = groups[group] { result += value[range] }
                }
            }
            guard result.count <= Self.growthLimit * (value.count + 64) else { return nil }
            copied = match.upperBound
            isChanged = true
        }
        guard isChanged else { return nil }
        return result + value[copied...]
    }
}

/// How the values of a place are compared: rewritten first, and then by the first pattern that matches.
struct ValueRules: Sendable {
    /// What is compared instead of a value.
    enum Outcome {
        case asIs
        case rewritten([UInt8])
        /// Stands for all values that a pattern matches.
        case substitute([UInt8])
    }

    var replacements: [PlaceReplacement] = []
    var patterns: [NumberedPattern] = []
    /// Whether the order of an array's elements does not count.
    var isSorted = false
    /// Whether the value may be missing on either side.
    var isOptional = false

    var isEmpty: Bool { self.replacements.isEmpty && self.patterns.isEmpty && !self.isSorted && !self.isOptional }

    func outcome(for value: UnsafeRawBufferPointer) -> Outcome {
        guard !self.replacements.isEmpty || !self.patterns.isEmpty else { return .asIs }
        var rewritten: [UInt8]?
        for replacement in self.replacements {
            let next = rewritten.map { $0.withUnsafeBytes(replacement.applied) } ?? replacement.applied(to: value)
            rewritten = next ?? rewritten
        }
        guard !self.patterns.isEmpty else { return rewritten.map { .rewritten($0) } ?? .asIs }
        let substitute =
            rewritten.map { $0.withUnsafeBytes { NumberedPattern.substitute(for: $0, among: self.patterns) } }
            ?? NumberedPattern.substitute(for: value, among: self.patterns)
        return substitute.map { .substitute($0) } ?? rewritten.map { .rewritten($0) } ?? .asIs
    }

    /// The value as it is compared; nil if no rule changes it.
    func compared(_ value: [UInt8]) -> [UInt8]? {
        switch value.withUnsafeBytes({ self.outcome(for: $0) }) {
        case .asIs: nil
        case .rewritten(let other), .substitute(let other): other
        }
    }

    mutating func add(_ other: ValueRules) {
        self.replacements += other.replacements
        if self.replacements.count > 1 { self.replacements.sort { $0.position < $1.position } }
        self.patterns += other.patterns
        self.isSorted = self.isSorted || other.isSorted
        self.isOptional = self.isOptional || other.isOptional
    }
}
