internal import CassetteRedaction
internal import TapeBytes

/// The client's own values at places that rules ignore or match by pattern, such as the ids of GraphQL operations. If the recorded server
/// repeats such a value at the same place of a later message, the replay sends the client's value. Otherwise the client could not tell
/// which request is answered.
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

    private var live: [Key: [UInt8]] = [:]
    /// The keys in the order they came, as a ring.
    private var order: [Key] = []
    private var oldest = 0
    /// Whether any key matches all elements of an array.
    private var hasGeneral = false
    /// Strings that are replaced wherever they are a whole value. Both include the quotation marks.
    private var words: [[UInt8]: [UInt8]] = [:]

    var isEmpty: Bool { self.live.isEmpty && self.words.isEmpty }

    /// Learns a string that is unlikely to mean anything else, such as a UUID. A string that JSON would escape is not learned.
    mutating func learn(word recorded: String, live: String) {
        guard Self.isPlain(recorded), Self.isPlain(live) else { return }
        self.words[Array("\"\(recorded)\"".utf8)] = Array("\"\(live)\"".utf8)
    }

    private static func isPlain(_ word: String) -> Bool { word.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c } }

    mutating func learn(recorded: [ExemptValue], live: [ExemptValue]) {
        for (number, value) in live.enumerated() {
            // Equal messages mostly have their members in the same order.
            let isSame = recorded.indices.contains(number) && recorded[number].pointer == value.pointer
            guard let old = isSame ? recorded[number] : recorded.first(where: { $0.pointer == value.pointer }) else { continue }
            self.remember(value.text, for: Key(old.pointer, old.text))
            guard let place = old.place else { continue }
            self.hasGeneral = true
            self.remember(value.text, for: Key(place, old.text))
        }
    }

    private mutating func remember(_ text: [UInt8], for key: Key) {
        guard self.live.updateValue(text, forKey: key) == nil else { return }
        if self.order.count < Self.limit { return self.order.append(key) }
        self.live[self.order[self.oldest]] = nil
        self.order[self.oldest] = key
        self.oldest = (self.oldest + 1) % Self.limit
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
        let offset = text.startIndex
        text.withUnsafeBytes { bytes in
            self.forEachScalar(of: bytes, from: start) { pointer, range in
                let value = Array(bytes[range])
                guard let own = self.own(value, at: pointer), own != value else { return }
                edits.append(Edit(range: range.lowerBound + offset..<range.upperBound + offset, bytes: own))
            }
        }
        return edits
    }

    private func own(_ text: [UInt8], at pointer: [UInt8]) -> [UInt8]? {
        if let own = self.live[Key(pointer, text)] ?? self.words[text] { return own }
        return self.hasGeneral ? self.live[Key(ExemptValue.place(of: pointer), text)] : nil
    }

    private func forEachScalar(of text: UnsafeRawBufferPointer, from start: Int, _ deliver: ([UInt8], Range<Int>) -> Void) {
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
                deliver(pointer, token.start..<token.end)
            case .colon, .comma: continue
            case .end: return
            }
        }
    }
}
