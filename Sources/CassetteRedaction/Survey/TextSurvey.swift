internal import CassetteModel
internal import TapeBytes

/// Finds secrets in a text of any kind by what names them and by what they look like: members of JSON, items of URLs and forms, elements
/// and attributes of XML, literals in programs, lines of logs and settings, tokens, keys, user information of URLs.
///
/// Looks at the bytes as they are: no parser, so that what is cut, broken or within something else is found too. Decides nothing about
/// what is done with them.
struct TextSurvey {
    let text: SurveyText
    let bytes: UnsafeRawBufferPointer
    /// Whether a name may be at the very beginning, as in a form.
    let isForm: Bool
    /// Whether the text is a URL and nothing else.
    let isURL: Bool
    /// Whether names count beyond JSON, XML elements and URLs: in other texts than these, names are the caller's or chance.
    let isFree: Bool
    var companyInJSON = OAuthCompany.inJSON
    var companyInQueries = OAuthCompany.inQueries
    /// The query that was looked at last.
    var query = 0..<0
    /// Where the credentials or cookies end that were read last: what is in them is not read again.
    var fieldEnd = 0
    /// Where the bare value ends that was looked at last: a name within it begins no other, or each of thousands would reach to its end.
    var valueEnd = 0
    /// The next `<` from an offset on that was asked for last.
    var nextMark = 0..<0
    /// Bytes that were looked at last and end no value in a connection string.
    var connectionValue = 0..<0
    /// Units of work beyond those of places and findings, since the budget was asked last.
    var work = 0
    var findings: [Finding] = []
    /// Where the values of the last Secret of Kubernetes were looked for up to.
    var manifestEnd = 0
    /// Where the credentials after a scheme end that were read last.
    var schemeEnd = 0
    /// Where the rows of SQL end that were read last.
    var rowsEnd = 0
    /// Aliases of YAML whose anchors were looked for.
    var aliasCount = 0
    var commands: CommandSurvey
    var tags: MarkupTags
    /// Where the last password of a command ends that was read.
    var commandEnd = 0
    /// Texts of base64 that may hold names.
    var base64: [Range<Int>] = []
    /// Where the characters of base64 end that were looked at last, whether they are a text or not.
    var base64End = 0
    /// Where the last end tag of an element of each kind was: no start tag before it belongs to the next one.
    var elementFloors: [String: Int] = [:]
    /// Whether lines of the text are settings in sections; nil before the first question.
    var hasSections: Bool?

    private init(_ text: SurveyText, _ kind: TextKind) {
        self.text = text
        self.bytes = text.bytes
        self.commands = CommandSurvey(text: text)
        self.tags = MarkupTags(text: text)
        self.isForm = kind == .form
        self.isURL = kind == .url
        self.isFree = kind == .plain && text.isReadable
    }

    /// - Parameters:
    ///   - hasMore: the text goes on after these bytes: a value that reaches their end is not found.
    ///   - isView: the text is another one without its escapes.
    static func findings(
        in bytes: UnsafeRawBufferPointer, as kind: TextKind = .plain, hasMore: Bool = false, isView: Bool = false
    ) -> [Finding] { self.survey(bytes, as: kind, hasMore: hasMore, isView: isView).findings }

    /// What is found, and the texts of base64 in which names may be. It is incomplete if the budget is spent.
    static func survey(
        _ bytes: UnsafeRawBufferPointer, as kind: TextKind = .plain, hasMore: Bool = false, isView: Bool = false,
        budget: SearchBudget? = nil
    ) -> (findings: [Finding], base64: [Range<Int>]) {
        let text = SurveyText(bytes: bytes, hasMore: hasMore, isView: isView)
        var survey = TextSurvey(text, kind)
        let shapes = ShapeSurvey(text: text)
        var (places, found) = (0, 0)
        SurveyTable.shared.scan(bytes) { anchor, offset in
            places += 1
            if places == Self.placesAtOnce {
                let work = places * SearchBudget.costOfPlace + (survey.findings.count - found) * SearchBudget.costOfFinding + survey.work
                guard budget?.spend(work: work) != false else {
                    // None of the others is looked at.
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
        if survey.isFree, budget?.isSpent != true {
            survey.endTagsWithBlanks()
            survey.tables()
            survey.complexKeys()
        }
        return (survey.findings + URLUserSurvey.findings(in: text), survey.base64)
    }

    /// Places that are looked at before the budget is asked.
    private static let placesAtOnce = 64

    mutating func base64(around offset: Int, isBeginning: Bool) {
        guard offset >= self.base64End else { return }
        let (range, isText) = Base64Text.run(in: self.text, around: offset, isBeginning: isBeginning)
        self.base64End = range.upperBound
        if isText { self.base64.append(range) }
    }

    // MARK: Members of JSON

    mutating func name(endingAt end: Int) {
        let start = self.text.startOfName(end)
        guard start < end, end - start <= SecretNames.lengthLimit else { return }
        self.work += SearchBudget.costOfName
        switch self.bytes[end] {
        case 32, 9, 10, 13: self.blankAfterName(start, end)
        case UInt8(ascii: "<"): self.meaning(start, end).map { self.pairOfElements(start, end, $0) }
        case UInt8(ascii: "\""): self.quotedName(start, end)
        case UInt8(ascii: "'"): if self.isFree { self.quotedName(start, end) }
        case UInt8(ascii: "="):
            if let meaning = self.meaning(start, end) {
                self.item(start, end, meaning)
            } else if self.text.isWord("value", endingAt: end), end - start == 5 {
                self.namedTag(around: start)
            }
        case UInt8(ascii: ":"):
            if self.isFree {
                self.meaning(start, end).map { self.labelled(start, end, valueFrom: end + 1, $0) }
            }
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
        return self.variable(start, end) ?? SecretNames.meaning(ofCompound: name)
    }

    func variable(_ start: Int, _ end: Int) -> SecretNames.Meaning? {
        self.isFree ? SecretNames.meaning(ofVariable: self.bytes[start..<end]) : nil
    }

    /// A value in a place that programs and sentences have, too.
    mutating func addFree(_ range: Range<Int>, _ meaning: SecretNames.Meaning) {
        let value = self.bytes[range]
        guard NamedValue.mayBeSecret(value) else { return }
        // A name of a program's, or a word.
        let isName = value.count < 16 && value.allSatisfy { FormSpelling.isAlphanumeric($0) || $0 == UInt8(ascii: "_") }
        self.add(range, meaning, value.contains(UInt8(ascii: "\\")) ? .json : .plain, isPlaceOnly: isName)
    }

    mutating func add(
        _ range: Range<Int>, _ meaning: SecretNames.Meaning, _ spelling: Finding.Spelling, isPlaceOnly: Bool = false
    ) {
        // Of XML; in a view its entities are gone.
        let isMarkup = spelling == .plain && self.bytes[range].contains(UInt8(ascii: "&")) && !self.text.isView && self.text.isMarkup
        guard var finding = self.text.finding(range, meaning, isMarkup ? .markup : spelling) else { return }
        finding.isPlaceOnly = finding.isPlaceOnly || isPlaceOnly
        self.findings.append(finding)
    }
}
