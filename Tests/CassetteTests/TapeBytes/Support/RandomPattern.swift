import TapeTestSupport

/// A random pattern, in our spelling and in that of NSRegularExpression (where `\w` and similar classes are Unicode's).
struct RandomPattern {
    /// In characters: Foundation's expressions backtrack, and may take twice as long for each additional character.
    static let longestInput = 6

    private(set) var ours = ""
    private(set) var theirs = ""

    private static let atoms: [(ours: String, theirs: String)] = [
        ("a", "a"), ("b", "b"), ("A", "A"), ("é", "é"), ("𝄞", "𝄞"), (#"\-"#, #"\-"#), (".", "."), ("[ab]", "[ab]"), ("[^a]", "[^a]"),
        ("[^b\\n]", "[^b\\n]"),
        ("[a-é]", "[a-é]"), (#"\d"#, "[0-9]"), (#"\w"#, "[A-Za-z0-9_]"), (#"\W"#, "[^A-Za-z0-9_]"), (#"\s"#, #"[ \t-\r]"#),
        (#"[\d_é]"#, "[0-9_é]"),
        (#"\x{1D11E}"#, #"\x{1D11E}"#), ("^", #"\A"#), ("$", #"\z"#),
        (#"\b"#, "(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))"),
        (#"\B"#, "(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_]))"),
    ]

    init(using generator: inout SeededGenerator) {
        self.choice(depth: 0, using: &generator)
        if Int.random(in: 0..<8, using: &generator) == 0 {
            self.ours = "(?s)" + self.ours
            self.theirs = "(?s)" + self.theirs
        }
    }

    static func input(using generator: inout SeededGenerator) -> String {
        String(
            (0..<Int.random(in: 0...self.longestInput, using: &generator)).map { _ in "abA_0 é-\n𝄞".randomElement(using: &generator) ?? "a"
            })
    }

    private mutating func write(_ text: String) {
        self.ours += text
        self.theirs += text
    }

    private mutating func choice(depth: Int, using generator: inout SeededGenerator) {
        self.sequence(depth: depth, using: &generator)
        while Int.random(in: 0..<3, using: &generator) == 0 {
            self.write("|")
            self.sequence(depth: depth, using: &generator)
        }
    }

    private mutating func sequence(depth: Int, using generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            if depth < 2, Int.random(in: 0..<3, using: &generator) == 0 {
                self.write(Bool.random(using: &generator) ? "(" : "(?:")
                self.choice(depth: depth + 1, using: &generator)
                self.write(")")
            } else if let atom = Self.atoms.randomElement(using: &generator) {
                self.ours += atom.ours
                self.theirs += "(?:\(atom.theirs))"
            }
            let quantifiers = ["", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "{1,3}"]
            self.write(quantifiers.randomElement(using: &generator) ?? "")
        }
    }
}
