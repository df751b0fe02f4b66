internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Takes the secrets out of a content that a value holds as bytes or in base64: a compressed one, or a tree of values in a binary format.
///
/// Knows nothing about what is around it, whose lengths have to follow.
struct NestedContent {
    let text: TextRedaction
    /// Contents that this one is in.
    let depth: Int
    /// Of the tree whose value it is.
    var outer: TreeRedaction.Format?

    /// Bytes of a content without its coding. A longer one is a file, which is seldom sent so.
    private static let limit = 4 << 20

    /// The content without its secrets, and how many there were. Nil for a content of another kind, and for one without secrets.
    func redacted(_ content: UnsafeRawBufferPointer) -> (bytes: [UInt8], count: Int)? {
        guard self.depth < EscapeView.depthLimit, self.text.mayGoOn(SearchBudget.costOfText) else { return nil }
        if let name = SniffedCoding.name(content) { return self.decoded(content, name) }
        guard let format = TreeRedaction.Format(content, MediaType(nil), within: self.outer) else { return nil }
        var tree = TreeRedaction(text: self.text, format: format, depth: self.depth)
        guard let edits = tree.edits(in: content), !edits.isEmpty else { return nil }
        return (EditList(edits).applied(to: content), tree.count)
    }

    private func decoded(_ coded: UnsafeRawBufferPointer, _ name: ContentEncoding.Name) -> (bytes: [UInt8], count: Int)? {
        guard let chain = DecoderChain([name], limits: InflateLimits(output: Self.limit)) else { return nil }
        chain.meter = self.text.budget?.meter(coded: coded.count)
        var content: [UInt8] = []
        // Throws if the budget is spent, and then nothing of the search is used.
        guard let isWhole = try? chain.push(coded, deliver: { content.append(contentsOf: $0) }) && chain.finish(), isWhole,
            chain.problem == nil
        else { return nil }
        let inner = content.withUnsafeBytes { content -> (bytes: [UInt8], count: Int)? in
            if !ReadableText.isReadable(content) { return NestedContent(text: self.text, depth: self.depth + 1).redacted(content) }
            let edits = self.text.edits(in: content, depth: self.depth + 1)
            return edits.isEmpty ? nil : (edits.applied(to: content), edits.count)
        }
        guard let inner else { return nil }
        var bytes: [UInt8] = []
        do {
            let encoder = try EncoderChain(chain.found.reversed().map { $0.coding(nil) })
            try inner.bytes.withUnsafeBytes { try encoder.push($0) { bytes.append(contentsOf: $0) } }
            try encoder.finish { bytes.append(contentsOf: $0) }
        } catch {
            // Level 6 is one that zlib takes; a content with secrets in it is not kept for want of memory.
            return ([], inner.count)
        }
        return (bytes, inner.count)
    }
}
