internal import TapeBytes

/// The client's own values at places that rules ignore or have patterns for, such as the ids of GraphQL's operations: where the recorded server
/// repeats one at the same place of a later message, the replay says the client's, or no client would know what is answered.
struct EchoedValues: Sendable {
    /// Values that are remembered: the oldest are forgotten, since a server repeats what it was asked lately.
    private static let limit = 4096
    /// Bytes before JSON: see `WebSocketMessageFacets`.
    private static let prefixLimit = 256

    private struct Container {
        /// The length of the pointer to it.
        var pointerEnd: Int
        /// Of an array, elements so far; nil for an object.
        var index: Int?
    }

    /// By the recorded ones.
    private var live: [ExemptValue: [UInt8]] = [:]
    /// The order in which they came, and where the oldest is.
    private var order: [ExemptValue] = []
    private var oldest = 0

    mutating func learn(recorded: [ExemptValue], live: [ExemptValue]) {
        for value in live {
            guard let old = recorded.first(where: { $0.pointer == value.pointer }) else { continue }
            let known = self.live.updateValue(value.text, forKey: old)
            guard known == nil else { continue }
            if self.order.count < Self.limit {
                self.order.append(old)
            } else {
                self.live[self.order[self.oldest]] = nil
                self.order[self.oldest] = old
                self.oldest = (self.oldest + 1) % Self.limit
            }
        }
    }

    /// A message of JSON with the client's values in place of the recorded ones; nil if it has none of them.
    func applied(to message: [UInt8]) -> [UInt8]? {
        guard !self.live.isEmpty, let start = Self.startOfJSON(message) else { return nil }
        var edited: [UInt8] = []
        var copied = 0
        message.withUnsafeBytes { text in
            self.forEachScalar(of: text, from: start) { value, range in
                guard let own = self.live[value], own != value.text else { return }
                edited += text[copied..<range.lowerBound]
                edited += own
                copied = range.upperBound
            }
        }
        return copied > 0 ? edited + message[copied...] : nil
    }

    private static func startOfJSON(_ message: [UInt8]) -> Int? {
        message.prefix(Self.prefixLimit).firstIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }
    }

    private func forEachScalar(of text: UnsafeRawBufferPointer, from start: Int, _ deliver: (ExemptValue, Range<Int>) -> Void) {
        var tokenizer = JSONTokenizer(text, from: start)
        var containers: [Container] = []
        var pointer: [UInt8] = []
        func enter(_ name: [UInt8]) {
            guard let container = containers.last else { return }
            pointer.removeLast(pointer.count - container.pointerEnd)
            PlacePointer.append(name, to: &pointer)
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
                deliver(ExemptValue(pointer: pointer, text: Array(text[token.start..<token.end])), token.start..<token.end)
            case .colon, .comma: continue
            case .end: return
            }
        }
    }
}
