internal import CAnchorScan

/// Short texts that begin or precede secrets, as words of four bytes. A vector scan finds candidates, and a table identifies them
/// (docs/decisions/0056-anchors-by-vectors.md).
struct SurveyTable: Sendable {
    enum Anchor: Sendable, Hashable {
        /// The last three letters of a name followed by a quote, an equals sign, a colon, a bracket or a parenthesis.
        case name
        /// One or more of `SecretShape.all`.
        case shapes([Int])
        /// `eyJ` and one more character: base64 of `{"` and a letter.
        case webToken
        /// `BEGI` of an armour line.
        case armour
        /// The end of `IDENTIFIED ` in SQL, in either case.
        case identified
        /// Blanks and an equals sign or colon, after the last letter of a name or another blank.
        case blank
        /// A blank or quote, a hyphen, a letter and a byte that may follow it: a flag of a command.
        case flag
        /// Two hyphens and the first letters of an option's name.
        case option
        /// A word of a command or a setting before its argument.
        case directive(TextSurvey.Directive)
        /// Letters of `Bearer`.
        case scheme
        /// The end of `Basic `.
        case basicScheme
        /// The end of `VALUES` in SQL.
        case rows
        /// Base64 of the beginning of JSON or XML.
        case base64Beginning
        /// Base64 of letters that occur in names of secrets.
        case base64
    }

    static let shared = SurveyTable()

    private static let window = 4

    /// A hash table with open addressing, whose size is a power of two and at most a quarter of which is used. A slot is an index into
    /// `anchors` plus one, or 0.
    private let slots: [UInt8]
    private let words: [UInt32]
    /// The first one is a name.
    private let anchors: [Anchor]
    private let groups: AnchorGroups

    /// The beginnings of JSON objects and arrays, XML, gzip and zstd, and of base64 of an object, an array, a name and XML, in base64; those
    /// of ZIP, PDF, Parquet and Avro.
    private static let base64Beginnings: [StaticString] = [
        "eyAi", "ewog", "W3si", "PD94", "ZXlK", "ZXlB", "UEQ5", "Wlhs", "H4sI", "KLUv", "Y0dG", "ZEc5", "ZFhO",
        "UEsD", "JVBE", "UEFS", "T2Jq",
    ]
    private static let directives: [(word: StaticString, directive: TextSurvey.Directive)] = [
        ("ENV ", .environment), ("AUTH", .authentication), ("PASS", .passwordCommand), ("irep", .redisSetting), ("_hea", .header),
        ("etx ", .permanentVariable), ("env ", .variable), ("eStr", .secureString), ("ngDa", .stringData), (": Se", .manifest),
        ("GIN ", .login), ("gin ", .subcommand), ("set ", .subcommand), ("fig ", .subcommand),
    ]
    /// The ends of `SecretNames.rare` and `TextSurvey.company` with the marks that usually follow them. All marks would make too many
    /// candidates.
    private static let rareNames: [StaticString] = [
        "kty\"", "lob\"", "mns\"", "ary\"", "thm\"", "psk\"", "psk=", "PSK=", "nha\"", "ola\"",
        "nic\"", "nic=", "NIC=", "nic ", "eed\"",
    ]
    /// `pas`, `ass`, `ssw`, `tok`, `oke`, `ken`, `sec`, `ecr` and `cre`: whatever the alignment of groups, one of three of them is a whole
    /// group. The same in capitals, and `KEY`, `_KE` and `EY=`, as in names of variables. `Aut` at the beginning of a line of a message head.
    private static let base64OfNames: [StaticString] = [
        "cGFz", "YXNz", "c3N3", "UGFz", "dG9r", "b2tl", "a2Vu", "VG9r", "c2Vj", "ZWNy", "Y3Jl", "U2Vj",
        "UEFT", "QVNT", "U1NX", "VE9L", "T0tF", "S0VO", "U0VD", "RUNS", "Q1JF", "S0VZ", "X0tF", "RVk9", "QXV0", "CkF1", "DQpB",
    ]

    /// The words of each group: the last letters of a name, a word, or a name for a set of words.
    ///
    /// The division was found by searching for the fewest candidates in JSON, prose, programs and base64. With a wrong word in a group,
    /// every third byte of a text becomes a candidate. A word that is missing here is put into the group with most of the names.
    private static let division: [[String]] = [
        [
            "/bot", "GIN ", "IED ", "NIC=", "_pat", "ets", "etx ", "eys", "fig ", "gho_", "ghp_", "ghs_", "ghu_", "gin ", "ied ",
            "irep", "irm", "ken ", "key", "key ", "kie", "kty\"", "nha\"", "nic ", "nic\"", "nic=", "nid", "npm_", "ode", "ord",
            "ort", "ory", "otp",
        ],
        [
            "KLUv", "LUES", "Wlhs", "a2Vu", "ase", "c3N3", "eStr", "eed\"", "est", "ghr_", "ion", "ken", "ket", "lob\"", "lue",
            "lues", "nse",
        ],
        [
            "eare", "ens", "ewog", "eyAi", "ial", "ing", "int", "sid", "sig", "slac", "ult", "ya29", "yid",
        ],
        [
            "ENV ", "H4sI", "U0VD", "U2Vj", "UEsD", "X0tF", "b2tl", "c2Vj", "cGFz", "env ", "glpa", "mns\"", "ngDa", "ret ", "rk_l",
            "rk_t", "set ", "sk_l", "sk_t", "xoxb", "xoxd", "xoxo", "xoxp", "xoxr",
        ],
        [
            "1//0", ": Se", "AIza", "CkF1", "GOCS", "ZEc5", "_hea", "shpa", "sic ", "sk-a", "sk-p", "webh", "whse", "xapp", "xoxa",
            "xoxe", "xoxs",
        ],
        [
            "PSK=", "als", "ary\"", "ass", "ata", "des", "hvb.", "hvs.", "ier", "ify", "ive", "jwt", "ola\"", "ord ", "pem", "psk\"",
            "psk=", "pwd", "rd1", "rd2", "rds", "ret", "srf", "swd", "thm\"", "ure", "uth",
        ],
        [
            "AKIA", "PD94", "VE9L", "VG9r", "blanks", "dG9r", "eyJ",
        ],
        [
            "ASIA", "AUTH", "BEGI", "CRUd", "DQpB", "JVBE", "PASS", "PGT-", "Q1JF", "QVNT", "QXV0", "RUNS", "RVk9", "S0VO", "S0VZ",
            "T0tF", "T2Jq", "TGT-", "U1NX", "UEFS", "UEFT", "UEQ5", "UGFz", "W3si", "Y0dG", "Y3Jl", "YXNz", "ZFhO", "ZWNy", "ZXlB",
            "ZXlK", "flags", "foreign",
        ],
    ]
    private static let otherNames = 5

    /// The last letters of `password`, `token`, `key` and `secret`. With such marks after all names, too many words of a text would be
    /// candidates.
    private static let marked: Set<String> = ["ord", "ken", "key", "ret"]

    /// How many offsets are requested at once.
    private static let batch = 128

    private init() {
        var words = Words()
        var shapes: [UInt32: [Int]] = [:]
        for (index, shape) in SecretShape.all.enumerated() {
            shapes[Self.word((0..<4).map { shape.prefix.utf8Start[shape.anchor + $0] }), default: []].append(index)
        }
        for (word, indices) in shapes { words.add(word, .shapes(indices)) }
        for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8 {
            words.add(Self.word(Array("eyJ".utf8) + [letter]), .webToken, of: "eyJ")
        }
        func add(_ letters: StaticString, _ anchor: Anchor) { words.add(Self.word((0..<4).map { letters.utf8Start[$0] }), anchor) }
        add("BEGI", .armour)
        for letters in ["ied ", "IED "] as [StaticString] { add(letters, .identified) }
        for (letters, directive) in Self.directives { add(letters, .directive(directive)) }
        add("eare", .scheme)
        add("sic ", .basicScheme)
        for letters in ["LUES", "lues"] as [StaticString] { add(letters, .rows) }
        for letters in Self.rareNames { add(letters, .name) }
        for name in SecretNames.passwordsInOtherLanguages where !name.utf8.allSatisfy({ $0 < 128 }) {
            words.add(Self.word(name.utf8.suffix(3) + [UInt8(ascii: "\"")]), .name, of: "foreign")
        }
        for letters in Self.base64OfNames { add(letters, .base64) }
        for letters in Self.base64Beginnings { add(letters, .base64Beginning) }
        words.add(Self.flags(), of: "flags")
        words.add(Self.blanks(), .blank, of: "blanks")
        // `"sensitive": true` marks the value next to it.
        let endings = Set((SecretNames.names.flatMap(\.names) + ["cookie", "sensitive"]).map { Array($0.utf8.suffix(3)) })
        for ending in endings {
            let name = String(decoding: ending, as: UTF8.self)
            // In tables, logs, Lisp, entries of .netrc and SQL, other marks follow the usual names.
            let marks = "\"'=:><](" + (name == "ord" ? " \t\n\r" : "")
            let beginnings = Self.cases(ending).map { Self.word($0) }
            words.add(beginnings.flatMap { start in marks.utf8.map { start | UInt32($0) << 24 } }, .name, of: name)
            if Self.marked.contains(name) {
                // In a group of few letters, because a blank follows most words of a text.
                let marks = name == "ord" ? ".,*" : " \t\n\r.,*"
                words.add(beginnings.flatMap { start in marks.utf8.map { start | UInt32($0) << 24 } }, .name, of: name + " ")
            }
        }
        self.groups = words.groups
        self.slots = words.slots
        self.words = words.words
        self.anchors = words.anchors
    }

    /// The table while it is being made. Programs start with it, so it has no arrays of small arrays.
    private struct Words {
        private(set) var slots: [UInt8]
        private(set) var words: [UInt32]
        private(set) var anchors: [Anchor] = [.name]
        private(set) var groups = AnchorGroups()
        private var count = 0
        private let numbers = Dictionary(
            uniqueKeysWithValues: SurveyTable.division.enumerated().flatMap { number, names in names.map { ($0, number) } })

        init() {
            self.slots = [UInt8](repeating: 0, count: 1 << 15)
            self.words = [UInt32](repeating: 0, count: self.slots.count)
        }

        /// A word that is a class of its own.
        mutating func add(_ word: UInt32, _ anchor: Anchor) { self.add([word], anchor, of: SurveyTable.text(word)) }

        mutating func add(_ word: UInt32, _ anchor: Anchor, of name: String) { self.add([word], anchor, of: name) }

        /// Words of a class. A later anchor of a word replaces an earlier one.
        ///
        /// - Parameter anchor: nil for words that are recognised without the table.
        mutating func add(_ new: [UInt32], _ anchor: Anchor? = nil, of name: String) {
            let group = UInt8(1) << UInt8(self.numbers[name] ?? SurveyTable.otherNames)
            withUnsafeMutableBytes(of: &self.groups.low) { low in
                withUnsafeMutableBytes(of: &self.groups.high) { high in
                    for word in new {
                        for place in 0..<4 {
                            let byte = Int(truncatingIfNeeded: word >> (8 * place)) & 255
                            low[place * 16 + byte & 15] |= group
                            high[place * 16 + byte >> 4] |= group
                        }
                    }
                }
            }
            guard let anchor else { return }
            let kind = self.anchors.firstIndex(of: anchor) ?? self.anchors.count
            if kind == self.anchors.count { self.anchors.append(anchor) }
            for word in new { self.insert(word, UInt8(kind + 1)) }
        }

        private mutating func insert(_ word: UInt32, _ kind: UInt8) {
            if (self.count + 1) * 4 > self.slots.count { self.grow() }
            var slot = Int(SurveyTable.hash(word)) & (self.slots.count - 1)
            while self.slots[slot] != 0, self.words[slot] != word { slot = (slot + 1) & (self.slots.count - 1) }
            if self.slots[slot] == 0 { self.count += 1 }
            self.slots[slot] = kind
            self.words[slot] = word
        }

        private mutating func grow() {
            let (slots, words) = (self.slots, self.words)
            self.slots = [UInt8](repeating: 0, count: slots.count * 2)
            self.words = [UInt32](repeating: 0, count: words.count * 2)
            self.count = 0
            for (slot, kind) in slots.enumerated() where kind != 0 { self.insert(words[slot], kind) }
        }
    }

    // MARK: Groups

    private static func text(_ word: UInt32) -> String {
        String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }, as: UTF8.self)
    }

    /// Words that together have every byte that flags and options may have, at each place. The actual words are too many for the table, and
    /// are recognised by their second byte.
    private static func flags() -> [UInt32] {
        let letters = (65...90).map { UInt8($0) } + (97...122).map { UInt8($0) }
        let firsts = Array(" \t\n\"'-".utf8)
        let others = letters + (48...57).map { UInt8($0) } + Array(" \t'\"=-#".utf8)
        return firsts.map { Self.word([$0, Self.hyphen, letters[0], letters[0]]) }
            + letters.map { Self.word([firsts[0], Self.hyphen, $0, letters[0]]) }
            + others.map { Self.word([firsts[0], Self.hyphen, letters[0], $0]) }
    }

    private static let hyphen = UInt8(ascii: "-")

    /// A flag or an option; nil for any other word.
    @inline(__always)
    private static func flag(_ word: UInt32) -> Anchor? {
        let third = UInt8(truncatingIfNeeded: word >> 16) | 32
        guard third >= 97, third <= 122 else { return nil }
        switch UInt8(truncatingIfNeeded: word) {
        case self.hyphen: return .option
        case 32, 9, 10, UInt8(ascii: "\""), UInt8(ascii: "'"): return .flag
        default: return nil
        }
    }

    /// `d = "`, `  = x` and the like, for names followed by blanks, as in settings.
    private static func blanks() -> [UInt32] {
        let letters = Set(SecretNames.names.flatMap(\.names).compactMap(\.utf8.last))
        let firsts = letters.flatMap { $0 >= 97 ? [$0, $0 & ~32] : [$0] } + Array("\"' \t".utf8)
        return firsts.flatMap { first in
            " \t".utf8.flatMap { blank in
                "=:".utf8.flatMap { mark in " \t\"'>".utf8.map { Self.word([first, blank, mark, $0]) } }
                    // `name := value`
                    + [Self.word([first, blank, UInt8(ascii: ":"), UInt8(ascii: "=")])]
            }
        }
    }

    /// The highest bits, which depend on the last byte as well: some names differ only in it.
    private static func hash(_ word: UInt32) -> UInt32 { (word &* 0x9e37_79b1) >> 17 }

    /// An index into `anchors` plus one, or 0.
    private func kind(_ word: UInt32) -> Int {
        var slot = Int(Self.hash(word)) & (self.slots.count - 1)
        while self.slots[slot] != 0, self.words[slot] != word { slot = (slot + 1) & (self.slots.count - 1) }
        return Int(self.slots[slot])
    }

    private static func word(_ bytes: [UInt8]) -> UInt32 {
        bytes.prefix(4).enumerated().reduce(0) { $0 | UInt32($1.element) << UInt32($1.offset * 8) }
    }

    /// Each letter in both cases. A name of two letters is combined with each byte that may precede it.
    private static func cases(_ ending: [UInt8]) -> [[UInt8]] {
        var cases: [[UInt8]] = [[]]
        if ending.count < 3 { cases = Array("\"?&<:_-.".utf8).map { [$0] } }
        for byte in ending {
            let isLetter = byte >= 97 && byte <= 122
            cases = cases.flatMap { isLetter ? [$0 + [byte], $0 + [byte & ~32]] : [$0 + [byte]] }
        }
        return cases
    }

    /// How many offsets the scan reports as possible anchors, for tests of the cost.
    func candidates(in text: UnsafeRawBufferPointer) -> Int {
        var count = 0
        var from = 0
        var groups = self.groups
        withUnsafeTemporaryAllocation(of: Int.self, capacity: Self.batch) { offsets in
            while text.count - from >= Self.window, let base = text.baseAddress {
                count += anchor_scan(&groups, base, text.count, &from, offsets.baseAddress, Self.batch)
            }
        }
        return count
    }

    /// Delivers each anchor with the offset of its four bytes, in ascending order.
    func scan(_ text: UnsafeRawBufferPointer, deliver: (Anchor, Int) -> Void) {
        guard let base = text.baseAddress else { return }
        withUnsafePointer(to: self.groups) { groups in
            withUnsafeTemporaryAllocation(of: Int.self, capacity: Self.batch) { offsets in
                var from = 0
                while text.count - from >= Self.window {
                    let found = anchor_scan(groups, base, text.count, &from, offsets.baseAddress, Self.batch)
                    for offset in offsets[..<found] {
                        // SAFETY: the scan returns offsets of four bytes within the text.
                        let word = UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
                        if UInt8(truncatingIfNeeded: word >> 8) == Self.hyphen {
                            if let anchor = Self.flag(word) { deliver(anchor, offset) }
                            continue
                        }
                        let kind = self.kind(word)
                        // Names are most frequent. The other cases have arrays, whose references would be counted.
                        if kind > 0 { deliver(kind == 1 ? .name : self.anchors[kind - 1], offset) }
                    }
                }
            }
        }
    }
}
