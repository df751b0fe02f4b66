internal import CassettePlayback
internal import CassetteRedaction
internal import TapeBytes

/// Finds and edits the values of a JSON text that a pointer names. All other bytes stay as they are.
enum JSONPlaces {
    typealias Segments = [PlacePointer.Segment]

    static func first(_ segments: Segments, in root: JSONValue) -> JSONValue? { self.values(segments, in: root).first }

    /// All values at a pointer, in the order of the text.
    static func values(_ segments: Segments, in root: JSONValue) -> [JSONValue] {
        segments.reduce([root]) { values, segment in values.flatMap { self.children($0, segment) } }
    }

    private static func children(_ value: JSONValue, _ segment: PlacePointer.Segment) -> [JSONValue] {
        switch (value.kind, segment) {
        case (.object, .any): return value.members.map(\.value)
        case (.array, .any): return Array(value.elements)
        case (.object, .name(let name)): return value.members.filter { $0.name.utf8 == name }.map(\.value)
        case (.array, .name(let name)): return self.index(name).flatMap { self.element($0, of: value) }.map { [$0] } ?? []
        case (.string, _), (.number, _), (.true, _), (.false, _), (.null, _): return []
        }
    }

    private static func element(_ index: Int, of array: JSONValue) -> JSONValue? {
        var elements = array.elements
        for _ in 0..<index where elements.next() == nil { return nil }
        return elements.next()
    }

    /// RFC 6901, 4: no leading zeros.
    private static func index(_ name: [UInt8]) -> Int? {
        guard !name.isEmpty, name.count <= 9, name.allSatisfy({ 48...57 ~= $0 }), name.count == 1 || name[0] != 48 else { return nil }
        return Int(String(decoding: name, as: UTF8.self))
    }

    /// Edits that put a value at a place: into its values, or else as a new member of each object that is at the pointer before the last
    /// segment; `-` appends to an array. None if there is no such place.
    static func setting(_ segments: Segments, to json: [UInt8], in root: JSONValue) -> [Edit] {
        let values = self.values(segments, in: root)
        guard let last = segments.last else { return [Edit(range: root.range, bytes: json)] }
        var edits = values.map { Edit(range: $0.range, bytes: json) }
        guard case .name(let name) = last else { return edits }
        for parent in self.values(segments.dropLast(), in: root) {
            switch parent.kind {
            case .object where !parent.members.contains(where: { $0.name.utf8 == name }):
                let member = self.string(name) + [UInt8(ascii: ":")] + json
                edits.append(self.appending(member, after: Array(parent.members).last?.value, in: parent))
            case .array where name == [UInt8(ascii: "-")]:
                edits.append(self.appending(json, after: Array(parent.elements).last, in: parent))
            case .object, .array, .string, .number, .true, .false, .null: continue
            }
        }
        return edits
    }

    private static func appending(_ text: [UInt8], after last: JSONValue?, in parent: JSONValue) -> Edit {
        guard let last else { return Edit(range: parent.range.lowerBound + 1..<parent.range.lowerBound + 1, bytes: text) }
        return Edit(range: last.range.upperBound..<last.range.upperBound, bytes: [UInt8(ascii: ",")] + text)
    }

    /// Edits that remove members and elements with their commas. None if nothing is at the place.
    static func removing(_ segments: Segments, in root: JSONValue) -> [Edit] {
        guard let last = segments.last else { return [] }
        return self.values(segments.dropLast(), in: root).flatMap { parent in
            let all: [(range: Range<Int>, isRemoved: Bool)]
            switch parent.kind {
            case .object:
                all = parent.members.map { member in
                    (member.name.range.lowerBound..<member.value.range.upperBound, last == .any || last == .name(member.name.utf8 ?? []))
                }
            case .array:
                all = parent.elements.enumerated().map { index, element in
                    (element.range, last == .any || last == .name(Array("\(index)".utf8)))
                }
            case .string, .number, .true, .false, .null: all = []
            }
            return self.removing(all)
        }
    }

    private static func removing(_ all: [(range: Range<Int>, isRemoved: Bool)]) -> [Edit] {
        guard all.contains(where: \.isRemoved) else { return [] }
        // After the last item that stays, everything goes with the comma before it.
        let tail = (all.lastIndex { !$0.isRemoved } ?? -1) + 1
        var edits = all[..<tail].indices.filter { all[$0].isRemoved }.map { index in
            Edit(range: all[index].range.lowerBound..<all[index + 1].range.lowerBound, bytes: [])
        }
        if tail < all.count {
            let start = tail > 0 ? all[tail - 1].range.upperBound : all[0].range.lowerBound
            edits.append(Edit(range: start..<all[all.count - 1].range.upperBound, bytes: []))
        }
        return edits
    }

    /// A JSON string of a text.
    static func string(_ text: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(reserving: text.count + 16)
        text.withUnsafeBytes { writer.string(utf8: $0) }
        return writer.bytes
    }

    /// Whether a text is a number of JSON (RFC 8259, 6).
    static func isNumber(_ text: [UInt8]) -> Bool {
        guard let first = text.first, first == UInt8(ascii: "-") || 48...57 ~= first, let document = try? JSONDocument(text) else {
            return false
        }
        return document.root.kind == .number && document.root.raw.count == text.count
    }
}
