/// Finds the elements of arrays that have a member with a certain value. One pass over the text, whatever the conditions.
package enum ElementConditions {
    private struct Container {
        var start: Int
        var isObject: Bool
        var isElement: Bool
        /// The conditions that ask for the member at hand.
        var asked: UInt64 = 0
        var met: UInt64 = 0
    }

    /// The conditions that each element meets, one bit each, by the offset at which it begins. Elements that meet none are left out.
    package static func met(by text: UnsafeRawBufferPointer, from start: Int = 0, _ conditions: [PlacePath.Condition]) -> [Int: UInt64] {
        var found: [Int: UInt64] = [:]
        var stack: [Container] = []
        var tokenizer = JSONTokenizer(text, from: start)
        while let token = tokenizer.next() {
            switch token.kind {
            case .beginObject, .beginArray:
                stack.append(
                    Container(
                        start: token.start, isObject: token.kind == .beginObject, isElement: stack.last.map { !$0.isObject } ?? false))
            case .endObject, .endArray:
                if let last = stack.popLast(), last.met != 0 { found[last.start] = last.met }
            case .name:
                guard let last = stack.indices.last, stack[last].isElement else { continue }
                let name = self.string(token, text)
                stack[last].asked = self.conditions(conditions) { $0.member == name }
            case .string, .number, .yes, .no, .null:
                guard let last = stack.indices.last, stack[last].isObject, stack[last].asked != 0 else { continue }
                let value = token.kind == .string ? self.string(token, text) : Array(text[token.start..<token.end])
                stack[last].met |= stack[last].asked & self.conditions(conditions) { $0.value == value }
            case .colon, .comma: continue
            case .end: return found
            }
        }
        // The text is cut or is not JSON.
        return found
    }

    private static func conditions(_ all: [PlacePath.Condition], _ isMet: (PlacePath.Condition) -> Bool) -> UInt64 {
        all.enumerated().reduce(0) { set, condition in isMet(condition.element) ? set | 1 << UInt64(condition.offset) : set }
    }

    private static func string(_ token: JSONToken, _ text: UnsafeRawBufferPointer) -> [UInt8] {
        let inner = Array(text[(token.start + 1)..<(token.end - 1)])
        return token.isEscaped ? JSONStringDecoder.decode(inner[...]) ?? inner : inner
    }
}
