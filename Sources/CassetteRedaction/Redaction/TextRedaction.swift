internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Removes the secrets from one text. Detects them by name and shape, learns them, and finds all secrets known so far in any spelling.
///
/// Does not know messages: the caller passes the meaning of places as findings.
struct TextRedaction {
    var rules: RedactionRules
    let vault: SecretVault
    /// The budget of the search that this is a part of.
    var budget: SearchBudget?
    /// Receives the known secrets found outside of their own places; nil if they are not counted.
    var hits: SecretHits?
    /// Whether the number of bytes must not change, as for a part of a representation whose position a header field gives.
    var keepsLengths = false
    /// Whether the media type of the text says that it is JSON.
    var isJSON = false
    /// Whether the text is an event stream, whose events may divide a text over several lines.
    var isEventStream = false
    /// The borders of the text that may cut a secret, since the text is a part of something longer.
    var borders: Borders = []

    struct Borders: OptionSet, Sendable {
        let rawValue: UInt8
        static let start = Borders(rawValue: 1)
        static let end = Borders(rawValue: 2)
        static let both: Borders = [.start, .end]
        /// Whether what follows the text may be in another message.
        static let rest = Borders(rawValue: 4)
    }

    /// - Parameters:
    ///   - findings: secrets at places that only a parser knows.
    ///   - kept: ranges in which findings are ignored; secrets learned elsewhere are still replaced.
    ///   - hasMore: whether the text continues. Its end may then be incomplete, and is left to a caller that has more.
    ///   - depth: how many base64 texts enclose this one.
    ///   - places: the only ranges that may be changed, ascending: the values of header fields. A match that extends beyond one is a
    ///     coincidence.
    func edits(
        in text: UnsafeRawBufferPointer, as kind: TextKind = .plain, findings: [Finding] = [], kept: [Range<Int>] = [],
        hasMore: Bool = false, within places: [Range<Int>]? = nil, depth: Int = 0
    ) -> EditList {
        guard !text.isEmpty, self.mayGoOn(SearchBudget.costOfText) else { return EditList() }
        if self.vault.renumbers { return self.renumberingEdits(in: text, as: kind, within: places) }
        var work = Work(self, text: text, kind: kind, keepsLengths: self.keepsLengths, kept: kept, depth: depth)
        let survey = TextSurvey.survey(text, as: kind, hasMore: hasMore, budget: self.budget)
        work.keepCookies(findings + survey.findings)
        work.learn(findings)
        work.learn(self.rules.patterns(in: text))
        work.learn(survey.findings)
        var views: [EscapeView] = []
        // Escapes in binary bytes are a coincidence.
        if !kind.isBinary, let view = EscapeView(text) {
            views.append(view)
            while views.count < EscapeView.depthLimit, let next = views.last.flatMap({ $0.bytes.withUnsafeBytes { EscapeView($0) } }) {
                views.append(next)
            }
            let length = views.reduce(0) { $0 + $1.bytes.count }
            guard self.mayGoOn(length * SearchBudget.costOfEscapedByte) else { return EditList() }
            for level in views.indices { work.learn(in: views[...level], hasMore: hasMore) }
        } else if kind == .form {
            // A form's items contain texts of any kind, even those without escapes.
            work.learn(inItems: TextSurvey.survey(text, as: .plain, hasMore: hasMore, isView: true, budget: self.budget).findings)
        }
        if self.isEventStream, kind == .plain {
            work.learn(inItems: EventStreamData.findings(in: text, hasMore: hasMore, budget: self.budget), isPlain: false)
        }
        work.decode(survey.base64, in: text)
        work.searchCodings(views, hasMore: hasMore)
        work.search(views)
        if depth == 0, !self.borders.isEmpty { work.search(hasMore ? self.borders.subtracting(.end) : self.borders) }
        // Filtered before adjacent edits are merged, so that a coincidental one does not take another with it.
        let edits = places.map { places in work.edits.filter { Self.lies($0.range, within: places) } } ?? work.edits
        return kind == .binary || self.keepsLengths ? EditList(keepingLengths: edits) : EditList(edits)
    }

    /// The edits that give placeholders other numbers. The only secrets are placeholders, which the search for known ones finds.
    private func renumberingEdits(in text: UnsafeRawBufferPointer, as kind: TextKind, within places: [Range<Int>]?) -> EditList {
        var work = Work(self, text: text, kind: kind, keepsLengths: self.keepsLengths)
        var views: [EscapeView] = []
        if !kind.isBinary, let view = EscapeView(text) {
            views.append(view)
            while views.count < EscapeView.depthLimit, let next = views.last.flatMap({ $0.bytes.withUnsafeBytes { EscapeView($0) } }) {
                views.append(next)
            }
        }
        work.searchCodings(views, hasMore: false)
        work.search(views)
        let edits = places.map { places in work.edits.filter { Self.lies($0.range, within: places) } } ?? work.edits
        return kind == .binary || self.keepsLengths ? EditList(keepingLengths: edits) : EditList(edits)
    }

    /// Replaces only secrets that are known by now, in bytes of any kind, keeping the number of bytes.
    func editsOfKnown(in bytes: UnsafeRawBufferPointer) -> EditList {
        guard !bytes.isEmpty else { return EditList() }
        var work = Work(self, text: bytes, kind: .binary, keepsLengths: true)
        work.search([])
        return EditList(keepingLengths: work.edits)
    }

    /// Whether the text ends within a secret, or at the place of one, so that the rest may follow elsewhere.
    ///
    /// Tells by what a random word after the text would be taken for. Learns nothing.
    func endsWithinSecret(_ text: UnsafeRawBufferPointer, as kind: TextKind, edits: [Edit]) -> Bool {
        guard !text.isEmpty else { return false }
        if edits.last?.range.upperBound == text.count { return true }
        let start = max(0, text.count - Self.trialLength)
        let tail = Array(text[start...])
        return Self.trialWords.contains { word in
            let trial = TextRedaction(
                rules: self.rules, vault: SecretVault(), isJSON: self.isJSON, isEventStream: self.isEventStream)
            return (tail + word).withUnsafeBytes { trial.edits(in: $0, as: kind).edits.contains { $0.range.upperBound > tail.count } }
        }
    }

    /// How much of a text is searched for the name of a value that follows it.
    private static let trialLength = 4096
    /// A value, the same in quotes, and after a mark.
    private static let trialWords = ["Xq7Zp2Lm94vT", "\"Xq7Zp2Lm94vT\"", "=Xq7Zp2Lm94vT\n", ":\"Xq7Zp2Lm94vT\"", "\":\"Xq7Zp2Lm94vT\""]
        .map { Array($0.utf8) }

    /// Spends work. Returns whether the budget is not exhausted by it.
    func mayGoOn(_ work: Int) -> Bool { self.budget?.spend(work: work) != false }

    private static func lies(_ range: Range<Int>, within places: [Range<Int>]) -> Bool {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].upperBound < range.upperBound { low = middle + 1 } else { high = middle }
        }
        return low < places.count && places[low].lowerBound <= range.lowerBound
    }

    private struct Work {
        let rules: RedactionRules
        let vault: SecretVault
        let budget: SearchBudget?
        let text: UnsafeRawBufferPointer
        let kind: TextKind
        let keepsLengths: Bool
        private let redaction: TextRedaction
        private let depth: Int
        private var kept: EditList
        var edits: [Edit] = []
        private var spelling: PlaceholderSpelling?
        private let hits: SecretHits?

        init(
            _ redaction: TextRedaction, text: UnsafeRawBufferPointer, kind: TextKind, keepsLengths: Bool, kept: [Range<Int>] = [],
            depth: Int = 0
        ) {
            self.redaction = redaction
            self.depth = depth
            self.budget = redaction.budget
            self.keepsLengths = keepsLengths
            self.hits = redaction.hits
            self.rules = redaction.rules
            self.vault = redaction.vault
            self.text = text
            self.kind = kind
            self.kept = EditList(kept.map { Edit(range: $0, bytes: []) })
        }

        /// Determined on first use, as most texts have nothing to replace.
        private mutating func spell() -> PlaceholderSpelling {
            let spelling = self.spelling ?? PlaceholderSpelling(self.kind, in: self.text, keepsLengths: self.keepsLengths)
            self.spelling = spelling
            return spelling
        }

        /// Keeps the values of cookies that an exception lists, whatever else is found in them.
        mutating func keepCookies(_ findings: [Finding], _ views: ArraySlice<EscapeView> = []) {
            guard !self.rules.keep.isEmpty else { return }
            let kept = findings.filter { $0.cookie.map { self.rules.keeps(cookie: $0.name) } ?? false }
            let ranges = kept.map { self.source($0.range, views) }
            if !ranges.isEmpty { self.kept = EditList(self.kept.edits + ranges.map { Edit(range: $0, bytes: []) }) }
        }

        mutating func learn(_ findings: [Finding]) {
            for finding in findings { self.learn(finding, at: finding.range, isEscaped: false, count: finding.count) }
        }

        /// Learns findings by name within the items of a form, unless the item itself is a secret.
        ///
        /// - Parameter isPlain: whether the items are no JSON, so that a number may become any text.
        mutating func learn(inItems findings: [Finding], isPlain: Bool = true) {
            let taken = EditList(findings.isEmpty ? [] : self.edits)
            for var finding in findings where !taken.touches(finding.range) {
                if finding.spelling == .number, isPlain { finding.spelling = .plain }
                self.learn(finding, at: finding.range, isEscaped: false, count: finding.count)
            }
        }

        private mutating func learn(_ finding: Finding, at range: Range<Int>, isEscaped: Bool, count: Range<Int>?) {
            guard !self.rules.keeps(kind: finding.kind), !range.isEmpty, !self.kept.touches(range), !self.isPlaceholder(finding, range)
            else {
                return
            }
            if let cookie = finding.cookie, self.stays(cookie) { return }
            guard self.budget?.spend(work: SearchBudget.cost(ofLearning: finding.secret.count)) != false else { return }
            if let coded = self.coded(finding) {
                self.replace(range, with: self.spell().bytes(base64: coded, isEscaped: isEscaped, isPadded: self.isPadded(range)))
                return
            }
            let reach: SecretReach =
                if !finding.pieces.isEmpty {
                    .anywhere
                } else if finding.isPlaceOnly {
                    .place
                } else {
                    SecretReach(finding.secret, isSure: finding.isSure, isRuled: finding.isRuled)
                }
            let placeholder = self.vault.placeholder(
                for: finding.secret, kind: finding.kind, reach: reach, pieces: finding.pieces, keeping: self.rules.keptShape)
            var bytes = self.spell().bytes(
                placeholder.standing(at: range, in: self.text), range: range, spelling: finding.spelling, isEscaped: isEscaped)
            if count == nil {
                for inner in self.inner(of: finding) {
                    bytes += self.spell().bytes(
                        Placeholder(kind: inner.kind, number: inner.number), range: range, spelling: finding.spelling, isEscaped: isEscaped)
                }
            }
            self.replace(range, with: bytes)
            if let count { self.replace(count, with: Array("\(placeholder.standing(at: range, in: self.text).bytes.count)".utf8)) }
            if let password = finding.password, !self.rules.keeps(kind: "password") {
                _ = self.vault.placeholder(for: password, kind: "password", isSure: true, under: self.rules)
            }
        }

        /// The placeholders of known secrets that a value contains, as a cookie that a client makes of a token does. They follow that of the
        /// value, so that a replay tells users apart by them.
        private func inner(of finding: Finding) -> [Placeholder] {
            guard !self.keepsLengths, !self.rules.keptShape.keepsLengths, !self.kind.isBinary, finding.pieces.isEmpty else { return [] }
            return switch finding.spelling {
            case .number, .base64, .user: []
            case .plain, .json, .form, .query, .markup: self.vault.inner(of: finding.secret)
            }
        }

        /// Credentials in base64 of which a part is kept; nil if they are replaced as a whole.
        private func coded(_ finding: Finding) -> [UInt8]? {
            guard CodedCredentials.kinds.contains(finding.kind), finding.spelling != .base64, finding.count == nil, !self.keepsLengths,
                !self.kind.isBinary
            else { return nil }
            if let login = NTLMMessage(finding.secret) { return login.identity }
            return CodedCredentials(text: self.redaction).redacted(finding.secret, depth: self.depth)
        }

        /// Whether the value of a cookie is kept. Cookies hidden from scripts are remembered, because the requests that send them do not
        /// say so.
        private func stays(_ cookie: Finding.Cookie) -> Bool {
            if cookie.isHidden { self.vault.hide(cookie: cookie.name) }
            return cookie.isPreference && self.rules.kind(cookie: cookie.name) == nil && !self.vault.hides(cookie: cookie.name)
        }

        /// Whether a finding is a placeholder or a part of one. It may have the form of a secret.
        private func isPlaceholder(_ finding: Finding, _ range: Range<Int>) -> Bool {
            let value = UnsafeRawBufferPointer(rebasing: self.text[range])
            if finding.spelling == .number, NumberPlaceholder.number(value) != nil { return true }
            return Placeholder.isAll(value, mayBeCut: true) || Placeholder.isAll(finding.secret, mayBeCut: true)
                || Placeholder.covers(range, in: self.text)
        }

        /// Identical bytes are not an edit: it would count as a secret that was found.
        private mutating func replace(_ range: Range<Int>, with bytes: [UInt8]) {
            guard !self.text[range].elementsEqual(bytes) else { return }
            self.edits.append(Edit(range: range, bytes: bytes))
        }

        /// Learns from text behind escapes: JSON in a JSON string, a URL in a query.
        mutating func learn(in views: ArraySlice<EscapeView>, hasMore: Bool) {
            guard let view = views.last else { return }
            // A form's items contain texts of any kind.
            let kind = self.kind == .form ? .plain : self.kind
            let (findings, base64) = view.bytes.withUnsafeBytes { bytes in
                let survey = TextSurvey.survey(bytes, as: kind, hasMore: hasMore, isView: true, budget: self.budget)
                return (survey.findings + self.rules.patterns(in: bytes), survey.base64)
            }
            let taken = EditList(findings.isEmpty ? [] : self.edits)
            self.keepCookies(findings, views)
            for var finding in findings {
                let range = self.source(finding.range, views)
                guard !taken.touches(range) else { continue }
                if finding.spelling == .number, self.kind == .form { finding.spelling = .plain }
                self.learn(
                    finding, at: range, isEscaped: self.isEscaped(range), count: finding.count.map { self.source($0, views) })
            }
            guard !base64.isEmpty else { return }
            view.bytes.withUnsafeBytes { bytes in
                self.decode(base64, in: bytes, views)
            }
        }

        // MARK: Base64

        /// Redacts the content of base64 texts, and encodes it again.
        mutating func decode(
            _ runs: [Range<Int>], in bytes: UnsafeRawBufferPointer, _ views: ArraySlice<EscapeView> = []
        ) {
            guard !runs.isEmpty, self.depth < EscapeView.depthLimit else { return }
            let taken = EditList(self.edits)
            for run in runs {
                let range = self.source(run, views)
                guard !taken.touches(range), !self.kept.touches(range), !Placeholder.covers(range, in: self.text) else { continue }
                if let hex = HexText(bytes[run]) {
                    var inner = self.redaction
                    (inner.isJSON, inner.isEventStream) = (false, false)
                    inner.keepsLengths = self.keepsLengths || self.kind.isBinary
                    let edits = hex.content.withUnsafeBytes { inner.edits(in: $0, depth: self.depth + 1) }
                    if !edits.isEmpty { self.replace(range, with: hex.text(of: edits.applied(to: hex.content))) }
                    continue
                }
                guard let base64 = Base64Text(bytes[run])
                else { continue }
                let redacted = base64.content.withUnsafeBytes { content -> [UInt8]? in
                    let isReadable = ReadableText.isReadable(content)
                    if !isReadable, self.kind != .binary,
                        let nested = NestedContent(text: self.redaction, depth: self.depth + 1).redacted(content)
                    {
                        return nested.bytes
                    }
                    // Names of variables are no names of form fields.
                    let isForm =
                        isReadable && Base64Text.isForm(base64.content)
                        && SecretNames.meaning(ofVariable: base64.content.prefix { $0 != UInt8(ascii: "=") }) == nil
                    let kind: TextKind = self.kind == .binary || !isReadable ? .binary : isForm ? .form : .plain
                    let findings =
                        isForm ? QuerySurvey(rules: self.rules, isForm: true).findings(in: content, range: 0..<content.count).findings : []
                    var inner = self.redaction
                    (inner.isJSON, inner.isEventStream) = (false, false)
                    let edits = inner.edits(in: content, as: kind, findings: findings, depth: self.depth + 1)
                    return edits.isEmpty ? nil : edits.applied(to: content)
                }
                guard let redacted else { continue }
                let text = self.spell().bytes(
                    base64: base64.text(of: redacted, isOneLine: !views.isEmpty), isEscaped: self.isEscaped(range),
                    isPadded: self.isPadded(range))
                self.replace(range, with: text)
            }
        }

        private func source(_ range: Range<Int>, _ views: ArraySlice<EscapeView>) -> Range<Int> {
            views.reversed().reduce(range) { $1.source($0) }
        }

        private func isPadded(_ range: Range<Int>) -> Bool { self.text[range].last == UInt8(ascii: "=") }

        private func isEscaped(_ range: Range<Int>) -> Bool {
            ByteScan.index(of: UInt8(ascii: "%"), in: UnsafeRawBufferPointer(rebasing: self.text[range]), from: 0) < range.count
        }

        // MARK: Secrets known

        mutating func search(_ views: [EscapeView]) {
            guard let known = self.vault.known() else { return }
            self.search(self.text, known) { views.first?.widened($0) ?? $0 }
            for depth in views.indices {
                let part = views[...depth]
                views[depth].bytes.withUnsafeBytes { bytes in
                    // With nested escapes, a match for a part of a byte of the next level is widened to the whole byte.
                    self.search(bytes, known) { range in
                        let wide = depth + 1 < views.count ? views[depth + 1].widened(range) : range
                        return part.reversed().reduce(wide) { $1.source($0) }
                    }
                }
            }
        }

        /// Removes known secrets from base64 and hex in which `search` does not find them, or only parts of them.
        mutating func searchCodings(_ views: [EscapeView], hasMore: Bool) {
            guard let known = self.vault.known() else { return }
            self.searchCodings(self.text, known, [], hasMore)
            for depth in views.indices {
                views[depth].bytes.withUnsafeBytes { self.searchCodings($0, known, views[...depth], hasMore) }
            }
        }

        private mutating func searchCodings(
            _ bytes: UnsafeRawBufferPointer, _ known: KnownSecrets, _ views: ArraySlice<EscapeView>, _ hasMore: Bool
        ) {
            var text = self.redaction
            text.keepsLengths = self.keepsLengths || self.kind.isBinary
            let secrets = CodedSecrets(text: text, known: known, depth: self.depth)
            let fixed = text.keepsLengths
            let base64 = secrets.replacements(in: bytes, hasMore: hasMore, isOneLine: !views.isEmpty)
            let pairs = secrets.replacementsInPairs(in: bytes) { fixed ? $0.fitted($1) : $0.bytes }
            guard !base64.isEmpty || !pairs.isEmpty else { return }
            let taken = EditList(self.edits)
            for (number, (place, text)) in (base64 + pairs).enumerated() {
                let range = self.source(place, views)
                guard !taken.touches(range), !self.kept.touches(range),
                    self.budget?.spend(work: SearchBudget.costOfSecret) != false
                else { continue }
                // A colon needs no escape in a URL.
                let isPadded = number >= base64.count || self.isPadded(range)
                self.replace(range, with: self.spell().bytes(base64: text, isEscaped: self.isEscaped(range), isPadded: isPadded))
            }
        }

        /// Removes the beginning of a known secret that the end of the text cuts, and the end of one that its beginning cuts.
        mutating func search(_ borders: TextRedaction.Borders) {
            guard let known = self.vault.known() else { return }
            let taken = EditList(self.edits)
            for border in [TextRedaction.Borders.start, .end] where borders.contains(border) {
                let (hit, isCompared) = known.index.piece(in: self.text, atEnd: border == .end)
                if !isCompared { self.vault.note(.rest) }
                guard let hit, !taken.touches(hit.range), !self.kept.touches(hit.range), !Placeholder.covers(hit.range, in: self.text),
                    self.budget?.spend(work: SearchBudget.costOfSecret) != false
                else { continue }
                self.replace(hit, self.text, known.placeholders[hit.secret]) { $0 }
            }
        }

        private mutating func search(
            _ bytes: UnsafeRawBufferPointer, _ known: KnownSecrets, _ source: (Range<Int>) -> Range<Int>
        ) {
            var hits: [NeedleIndex.Hit] = []
            known.index.search(bytes) { hits.append($0) }
            guard !hits.isEmpty, self.budget?.spend(work: hits.count * SearchBudget.costOfPlace) != false else { return }
            hits.sort { ($0.range.lowerBound, -$0.range.upperBound) < ($1.range.lowerBound, -$1.range.upperBound) }
            // A hit within another one is removed together with it.
            var end = 0
            hits.removeAll { hit in
                defer { end = max(end, hit.range.upperBound) }
                return hit.range.upperBound <= end
            }
            if let collected = self.hits {
                let named = EditList(self.edits)
                for hit in hits where !named.touches(source(hit.range)) { collected.add(known.placeholders[hit.secret]) }
            }
            var done = 0
            let isText = self.kind == .plain || self.kind == .fields
            let json = isText && hits.contains { $0.form == .plain } ? JSONNumberText.bounds(of: bytes) : 0..<0
            for hit in hits where self.vault.renumbers || !Placeholder.covers(hit.range, in: bytes) {
                guard self.budget?.spend(work: SearchBudget.costOfSecret) != false else { return }
                switch hit.form {
                case .plain:
                    if isText, let number = JSONNumberText.around(hit.range, in: bytes, bounds: json, isJSON: self.redaction.isJSON) {
                        let range = source(number)
                        self.replace(range, with: self.spell().number(known.placeholders[hit.secret], range.count))
                    } else {
                        self.replace(hit, bytes, known.placeholders[hit.secret], source)
                    }
                case .hex, .wide:
                    let spelled = self.spell().bytes(known.placeholders[hit.secret], in: hit.form, for: bytes[hit.range])
                    self.replace(source(hit.range), with: spelled)
                case .base64(let alignment):
                    guard hit.range.lowerBound >= done else { continue }
                    guard let run = Base64Run(bytes, core: hit.range.lowerBound, alignment: alignment), !self.kind.isBinary else {
                        self.replace(hit, bytes, known.placeholders[hit.secret], source)
                        continue
                    }
                    done = run.range.upperBound
                    self.replace(run, known, bytes, source(run.range))
                }
            }
        }

        private mutating func replace(
            _ hit: NeedleIndex.Hit, _ bytes: UnsafeRawBufferPointer, _ placeholder: Placeholder, _ source: (Range<Int>) -> Range<Int>
        ) {
            var range = source(hit.range)
            if self.vault.renumbers, self.keepsLengths || self.kind.isBinary {
                // What filled the old placeholder up makes room for a longer number. Without room, the old one stays and is reported.
                while range.count < placeholder.bytes.count, range.upperBound < self.text.count, self.text[range.upperBound] == 42 {
                    range = range.lowerBound..<range.upperBound + 1
                }
                guard range.count >= placeholder.bytes.count else { return }
            }
            let bytes = self.spell().bytes(
                placeholder.standing(at: range, in: self.text), range: range, spelling: .plain, isEscaped: self.isEscaped(range))
            self.replace(range, with: bytes)
        }

        private mutating func replace(
            _ run: Base64Run, _ known: KnownSecrets, _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>
        ) {
            var edits: [Edit] = []
            run.content.withUnsafeBytes { content in
                known.index.search(content) { hit in
                    guard self.vault.renumbers || !run.isInPlaceholder(hit.range, in: bytes) else { return }
                    edits.append(Edit(range: hit.range, bytes: known.placeholders[hit.secret].standing(at: hit.range, in: content).bytes))
                }
            }
            guard !edits.isEmpty else { return }
            let text = run.text(with: EditList(edits))
            let bytes = self.spell().bytes(base64: text, isEscaped: self.isEscaped(range), isPadded: self.isPadded(range))
            self.replace(range, with: bytes)
        }
    }
}

/// How placeholders are written into a text so that it remains valid.
struct PlaceholderSpelling {
    private let kind: TextKind
    private let keepsLengths: Bool
    /// For a form: whether its own escapes use lower-case hex digits, and which of a placeholder's special characters it leaves unescaped.
    private var usesLowerCase = false
    private var plainMarks: [UInt8] = []

    init(_ kind: TextKind, in text: UnsafeRawBufferPointer, keepsLengths: Bool = false) {
        self.kind = kind
        self.keepsLengths = keepsLengths || kind == .binary
        guard kind == .form else { return }
        // One spelling for the whole form, because only then can it be shown as fields (see `FormText`).
        self.plainMarks = Array("{}:".utf8).filter { ByteScan.index(of: $0, in: text, from: 0) < text.count }
        var offset = 0
        while offset < text.count - 2 {
            offset = ByteScan.index(of: UInt8(ascii: "%"), in: text, from: offset) + 1
            guard offset < text.count - 1 else { break }
            if text[offset] >= 97 || text[offset + 1] >= 97 { self.usesLowerCase = true }
        }
    }

    /// - Parameters:
    ///   - range: the range that is replaced.
    ///   - isEscaped: whether the range contains percent-encoding.
    func bytes(_ marker: Placeholder, range: Range<Int>, spelling: Finding.Spelling, isEscaped: Bool = false) -> [UInt8] {
        if spelling == .number, self.kind != .binary, self.kind != .form { return self.number(marker, range.count) }
        guard !self.keepsLengths else { return self.fitted(marker, range.count) }
        let placeholder = marker.bytes
        switch self.kind {
        case .form: return self.escaped(placeholder, keeping: self.plainMarks)
        case .plain, .fields, .url, .binary, .field: break
        }
        switch spelling {
        case .number: return self.number(marker, range.count)
        case .base64:
            var text: [UInt8] = []
            placeholder.withUnsafeBytes { Base64.encode($0, into: &text) }
            return text
        case .user: return self.escaped(placeholder, keeping: [])
        case .query where self.kind != .url: return self.escaped(placeholder, keeping: [UInt8(ascii: ":")])
        case .plain, .json, .form, .query, .markup:
            return isEscaped && self.kind != .url ? self.escaped(placeholder, keeping: [UInt8(ascii: ":")]) : placeholder
        }
    }

    /// In the spelling of the secret: in hex with the same letter case, in UTF-16 with zeros.
    func bytes(_ placeholder: Placeholder, in form: Needle.Form, for old: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        guard form == .wide else {
            let isUpper = old.contains { $0 >= 65 && $0 <= 70 }
            let fitted = self.keepsLengths ? self.fitted(placeholder, old.count / 2) : placeholder.bytes
            return Hex.encode(fitted).utf8.map { isUpper && $0 >= 97 ? $0 & ~32 : $0 }
        }
        return NeedleIndex.wide(self.keepsLengths ? self.fitted(placeholder, (old.count + 1) / 2) : placeholder.bytes)
    }

    /// The new base64 for a text in which secrets were replaced.
    ///
    /// - Parameter isPadded: whether the old text ended with unescaped padding. In a URL, padding is escaped otherwise.
    func bytes(base64 text: [UInt8], isEscaped: Bool, isPadded: Bool) -> [UInt8] {
        if self.kind == .form || isEscaped { return self.escaped(text, keeping: []) }
        return self.kind == .url && !isPadded ? self.escaped(text, keeping: Array("+/".utf8)) : text
    }

    /// A JSON number. If the length must not change, blanks follow it, and a short one is 0: JSON allows no leading zeros (RFC 8259, 6).
    func number(_ placeholder: Placeholder, _ count: Int) -> [UInt8] {
        let number = NumberPlaceholder.bytes(placeholder.number)
        guard self.keepsLengths else { return number }
        let fitting = number.count <= count ? number : [UInt8(ascii: "0")]
        return fitting + Array(repeating: 32, count: max(0, count - fitting.count))
    }

    private func fitted(_ placeholder: Placeholder, _ count: Int) -> [UInt8] { placeholder.fitted(count) }

    private func escaped(_ bytes: [UInt8], keeping: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        for byte in bytes {
            let isPlain = FormSpelling.isAlphanumeric(byte) || [45, 46, 95].contains(byte) || keeping.contains(byte)
            guard !isPlain else {
                escaped.append(byte)
                continue
            }
            escaped.append(UInt8(ascii: "%"))
            for digit in [Hex.digit(byte >> 4), Hex.digit(byte & 15)] {
                escaped.append(digit >= 97 && !self.usesLowerCase ? digit & ~32 : digit)
            }
        }
        return escaped
    }
}
