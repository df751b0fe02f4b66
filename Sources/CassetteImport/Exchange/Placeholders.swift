internal import TapeBytes

/// The names of the placeholders that an import has filled in, in all of its files.
final class PlaceholderUse {
    var names: Set<String> = []
}

/// Placeholders with which recorders of the VCR family replace secrets and addresses, and the values to fill in.
///
/// A placeholder is `<NAME>`, as is customary with VCR's `filter_sensitive_data`, `<%= NAME %>` of ERB, `{NAME}`, or `{{NAME}}` of
/// Postman.
struct Placeholders {
    /// By the names without brackets.
    private let values: [String: String]
    /// The text to search for, and its replacement.
    private let pairs: [(name: String, text: [UInt8], value: [UInt8])]
    private let use: PlaceholderUse

    /// - Parameter hasSingleBraces: whether `{NAME}` is one, too. In collections of Postman it is plain text.
    init(_ values: [String: String], use: PlaceholderUse, hasSingleBraces: Bool = false) {
        self.values = values
        self.use = use
        self.pairs = values.sorted { $0.key < $1.key }.flatMap { name, value in
            let texts = ["<\(name)>", "<%= \(name) %>", "<%=\(name)%>", "{{\(name)}}", "%3C\(name)%3E", "%3c\(name)%3e"]
            return (texts + (hasSingleBraces ? ["%{\(name)}", "{\(name)}"] : [])).map { (name, Array($0.utf8), Array(value.utf8)) }
        }
    }

    /// With further values for names that have none yet.
    func adding(_ others: [String: String]) -> Placeholders {
        Placeholders(self.values.merging(others) { own, _ in own }, use: self.use)
    }

    var isEmpty: Bool { self.pairs.isEmpty }

    /// The text with all placeholders filled whose values are known.
    func filled(_ text: [UInt8]) -> [UInt8] {
        guard !self.isEmpty, text.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "%") }) else {
            return text
        }
        var filled: [UInt8] = []
        var position = 0
        while position < text.count {
            let rest = text[position...]
            let isBracket = [UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "%")].contains(text[position])
            if isBracket, let pair = self.pairs.first(where: { rest.starts(with: $0.text) }) {
                filled += pair.value
                self.use.names.insert(pair.name)
                position += pair.text.count
            } else {
                filled.append(text[position])
                position += 1
            }
        }
        return filled
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

    // MARK: Finding them

    /// The names of the placeholders in a URL, where brackets are not allowed otherwise.
    static func names(inURL url: String) -> [String] {
        self.names(in: Array(url.utf8), areIn: .url)
    }

    /// Whether the scheme or authority of a URL has a placeholder, so that the request's destination is unknown.
    static func isInAddress(of url: String) -> Bool {
        let address = url.firstRange(of: "://").map { end in
            String(url[..<end.upperBound]) + url[end.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        }
        return !self.names(inURL: address ?? url).isEmpty
    }

    /// The names of the placeholders in a body or a field. There, only names in capitals count, so that tags are not mistaken for
    /// placeholders.
    ///
    /// - Parameter isMarkup: whether brackets are normal in the text; a name must then have an underscore.
    static func names(in text: [UInt8], isMarkup: Bool) -> [String] { self.names(in: text, areIn: isMarkup ? .markup : .text) }

    private enum Place { case url, text, markup }

    private static func names(in text: [UInt8], areIn place: Place) -> [String] {
        guard text.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "%") && place == .url || $0 == UInt8(ascii: "{") })
        else {
            return []
        }
        var found: [String] = []
        for start in text.indices where [UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "%")].contains(text[start]) {
            let rest = text[start...]
            let brackets: [(open: String, close: String)] =
                place == .url
                ? [("<%=", "%>"), ("<", ">"), ("{{", "}}"), ("%{", "}"), ("{", "}"), ("%3C", "%3E"), ("%3c", "%3e")]
                : [("<%=", "%>"), ("<", ">")]
            guard let pair = brackets.first(where: { rest.starts(with: $0.open.utf8) }) else { continue }
            let inner = rest.dropFirst(pair.open.utf8.count).prefix(65)
            guard let end = inner.indices.first(where: { inner[$0...].starts(with: pair.close.utf8) }) else { continue }
            let name = String(decoding: inner[..<end].filter { $0 != 32 }, as: UTF8.self)
            guard self.isName(name, place), !found.contains(name) else { continue }
            // A name with a closing tag is an XML element.
            if place != .url, self.contains(text, Array("</\(name)".utf8)) { continue }
            found.append(name)
        }
        return found
    }

    private static func isName(_ name: String, _ place: Place) -> Bool {
        guard let first = name.utf8.first, (first | 32) >= UInt8(ascii: "a"),
            (first | 32) <= UInt8(ascii: "z") || first == UInt8(ascii: "_")
        else {
            return false
        }
        func isAllowed(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: ":"): place == .url
            default: false
            }
        }
        guard name.utf8.allSatisfy(isAllowed) else { return false }
        return place == .url || name.utf8.count >= 3 && (place == .text || name.contains("_"))
    }

    private static func contains(_ text: [UInt8], _ word: [UInt8]) -> Bool {
        text.indices.contains { text[$0] == word[0] && text[$0...].starts(with: word) }
    }
}
