internal import TapeBytes

/// The JSON texts of NDJSON, of JSON sequences (RFC 7464) and of Elasticsearch's `_bulk` as facets, each at its number from 0.
///
/// The order of the texts is compared; line ends and empty lines are not.
struct JSONLineFacets {
    let pointers: PointerSet
    /// Whether the body is declared to have several texts. If not, there must be at least two, each an object or an array.
    let isDeclared: Bool

    private static let recordSeparator: UInt8 = 0x1E

    /// False, with nothing added, if a text is not JSON.
    func read(_ bytes: UnsafeRawBufferPointer, into collector: inout FacetCollector) -> Bool {
        var found = collector.empty
        let isSequence = bytes.first == Self.recordSeparator
        let texts = isSequence ? Self.records(bytes) : Self.lines(bytes)
        guard isSequence || self.isDeclared || texts.count > 1, !texts.isEmpty else { return false }
        let isBulk = !isSequence && Self.isAction(texts[0])
        if isBulk, bytes.last != 10 {
            // Elasticsearch refuses a body whose last line has no end.
            Array("a last line without an end".utf8).withUnsafeBytes {
                found.add(FacetHash.value(FacetHash.root, .notClosed, $0), .json, name: [], value: $0)
            }
        }
        let root = JSONFacets.root(self.pointers)
        for (index, text) in texts.enumerated() {
            let first = text.first { !Self.isSpace($0) }
            let isContainer = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
            guard isContainer || self.isDeclared || isSequence else { return false }
            // A number or word with no white space after it may have been cut (RFC 7464, 2.4).
            if isSequence, !isContainer, first != UInt8(ascii: "\""), !(text.last.map(Self.isSpace) ?? false) { return false }
            let base = JSONFacets.base(Array("\(index)".utf8), in: root, self.pointers)
            guard JSONFacets.read(text, at: base, self.pointers, into: &found) else { return false }
        }
        collector.add(found)
        return true
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 10 || byte == 13 }

    private static func lines(_ bytes: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] { self.pieces(bytes, separator: 10) }

    private static func records(_ bytes: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        self.pieces(bytes, separator: self.recordSeparator)
    }

    /// The pieces that contain more than white space.
    private static func pieces(_ bytes: UnsafeRawBufferPointer, separator: UInt8) -> [UnsafeRawBufferPointer] {
        var pieces: [UnsafeRawBufferPointer] = []
        var start = 0
        while start < bytes.count {
            let end = ByteScan.index(of: separator, in: bytes, from: start)
            let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            if !piece.allSatisfy(self.isSpace) { pieces.append(piece) }
            start = end + 1
        }
        return pieces
    }

    /// Whether a line is an action of `_bulk` or a header of `_msearch`: an object that is empty, or whose first member is one of theirs.
    private static func isAction(_ line: UnsafeRawBufferPointer) -> Bool {
        var tokenizer = JSONTokenizer(line)
        guard tokenizer.next()?.kind == .beginObject, let name = tokenizer.next() else { return false }
        guard name.kind == .name else { return name.kind == .endObject }
        let word = line[name.start + 1..<name.end - 1]
        return self.actions.contains { word.elementsEqual($0.utf8) }
    }

    private static let actions = [
        "index", "create", "update", "delete", "search_type", "preference", "routing", "expand_wildcards", "ignore_unavailable",
        "allow_no_indices", "request_cache",
    ]
}
