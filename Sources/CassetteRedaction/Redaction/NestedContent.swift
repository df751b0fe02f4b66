internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Removes the secrets from a content that a value contains as bytes or in base64: compressed data, or a tree of values in a binary format.
///
/// Does not know the surrounding content, whose lengths the caller has to update.
struct NestedContent {
    let text: TextRedaction
    /// How many contents enclose this one.
    let depth: Int
    /// The format of the tree that contains the value.
    var outer: TreeRedaction.Format?

    /// The largest decoded content. A longer one is a file, which is rarely sent this way.
    private static let limit = 4 << 20
    /// Bytes that other data than deflate's may decode to by chance before an error shows.
    private static let chanceLimit = 256

    /// The content without its secrets, and how many there were. Nil if the content is of another kind, or has no secrets.
    func redacted(_ content: UnsafeRawBufferPointer) -> (bytes: [UInt8], count: Int)? {
        guard self.text.mayGoOn(SearchBudget.costOfText) else { return nil }
        guard self.depth < EscapeView.depthLimit else {
            if let name = SniffedCoding.name(content), name != .deflate { self.text.vault.note(.sealed("data compressed several times")) }
            return nil
        }
        if let opaque = OpaqueContent(content, MediaType(nil)) { self.text.vault.note(opaque) }
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
        // Throws if the budget is spent; then nothing of the search is used.
        guard let isWhole = try? chain.push(coded, deliver: { content.append(contentsOf: $0) }) && chain.finish(), isWhole,
            chain.problem == nil
        else {
            if let kind = chain.problem?.problem.kind, kind == .tooLong || kind == .tooDense {
                self.text.vault.note(.sealed("compressed data of more than \(Self.limit >> 20) MiB in a value or part"))
            } else if content.count > (name == .deflate ? Self.chanceLimit : 0) {
                self.text.vault.note(.sealed("damaged or incomplete compressed data in a value or part"))
            }
            return nil
        }
        let inner = content.withUnsafeBytes { content -> (bytes: [UInt8], count: Int)? in
            let isReadable = ReadableText.isReadable(content)
            if !isReadable, let nested = NestedContent(text: self.text, depth: self.depth + 1).redacted(content) { return nested }
            // An archive, or a text in another charset.
            let edits =
                isReadable
                ? self.text.edits(in: content, depth: self.depth + 1)
                : ContentRedaction(text: self.text, depth: self.depth + 1).edits(in: content, headers: HeaderFields())
            return edits.isEmpty ? nil : (edits.applied(to: content), edits.count)
        }
        guard let inner else { return nil }
        var bytes: [UInt8] = []
        do {
            let encoder = try EncoderChain(chain.found.reversed().map { $0.coding(nil) })
            try inner.bytes.withUnsafeBytes { try encoder.push($0) { bytes.append(contentsOf: $0) } }
            try encoder.finish { bytes.append(contentsOf: $0) }
        } catch {
            // zlib accepts level 6, so memory ran out. A content with secrets must not be kept for that reason.
            return ([], inner.count)
        }
        return (bytes, inner.count)
    }
}
