internal import CassetteRedaction
internal import TapeBytes

/// The client's own values at places that rules ignore or match by pattern, such as the ids of GraphQL operations. If the recorded server
/// repeats such a value at the same place of a later message, or where its protocol repeats it (`EchoRelation`), the replay sends the
/// client's value. Otherwise the client could not tell which request is answered.
struct EchoedValues: Sendable {
    /// How many values are remembered. The oldest are forgotten, since a server mostly repeats recent values.
    private static let limit = 4096
    /// The largest message that is searched, in bytes. The search takes time for each of its values.
    static let sizeLimit = 1 << 20

    private struct Container {
        /// The length of the pointer to it, in bytes.
        var pointerEnd: Int
        /// Elements so far if it is an array; nil for an object.
        var index: Int?
    }

    /// A recorded value, independent of the escapes that it is spelled with.
    private struct Key: Hashable, Sendable {
        /// A JSON pointer, or one with `*` for array indexes.
        let place: [UInt8]
        let text: [UInt8]

        init(_ place: [UInt8], _ text: [UInt8]) {
            self.place = place
            let quote = UInt8(ascii: "\"")
            if text.first == quote, text.contains(UInt8(ascii: "\\")), let decoded = JSONStringDecoder.decode(text[1..<text.count - 1]) {
                self.text = [quote] + decoded + [quote]
            } else {
                self.text = text
            }
        }
    }

    private struct Memory: Sendable {
        private var live: [Key: [UInt8]] = [:]
        /// The keys in the order they came, as a ring.
        private var order: [Key] = []
        private var oldest = 0

        var isEmpty: Bool { self.live.isEmpty }

        subscript(key: Key) -> [UInt8]? { self.live[key] }

        mutating func remember(_ text: [UInt8], for key: Key) {
            guard self.live.updateValue(text, forKey: key) == nil else { return }
            if self.order.count < EchoedValues.limit { return self.order.append(key) }
            self.live[self.order[self.oldest]] = nil
            self.order[self.oldest] = key
            self.oldest = (self.oldest + 1) % EchoedValues.limit
        }
    }

    private var live = Memory()
    /// By the sources of relations. Those that need a method of the request have it before the pointer.
    private var related = Memory()
    /// Strings that are replaced wherever they are a whole value, without a place. Keys and values include the quotation marks.
    private var words = Memory()
    /// Whether any key matches all elements of an array.
    private var hasGeneral = false

    var isEmpty: Bool { self.live.isEmpty && self.words.isEmpty }

    /// Learns a string that is unlikely to mean anything else, such as a UUID. A string that JSON would escape is not learned.
    mutating func learn(word recorded: String, live: String) {
        guard Self.isPlain(recorded), Self.isPlain(live) else { return }
        self.words.remember(Array("\"\(live)\"".utf8), for: Key([], Array("\"\(recorded)\"".utf8)))
    }

    private static func isPlain(_ word: String) -> Bool { word.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c } }

    /// - Parameter method: the method of the recorded request, if it is one message with a method.
    mutating func learn(recorded: [ExemptValue], live: [ExemptValue], method: [UInt8]? = nil) {
        var used = Set<Int>()
        for (number, value) in live.enumerated() where Self.mayBeID(value) {
            // Equal messages mostly have their members in the same order.
            let isSame = recorded.indices.contains(number) && recorded[number].pointer == value.pointer && !used.contains(number)
            let found = isSame ? number : recorded.indices.first { recorded[$0].pointer == value.pointer && !used.contains($0) }
            guard let found, Self.mayBeID(recorded[found]) else { continue }
            let old = recorded[found]
            used.insert(found)
            self.live.remember(value.text, for: Key(old.pointer, old.text))
            self.learnRelated(old, value.text, method)
            if let (recorded, live) = Self.words(old.text, value.text) { self.learn(word: recorded, live: live) }
            guard let place = old.place else { continue }
            self.hasGeneral = true
            self.live.remember(value.text, for: Key(place, old.text))
        }
    }

    /// A shorter value stands in an answer by chance, unless its name says that it is an id.
    private static let length = 6
    private static let names = ["id", "seq", "ref", "tag", "token", "nonce", "key"].map { Array($0.utf8) }

    private static func mayBeID(_ value: ExemptValue) -> Bool {
        guard let first = value.text.first, first == UInt8(ascii: "\"") || first == UInt8(ascii: "-") || (48...57).contains(first) else {
            return false
        }
        guard value.text.count < (first == UInt8(ascii: "\"") ? Self.length + 2 : Self.length) else { return true }
        let name = value.pointer.suffix(8).map { (65...90).contains($0) ? $0 | 0x20 : $0 }
        // An element has no name.
        if name.last.map({ (48...57).contains($0) }) == true { return true }
        return Self.names.contains { name.suffix($0.count).elementsEqual($0) }
    }

    private mutating func learnRelated(_ old: ExemptValue, _ live: [UInt8], _ method: [UInt8]?) {
        let source = EchoRelation.source(of: old.pointer)
        guard EchoRelation.sources.contains(source) else { return }
        self.related.remember(live, for: Key(source, old.text))
        if let method { self.related.remember(live, for: Key(method + source, old.text)) }
    }

    /// The contents of two strings that differ and are too long and random to mean anything but each other.
    private static func words(_ recorded: [UInt8], _ live: [UInt8]) -> (recorded: String, live: String)? {
        guard recorded != live, let old = Self.content(recorded), let new = Self.content(live) else { return nil }
        let (recorded, live) = (String(decoding: old, as: UTF8.self), String(decoding: new, as: UTF8.self))
        return PatternSuggestion.isRandom(recorded[...]) && PatternSuggestion.isRandom(live[...]) ? (recorded, live) : nil
    }

    /// The bytes between the quotation marks of a string; nil if it is another value.
    private static func content(_ text: [UInt8]) -> ArraySlice<UInt8>? {
        text.count >= 2 && text.first == UInt8(ascii: "\"") ? text[1..<text.count - 1] : nil
    }

    /// A JSON message with the client's values in place of the recorded ones; nil if it contains none of them.
    func applied(to message: [UInt8], isText: Bool) -> [UInt8]? {
        guard !self.isEmpty, message.count <= Self.sizeLimit else { return nil }
        guard case .json(let start) = WebSocketMessageFacets.beginning(of: message, isText: isText) else { return nil }
        let edits = self.edits(in: message[...], from: start)
        return edits.isEmpty ? nil : EditList(edits).applied(to: message)
    }

    /// The edits that put the client's values in place of the recorded ones in a JSON text.
    ///
    /// - Parameter text: part of a body. The edits use its indices.
    func edits(in text: ArraySlice<UInt8>, from start: Int = 0) -> [Edit] {
        var edits: [Edit] = []
        var related = RelatedValues()
        let offset = text.startIndex
        text.withUnsafeBytes { bytes in
            self.forEachScalar(of: bytes, from: start) { pointer, isInArray, range in
                let value = Array(bytes[range])
                let place = range.lowerBound + offset..<range.upperBound + offset
                if !self.related.isEmpty { related.note(pointer, isInArray: isInArray, value, place) }
                guard let own = self.own(value, at: pointer), own != value else { return }
                edits.append(Edit(range: place, bytes: own))
            }
        }
        let known = Set(edits.map(\.range))
        for value in related.found where !known.contains(value.range) {
            let source = (value.relation.requestMethod ?? []) + value.relation.source
            guard let own = self.related[Key(source, value.text)], own != value.text else { continue }
            edits.append(Edit(range: value.range, bytes: own))
        }
        return edits
    }

    /// The values of a text at the targets of relations.
    private struct RelatedValues {
        struct Value {
            var relation: EchoRelation
            /// The number of the message in a batch; nil if the text is one message.
            var message: ArraySlice<UInt8>?
            var text: [UInt8]
            var range: Range<Int>
        }

        private var values: [Value] = []
        /// The strings that are conditions, by message and pointer.
        private var members: [ArraySlice<UInt8>?: [[UInt8]: [UInt8]]] = [:]

        mutating func note(_ pointer: [UInt8], isInArray: Bool, _ text: [UInt8], _ range: Range<Int>) {
            var place = pointer[...]
            var message: ArraySlice<UInt8>?
            if isInArray {
                guard let end = pointer.dropFirst().firstIndex(of: UInt8(ascii: "/")) else { return }
                (message, place) = (pointer[..<end], pointer[end...])
            }
            let inner = Array(place)
            if EchoRelation.members.contains(inner), let string = EchoedValues.content(text) {
                self.members[message, default: [:]][inner] = JSONStringDecoder.decode(string) ?? Array(string)
            }
            guard EchoRelation.targets.contains(inner) else { return }
            for relation in EchoRelation.all where relation.target == inner {
                self.values.append(Value(relation: relation, message: message, text: text, range: range))
            }
        }

        /// Those whose message meets the condition. It may stand after them.
        var found: [Value] {
            self.values.filter { self.members[$0.message]?[$0.relation.member.pointer] == $0.relation.member.value }
        }
    }

    private func own(_ text: [UInt8], at pointer: [UInt8]) -> [UInt8]? {
        if let own = self.live[Key(pointer, text)] ?? self.words[Key([], text)] { return own }
        return self.hasGeneral ? self.live[Key(ExemptValue.place(of: pointer), text)] : nil
    }

    /// - Parameter deliver: takes the pointer to a value, whether the text is an array, and where the value is.
    private func forEachScalar(of text: UnsafeRawBufferPointer, from start: Int, _ deliver: ([UInt8], Bool, Range<Int>) -> Void) {
        var tokenizer = JSONTokenizer(text, from: start)
        var containers: [Container] = []
        var pointer: [UInt8] = []
        func enter(_ name: [UInt8]) {
            guard let container = containers.last else { return }
            pointer.removeLast(pointer.count - container.pointerEnd)
            PlacePath.append(name, to: &pointer)
        }
        func enterElement() {
            guard let last = containers.indices.last, let index = containers[last].index else { return }
            containers[last].index = index + 1
            enter(Array("\(index)".utf8))
        }
        while let token = tokenizer.next() {
            switch token.kind {
            case .beginObject, .beginArray:
                enterElement()
                containers.append(Container(pointerEnd: pointer.count, index: token.kind == .beginArray ? 0 : nil))
            case .endObject, .endArray: _ = containers.popLast()
            case .name:
                let inner = Array(text[token.start + 1..<token.end - 1])
                enter(token.isEscaped ? JSONStringDecoder.decode(inner[...]) ?? inner : inner)
            case .string, .number, .yes, .no, .null:
                enterElement()
                guard token.end - token.start <= ExemptValue.sizeLimit, pointer.count <= BodyFacets.nameLimit else { continue }
                deliver(pointer, containers.first?.index != nil, token.start..<token.end)
            case .colon, .comma: continue
            case .end: return
            }
        }
    }
}
