internal import CassetteModel
internal import TapeBytes

/// The bytes of a text, with functions that find where things around an offset begin and end. Not a parser, so that cut and broken texts
/// can be read too.
struct SurveyText {
    let bytes: UnsafeRawBufferPointer
    /// Whether the text continues after these bytes. Anything that reaches their end may then be incomplete.
    let hasMore: Bool
    /// Whether the text is another one with its escapes decoded. It then contains the quotes of that text, and a value must not extend
    /// across one.
    let isView: Bool

    /// The most white space between a name and its value.
    private static let spaceLimit = 64

    /// Nil outside of the text.
    func byte(_ offset: Int) -> UInt8? { offset >= 0 && offset < self.bytes.count ? self.bytes[offset] : nil }

    /// Whether a range is complete, which is unknown at the end of a text that continues.
    func isWhole(_ range: Range<Int>) -> Bool { !self.hasMore || range.upperBound < self.bytes.count }

    /// Whether names can be words at all. In a few MiB of an image or an archive, three bytes resemble one by chance, and no value follows.
    ///
    /// Frames of a protocol have control characters between texts (STOMP 1.2: a NUL after each), or lengths before them, and a text may be
    /// in another charset. So up to a quarter of the first bytes may be control characters, and as many may be outside ASCII unless the
    /// text is UTF-8.
    var isReadable: Bool {
        let head = UnsafeRawBufferPointer(rebasing: self.bytes.prefix(Self.headSize))
        let controls = Self.controls(in: head)
        guard controls > 0 else { return true }
        let highs = head.count { $0 >= 128 }
        // An archive has texts by chance.
        guard controls * 4 <= head.count, OpaqueContent(self.bytes, MediaType(nil)) == nil else { return false }
        var validator = UTF8Validator()
        return highs * 4 <= head.count || validator.firstInvalid(in: head) == nil
    }

    /// How many control characters there are, without white space and escape. Eight bytes at a time, since most texts have none.
    private static func controls(in head: UnsafeRawBufferPointer) -> Int {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var (controls, offset) = (0, 0)
        while offset < head.count {
            let end = min(offset + 8, head.count)
            if end - offset == 8 {
                let word = head.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                // The high bits of bytes below 32; exact as to whether there are any.
                if (word &- ones &* 32) & ~word & highs == 0 {
                    offset = end
                    continue
                }
            }
            for byte in head[offset..<end] where byte < 32 && byte &- 9 > 4 && byte != 27 { controls += 1 }
            offset = end
        }
        return controls
    }

    private static let headSize = 4096

    func skipSpace(_ offset: Int) -> Int {
        var offset = offset
        let end = min(self.bytes.count, offset + Self.spaceLimit)
        while offset < end, self.bytes[offset] <= 32 { offset += 1 }
        return offset
    }

    /// The end of the text before white space.
    func skipSpaceBack(_ offset: Int) -> Int {
        var start = offset
        while start > 0, offset - start < Self.spaceLimit, self.bytes[start - 1] <= 32 { start -= 1 }
        return start
    }

    /// The most comments and bytes of one between a name and its value.
    private static let commentLimit = (count: 4, length: 256)

    /// The offset after comments, as in JSON with comments, and the white space after them. The same offset if none begins there, or one
    /// does not end.
    func skipComments(_ offset: Int) -> Int {
        var offset = offset
        for _ in 0..<Self.commentLimit.count {
            guard self.byte(offset) == UInt8(ascii: "/"), let kind = self.byte(offset + 1),
                kind == UInt8(ascii: "*") || kind == UInt8(ascii: "/")
            else { return offset }
            var end = offset + 2
            let most = min(self.bytes.count, offset + Self.commentLimit.length)
            if kind == UInt8(ascii: "*") {
                while end < most, !(self.bytes[end] == UInt8(ascii: "*") && self.byte(end + 1) == UInt8(ascii: "/")) { end += 1 }
                end += 1
            } else {
                while end < most, self.bytes[end] != 10 { end += 1 }
            }
            guard end < most else { return offset }
            offset = self.skipSpace(end + 1)
        }
        return offset
    }

    func skipBlanks(_ offset: Int) -> Int {
        var offset = offset
        let end = min(self.bytes.count, offset + Self.spaceLimit)
        while offset < end, self.bytes[offset] == 32 || self.bytes[offset] == 9 { offset += 1 }
        return offset
    }

    /// The offset after the anchor and the string tag that may precede a YAML value (YAML 1.2, 6.9).
    func afterNodeProperties(_ start: Int) -> Int {
        var offset = start
        for _ in 0..<2 {
            let isAnchor = self.byte(offset) == UInt8(ascii: "&")
            // Other tags refer to a value by name: `!vault`, `!Ref`.
            let isTag =
                self.byte(offset) == UInt8(ascii: "!") && (self.byte(offset + 1) ?? 32) <= 33 || self.isWord("!<tag:", endingAt: offset + 6)
            guard isAnchor || isTag else { break }
            var end = offset + 1
            while let byte = self.byte(end), byte > 32, end - offset <= SecretNames.lengthLimit { end += 1 }
            guard let next = self.byte(end), next <= 32 else { return start }
            offset = self.skipBlanks(end)
        }
        return offset
    }

    /// The offset after the bracket of `protected]` or `Class:private]`, as PHP prints members.
    func endOfVisibility(_ start: Int) -> Int? {
        var end = start
        while let byte = self.byte(end),
            SecretShape.Alphabet.word.contains(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "\\"),
            end - start <= SecretNames.lengthLimit
        { end += 1 }
        guard end > start, self.byte(end) == UInt8(ascii: "]") else { return nil }
        return end + 1
    }

    /// A password after its scheme, up to the end of the line: `{SSHA}X` (RFC 2307, 5.3).
    func valueAfterScheme(_ start: Int) -> Range<Int>? {
        guard self.byte(start) == UInt8(ascii: "{") else { return nil }
        var end = start + 1
        while let byte = self.byte(end), byte >= 65 && byte <= 90 || byte >= 48 && byte <= 57 || byte == UInt8(ascii: "-"), end - start < 24
        { end += 1 }
        guard end > start + 2, self.byte(end) == UInt8(ascii: "}"), let line = self.restOfLine(end + 1), !line.isEmpty,
            !self.bytes[line].contains(where: { $0 <= 32 || "{}\"'".utf8.contains($0) })
        else { return nil }
        return line
    }

    func isQuote(_ byte: UInt8?) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`")
    }

    func isWord(_ word: StaticString, endingAt end: Int) -> Bool {
        let start = end - word.utf8CodeUnitCount
        return start >= 0 && end <= self.bytes.count
            && (0..<word.utf8CodeUnitCount).allSatisfy {
                // An underscore has no other case.
                self.bytes[start + $0] | 32 == word.utf8Start[$0] || self.bytes[start + $0] == word.utf8Start[$0]
            }
    }

    /// Whether the text begins like XML or HTML.
    var isMarkup: Bool { self.bytes.first { $0 > 32 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF } == UInt8(ascii: "<") }

    /// Whether a markup text is HTML.
    var isHTML: Bool {
        guard let first = self.bytes.firstIndex(of: UInt8(ascii: "<")) else { return false }
        return ["<!doctype html", "<html"].contains { (word: StaticString) in self.isWord(word, endingAt: first + word.utf8CodeUnitCount) }
    }

    /// The beginning of the name that ends at an offset.
    func startOfName(_ end: Int) -> Int {
        var start = end
        while start > 0, end - start <= SecretNames.lengthLimit {
            let byte = self.bytes[start - 1]
            guard
                FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
                    || byte >= 128
            else { break }
            start -= 1
        }
        return start
    }

    /// Whether the byte may directly precede a name: white space, characters that open or separate lists, the prefix of a variable, or a
    /// quote if the name is in a text of its own. If the name has a prefix, this is the prefix's colon.
    func mayPrecedeName(_ offset: Int) -> Bool {
        guard let byte = self.byte(offset) else { return true }
        let before = self.byte(offset - 1)
        switch byte {
        // The colon of a prefix, or that of npm's `//host/:_authToken`.
        case UInt8(ascii: ":"): return before.map { FormSpelling.isAlphanumeric($0) || $0 == UInt8(ascii: "/") } ?? false
        // The last part of a dotted key in TOML: `a."name"`, `"a"."name"`. Before a name without quotes, the dot belongs to the name.
        case UInt8(ascii: "."): return before.map { FormSpelling.isAlphanumeric($0) || self.isQuote($0) } ?? false
        // `/password:X`, an option of Windows.
        case UInt8(ascii: "/"): return before == 32
        // `->name` in PHP.
        case UInt8(ascii: ">"): return before == UInt8(ascii: "-")
        // A line that a diff adds. A hyphen counts as part of the name.
        case UInt8(ascii: "+"): return before.map { $0 == 10 || $0 == 13 } ?? true
        default: return byte <= 32 || self.isQuote(byte) || "{([,;|=@$".utf8.contains(byte)
        }
    }

    /// The same for a name that may be a symbol: `:name => "value"`.
    func mayPrecedeSymbol(_ offset: Int) -> Bool {
        guard self.byte(offset) == UInt8(ascii: ":") else { return self.mayPrecedeName(offset) }
        return self.byte(offset - 1).map { $0 <= 32 || self.isQuote($0) || "{([,".utf8.contains($0) } ?? true
    }

    /// Whether the byte may directly precede an item of a query or form.
    ///
    /// - Parameter isURL: whether the text is a single URL, in which semicolons also separate parameters (RFC 3986, 3.3).
    func mayPrecedeItem(_ offset: Int, inForm isForm: Bool, inURL isURL: Bool = false) -> Bool {
        switch self.bytes[offset] {
        case UInt8(ascii: "&"), UInt8(ascii: "?"): true
        case UInt8(ascii: "#"): !isForm
        // The separator of old forms (HTML 4.01, B.2.2).
        case UInt8(ascii: ";") where isForm || isURL: true
        // `&amp;` in HTML.
        case UInt8(ascii: ";"): offset >= 4 && self.bytes[offset - 4] == UInt8(ascii: "&") && self.bytes[offset - 1] == UInt8(ascii: "p")
        default: false
        }
    }

    /// Whether the byte ends an item of a query or form.
    func endsItem(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "\\"), UInt8(ascii: "`"), UInt8(ascii: ")"), 0...32:
            true
        default: false
        }
    }

    func endsBareValue(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...32, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "&"),
            UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "\\"), UInt8(ascii: "|"):
            true
        default: false
        }
    }

    /// The closing quote, or the end of a text that was cut within the string.
    func endOfString(_ start: Int) -> Int? {
        var offset = start
        let most = min(self.bytes.count, start + NamedValue.limit)
        while offset < most {
            if self.bytes[offset] == UInt8(ascii: "\"") { return offset }
            offset += self.bytes[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        return most == self.bytes.count && !self.hasMore ? most : nil
    }

    private func endOfShortString(_ start: Int) -> Int? {
        let most = min(self.bytes.count, start + Self.betweenLength)
        return (start..<most).first { self.bytes[$0] == UInt8(ascii: "\"") }
    }

    /// Whether only white space, a YAML dash, a mark of a diff, a quotation mark of mail or `export` precedes a name on its line.
    func beginsLine(_ start: Int) -> Bool {
        var offset = start
        if offset >= 7, self.isWord("export", endingAt: offset - 1) { offset -= 7 }
        let least = max(0, offset - Self.spaceLimit)
        while offset > least {
            switch self.bytes[offset - 1] {
            case 10, 13: return true
            case 32, 9, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: ">"), UInt8(ascii: "<"), UInt8(ascii: "#"), 0xEF, 0xBB, 0xBF:
                offset -= 1
            default: return false
            }
        }
        return offset == 0
    }

    /// The offset of the next line's first word, if nothing but a backslash is left of this line, as in properties of Java.
    func continued(_ start: Int) -> Int? {
        guard self.byte(start) == UInt8(ascii: "\\") else { return nil }
        let feed = self.byte(start + 1) == 13 ? start + 2 : start + 1
        return self.byte(feed) == 10 ? self.skipBlanks(feed + 1) : nil
    }

    /// The most lines of such a text.
    private static let heredocLimit = 128

    /// The text between `<<NAME` (or `<<-NAME`, `<<~NAME`) and a line that is NAME, without white space at its ends.
    func heredoc(_ start: Int) -> Range<Int>? {
        guard self.isWord("<<", endingAt: start + 2) else { return nil }
        var name = start + 2
        while let byte = self.byte(name), "-~\"'".utf8.contains(byte), name - start < 5 { name += 1 }
        var end = name
        while let byte = self.byte(end), FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "_"), end - name < 32 { end += 1 }
        guard end > name, let rest = self.restOfLine(end), rest.count <= 1 else { return nil }
        let word = self.bytes[name..<end]
        let first = ByteScan.index(of: 10, in: self.bytes, from: end) + 1
        var line = first
        for _ in 0..<Self.heredocLimit where line < self.bytes.count && line - first < NamedValue.limit {
            let text = self.skipBlanks(line)
            if self.bytes[text...].starts(with: word), self.byte(text + word.count).map({ $0 <= 32 }) ?? true {
                let range = self.trimmed(first..<line)
                return range.isEmpty ? nil : range
            }
            line = ByteScan.index(of: 10, in: self.bytes, from: line) + 1
        }
        return nil
    }

    /// The rest of the line, without trailing white space; nil if it is longer than a secret, or incomplete.
    func restOfLine(_ start: Int) -> Range<Int>? {
        var end = start
        let most = min(self.bytes.count, start + NamedValue.limit)
        while end < most, self.bytes[end] != 10, self.bytes[end] != 13 { end += 1 }
        guard end < most || end == self.bytes.count && !self.hasMore else { return nil }
        while end > start, self.bytes[end - 1] <= 32 { end -= 1 }
        return start..<end
    }

    /// A range without the white space at its ends.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self.bytes[start] <= 32 { start += 1 }
        while end > start, self.bytes[end - 1] <= 32 { end -= 1 }
        return start..<end
    }

    /// The value of a header field in an argument of its own: `-H "name: value"`.
    ///
    /// - Parameter start: the beginning of the name.
    func headerInQuotes(_ start: Int, _ value: Int) -> Range<Int>? {
        guard start > 2, let quote = self.byte(start - 1), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        let before = self.skipSpaceBack(start - 1)
        guard
            self.isWord("-H", endingAt: before) || self.isWord("-h", endingAt: before) || self.isWord("header", endingAt: before)
                || self.byte(before - 1) == UInt8(ascii: "=") && self.isWord("header", endingAt: before - 1)
        else { return nil }
        var end = value
        let most = min(self.bytes.count, value + 4096)
        while end < most, self.bytes[end] != quote, self.bytes[end] != 10, self.bytes[end] != UInt8(ascii: "\\") { end += 1 }
        guard end < most, end > value else { return nil }
        return value..<end
    }

    /// The value of a line in a string of its own, `"name: value"`, which must be one word with a digit.
    ///
    /// - Parameter start: the beginning of the name.
    func lineInQuotes(_ start: Int, _ value: Int) -> Range<Int>? {
        guard let quote = self.byte(start - 1), self.isQuote(quote), self.byte(start - 2) != UInt8(ascii: "=") else { return nil }
        var end = value
        let most = min(self.bytes.count, value + 4096)
        while end < most, self.bytes[end] != quote, self.bytes[end] > 32, self.bytes[end] != UInt8(ascii: "\\") { end += 1 }
        guard end < most, self.bytes[end] == quote || self.bytes[end] == UInt8(ascii: "\\") || self.bytes[end] == 10,
            end - value >= NeedleIndex.lengthLimit, self.bytes[value..<end].contains(where: { $0 >= 48 && $0 <= 57 }),
            !"[]{}&*!|>%@`<$\"'\\(,;#~".utf8.contains(self.bytes[value]), !self.bytes[value..<end].contains(UInt8(ascii: "(")),
            !NamedValue.isPathOfNames(self.bytes[value..<end])
        else { return nil }
        return value..<end
    }

    /// The longest value in a connection string, in bytes.
    static let connectionValueLimit = 512

    /// Whether the byte ends a value in a connection string.
    func endsConnectionValue(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<32, UInt8(ascii: ";"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "\\"), UInt8(ascii: "`"), UInt8(ascii: "&"):
            true
        default: false
        }
    }

    /// The value of an item of a connection string: `Server=h;Password=X;`.
    ///
    /// - Parameters:
    ///   - start: the beginning of the name.
    ///   - value: the offset right after the equals sign.
    ///   - last: the end of the value (`endsConnectionValue`), or `connectionValueLimit` bytes after its beginning.
    func valueInConnectionString(_ start: Int, _ value: Int, endingAt last: Int) -> Range<Int>? {
        var end = last
        guard end < value + Self.connectionValueLimit || end == self.bytes.count, end > value else { return nil }
        if self.byte(self.skipBlanksBack(start) - 1) == UInt8(ascii: ";") {
            // An item precedes it.
            let semicolon = self.skipBlanksBack(start) - 1
            var item = semicolon - 1
            while item >= 0, semicolon - item < 256, self.bytes[item] >= 32, !";\"'<>{}()".utf8.contains(self.bytes[item]) {
                if self.bytes[item] == UInt8(ascii: "=") { break }
                item -= 1
            }
            guard item > 0, self.bytes[item] == UInt8(ascii: "="), FormSpelling.isAlphanumeric(self.bytes[item - 1]) else { return nil }
        } else {
            // An item follows it: `Password=X;Server=h`.
            guard self.byte(end) == UInt8(ascii: ";") else { return nil }
            var name = self.skipBlanks(end + 1)
            let first = name
            while let byte = self.byte(name), FormSpelling.isAlphanumeric(byte) || byte == 32 || byte == UInt8(ascii: "_"),
                name - first < 48
            {
                name += 1
            }
            guard name > first, self.byte(name) == UInt8(ascii: "="), self.byte(name + 1) != UInt8(ascii: "=") else { return nil }
        }
        // If this is the last item, it may end at a blank within the line.
        if self.byte(end) != UInt8(ascii: ";"), let blank = (value..<end).first(where: { self.bytes[$0] == 32 }) { end = blank }
        // `{a.pwd=1;b.pwd=x2}` in a program.
        let closes = self.bytes[end - 1] == UInt8(ascii: "}") && !self.bytes[value..<end].contains(UInt8(ascii: "{"))
        if end > value, closes || self.byte(start - 1) == UInt8(ascii: "."), NamedValue.isExpression(self.bytes[value..<end]) { return nil }
        // `token=tokens.next;` and `token=make(…);` are code.
        guard end > value, !NamedValue.isPathOfNames(self.bytes[value..<end]),
            !(value..<end).contains(where: { self.bytes[$0] == UInt8(ascii: "(") || self.bytes[$0] == UInt8(ascii: "[") })
        else { return nil }
        return value..<end
    }

    private func skipBlanksBack(_ offset: Int) -> Int {
        var start = offset
        while start > 0, offset - start < 16, self.bytes[start - 1] == 32 || self.bytes[start - 1] == 9 { start -= 1 }
        return start
    }

    /// The beginning of the quoted name of the member whose value begins at an offset; nil if it has another name.
    func keyOfMember(valueAt offset: Int, _ names: [StaticString]) -> Int? {
        let colon = self.skipSpaceBack(offset)
        guard self.byte(colon - 1) == UInt8(ascii: ":") else { return nil }
        let quote = self.skipSpaceBack(colon - 1) - 1
        guard self.byte(quote) == UInt8(ascii: "\"") else { return nil }
        for name in names where self.isWord(name, endingAt: quote) && self.byte(quote - name.utf8CodeUnitCount - 1) == UInt8(ascii: "\"") {
            return quote - name.utf8CodeUnitCount - 1
        }
        return nil
    }

    /// The most short members between a name and its value.
    private static let betweenLimit = 3
    private static let betweenLength = 64

    /// Members whose strings are values of names next to them.
    private static let valueMembers: [StaticString] = [
        "value", "newvalue", "new_value", "val", "v", "content", "data", "text", "parametervalue",
    ]

    /// Whether a name is that of values, in a list or alone.
    func isOfValues(_ name: Range<Int>) -> Bool {
        (Self.valueMembers + ["values", "vals"]).contains {
            name.count == $0.utf8CodeUnitCount && self.isWord($0, endingAt: name.upperBound)
        }
    }

    /// The bracket of the list or object under a name of values among the following members of an object.
    func valuesAfter(_ start: Int) -> Int? {
        var comma = self.skipSpace(start)
        for _ in 0...Self.betweenLimit {
            guard self.byte(comma) == UInt8(ascii: ",") else { return nil }
            let quote = self.skipSpace(comma + 1)
            guard self.byte(quote) == UInt8(ascii: "\""), let end = self.endOfShortString(quote + 1) else { return nil }
            let colon = self.skipSpace(end + 1)
            guard self.byte(colon) == UInt8(ascii: ":") else { return nil }
            let value = self.skipSpace(colon + 1)
            switch self.byte(value) {
            case UInt8(ascii: "["), UInt8(ascii: "{"): return self.isOfValues(quote + 1..<end) ? value : nil
            case UInt8(ascii: "\""):
                guard let close = self.endOfShortString(value + 1) else { return nil }
                comma = self.skipSpace(close + 1)
            default:
                var last = value
                while last < self.bytes.count, last - value < Self.betweenLength, FormSpelling.isAlphanumeric(self.bytes[last]) {
                    last += 1
                }
                comma = self.skipSpace(last)
            }
        }
        return nil
    }

    /// The string of the member `value` among the following members of an object.
    func valueAfter(_ start: Int) -> Range<Int>? {
        var comma = self.skipSpace(start)
        for _ in 0...Self.betweenLimit {
            guard self.byte(comma) == UInt8(ascii: ",") else { return nil }
            let quote = self.skipSpace(comma + 1)
            guard self.byte(quote) == UInt8(ascii: "\""), let end = self.endOfShortString(quote + 1) else { return nil }
            let colon = self.skipSpace(end + 1)
            guard self.byte(colon) == UInt8(ascii: ":") else { return nil }
            let value = self.skipSpace(colon + 1)
            if Self.valueMembers.contains(where: { end - quote - 1 == $0.utf8CodeUnitCount && self.isWord($0, endingAt: end) }) {
                guard self.byte(value) == UInt8(ascii: "\""), let close = self.endOfString(value + 1) else { return nil }
                return value + 1..<close
            }
            switch self.byte(value) {
            case UInt8(ascii: "\""):
                guard let close = self.endOfShortString(value + 1) else { return nil }
                comma = self.skipSpace(close + 1)
            case UInt8(ascii: "{"), UInt8(ascii: "["), nil: return nil
            default:
                var last = value
                while last < self.bytes.count, last - value < Self.betweenLength, FormSpelling.isAlphanumeric(self.bytes[last]) {
                    last += 1
                }
                comma = self.skipSpace(last)
            }
        }
        return nil
    }

    /// The string of the member `value` among the members before a member's name.
    func valueBefore(_ key: Int) -> Range<Int>? {
        var key = key
        for _ in 0...Self.betweenLimit {
            let comma = self.skipSpaceBack(key) - 1
            guard self.byte(comma) == UInt8(ascii: ",") else { return nil }
            let close = self.skipSpaceBack(comma) - 1
            guard let last = self.byte(close) else { return nil }
            var open = close
            if last == UInt8(ascii: "\"") {
                guard let start = self.startOfString(close) else { return nil }
                if self.keyOfMember(valueAt: start, Self.valueMembers) != nil { return start + 1..<close }
                guard close - start <= Self.betweenLength else { return nil }
                open = start
            } else {
                while open > 0, close - open < Self.betweenLength, FormSpelling.isAlphanumeric(self.bytes[open - 1]) { open -= 1 }
            }
            let colon = self.skipSpaceBack(open) - 1
            guard self.byte(colon) == UInt8(ascii: ":") else { return nil }
            let quote = self.skipSpaceBack(colon) - 1
            guard self.byte(quote) == UInt8(ascii: "\""), let name = self.startOfString(quote), quote - name <= Self.betweenLength else {
                return nil
            }
            key = name
        }
        return nil
    }

    /// The opening quote of the string with this closing quote.
    private func startOfString(_ close: Int) -> Int? {
        var open = close - 1
        while open >= 0, close - open <= NamedValue.limit {
            if self.bytes[open] == UInt8(ascii: "\"") {
                var slashes = 0
                while self.byte(open - slashes - 1) == UInt8(ascii: "\\") { slashes += 1 }
                if slashes % 2 == 0 { return open }
                open -= slashes
            }
            open -= 1
        }
        return nil
    }

    /// The secret in a name's value; nil if it contains none, or if the value may continue.
    func finding(_ range: Range<Int>, _ meaning: SecretNames.Meaning, _ spelling: Finding.Spelling) -> Finding? {
        guard self.isWhole(range), var finding = NamedValue.finding(in: self.bytes, range, meaning, spelling) else { return nil }
        finding.isPlaceOnly = NamedValue.isLocation(self.bytes[range])
        return finding
    }
}
