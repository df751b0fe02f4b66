/// Finds the elements of arrays, and the whole value, that have a member with a certain value. One pass over the text, whatever the
/// conditions.
package struct ElementConditions {
    private struct Container {
        var start: Int
        var isObject: Bool
        var isElement: Bool
        /// The conditions that ask for the member at hand.
        var asked: UInt64 = 0
        var met: UInt64 = 0
    }

    /// The conditions that each element meets, one bit each, by the offset at which it begins. Elements that meet none are left out.
    package private(set) var met: [Int: UInt64] = [:]
    /// The offsets of the elements within which the text ends or is broken. Their other members are unknown.
    package private(set) var open: Set<Int> = []

    /// Reads the text only as far as the first value goes.
    package init(
        _ text: UnsafeRawBufferPointer, from start: Int = 0, _ conditions: [PlacePath.Condition],
        depthLimit: Int = JSONTokenizer.depthLimit
    ) {
        var stack: [Container] = []
        var tokenizer = JSONTokenizer(text, from: start, depthLimit: depthLimit)
        while let token = tokenizer.next() {
            switch token.kind {
            case .beginObject, .beginArray:
                stack.append(
                    Container(
                        start: token.start, isObject: token.kind == .beginObject, isElement: stack.last.map { !$0.isObject } ?? true))
            case .endObject, .endArray:
                if let last = stack.popLast(), last.met != 0 { self.met[last.start] = last.met }
                if stack.isEmpty { return }
            case .name:
                guard let last = stack.indices.last, stack[last].isElement else { continue }
                let name = Self.string(token, text)
                stack[last].asked = Self.conditions(conditions) { $0.member == name }
            case .string, .number, .yes, .no, .null:
                guard let last = stack.indices.last, stack[last].isObject, stack[last].asked != 0 else { continue }
                let value = token.kind == .string ? Self.string(token, text) : Array(text[token.start..<token.end])
                stack[last].met |=
                    stack[last].asked
                    & Self.conditions(conditions) { $0.value == value || token.kind == .number && Self.areEqual($0.value, value) }
            case .colon, .comma: continue
            case .end: return
            }
        }
        for element in stack where element.isElement {
            self.open.insert(element.start)
            if element.met != 0 { self.met[element.start] = element.met }
        }
    }

    private static func conditions(_ all: [PlacePath.Condition], _ isMet: (PlacePath.Condition) -> Bool) -> UInt64 {
        all.enumerated().reduce(0) { set, condition in isMet(condition.element) ? set | 1 << UInt64(condition.offset) : set }
    }

    /// Whether a text is the same number as a JSON number: `1` and `1.0`.
    private static func areEqual(_ text: [UInt8], _ number: [UInt8]) -> Bool {
        let value = text.withUnsafeBytes { bytes -> DecimalValue? in
            var tokenizer = JSONTokenizer(bytes)
            guard let token = tokenizer.next(), token.kind == .number, token.start == 0, token.end == bytes.count else { return nil }
            return DecimalValue(bytes)
        }
        return value.map { $0.bytes == number.withUnsafeBytes { DecimalValue($0)?.bytes } } ?? false
    }

    private static func string(_ token: JSONToken, _ text: UnsafeRawBufferPointer) -> [UInt8] {
        let inner = Array(text[(token.start + 1)..<(token.end - 1)])
        return token.isEscaped ? JSONStringDecoder.decode(inner[...]) ?? inner : inner
    }
}
