internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// The client's own values of query items and form fields, wherever an answer repeats them outside of JSON: the `state` of OAuth in a
/// redirection (RFC 6749, 4.1.2), the name of a function in JSONP, a long random value in a page.
struct EchoedItems {
    /// One item whose value a rule ignores or has a pattern for. Both are decoded.
    struct Item: Sendable, Hashable {
        let name: [UInt8]
        let value: [UInt8]
    }

    private struct Pair {
        let name: [UInt8]
        let recorded: [UInt8]
        let live: [UInt8]
    }

    /// The longest value that is searched for.
    private static let valueLimit = 1024
    /// A shorter value is not searched for in bodies, since it may occur there by chance.
    private static let lengthInBodies = 16
    /// JSONP calls its function within this many bytes, after its comments and checks.
    private static let beginning = 512

    private let pairs: [Pair]

    /// - Parameters:
    ///   - recorded: the items of the recorded request.
    ///   - live: those of the client's request. Items of one name are paired in their order.
    init(recorded: [Item], live: [Item]) {
        var rest = recorded
        var pairs: [Pair] = []
        for item in live {
            guard let index = rest.firstIndex(where: { $0.name == item.name }) else { continue }
            let old = rest.remove(at: index)
            guard old.value != item.value, !old.value.isEmpty, !item.value.isEmpty else { continue }
            pairs.append(Pair(name: item.name, recorded: old.value, live: item.value))
        }
        self.pairs = pairs
    }

    var isEmpty: Bool { self.pairs.isEmpty }

    /// The items of a URL's query that may differ from the recorded ones.
    static func own(url: String, _ rules: MatchRules) -> [Item] {
        let items = rules.head.items
        guard !items.isEmpty, let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        var found: [Item] = []
        for item in url.utf8[mark...].dropFirst().split(separator: UInt8(ascii: "&")) {
            guard found.count < ExemptValue.limit, let equals = item.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = FormFacets.decoded(Array(item[..<equals]))
            guard items.ignores(name) || items[name] != nil, item[equals...].count <= self.valueLimit else { continue }
            found.append(Item(name: name, value: FormFacets.decoded(Array(item[equals...].dropFirst()))))
        }
        return found
    }

    // MARK: Header fields

    /// Fields whose values are URLs, or contain them.
    private static let ofURLs: Set<String> = ["location", "content-location", "refresh", "link"]

    func replaced(in fields: HeaderFields) -> HeaderFields {
        var replaced = HeaderFields()
        for index in 0..<fields.count {
            if Self.ofURLs.contains(fields.name(at: index).lowercased()),
                let value = self.replaced(inURL: Array(fields.valueBytes(at: index)))
            {
                replaced.append(name: fields.name(at: index), value: String(decoding: value, as: UTF8.self))
            } else {
                replaced.append(line: fields.line(at: index))
            }
        }
        return replaced
    }

    /// - Returns: the URL with the client's values in items of the same names, in its query and its fragment; nil if it has none.
    private func replaced(inURL url: [UInt8]) -> [UInt8]? {
        var output: [UInt8] = []
        var start = 0
        var isItem = false
        var hasChanged = false
        func end(at index: Int) {
            let item = url[start..<index]
            if isItem, let own = self.replaced(inItem: item) {
                output += own
                hasChanged = true
            } else {
                output += item
            }
        }
        for (index, byte) in url.enumerated() {
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "&"):
                end(at: index)
                output.append(byte)
                (start, isItem) = (index + 1, true)
            case UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: " "), UInt8(ascii: ";"):
                end(at: index)
                output.append(byte)
                (start, isItem) = (index + 1, false)
            default: break
            }
        }
        end(at: url.count)
        return hasChanged ? output : nil
    }

    private func replaced(inItem item: ArraySlice<UInt8>) -> [UInt8]? {
        guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let (name, value) = (FormFacets.decoded(item[..<equals]), FormFacets.decoded(item[equals...].dropFirst()))
        guard let pair = self.pairs.first(where: { $0.name == name && $0.recorded == value }) else { return nil }
        return item[...equals] + HeadKeyWriter.escaped(pair.live)
    }

    // MARK: Bodies

    func edits(in text: [UInt8]) -> [Edit] { self.pairs.flatMap { self.calls($0, in: text) + self.words($0, in: text) } }

    /// The names of a function that the text calls at its beginning, as JSONP does, up to the call.
    private func calls(_ pair: Pair, in text: [UInt8]) -> [Edit] {
        guard Self.isFunction(pair.recorded), Self.isFunction(pair.live) else { return [] }
        var names: [Range<Int>] = []
        for range in Self.occurrences(of: pair.recorded, in: text[..<min(text.count, Self.beginning + pair.recorded.count)]) {
            guard !Self.isName(text, range.lowerBound - 1), !Self.isName(text, range.upperBound) else { continue }
            names.append(range)
            let next = text[range.upperBound...].first { $0 != UInt8(ascii: " ") }
            if next == UInt8(ascii: "(") { return names.map { Edit(range: $0, bytes: pair.live) } }
        }
        return []
    }

    private func words(_ pair: Pair, in text: [UInt8]) -> [Edit] {
        guard pair.recorded.count >= Self.lengthInBodies, pair.recorded.allSatisfy(Self.isUnreserved),
            pair.live.allSatisfy(Self.isUnreserved)
        else { return [] }
        return Self.occurrences(of: pair.recorded, in: text[...])
            .filter { !Self.isName(text, $0.lowerBound - 1) && !Self.isName(text, $0.upperBound) }
            .map { Edit(range: $0, bytes: pair.live) }
    }

    private static func occurrences(of word: [UInt8], in text: ArraySlice<UInt8>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        text.withUnsafeBytes { bytes in
            var index = 0
            while index + word.count <= bytes.count {
                index = ByteScan.index(of: word[0], in: bytes, from: index)
                guard index + word.count <= bytes.count else { break }
                if bytes[index..<index + word.count].elementsEqual(word) {
                    found.append(text.startIndex + index..<text.startIndex + index + word.count)
                    index += word.count
                } else {
                    index += 1
                }
            }
        }
        return found
    }

    /// Whether the name begins as one in JavaScript does. It may have members: `app.callbacks[3]`.
    private static func isFunction(_ name: [UInt8]) -> Bool {
        guard let first = name.first, self.isLetter(first) else { return false }
        return name.allSatisfy { self.isUnreserved($0) || $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }
    }

    /// Whether a word would go on at this place.
    private static func isName(_ text: [UInt8], _ index: Int) -> Bool {
        guard text.indices.contains(index) else { return false }
        return self.isLetter(text[index]) || (48...57).contains(text[index]) || text[index] == UInt8(ascii: "-")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (97...122).contains(byte | 0x20) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
    }

    /// RFC 3986, 2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}
