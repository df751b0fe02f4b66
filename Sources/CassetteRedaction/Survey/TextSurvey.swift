internal import CassetteModel
internal import TapeBytes

/// Finds secrets in any kind of text by their names and by their shape: JSON members, items of URLs and forms, XML elements and attributes,
/// literals in programs, lines of logs and settings, tokens, keys, user information in URLs.
///
/// Examines the bytes without a parser, so that values in cut, broken or nested texts are found too. Does not decide how to treat its
/// findings.
struct TextSurvey {
    let text: SurveyText
    let bytes: UnsafeRawBufferPointer
    /// Whether a name may be at the very beginning, as in a form.
    let isForm: Bool
    /// Whether the text is a single URL.
    let isURL: Bool
    /// Whether names are also searched for outside of JSON, XML elements and URLs. In some kinds of text, names are handled by the caller,
    /// or are coincidences.
    let isFree: Bool
    var companyInJSON = OAuthCompany.inJSON
    var companyInQueries = OAuthCompany.inQueries
    /// The query that was last examined.
    var query = 0..<0
    /// The end of the credentials or cookies that were last read; they are not read again.
    var fieldEnd = 0
    /// The end of the bare value that was last examined. A name within it does not begin another value, as each of thousands would extend
    /// to its end.
    var valueEnd = 0
    /// The range from the offset last asked for to the next `<`.
    var nextMark = 0..<0
    /// The bytes last examined, none of which ends a value in a connection string.
    var connectionValue = 0..<0
    /// Units of work in addition to places and findings, since the budget was last checked.
    var work = 0
    var findings: [Finding] = []
    /// How far the values of the last Kubernetes Secret were searched for.
    var manifestEnd = 0
    /// Whether the text has a word that marks a `value` as a secret; nil if nobody looked yet.
    var marksValues: Bool?
    /// The end of the credentials that were last read after a scheme.
    var schemeEnd = 0
    /// The end of the rows of SQL that were last read.
    var rowsEnd = 0
    /// How many YAML aliases were resolved.
    var aliasCount = 0
    /// How many XML entities were searched for.
    var entityCount = 0
    /// The end of the value for the standard input of a command that was last read.
    var inputEnd = 0
    /// The end of the words of a wallet that were last read.
    var phraseEnd = 0
    var commands: CommandSurvey
    var tags: MarkupTags
    /// The end of a command's password that was last read.
    var commandEnd = 0
    /// Base64 texts that may contain names.
    var base64: [Range<Int>] = []
    /// The end of the base64 characters that were last examined, whether they are a text or not.
    var base64End = 0
    /// The offset of the last end tag for each kind of element. A start tag before it does not belong to the next end tag.
    var elementFloors: [String: Int] = [:]
    /// Whether lines of the text are settings in sections; nil until first needed.
    var hasSections: Bool?

    private init(_ text: SurveyText, _ kind: TextKind) {
        self.text = text
        self.bytes = text.bytes
        self.commands = CommandSurvey(text: text)
        self.tags = MarkupTags(text: text)
        self.isForm = kind == .form
        self.isURL = kind == .url
        // Binary bytes may be frames with texts in them.
        self.isFree = (kind == .plain || kind == .binary) && text.isReadable
    }

    /// - Parameters:
    ///   - hasMore: whether the text continues after these bytes. A value that reaches their end is not found.
    ///   - isView: whether the text is another one with its escapes decoded.
    static func findings(
        in bytes: UnsafeRawBufferPointer, as kind: TextKind = .plain, hasMore: Bool = false, isView: Bool = false
    ) -> [Finding] { self.survey(bytes, as: kind, hasMore: hasMore, isView: isView).findings }

    /// The findings, and the base64 texts that may contain names. Incomplete if the budget is spent.
    static func survey(
        _ bytes: UnsafeRawBufferPointer, as kind: TextKind = .plain, hasMore: Bool = false, isView: Bool = false,
        budget: SearchBudget? = nil
    ) -> (findings: [Finding], base64: [Range<Int>]) {
        let text = SurveyText(bytes: bytes, hasMore: hasMore, isView: isView)
        var survey = TextSurvey(text, kind)
        var shapes = ShapeSurvey(text: text)
        var (places, found) = (0, 0)
        SurveyTable.shared.scan(bytes) { anchor, offset in
            places += 1
            if places == Self.placesAtOnce {
                let work = places * SearchBudget.costOfPlace + (survey.findings.count - found) * SearchBudget.costOfFinding + survey.work
                guard budget?.spend(work: work) != false else {
                    // No further anchors are examined.
                    places -= 1
                    return
                }
                (places, found, survey.work) = (0, survey.findings.count, 0)
            }
            switch anchor {
            case .name: survey.name(endingAt: offset + 3)
            case .shapes(let indices): survey.findings += shapes.findings(indices, anchorAt: offset)
            case .webToken:
                if let token = shapes.webToken(at: offset) {
                    survey.findings.append(token)
                } else {
                    survey.base64(around: offset, isBeginning: true)
                }
            case .armour: if let key = shapes.privateKey(at: offset) { survey.findings.append(key) }
            case .directive(let directive): survey.directive(directive, at: offset)
            case .scheme: survey.scheme(endingAt: offset + 5)
            case .basicScheme: survey.basicScheme(endingAt: offset + 3)
            case .rows: survey.rows(after: offset + 4)
            case .blank: survey.spaced(markAt: offset + 2)
            case .identified: survey.identified(before: offset + 3)
            case .flag: survey.command(flagAt: offset + 1)
            case .option:
                survey.option(at: offset)
                survey.command(flagAt: offset)
            case .base64Beginning: survey.base64(around: offset, isBeginning: true)
            case .base64: survey.base64(around: offset, isBeginning: false)
            }
        }
        if budget?.isSpent != true { survey.tokenRuns() }
        if survey.isFree || survey.isForm || survey.isURL, budget?.isSpent != true { survey.base64OfZlib() }
        if survey.isFree, budget?.isSpent != true {
            survey.base64OfLines()
            survey.endTagsWithBlanks()
            survey.tables()
            survey.complexKeys()
        }
        return (survey.findings + URLUserSurvey.findings(in: text), survey.base64)
    }

    /// How many places are examined before the budget is checked.
    private static let placesAtOnce = 64

    mutating func base64(around offset: Int, isBeginning: Bool) {
        guard offset >= self.base64End else { return }
        let (range, isText) = Base64Text.run(in: self.text, around: offset, isBeginning: isBeginning)
        self.base64End = range.upperBound
        if isText { self.base64.append(range) }
    }

    /// Finds keys of vendors by their prefixes, and JSON and XML in hex by their first bytes.
    private mutating func tokenRuns() {
        var found: [Range<Int>] = []
        var hex: [Range<Int>] = []
        var named: [(value: Range<Int>, meaning: SecretNames.Meaning)] = []
        TokenRuns.forEach(in: self.bytes) { run in
            if let (value, meaning) = self.namedValue(around: run) { named.append((value, meaning)) }
            found += VendorKey.ranges(in: run, of: self.bytes)
            if HexText.mayBegin(self.bytes[run]) { hex.append(run) }
            return true
        }
        for range in found where self.text.isWhole(range) {
            self.findings.append(Finding(kind: "api-key", range: range, secret: Array(self.bytes[range]), spelling: .plain))
        }
        for (value, meaning) in named { self.add(value, meaning, .json) }
        self.work += (found.count + named.count + hex.count) * SearchBudget.costOfName
        self.base64 += hex.filter(self.text.isWhole)
    }

    /// How many characters may be between the quote of a value and its run: `$2b$12$`.
    private static let leadLimit = 16

    /// The string of JSON that contains a run, if it has a name that has no anchor.
    private func namedValue(around run: Range<Int>) -> (Range<Int>, SecretNames.Meaning)? {
        var open = run.lowerBound - 1
        let least = max(0, run.lowerBound - Self.leadLimit)
        while open >= least, self.bytes[open] > 32, self.bytes[open] != UInt8(ascii: "\""), self.bytes[open] != UInt8(ascii: "\\") {
            open -= 1
        }
        guard open > 2, self.bytes[open] == UInt8(ascii: "\"") else { return nil }
        let colon = self.text.skipSpaceBack(open) - 1
        guard self.text.byte(colon) == UInt8(ascii: ":") else { return nil }
        let end = self.text.skipSpaceBack(colon) - 1
        guard self.text.byte(end) == UInt8(ascii: "\"") else { return nil }
        let start = self.text.startOfName(end)
        guard start < end, self.text.byte(start - 1) == UInt8(ascii: "\""),
            let meaning = SecretNames.meaning(beforeRun: self.bytes[start..<end]), let close = self.text.endOfString(open + 1)
        else { return nil }
        return (open + 1..<close, meaning)
    }

    /// Finds base64 of compressed data by the beginning of zlib (RFC 1950, 2.2). Its letters are too frequent for an anchor.
    private mutating func base64OfZlib() {
        let known = self.base64
        var next = 0
        self.base64End = 0
        // The third character has the last bits of the second byte: `eJw`, `eNo` and `eAE` for 78 9C, 78 DA and 78 01.
        for (second, thirds) in [("J", "wxyz"), ("N", "opqr"), ("A", "EFGH")] as [(Character, String)] {
            guard let letter = second.asciiValue else { continue }
            (next, self.base64End) = (0, 0)
            var offset = ByteScan.index(of: letter, in: self.bytes, from: 1)
            while offset < self.bytes.count {
                defer { offset = ByteScan.index(of: letter, in: self.bytes, from: offset + 1) }
                guard self.bytes[offset - 1] == UInt8(ascii: "e"), let third = self.text.byte(offset + 1), thirds.utf8.contains(third),
                    self.text.byte(offset - 2).map({ Base64Run.value($0) == nil }) ?? true
                else { continue }
                while next < known.count, known[next].upperBound < offset { next += 1 }
                if next == known.count || !known[next].contains(offset) { self.base64(around: offset - 1, isBeginning: true) }
            }
        }
    }

    /// The shortest line of base64 that mail, PEM and the encoders of programs write, in characters (RFC 2045, 6.8; RFC 7468, 2).
    private static let shortestLine = 60

    /// Finds base64 in lines, whatever it contains: a secret that is known from elsewhere may be in two of them.
    private mutating func base64OfLines() {
        let known = self.base64
        self.base64End = 0
        var end = ByteScan.index(of: 10, in: self.bytes, from: 0)
        while end < self.bytes.count {
            defer { end = ByteScan.index(of: 10, in: self.bytes, from: end + 1) }
            let last = self.text.byte(end - 1) == 13 ? end - 2 : end - 1
            let first = last - Self.shortestLine + 1
            // A few of the characters rule out most lines.
            guard first >= self.base64End,
                [last, last - 15, last - 30, last - 45, first].allSatisfy({ Base64Run.value(self.bytes[$0]) != nil }),
                self.text.byte(end + 1).map({ Base64Run.value($0) != nil }) == true,
                !known.contains(where: { $0.contains(last) })
            else { continue }
            self.base64(around: last, isBeginning: false)
        }
    }

    // MARK: Members of JSON

    mutating func name(endingAt end: Int) {
        let start = self.text.startOfName(end)
        guard start < end, end - start <= SecretNames.lengthLimit else { return }
        self.work += SearchBudget.costOfName
        if self.seedPhrase(start, end) { return }
        switch self.bytes[end] {
        case 32, 9, 10, 13: if !self.marked(start, end) { self.blankAfterName(start, end) }
        case UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: "*"): _ = self.marked(start, end)
        case UInt8(ascii: "<"): self.meaning(start, end).map { self.pairOfElements(start, end, $0) }
        case UInt8(ascii: "\""): self.quotedName(start, end)
        case UInt8(ascii: "'"): if self.isFree { self.quotedName(start, end) }
        case UInt8(ascii: "="):
            if let meaning = self.meaning(start, end) {
                self.item(start, end, meaning)
            } else if self.text.isWord("value", endingAt: end), end - start == 5 {
                self.namedTag(around: start)
            } else if self.text.isWord("token", endingAt: end), start > 0,
                self.text.mayPrecedeItem(start - 1, inForm: self.isForm, inURL: self.isURL),
                let meaning = SecretNames.meaning(ofField: self.bytes[start..<end])
            {
                // `?email_token=X`, as in links of mails.
                self.item(start, end, meaning)
            } else if end - start > 5, self.text.isWord("data-", endingAt: start + 5), self.text.isQuote(self.text.byte(end + 1)),
                let meaning = self.meaning(start + 5, end)
            {
                // `data-token="X"` in HTML.
                self.assignment(start, end, meaning)
            } else {
                self.property(start, end)
            }
        case UInt8(ascii: ":"):
            guard self.isFree, let meaning = self.meaning(start, end) else { return }
            // `name:=value`
            let isAssignment = self.text.byte(end + 1) == UInt8(ascii: "=")
            if isAssignment { self.assignment(start, end + 1, meaning) } else { self.labelled(start, end, valueFrom: end + 1, meaning) }
        case UInt8(ascii: "]"): if self.isFree { self.bracketed(start, end) }
        case UInt8(ascii: "("): if self.isFree { self.called(start, end) }
        default: self.meaning(start, end).map { self.element(start, end, $0) }
        }
    }

    func meaning(_ start: Int, _ end: Int) -> SecretNames.Meaning? {
        let name = self.bytes[start..<end]
        if var meaning = SecretNames.meaning(ofMember: name) {
            // `login.password`: keys of texts for people have such names, too.
            if meaning.syntax == .value, name.dropFirst().contains(UInt8(ascii: ".")) { meaning.isCompound = true }
            return meaning
        }
        if let meaning = self.variable(start, end) ?? SecretNames.meaning(ofCompound: name) { return meaning }
        // `X-Acme-Token`
        if name.count > 5, self.bytes[start] | 32 == UInt8(ascii: "x"), self.bytes[start + 1] == UInt8(ascii: "-") {
            return SecretNames.meaning(ofField: name)
        }
        return nil
    }

    func variable(_ start: Int, _ end: Int) -> SecretNames.Meaning? {
        self.isFree ? SecretNames.meaning(ofVariable: self.bytes[start..<end]) : nil
    }

    /// Adds a value in a place that also occurs in programs and sentences.
    mutating func addFree(_ range: Range<Int>, _ meaning: SecretNames.Meaning) {
        let value = self.bytes[range]
        guard NamedValue.mayBeSecret(value) else { return }
        // An identifier of a program, or a word.
        let isName = value.count < 16 && value.allSatisfy { FormSpelling.isAlphanumeric($0) || $0 == UInt8(ascii: "_") }
        self.add(range, meaning, value.contains(UInt8(ascii: "\\")) ? .json : .plain, isPlaceOnly: isName)
    }

    mutating func add(
        _ range: Range<Int>, _ meaning: SecretNames.Meaning, _ spelling: Finding.Spelling, isPlaceOnly: Bool = false
    ) {
        // In XML; in a view, entities are already decoded.
        let isMarkup = spelling == .plain && self.bytes[range].contains(UInt8(ascii: "&")) && !self.text.isView && self.text.isMarkup
        let range = isMarkup ? self.declaration(of: range) ?? range : range
        guard var finding = self.text.finding(range, meaning, isMarkup ? .markup : spelling) else { return }
        finding.isPlaceOnly = finding.isPlaceOnly || isPlaceOnly
        self.findings.append(finding)
    }
}
