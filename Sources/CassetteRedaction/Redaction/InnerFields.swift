internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// The lengths and checksums in the head of a part, or of a message in `application/http`, whose content is redacted.
///
/// Clients of batches read the content by its length (RFC 2046, 5.1; RFC 9112, 10.2).
struct InnerFields {
    /// The head with its empty line, if there is one.
    let head: Range<Int>
    /// The content, up to the length that the head gives.
    let content: Range<Int>

    /// - Parameter end: the end of what may be content.
    init(head: Range<Int>, contentEnd end: Int, in text: UnsafeRawBufferPointer) {
        self.head = head
        let length = Self.lines(head, in: text).first { $0.name == "content-length" }.flatMap {
            Int(String(decoding: text[$0.value], as: UTF8.self))
        }
        self.content = head.upperBound..<(length.map { min(end, head.upperBound + max(0, $0)) } ?? end)
    }

    /// The message in a content of type `application/http`; nil if it has no content.
    init?(messageIn range: Range<Int>, of text: UnsafeRawBufferPointer) {
        var line = range.lowerBound
        while line < range.upperBound {
            let end = min(ByteScan.index(of: 10, in: text, from: line), range.upperBound)
            guard end < range.upperBound else { return nil }
            let isEmpty = end == line || end == line + 1 && text[line] == 13
            line = end + 1
            if isEmpty { break }
        }
        guard line < range.upperBound else { return nil }
        self.init(head: range.lowerBound..<line, contentEnd: range.upperBound, in: text)
    }

    /// The edits of the head that fit it to its new content; empty if nothing is edited there.
    func edits(for edits: [Edit], in text: UnsafeRawBufferPointer) -> [Edit] {
        let own = edits.filter { $0.range.lowerBound >= self.content.lowerBound && $0.range.upperBound <= self.content.upperBound }
        guard !own.isEmpty else { return [] }
        let old = Array(text[self.content])
        let new = EditList(own.map { Edit(range: self.moved($0.range), bytes: $0.bytes) }).applied(to: old)
        let mender = FieldsOfBody { PortableSHA256() }
        var found: [Edit] = []
        for line in Self.lines(self.head, in: text) {
            var fields = HeaderFields(["\(line.name): \(String(decoding: text[line.value], as: UTF8.self))"])
            let value = fields.value(at: 0)
            var notes: [String] = []
            mender.mend(
                &fields, growth: new.count - old.count, oldSize: old.count, old: { mender.checksum($0, of: old) },
                new: { mender.checksum($0, of: new) }, notes: &notes)
            guard fields.value(at: 0) != value, !edits.contains(where: { $0.range.overlaps(line.value) }) else { continue }
            found.append(Edit(range: line.value, bytes: Array(fields.value(at: 0).utf8)))
        }
        return found
    }

    private func moved(_ range: Range<Int>) -> Range<Int> {
        range.lowerBound - self.content.lowerBound..<range.upperBound - self.content.lowerBound
    }

    /// The fields of a head. Names are in lower case; values are without the white space around them.
    private static func lines(_ head: Range<Int>, in text: UnsafeRawBufferPointer) -> [(name: String, value: Range<Int>)] {
        var lines: [(name: String, value: Range<Int>)] = []
        var start = head.lowerBound
        while start < head.upperBound {
            let end = min(ByteScan.index(of: 10, in: text, from: start), head.upperBound)
            if let colon = text[start..<end].firstIndex(of: UInt8(ascii: ":")), !text[start..<colon].contains(where: { $0 <= 32 }) {
                var (first, last) = (colon + 1, end)
                while first < last, text[first] <= 32 { first += 1 }
                while last > first, text[last - 1] <= 32 { last -= 1 }
                lines.append((String(decoding: text[start..<colon], as: UTF8.self).lowercased(), first..<last))
            }
            start = end + 1
        }
        return lines
    }
}
