internal import CassetteModel
internal import TapeBytes

/// The names of the placeholders that an import has filled in, in all of its files.
final class PlaceholderUse {
    var names: Set<String> = []
}

/// Placeholders with which recorders of the VCR family replace secrets and addresses, and the values to fill in.
///
/// A placeholder is `<NAME>`, as is customary with VCR's `filter_sensitive_data`, `<%= NAME %>` of ERB, `{NAME}`, `{{NAME}}` of Postman, or
/// a name between other marks that people choose. Blanks next to the marks do not count. What is filled in and what is reported are read in
/// the same way, so that a reported name can be given a value.
struct Placeholders {
    /// By the names without marks.
    private let values: [String: String]
    private let marks: [Mark]
    private let use: PlaceholderUse

    /// - Parameter hasSingleBraces: whether `{NAME}` is one, too. In collections of Postman it is plain text.
    init(_ values: [String: String], use: PlaceholderUse, hasSingleBraces: Bool = false) {
        self.values = values
        self.use = use
        self.marks = Mark.all.filter { hasSingleBraces || $0.close != [UInt8(ascii: "}")] }
    }

    /// With further values for names that have none yet.
    func adding(_ others: [String: String]) -> Placeholders {
        Placeholders(self.values.merging(others) { own, _ in own }, use: self.use)
    }

    var isEmpty: Bool { self.values.isEmpty }

    /// The text with all placeholders filled whose values are known.
    func filled(_ text: [UInt8]) -> [UInt8] {
        guard !self.isEmpty, text.contains(where: Mark.isFirst) else { return text }
        var filled: [UInt8] = []
        var position = 0
        while position < text.count {
            if Mark.isFirst(text[position]), let (name, value, count) = self.value(at: position, of: text) {
                filled += value.utf8
                self.use.names.insert(name)
                position += count
            } else {
                filled.append(text[position])
                position += 1
            }
        }
        return filled
    }

    /// The name and value of the placeholder at a position, and its length in bytes; nil if there is none with a known value.
    private func value(at position: Int, of text: [UInt8]) -> (name: String, value: String, count: Int)? {
        for mark in self.marks {
            guard let found = mark.inner(at: position, of: text) else { continue }
            for name in Mark.names(found.inner) {
                if let value = self.values[name] { return (name, value, found.count) }
            }
        }
        return nil
    }

    func filled(_ text: String) -> String { String(decoding: self.filled(Array(text.utf8)), as: UTF8.self) }

    /// The value with its texts filled.
    func filled(_ value: SourceValue) -> SourceValue {
        guard !self.isEmpty else { return value }
        var value = value
        switch value.content {
        case .text(let text): value.content = .text(self.filled(text))
        case .word(let text): value.content = .word(self.filled(text))
        case .bytes(let bytes): value.content = .bytes(self.filled(bytes))
        case .list(let list): value.content = .list(list.map { self.filled($0) })
        case .members(let members): value.content = .members(members.map { .init(name: $0.name, value: self.filled($0.value)) })
        case .nothing, .bool: break
        }
        return value
    }

    /// The fields with their placeholders filled.
    func filled(_ fields: HeaderFields) -> HeaderFields {
        guard !self.isEmpty, fields.bytes.contains(where: Mark.isFirst) else { return fields }
        var filled = HeaderFields()
        for index in 0..<fields.count { filled.append(line: self.filled(Array(fields.line(at: index)))) }
        return filled
    }

    // MARK: Finding them

    /// The names of the placeholders in a URL.
    static func names(inURL url: String) -> [String] {
        self.names(in: Array(self.address(of: url).utf8), areIn: .address) + self.names(in: Array(url.utf8), areIn: .url)
    }

    /// Whether the scheme or authority of a URL has a placeholder, so that the request's destination is unknown.
    static func isInAddress(of url: String) -> Bool { !self.names(in: Array(self.address(of: url).utf8), areIn: .address).isEmpty }

    /// Scheme and authority, or what stands in their place.
    private static func address(of url: String) -> String {
        guard let end = url.firstRange(of: "://") else { return String(url.prefix { $0 != "/" && $0 != "?" && $0 != "#" }) }
        return String(url[..<end.upperBound]) + url[end.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    }

    /// The names of the placeholders in a body or a field. There, only names in capitals count, so that tags are not mistaken for
    /// placeholders.
    ///
    /// - Parameter isMarkup: whether brackets are normal in the text; a name must then have an underscore.
    static func names(in text: [UInt8], isMarkup: Bool) -> [String] { self.names(in: text, areIn: isMarkup ? .markup : .text) }

    fileprivate enum Place { case address, url, text, markup }

    private static func names(in text: [UInt8], areIn place: Place) -> [String] {
        let marks = Mark.all.filter { $0.counts(in: place) }
        var isFirst = [Bool](repeating: false, count: 256)
        for mark in marks { isFirst[Int(mark.open[0])] = true }
        var found: [String] = []
        for start in text.indices where isFirst[Int(text[start])] {
            for mark in marks {
                guard let name = mark.inner(at: start, of: text).flatMap({ Mark.names($0.inner).first }), self.isName(name, place),
                    // An address of IPv6.
                    mark.open[0] != UInt8(ascii: "[") || !name.contains(":")
                else { continue }
                // A name with a closing tag is an XML element.
                let isElement = place != .url && place != .address && self.contains(text, Array("</\(name)".utf8))
                if !isElement, !found.contains(name) { found.append(name) }
                break
            }
        }
        return found
    }

    private static func isName(_ name: String, _ place: Place) -> Bool {
        let isURL = place == .url || place == .address
        guard let first = name.utf8.first, (first | 32) >= UInt8(ascii: "a"),
            (first | 32) <= UInt8(ascii: "z") || first == UInt8(ascii: "_")
        else {
            return false
        }
        func isAllowed(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), 32:
                true
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: ":"): isURL
            default: false
            }
        }
        guard name.utf8.allSatisfy(isAllowed) else { return false }
        // Our own placeholders of secrets, such as `token:1`, which an exported recording has.
        let kind = name.prefix { $0.isLowercase || $0 == "-" }
        let number = name.dropFirst(kind.count + 1)
        if name.dropFirst(kind.count).first == ":", !number.isEmpty, number.allSatisfy(\.isNumber) { return false }
        return isURL || name.utf8.count >= 3 && (place == .text || name.contains("_"))
    }

    private static func contains(_ text: [UInt8], _ word: [UInt8]) -> Bool {
        text.indices.contains { text[$0] == word[0] && text[$0...].starts(with: word) }
    }
}

/// What stands before and after the name of a placeholder.
private struct Mark {
    /// The most bytes between the marks.
    private static let innerLimit = 128

    let open: [UInt8]
    /// Empty if the name ends with its last letter, digit or underscore.
    let close: [UInt8]

    private init(_ open: String, _ close: String) {
        self.open = Array(open.utf8)
        self.close = Array(close.utf8)
    }

    /// Longer ones first.
    static let all: [Mark] = [
        Mark("<%=", "%>"), Mark("<%", "%>"), Mark("<<", ">>"), Mark("<!", "!>"), Mark("<", ">"), Mark("%7B%7B", "%7D%7D"),
        Mark("%7b%7b", "%7d%7d"), Mark("%3C", "%3E"), Mark("%3c", "%3e"), Mark("«", "»"), Mark("%C2%AB", "%C2%BB"), Mark("{{", "}}"),
        Mark("%{", "}"), Mark("${", "}"), Mark("{", "}"), Mark("[", "]"), Mark("__", "__"), Mark("$", ""),
    ]

    static func isFirst(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "%"), UInt8(ascii: "$"), UInt8(ascii: "["), UInt8(ascii: "_"), 0xC2: true
        default: false
        }
    }

    /// Whether these marks are unusual in such a text.
    func counts(in place: Placeholders.Place) -> Bool {
        switch place {
        case .address: true
        // `[`, `_` and `$` are usual in queries, as in `filter[name]` and `$top`.
        case .url: ![UInt8(ascii: "["), UInt8(ascii: "_")].contains(self.open[0]) && !self.close.isEmpty
        case .text, .markup: self.open[0] == UInt8(ascii: "<") && self.open != Array("<!".utf8)
        }
    }

    /// What stands between the marks, and the length of both with their content.
    func inner(at position: Int, of text: [UInt8]) -> (inner: ArraySlice<UInt8>, count: Int)? {
        guard text[position...].starts(with: self.open) else { return nil }
        let start = position + self.open.count
        let rest = text[start...].prefix(Self.innerLimit + self.close.count)
        if self.isWithoutBrackets, position > 0, Self.isWord(text[position - 1]) { return nil }
        guard !self.close.isEmpty else {
            let word = rest.prefix(while: Self.isWord)
            return word.isEmpty ? nil : (word, self.open.count + word.count)
        }
        guard let end = rest.indices.first(where: { rest[$0] == self.close[0] && rest[$0...].starts(with: self.close) }), end > start
        else { return nil }
        let after = end + self.close.count
        if self.isWithoutBrackets, after < text.count, Self.isWord(text[after]) { return nil }
        return (text[start..<end], after - position)
    }

    private var isWithoutBrackets: Bool { self.open[0] == UInt8(ascii: "_") || self.close.isEmpty }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The names that what stands between marks can be given: without the blanks around it, and without the `ENV` of Ruby as well.
    static func names(_ inner: ArraySlice<UInt8>) -> [String] {
        var text = inner
        while text.first == 32 { text.removeFirst() }
        while text.last == 32 { text.removeLast() }
        guard !text.isEmpty, !text.contains(10) else { return [] }
        let name = String(decoding: text, as: UTF8.self)
        // A blank in a URL.
        let plain = name.split(separator: "%20", omittingEmptySubsequences: false).joined(separator: " ")
        var names = plain == name ? [name] : [plain, name]
        for (open, close) in [("ENV[", "]"), ("ENV.fetch(", ")")] where name.hasPrefix(open) && name.hasSuffix(close) {
            // After the name, `fetch` may have a default value.
            let rest = name.dropFirst(open.utf8.count)
            guard let quote = rest.first, quote == "\"" || quote == "'" else { continue }
            names.insert(String(rest.dropFirst().prefix { $0 != quote }), at: 0)
        }
        return names
    }
}
