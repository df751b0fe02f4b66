internal import CassetteFormat
public import CassetteModel

/// Searches files for the secrets of a vault, in any spelling.
public struct LeakScan {
    private let vault: SecretVault
    /// Once spent, a scan throws `SearchBudget.Spent`.
    private let budget: SearchBudget?

    /// The most leaks reported for one file: the first ones are enough to find the others.
    public static let limit = 100
    /// How many bytes are searched at once, and how many of them are searched again with the next ones: more than the longest secret in
    /// base64.
    private static let windowSize = 1 << 20
    private static let overlap = 128 << 10

    public init(_ vault: SecretVault) {
        self.vault = vault
        self.budget = nil
    }

    /// - Parameter budget: ends a scan early, from any thread.
    package init(_ vault: SecretVault, within budget: SearchBudget) {
        self.vault = vault
        self.budget = budget
    }

    /// - Parameters:
    ///   - source: a cassette, or a file next to it. Codings are recognised by their magic numbers.
    ///   - codings: the codings that its message declares, in the order applied, for those without a magic number.
    ///   - decodes: whether the decoded content is searched as well.
    public func leaks(in source: ByteSource, codings: [ContentEncoding.Name] = [], decodes: Bool = true) throws -> [Leak] {
        var leaks = Set<Leak>()
        try self.scan({ deliver in try source.forEachPiece(deliver) }, isCompressed: false, &leaks)
        if decodes, let chain = try Self.decoder(of: source, codings) {
            try self.scan(
                { deliver in
                    try source.forEachPiece(while: { try chain.push($0, deliver: deliver) })
                    _ = chain.finish()
                }, isCompressed: true, &leaks)
        }
        return Array(leaks.sorted { ($0.offset, $0.placeholder.description) < ($1.offset, $1.placeholder.description) }.prefix(Self.limit))
    }

    /// Whether bytes in memory contain a secret.
    func hasLeak(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var leaks = Set<Leak>()
        self.look(at: bytes, from: 0, isCompressed: false, &leaks)
        return !leaks.isEmpty
    }

    private static func decoder(of source: ByteSource, _ codings: [ContentEncoding.Name]) throws -> DecoderChain? {
        if !codings.isEmpty { return DecoderChain(codings, limits: .search(codedSize: source.size)) }
        guard source.size > 4 else { return nil }
        var beginning = [UInt8](repeating: 0, count: 4)
        try beginning.withUnsafeMutableBytes { try source.read(at: 0, into: $0) }
        let name: ContentEncoding.Name
        switch (beginning[0], beginning[1]) {
        case (0x1f, 0x8b): name = .gzip
        case (0x28, 0xb5): name = .zstd
        case (0x78, let flags) where (0x7800 | Int(flags)) % 31 == 0: name = .deflate
        default: return nil
        }
        return name.isSupported ? DecoderChain([name], limits: .search(codedSize: source.size)) : nil
    }

    private func scan(
        _ pieces: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void, isCompressed: Bool, _ leaks: inout Set<Leak>
    ) throws {
        var window: [UInt8] = []
        var offset = 0
        try pieces { piece in
            try self.checkBudget()
            window.append(contentsOf: piece)
            guard window.count >= Self.windowSize else { return }
            window.withUnsafeBytes { self.look(at: $0, from: offset, isCompressed: isCompressed, &leaks) }
            let done = window.count - Self.overlap
            window.removeFirst(done)
            offset += done
        }
        try self.checkBudget()
        window.withUnsafeBytes { self.look(at: $0, from: offset, isCompressed: isCompressed, &leaks) }
        // The last window may be incomplete: see `look`.
        try self.checkBudget()
    }

    private func checkBudget() throws(SearchBudget.Spent) { if self.budget?.isSpent == true { throw SearchBudget.Spent() } }

    private func look(at bytes: UnsafeRawBufferPointer, from offset: Int, isCompressed: Bool, _ leaks: inout Set<Leak>) {
        guard let known = self.vault.known() else { return }
        let placeholders = known.placeholders
        var views: [EscapeView] = []
        self.look(bytes, known.index) { hit in
            let spelling: Leak.Spelling = isCompressed ? .compressed : Self.spelling(hit.form)
            leaks.insert(Leak(placeholder: placeholders[hit.secret], offset: hit.range.lowerBound + offset, spelling: spelling))
        }
        var view = EscapeView(bytes)
        // Each layer of escapes is as long as the text.
        while let current = view, views.count < EscapeView.depthLimit, self.budget?.isSpent != true {
            views.append(current)
            current.bytes.withUnsafeBytes { text in
                self.look(text, known.index) { hit in
                    let range = views.reversed().reduce(hit.range) { $1.source($0) }
                    // A match without escapes was already found in the text itself.
                    guard range.count != hit.range.count else { return }
                    let spelling: Leak.Spelling =
                        isCompressed
                        ? .compressed
                        : bytes[range].contains(UInt8(ascii: "%"))
                            ? .percent
                            : bytes[range].contains(UInt8(ascii: "\\")) ? .json : .html
                    leaks.insert(Leak(placeholder: placeholders[hit.secret], offset: range.lowerBound + offset, spelling: spelling))
                }
            }
            view = current.bytes.withUnsafeBytes { EscapeView($0) }
        }
    }

    private static func spelling(_ form: Needle.Form) -> Leak.Spelling {
        switch form {
        case .plain: .plain
        case .base64: .base64
        case .hex: .hex
        case .wide: .utf16
        }
    }

    /// Searches, ignoring base64 that merely resembles a secret: seven equal characters can be a coincidence.
    private func look(_ text: UnsafeRawBufferPointer, _ index: NeedleLayers, _ deliver: (NeedleIndex.Hit) -> Void) {
        index.search(text) { hit in
            if case .base64(let alignment) = hit.form {
                guard let run = Base64Run(text, core: hit.range.lowerBound, alignment: alignment) else { return }
                var isThere = false
                run.content.withUnsafeBytes { content in
                    index.search(content) {
                        isThere =
                            isThere || $0.form == .plain && (self.vault.renumbers || !run.isInPlaceholder($0.range, in: text))
                    }
                }
                guard isThere else { return }
            } else if !self.vault.renumbers, Placeholder.covers(hit.range, in: text) {
                return
            }
            deliver(hit)
        }
    }
}

/// A redacted secret that is still in a file.
public struct Leak: Sendable, Hashable, CustomStringConvertible {
    public enum Spelling: String, Sendable, Hashable, CaseIterable {
        case plain, percent, json, html, base64, hex, utf16, compressed
    }

    /// The placeholder that should be in its place.
    public var placeholder: Placeholder
    /// The offset in the file, or in the decoded body if it is `compressed`.
    public var offset: Int
    public var spelling: Spelling

    public var description: String { "\(self.placeholder) at offset \(self.offset) (\(self.spelling.rawValue))" }
}
