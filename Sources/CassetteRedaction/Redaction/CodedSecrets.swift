internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Finds known secrets in base64 whose characters alone do not show them: in lines that are indented or end within a secret, in base64,
/// UTF-16 or deflate within base64; and in hex with a mark between its pairs.
///
/// Decodes each long run of base64 characters once. Only reads: the caller writes the new texts.
struct CodedSecrets {
    let text: TextRedaction
    let known: KnownSecrets
    /// How many base64 texts enclose this one.
    let depth: Int

    /// A text that replaces a range.
    typealias Replacement = (range: Range<Int>, text: [UInt8])

    // MARK: Base64

    /// Characters of base64, possibly in several lines.
    struct Run {
        var range: Range<Int>
        var isFolded = false
    }

    /// A decoded run, or what it contains, in the buffer that is searched.
    private struct Content {
        var range: Range<Int>
        var run: Int
        /// Whether a secret counts that is there as it is. In base64 of one line, the search of the text itself finds it.
        var hasPlain: Bool
    }

    /// How many contents of one text are tried as deflate. Nothing marks it, so most of them are something else.
    static let inflationLimit = 16
    /// The most decoded bytes of deflate in base64.
    private static let inflatedLimit = 1 << 20
    /// How many segments of one path are decoded by themselves.
    private static let segmentLimit = 3
    /// The fewest characters of a line that another one follows.
    private static let leastLine = 16

    /// The runs that contain a known secret in such a spelling, with the secret replaced.
    func replacements(in bytes: UnsafeRawBufferPointer, hasMore: Bool, isOneLine: Bool) -> [Replacement] {
        guard self.depth < EscapeView.depthLimit else { return [] }
        let runs = Self.runs(in: bytes, hasMore: hasMore)
        guard !runs.isEmpty, self.text.mayGoOn(runs.reduce(0) { $0 + $1.range.count }) else { return [] }
        var replacements: [Replacement] = []
        for number in self.runsWithSecrets(runs, in: bytes, level: self.depth).sorted() {
            let range = runs[number].range
            guard range.lowerBound >= replacements.last?.range.upperBound ?? 0, let base64 = Base64Text(bytes[range]),
                let content = self.redacted(base64.content)
            else { continue }
            replacements.append((range, base64.text(of: content, isOneLine: isOneLine)))
        }
        return replacements
    }

    /// - Parameter joinsLines: whether lines of base64 are one run.
    static func runs(in bytes: UnsafeRawBufferPointer, hasMore: Bool, joinsLines: Bool = true) -> [Run] {
        var runs: [Run] = []
        var end = 0
        TokenRuns.forEach(in: bytes) { range in
            guard range.lowerBound >= end else { return true }
            var run = Run(range: range)
            while joinsLines, let next = Self.nextLine(after: run.range, in: bytes, from: end) {
                end = run.range.upperBound
                run = Run(range: range.lowerBound..<next.upperBound, isFolded: true)
            }
            let last = run.range.upperBound
            // The rest of a run is unknown.
            guard !hasMore || last < bytes.count, run.range.count <= Base64Text.limit else { return true }
            let padded = Self.endOfPadding(after: last, in: bytes, mayBeFolded: joinsLines)
            run.range = run.range.lowerBound..<padded
            end = padded
            runs.append(run)
            // A segment of a path may be base64 by itself.
            var segments = 0
            var start = run.range.lowerBound
            while !run.isFolded, segments < Self.segmentLimit {
                start = ByteScan.index(of: UInt8(ascii: "/"), in: UnsafeRawBufferPointer(rebasing: bytes[..<padded]), from: start) + 1
                guard padded - start >= Self.leastLine else { break }
                segments += 1
                runs.append(Run(range: start..<padded))
            }
            return true
        }
        return runs
    }

    /// The offset after at most two equals signs, each of which may be on a line of its own.
    private static func endOfPadding(after last: Int, in bytes: UnsafeRawBufferPointer, mayBeFolded: Bool) -> Int {
        var end = last
        for _ in 0..<2 {
            var next = end
            if mayBeFolded, end < bytes.count, bytes[end] == 10 || bytes[end] == 13 {
                let most = min(bytes.count, end + 64)
                while next < most, [10, 13, 32, 9].contains(bytes[next]) { next += 1 }
            }
            guard next < bytes.count, bytes[next] == UInt8(ascii: "=") else { break }
            end = next + 1
        }
        return end
    }

    /// The characters of the line after a run that ends a line (RFC 2849, 2; RFC 5322, 2.2.3). Nil if another text follows.
    private static func nextLine(after run: Range<Int>, in bytes: UnsafeRawBufferPointer, from least: Int) -> Range<Int>? {
        guard run.count - max(0, least - run.lowerBound) >= self.leastLine else { return nil }
        var start = run.upperBound
        if start < bytes.count, bytes[start] == 13 { start += 1 }
        guard start < bytes.count, bytes[start] == 10 else { return nil }
        start += 1
        let most = min(bytes.count, start + 64)
        while start < most, bytes[start] == 32 || bytes[start] == 9 { start += 1 }
        var end = start
        while end < bytes.count, Base64Run.value(bytes[end]) != nil { end += 1 }
        // A name, or a word of a sentence.
        guard end > start, end == bytes.count || bytes[end] != UInt8(ascii: ":") && bytes[end] != 32 else { return nil }
        return start..<end
    }

    /// The numbers of the runs that contain a secret.
    ///
    /// - Parameter level: how many base64 texts enclose the bytes.
    private func runsWithSecrets(_ runs: [Run], in bytes: UnsafeRawBufferPointer, level: Int) -> Set<Int> {
        var contents: [Content] = []
        var buffer: [UInt8] = []
        var inflations = 0
        for (number, run) in runs.enumerated() {
            let start = buffer.count
            Self.decode(bytes[run.range], into: &buffer)
            contents.append(Content(range: start..<buffer.count, run: number, hasPlain: run.isFolded))
            guard inflations < Self.inflationLimit, run.range.count >= 2 * Self.leastLine else { continue }
            let content = Array(buffer[start...])
            guard SniffedCoding.mayBeRawDeflate(content), !content.withUnsafeBytes(ReadableText.isReadable) else { continue }
            inflations += 1
            guard let inflated = Self.inflated(content, budget: self.text.budget)?.content else { continue }
            contents.append(Content(range: buffer.count..<buffer.count + inflated.count, run: number, hasPlain: true))
            buffer += inflated
        }
        var found: Set<Int> = []
        func note(_ range: Range<Int>, isPlain: Bool) {
            var (low, high) = (0, contents.count)
            while high - low > 1 {
                let middle = (low + high) / 2
                if contents[middle].range.lowerBound <= range.lowerBound { low = middle } else { high = middle }
            }
            guard low < contents.count, range.upperBound <= contents[low].range.upperBound, !isPlain || contents[low].hasPlain else {
                return
            }
            found.insert(contents[low].run)
        }
        buffer.withUnsafeBytes { buffer in
            self.known.index.search(buffer) { note($0.range, isPlain: $0.form == .plain) }
            guard level + 1 < EscapeView.depthLimit else { return }
            let inner = Self.runs(in: buffer, hasMore: false)
            guard !inner.isEmpty else { return }
            for number in self.runsWithSecrets(inner, in: buffer, level: level + 1) { note(inner[number].range, isPlain: false) }
        }
        return found
    }

    private static func decode(_ text: Slice<UnsafeRawBufferPointer>, into content: inout [UInt8]) {
        var bits: UInt32 = 0
        var held = 0
        for character in text {
            guard let value = Base64Run.value(character) else { continue }
            bits = bits << 6 | UInt32(value)
            held += 6
            guard held >= 8 else { continue }
            held -= 8
            content.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
        }
    }

    /// The text in deflate without a wrapper, as in bindings of SAML (SAML V2.0 Bindings, 3.4.4.1). Nil for other bytes.
    static func inflated(_ bytes: [UInt8], budget: SearchBudget?) -> (content: [UInt8], chain: DecoderChain)? {
        guard let chain = DecoderChain([.deflate], limits: InflateLimits(output: Self.inflatedLimit)) else { return nil }
        chain.meter = budget?.meter(coded: bytes.count)
        var content: [UInt8] = []
        let isWhole = try? bytes.withUnsafeBytes { try chain.push($0) { content.append(contentsOf: $0) } } && chain.finish()
        guard isWhole == true, chain.problem == nil, chain.found.allSatisfy({ $0.leftOver == 0 }),
            content.withUnsafeBytes(ReadableText.isReadable)
        else { return nil }
        return (content, chain)
    }

    /// The content of base64 without its secrets; nil if none was found after all.
    private func redacted(_ content: [UInt8]) -> [UInt8]? {
        var inner = self.text
        (inner.isJSON, inner.isEventStream) = (false, false)
        func edited(_ text: [UInt8], as kind: TextKind) -> EditList? {
            let edits = text.withUnsafeBytes { inner.edits(in: $0, as: kind, depth: self.depth + 1) }
            return edits.isEmpty ? nil : edits
        }
        if content.withUnsafeBytes(ReadableText.isReadable) { return edited(content, as: .plain)?.applied(to: content) }
        if let (text, chain) = Self.inflated(content, budget: self.text.budget) {
            guard let edits = edited(text, as: .plain) else { return nil }
            var bytes: [UInt8] = []
            do {
                let encoder = try EncoderChain(chain.found.reversed().map { $0.coding(nil) })
                try edits.applied(to: text).withUnsafeBytes { try encoder.push($0) { bytes.append(contentsOf: $0) } }
                try encoder.finish { bytes.append(contentsOf: $0) }
            } catch {
                // zlib accepts level 6, so memory ran out. A content with secrets must not be kept for that reason.
                return []
            }
            return bytes
        }
        for charset in [nil, "utf-16le"] {
            if let wide = content.withUnsafeBytes({ WideText($0, charset: charset) }), let edits = edited(wide.text, as: .plain) {
                return EditList(wide.edits(edits)).applied(to: content)
            }
        }
        return edited(content, as: .binary)?.applied(to: content)
    }

    // MARK: Hex

    /// The fewest bytes of hex with marks, as many as a secret has.
    private static let leastBytes = NeedleIndex.lengthLimit
    /// Of so many bytes of such hex, every eighth begins a window of nine that shows it.
    private static let windowStride = 8

    /// Secrets in pairs of hex digits with a colon, hyphen, comma or blank between them.
    func replacementsInPairs(in bytes: UnsafeRawBufferPointer, fitting: (Placeholder, Int) -> [UInt8]) -> [Replacement] {
        var replacements: [Replacement] = []
        for pairs in Self.pairs(in: bytes) {
            guard self.text.mayGoOn(pairs.range.count) else { break }
            let start = pairs.range.lowerBound
            pairs.content.withUnsafeBytes { content in
                self.known.index.search(content) { hit in
                    guard hit.form == .plain, self.text.vault.renumbers || !Placeholder.covers(hit.range, in: content) else { return }
                    let range = start + 3 * hit.range.lowerBound..<start + 3 * hit.range.upperBound - 1
                    let isUpper = bytes[range].contains { $0 >= 65 && $0 <= 70 }
                    let digits = fitting(self.known.placeholders[hit.secret], hit.range.count).map { byte in
                        [byte >> 4, byte & 15].map { Hex.digit($0) & (isUpper && $0 > 9 ? ~32 : 255) }
                    }
                    replacements.append((range, Array(digits.joined(separator: [bytes[start + 2]]))))
                }
            }
        }
        return replacements
    }

    /// Hex with marks, and the bytes that it spells.
    static func pairs(in bytes: UnsafeRawBufferPointer) -> [(range: Range<Int>, content: [UInt8])] {
        var found: [(range: Range<Int>, content: [UInt8])] = []
        var offset = 0
        while offset + Self.windowStride < bytes.count {
            defer { offset += Self.windowStride }
            guard let mark = (offset..<offset + 3).first(where: { bytes[$0] == bytes[$0 + 3] && bytes[$0] == bytes[$0 + 6] }),
                ":- ,".utf8.contains(bytes[mark]), let pairs = Self.pairs(in: bytes, around: mark)
            else { continue }
            offset = max(offset, pairs.upperBound - Self.windowStride)
            guard pairs.lowerBound >= found.last?.range.upperBound ?? 0, pairs.count >= 3 * Self.leastBytes - 1 else { continue }
            let content = stride(from: pairs.lowerBound, to: pairs.upperBound, by: 3).map { start in
                (Hex.value(bytes[start]) ?? 0) << 4 | (Hex.value(bytes[start + 1]) ?? 0)
            }
            found.append((pairs, content))
        }
        return found
    }

    /// All pairs around a mark between two of them.
    private static func pairs(in bytes: UnsafeRawBufferPointer, around mark: Int) -> Range<Int>? {
        func isPair(_ start: Int) -> Bool {
            start >= 0 && start + 1 < bytes.count && Hex.value(bytes[start]) != nil && Hex.value(bytes[start + 1]) != nil
        }
        guard isPair(mark - 2), isPair(mark + 1) else { return nil }
        var (start, end) = (mark - 2, mark + 3)
        while start > 0, bytes[start - 1] == bytes[mark], isPair(start - 3) { start -= 3 }
        while end < bytes.count, bytes[end] == bytes[mark], isPair(end + 1) { end += 3 }
        return start..<end
    }
}
