internal import CassetteRedaction
internal import TapeBytes

/// Finds the dates of a JSON text that pointers name, and moves them.
///
/// Strings and numbers that are no dates stay: a token that happens to stand there is not touched.
struct JSONDates {
    private struct Container {
        var isObject: Bool
        var index = 0
        var name: [UInt8] = []
    }

    let pointers: [PlacePointer]
    let shift: DateShift

    /// Nil where the text is not JSON.
    func edits(in text: UnsafeRawBufferPointer) -> EditList? {
        var tokenizer = JSONTokenizer(text, from: 0)
        var stack: [Container] = []
        var edits: [Edit] = []
        while let token = tokenizer.next() {
            switch token.kind {
            case .end: return EditList(edits)
            case .colon, .yes, .no, .null: continue
            case .comma: if let last = stack.indices.last { stack[last].index += 1 }
            case .name: if let last = stack.indices.last { stack[last].name = Self.name(token, text) }
            case .beginObject, .beginArray: stack.append(Container(isObject: token.kind == .beginObject))
            case .endObject, .endArray: stack.removeLast()
            case .string, .number:
                let range = token.kind == .string ? token.start + 1..<token.end - 1 : token.start..<token.end
                guard !token.isEscaped, self.isNamed(stack) else { continue }
                let value = String(decoding: text[range], as: UTF8.self)
                guard let moved = token.kind == .string ? self.shift.shifted(value) : self.shift.shifted(unixTime: value) else { continue }
                edits.append(Edit(range: range, octets: Array(moved.utf8)))
            }
        }
        return nil
    }

    private static func name(_ token: JSONToken, _ text: UnsafeRawBufferPointer) -> [UInt8] {
        let octets = UnsafeRawBufferPointer(rebasing: text[(token.start + 1)..<(token.end - 1)])
        guard token.isEscaped else { return Array(octets) }
        return Finding.Spelling.json.decode(octets) ?? Array(octets)
    }

    private func isNamed(_ stack: [Container]) -> Bool {
        self.pointers.contains { pointer in
            guard pointer.segments.count == stack.count else { return false }
            return zip(pointer.segments, stack).allSatisfy { segment, container in
                switch segment {
                case .any: true
                case .name(let name): container.isObject ? container.name == name : Array("\(container.index)".utf8) == name
                }
            }
        }
    }
}
