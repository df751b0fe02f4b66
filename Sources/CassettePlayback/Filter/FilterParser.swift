internal import CassetteModel
package import TapeBytes

/// Parses mitmproxy's filter language: conditions such as `~m POST`, then `!`, `&` and `|` in order of precedence, and parentheses.
/// Adjacent conditions must all hold, and bind weakest. A bare regular expression is searched for in the URL.
///
/// Differs from mitmproxy in two pitfalls: in quotes, a backslash is kept unless it escapes the quote, and an operator at the end of a word
/// is an operator.
package struct FilterParser {
    /// Limit on nested parentheses and exclamation marks; people write three.
    private static let depthLimit = 100
    /// Limit on conditions, which are nested in the expression; people write five.
    private static let conditionLimit = 1000

    /// Characters of a long text in an error.
    private static let shownLimit = 160

    private let text: String
    private let setting: String
    private let characters: [Character]
    private var offset = 0
    private var depth = 0
    private var conditions = 0
    /// Conditions that are words alone, which are searched for in the URL.
    private var words: [String] = []

    /// - Parameter setting: the name of the option or setting that holds the text, for errors.
    package static func parse(_ text: String, setting: String = "--filter") throws(SettingSyntaxError) -> FilterExpression {
        var parser = FilterParser(text, setting)
        return try parser.all()
    }

    /// What to add to the message that nothing matches; nil if each word in a filter has a condition before it.
    ///
    /// A word alone is searched for in the URL, as in mitmproxy. Whoever writes `get` or `text/html` often means something else.
    package static func hint(_ text: String) -> String? {
        var parser = FilterParser(text, "")
        guard (try? parser.all()) != nil, let word = parser.words.first else { return nil }
        let shown = PlainText.escape(word.utf8, limit: 40)
        let instead =
            ["get", "head", "post", "put", "patch", "delete", "options"].contains(word.lowercased())
            ? "~m \(word.uppercased()) is the method" : "~m GET is the method, ~d the host and ~b the body"
        return "\"\(shown)\" is searched for in URLs: \(instead)"
    }

    private init(_ text: String, _ setting: String) {
        self.text = text
        self.setting = setting
        self.characters = Array(text)
    }

    // MARK: Grammar

    private mutating func all() throws(SettingSyntaxError) -> FilterExpression {
        let expression = try self.sequence()
        if self.peek() == ")" { throw self.error(self.offset, "there is no \"(\" for this \")\": remove it, or add one") }
        return expression
    }

    private mutating func sequence() throws(SettingSyntaxError) -> FilterExpression {
        var expression = try self.alternatives()
        while let next = self.peek(), next != ")" { expression = .and(expression, try self.alternatives()) }
        return expression
    }

    private mutating func alternatives() throws(SettingSyntaxError) -> FilterExpression {
        var expression = try self.conjunction()
        while self.take("|") { expression = .or(expression, try self.conjunction()) }
        return expression
    }

    private mutating func conjunction() throws(SettingSyntaxError) -> FilterExpression {
        var expression = try self.negation()
        while self.take("&") { expression = .and(expression, try self.negation()) }
        return expression
    }

    private mutating func negation() throws(SettingSyntaxError) -> FilterExpression {
        self.depth += 1
        defer { self.depth -= 1 }
        guard self.depth <= Self.depthLimit else { throw self.error(self.offset, "this is nested too deeply: simplify it") }
        if self.take("!") { return .not(try self.negation()) }
        let start = self.offset
        guard self.take("(") else { return try self.condition() }
        let expression = try self.sequence()
        guard self.take(")") else { throw self.error(start, "this \"(\" is not closed: add a \")\"") }
        return expression
    }

    private mutating func condition() throws(SettingSyntaxError) -> FilterExpression {
        guard let next = self.peek() else { throw self.error(self.offset, "a condition is missing: write one, for example \"~m POST\"") }
        let start = self.offset
        self.conditions += 1
        guard self.conditions <= Self.conditionLimit else {
            throw self.error(start, "there are more than \(Self.conditionLimit) conditions: write one pattern, for example \"~u a|b\"")
        }
        switch next {
        case "~": break
        case "&", "|", ")": throw self.error(start, "a condition is missing before \"\(next)\": write one, for example \"~m POST\"")
        default:
            let pattern = try self.pattern(for: .url)
            // Other languages join conditions with these. In quotes, and after ~u, they are searched for.
            if next != "\"", next != "'", let meant = Self.joining[pattern.source.lowercased()] {
                throw self.error(
                    start,
                    "\"\(pattern.source)\" alone would be searched for in URLs: write \(meant), or ~u \(pattern.source) to search for it")
            }
            self.words.append(pattern.source)
            return .pattern(.url, pattern)
        }
        self.offset += 1
        let letters = self.takeWhile { $0.isLetter || $0.isNumber }
        guard let term = FilterTerm(rawValue: letters) else {
            throw self.error(start, "there is no condition \"~\(Self.shown(letters))\": use one of \(FilterTerm.known)")
        }
        switch term.argument {
        case .none: return .flag(term)
        case .pattern: return .pattern(term, try self.pattern(for: term))
        case .grpc:
            _ = self.peek()
            let place = self.offset
            let word = self.word()
            guard let status = GRPCStatus(word) else {
                let what = word.isEmpty ? "needs a gRPC status" : "does not know the status \"\(Self.shown(word))\""
                throw self.error(place, "\"~\(term.rawValue)\" \(what): write one of \(GRPCStatus.known)")
            }
            return .grpc(status)
        case .version:
            _ = self.peek()
            let place = self.offset
            let word = self.word()
            guard let version = Self.version(word) else {
                throw self.error(place, "\"~\(term.rawValue)\" needs an HTTP version: 1.0, 1.1 or 2")
            }
            return .version(version)
        case .number:
            _ = self.peek()
            let place = self.offset
            guard let number = Int(self.takeWhile { $0.isASCII && $0.isNumber }) else {
                throw self.error(place, "\"~\(term.rawValue)\" needs a status, for example \"~\(term.rawValue) 404\"")
            }
            // Without this, "~c 5xx" would be the status 5 and "xx" in the URL, which matches nothing.
            if self.offset < self.characters.count, !Self.endsNumber(self.characters[self.offset]) {
                throw self.error(
                    place,
                    "\"~\(term.rawValue)\" takes one whole status: write \"~\(term.rawValue) 404 | ~\(term.rawValue) 500\" for several")
            }
            return .status(number)
        }
    }

    private static func endsNumber(_ character: Character) -> Bool { character.isWhitespace || "()~&|!\"'".contains(character) }

    private static let joining = [
        "and": "&", "or": "|", "not": "!", "=": "~m GET for the method", "==": "~m GET for the method",
    ]

    /// `2`, `1.1` or `HTTP/2`
    private static func version(_ word: String) -> HTTPVersion? {
        let number = word.lowercased().hasPrefix("http/") ? word.dropFirst("http/".count) : word[...]
        switch number {
        case "1.0": return .http10
        case "1.1", "1": return .http11
        case "2", "2.0": return .http2
        default: return nil
        }
    }

    // MARK: Words

    private mutating func pattern(for term: FilterTerm) throws(SettingSyntaxError) -> FilterPattern {
        let next = self.peek()
        let start = self.offset
        let source: String
        if let next, next == "\"" || next == "'" {
            source = try self.quoted(next)
        } else {
            source = self.word()
            // Parentheses group conditions: without this, "~u /(a|b)" would be "/" and "a" or "b", anywhere in the URL.
            let isNext = self.offset < self.characters.count && self.characters[self.offset] == "("
            if isNext, !source.isEmpty || self.offset == start {
                throw self.error(
                    self.offset,
                    "put a regular expression with parentheses or spaces in quotes: ~\(term.rawValue) \"\(source.isEmpty ? "" : Self.shown(source))(a|b)\""
                )
            }
        }
        guard !source.isEmpty || self.offset > start else {
            throw self.error(start, "\"~\(term.rawValue)\" needs a regular expression, for example \"~\(term.rawValue) pets\"")
        }
        let kind: FilterPattern.Kind =
            switch term {
            case .header, .requestHeader, .responseHeader: .lines
            case .body, .requestBody, .responseBody: .body
            default: .plain
            }
        do {
            return try FilterPattern(source, kind)
        } catch {
            throw self.error(start, error.message)
        }
    }

    private mutating func quoted(_ quote: Character) throws(SettingSyntaxError) -> String {
        let start = self.offset
        self.offset += 1
        var source = ""
        while self.offset < self.characters.count {
            let character = self.characters[self.offset]
            self.offset += 1
            if character == quote { return source }
            if character == "\\", self.offset < self.characters.count {
                if self.characters[self.offset] != quote { source.append(character) }
                source.append(self.characters[self.offset])
                self.offset += 1
            } else {
                source.append(character)
            }
        }
        throw self.error(start, "this quote is not closed: add a \(quote)")
    }

    private mutating func word() -> String {
        var word = self.takeWhile { !$0.isWhitespace && !"()~'\"".contains($0) }
        while let last = word.last, "&|!".contains(last) {
            word.removeLast()
            self.offset -= 1
        }
        return word
    }

    /// The next character that is not white space, without consuming it.
    private mutating func peek() -> Character? {
        while self.offset < self.characters.count, self.characters[self.offset].isWhitespace { self.offset += 1 }
        return self.offset < self.characters.count ? self.characters[self.offset] : nil
    }

    private mutating func take(_ character: Character) -> Bool {
        guard self.peek() == character else { return false }
        self.offset += 1
        return true
    }

    private mutating func takeWhile(_ condition: (Character) -> Bool) -> String {
        let start = self.offset
        while self.offset < self.characters.count, condition(self.characters[self.offset]) { self.offset += 1 }
        return String(self.characters[start..<self.offset])
    }

    /// - Parameter position: how many characters precede the error.
    private func error(_ position: Int, _ reason: String) -> SettingSyntaxError {
        SettingSyntaxError("\(self.setting) \"\(self.around(position))\", character \(position + 1): \(reason)")
    }

    /// The text, or of a long one what is before and after a position.
    private func around(_ position: Int) -> String {
        guard self.characters.count > Self.shownLimit else { return self.text }
        let start = max(0, min(position - Self.shownLimit / 2, self.characters.count - Self.shownLimit))
        let end = start + Self.shownLimit
        return (start > 0 ? "…" : "") + String(self.characters[start..<end]) + (end < self.characters.count ? "…" : "")
    }

    private static func shown(_ word: String) -> String { word.count > 40 ? word.prefix(40) + "…" : word }
}
