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
        ("GIN ", .login),
    ]
    /// The ends of `SecretNames.rare` and `TextSurvey.company` with the marks that usually follow them. All marks would make too many
    /// candidates.
    private static let rareNames: [StaticString] = [
        "kty\"", "lob\"", "mns\"", "ary\"", "thm\"", "psk\"", "psk=", "PSK=", "nha\"", "ola\"",
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
        ["/bot", "_pat", "ial", "ied ", "irep", "irm", "nid", "npm_", "nse", "ord", "ya29", "yid"],
        [
            "AKIA", "ASIA", "AUTH", "CkF1", "kty\"", "GOCS", "LUES", "ase", "c3N3", "des", "eStr", "ghp_", "ghs_", "ghu_", "ify", "ion",
            "ive",
            "ken", "ket", "key", "lue", "lues", "ode", "otp",
        ],
        ["eare", "ens", "ewog", "eyAi", "eys", "ing", "int", "kie", "sid", "sig", "srf", "swd", "ure"],
        [
            "ENV ", "H4sI", "U2Vj", "a2Vu", "b2tl", "c2Vj", "cGFz", "env ", "etx ", "glpa", "ngDa", "rk_l", "rk_t", "shpa", "sk_l", "sk_t",
            "mns\"", "whse", "xoxa", "xoxb", "xoxd", "xoxe", "xoxr",
        ],
        ["AIza", "CRUd", "GIN ", "KLUv", "Wlhs", "_hea", "sic ", "sk-a", "sk-p", "slac", "webh", "xapp", "xoxo", "xoxp", "xoxs"],
        [
            "PD94", "PSK=", "als", "ary\"", "ass", "ata", "est", "ets", "gho_", "ghr_", "hvb.", "hvs.", "ier", "jwt", "lob\"", "ory", "pem",
            "psk\"", "psk=", "pwd", "rd1", "rd2", "nha\"", "ola\"",
            "rds", "ret", "thm\"", "ult", "uth",
        ],
        ["1//0", ": Se", "VE9L", "VG9r", "blanks", "dG9r", "eyJ"],
        [
            "BEGI", "DQpB", "IED ", "PASS", "PGT-", "Q1JF", "QVNT", "QXV0", "RUNS", "RVk9", "S0VO", "S0VZ", "T0tF", "TGT-", "U0VD", "U1NX",
            "UEFT", "UEQ5", "UGFz", "W3si", "JVBE", "T2Jq", "UEFS", "UEsD", "X0tF", "Y0dG", "Y3Jl", "YXNz", "ZEc5",
            "ZFhO", "ZWNy", "ZXlB", "ZXlK", "flags", "foreign",
        ],
    ]
    private static let otherNames = 5

    /// How many offsets are requested at once.
    private static let batch = 128

    private init() {
        var anchors: [UInt32: Anchor] = [:]
        for (index, shape) in SecretShape.all.enumerated() {
            let word = Self.word((0..<4).map { shape.prefix.utf8Start[shape.anchor + $0] })
            if case .shapes(let others) = anchors[word] {
                anchors[word] = .shapes(others + [index])
            } else {
                anchors[word] = .shapes([index])
            }
        }
        let webTokens = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8).map {
            Self.word(Array("eyJ".utf8) + [$0])
        }
        for word in webTokens { anchors[word] = .webToken }
        anchors[Self.word(Array("BEGI".utf8))] = .armour
        func add(_ letters: StaticString, _ anchor: Anchor) { anchors[Self.word((0..<4).map { letters.utf8Start[$0] })] = anchor }
        for letters in ["ied ", "IED "] as [StaticString] { add(letters, .identified) }
        for (letters, directive) in Self.directives { add(letters, .directive(directive)) }
        add("eare", .scheme)
        add("sic ", .basicScheme)
        for letters in ["LUES", "lues"] as [StaticString] { add(letters, .rows) }
        for letters in Self.rareNames { add(letters, .name) }
        var foreign: [UInt32] = []
        for name in SecretNames.passwordsInOtherLanguages where !name.utf8.allSatisfy({ $0 < 128 }) {
            let word = Self.word(name.utf8.suffix(3) + [UInt8(ascii: "\"")])
            anchors[word] = .name
            foreign.append(word)
        }
        for letters in Self.base64OfNames { add(letters, .base64) }
        for letters in Self.base64Beginnings { add(letters, .base64Beginning) }
        var classes: [(name: String, words: [UInt32])] = anchors.filter { $0.value != .webToken && !foreign.contains($0.key) }
            .map { (Self.text($0.key), [$0.key]) }
        classes.append(("foreign", foreign))
        classes.append(("eyJ", webTokens))
        classes.append(("flags", Self.flags()))
        let blanks = Self.blanks()
        for word in blanks { anchors[word] = .blank }
        classes.append(("blanks", blanks))
        // `"sensitive": true` marks the value next to it.
        let endings = Set((SecretNames.names.flatMap(\.names) + ["cookie", "sensitive"]).map { Array($0.utf8.suffix(3)) })
        for ending in endings {
            let name = String(decoding: ending, as: UTF8.self)
            // In entries of .netrc, tags and SQL, a blank follows `password`.
            let marks = "\"'=:><](" + (name == "ord" ? " \t\n\r" : "")
            let words = Self.cases(ending).flatMap { ending in marks.utf8.map { Self.word(ending + [$0]) } }
            for word in words { anchors[word] = .name }
            classes.append((name, words))
        }
        var groups = Self.division.map { _ in [UInt32]() }
        for (name, words) in classes { groups[Self.division.firstIndex(where: { $0.contains(name) }) ?? Self.otherNames] += words }
        self.groups = Self.groups(of: groups)
        let kinds = [.name] + Set(anchors.values).subtracting([.name])
        var size = 16
        while size < anchors.count * 4 { size *= 2 }
        var slots = [UInt8](repeating: 0, count: size)
        var words = [UInt32](repeating: 0, count: size)
        for (word, anchor) in anchors {
            var slot = Int(Self.hash(word)) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt8(kinds.firstIndex(of: anchor).map { $0 + 1 } ?? 0)
            words[slot] = word
        }
        self.slots = slots
        self.words = words
        self.anchors = kinds
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

    private static func groups(of words: [[UInt32]]) -> AnchorGroups {
        var groups = AnchorGroups()
        withUnsafeMutableBytes(of: &groups.low) { low in
            withUnsafeMutableBytes(of: &groups.high) { high in
                for (group, words) in words.enumerated() {
                    for word in words {
                        for place in 0..<4 {
                            let byte = Int(truncatingIfNeeded: word >> (8 * place)) & 255
                            low[place * 16 + byte & 15] |= 1 << group
                            high[place * 16 + byte >> 4] |= 1 << group
                        }
                    }
                }
            }
        }
        return groups
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
