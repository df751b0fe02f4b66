internal import CassetteModel
internal import TapeBytes

/// The digests of scripts and styles in a page that redaction changes. A Content Security Policy lists them (`'sha256-…'`, Content Security
/// Policy Level 3, 6.7.3.3), and a browser refuses a script whose digest is not listed.
///
/// A browser hashes the text as UTF-8 (6.7.3.3), with each line end as a line feed (HTML, 13.2.3.5).
struct InlineScripts {
    /// In base64, in both alphabets.
    private(set) var digests: [(old: String, new: String)] = []

    private static let checksums: [BodyChecksum] = [.sha256, .sha384, .sha512]
    private static let elements: [StaticString] = ["script", "style"]
    /// The most changed elements of one page.
    private static let limit = 100
    /// The most digests of one element: of its text in each charset that it may have, in both alphabets.
    private static let mostOfOne = Self.checksums.count * 8
    /// The charsets that the page may have; nil is UTF-8.
    private var charsets: [Charset?] = []

    /// - Parameter edits: the edits of the content.
    init(_ content: UnsafeRawBufferPointer, _ headers: HeaderFields, _ edits: EditList) {
        guard !edits.isEmpty, headers.first("content-type")?.lowercased().contains("html") == true,
            headers.contains("content-security-policy") || headers.contains("content-security-policy-report-only")
                || ByteSearch.contains("sha256-", in: content) || ByteSearch.contains("sha384-", in: content)
                || ByteSearch.contains("sha512-", in: content)
        else { return }
        let field = headers.firstIndex(of: "content-type").map { MIMEParameters(headers.valueBytes(at: $0)) }
        let label = field?.parameters.first { $0.name == "charset" }.map { String(decoding: $0.value, as: UTF8.self).lowercased() }
        self.charsets = Self.charsets(of: content, label: label)
        let text = SurveyText(bytes: content, hasMore: false, isView: false)
        var tags = MarkupTags(text: text)
        var mark = ByteScan.index(of: UInt8(ascii: "<"), in: content, from: 0)
        while mark < content.count, self.digests.count < Self.limit * Self.mostOfOne {
            let open = mark
            mark = ByteScan.index(of: UInt8(ascii: "<"), in: content, from: open + 1)
            for element in Self.elements where text.isWord(element, endingAt: open + 1 + element.utf8CodeUnitCount) {
                guard let tag = tags.tag(at: open), tag.name.count == element.utf8CodeUnitCount,
                    let end = Self.end(of: element, text, from: tag.end)
                else { continue }
                mark = ByteScan.index(of: UInt8(ascii: "<"), in: content, from: end)
                self.add(content, tag.end..<end, edits)
            }
        }
        self.addAttributes(text, edits)
    }

    /// Event handlers, URLs with `javascript:` and `style` attributes, whose digests a policy may list with `'unsafe-hashes'` (6.7.3.3).
    private mutating func addAttributes(_ text: SurveyText, _ edits: EditList) {
        let content = text.bytes
        var tags = MarkupTags(text: text)
        for edit in edits.edits where self.digests.count < Self.limit * Self.mostOfOne {
            for attribute in tags.tag(around: edit.range.lowerBound)?.attributes ?? [] {
                let name = content[attribute.name].map { $0 | 32 }
                let isURL = content[attribute.value].prefix(Self.scheme.count).map { $0 | 32 } == Self.scheme.map { $0 | 32 }
                guard isURL || name.starts(with: "on".utf8) || name.elementsEqual("style".utf8),
                    let (old, new) = Self.change(content, attribute.value, edits)
                else { continue }
                let values = [old, new].map { value in value.withUnsafeBytes { EscapeView(entitiesOf: $0)?.bytes } ?? value }
                self.add(old: values[0], new: values[1])
                guard isURL else { continue }
                // Browsers differ in whether the scheme belongs to the text, and whether it is decoded.
                let sources = values.map { Array($0.dropFirst(Self.scheme.count)) }
                self.add(old: sources[0], new: sources[1])
                let decoded = sources.map(Self.percentDecoded)
                if decoded != sources { self.add(old: decoded[0], new: decoded[1]) }
            }
        }
    }

    private static let scheme = Array("javascript:".utf8)

    private static func percentDecoded(_ bytes: [UInt8]) -> [UInt8] {
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = Hex.value(bytes[index + 1]),
                let low = Hex.value(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }

    /// Whether a page too large for memory may have a policy that lists digests of what redaction has changed.
    static func mayBeListed(_ headers: HeaderFields, _ source: ByteSource) throws -> Bool {
        guard headers.first("content-type")?.lowercased().contains("html") == true else { return false }
        let names: [StaticString] = ["sha256-", "sha384-", "sha512-"]
        for policy: StaticString in ["content-security-policy", "content-security-policy-report-only"] {
            if headers.values(policy).contains(where: { value in names.contains { value.contains("\($0)") } }) { return true }
        }
        // In an element of the page.
        var (found, rest): (Bool, [UInt8]) = (false, [])
        try source.forEachPiece(while: { piece in
            rest += piece
            found = rest.withUnsafeBytes { bytes in
                names.contains { ByteSearch.contains($0, in: bytes) }
            }
            rest = Array(rest.suffix(names[0].utf8CodeUnitCount - 1))
            return !found
        })
        return found
    }

    /// How far into a page its charset is declared, in bytes (HTML, 13.2.3.2).
    private static let prescan = 1024

    /// Of the charset that a browser takes, all others are harmless: nothing lists the digests of a text in them.
    ///
    /// - Parameter label: the parameter of `Content-Type`; nil if there is none.
    private static func charsets(of content: UnsafeRawBufferPointer, label: String?) -> [Charset?] {
        var labels = label.map { [$0] } ?? []
        let head = UnsafeRawBufferPointer(rebasing: content.prefix(Self.prescan))
        let mark = Array("charset=".utf8)
        for offset in 0..<max(0, head.count - mark.count) {
            guard zip(head[offset...], mark).allSatisfy({ $0 | 32 == $1 }) else { continue }
            let name = head[(offset + mark.count)...].drop { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }.prefix {
                FormSpelling.isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
            labels.append(String(decoding: name, as: UTF8.self).lowercased())
        }
        // Without a declaration, a browser of a western locale assumes this one (HTML, 13.2.3.2).
        labels.append("windows-1252")
        var charsets: [Charset?] = [nil]
        for label in labels {
            for charset in Charset.candidates(label: label, beginning: content).suffix(1) where !charsets.contains(charset) {
                charsets.append(charset)
            }
        }
        return charsets
    }

    /// The beginning of the end tag.
    private static func end(of element: StaticString, _ text: SurveyText, from start: Int) -> Int? {
        var mark = ByteScan.index(of: UInt8(ascii: "<"), in: text.bytes, from: start)
        while mark < text.bytes.count {
            if text.byte(mark + 1) == UInt8(ascii: "/"), text.isWord(element, endingAt: mark + 2 + element.utf8CodeUnitCount) {
                return mark
            }
            mark = ByteScan.index(of: UInt8(ascii: "<"), in: text.bytes, from: mark + 1)
        }
        return nil
    }

    private mutating func add(_ content: UnsafeRawBufferPointer, _ range: Range<Int>, _ edits: EditList) {
        if let (old, new) = Self.change(content, range, edits) { self.add(old: old, new: new) }
    }

    /// A part of the page before and after; nil if nothing in it changes.
    private static func change(
        _ content: UnsafeRawBufferPointer, _ range: Range<Int>, _ edits: EditList
    ) -> (old: [UInt8], new: [UInt8])? {
        let own = edits.edits.filter { $0.range.lowerBound >= range.lowerBound && $0.range.upperBound <= range.upperBound }
        guard !own.isEmpty else { return nil }
        let old = Array(content[range])
        let moved = own.map {
            Edit(range: $0.range.lowerBound - range.lowerBound..<$0.range.upperBound - range.lowerBound, bytes: $0.bytes)
        }
        return (old, EditList(moved).applied(to: old))
    }

    private mutating func add(old: [UInt8], new: [UInt8]) {
        var seen: Set<[UInt8]> = []
        for charset in self.charsets {
            let text = Self.text(old, charset)
            if seen.insert(text).inserted { self.addDigests(text, Self.text(new, charset)) }
        }
        if seen.insert(old).inserted { self.addDigests(old, new) }
    }

    private mutating func addDigests(_ old: [UInt8], _ new: [UInt8]) {
        for checksum in Self.checksums {
            let values = (old: Self.base64(checksum.value(of: old)), new: Self.base64(checksum.value(of: new)))
            self.digests.append(values)
            let urlSafe = Self.urlSafe(values.old)
            if urlSafe != values.old { self.digests.append((urlSafe, Self.urlSafe(values.new))) }
        }
    }

    /// The text in the form that a browser hashes.
    private static func text(_ bytes: [UInt8], _ charset: Charset?) -> [UInt8] {
        let text = charset?.decode(bytes) ?? bytes
        guard text.contains(13) else { return text }
        var lines: [UInt8] = []
        lines.reserveCapacity(text.count)
        for (index, byte) in text.enumerated() where byte != 10 || index == 0 || text[index - 1] != 13 {
            lines.append(byte == 13 ? 10 : byte)
        }
        return lines
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func urlSafe(_ base64: String) -> String { String(decoding: base64.utf8.map(Base64Run.urlSafe), as: UTF8.self) }

    /// Edits where the page itself lists a digest, as in a `meta` element, whose attributes may spell `+`, `/` and `=` as entities.
    func edits(in content: UnsafeRawBufferPointer) -> [Edit] {
        guard !self.digests.isEmpty else { return [] }
        let plain = self.plainEdits(in: content)
        guard let view = EscapeView(entitiesOf: content) else { return plain }
        let escaped = view.bytes.withUnsafeBytes { self.plainEdits(in: $0) }.map {
            Edit(range: view.source($0.range), bytes: $0.bytes)
        }
        return escaped + plain.filter { edit in !escaped.contains { $0.range.overlaps(edit.range) } }
    }

    private func plainEdits(in content: UnsafeRawBufferPointer) -> [Edit] {
        var edits: [Edit] = []
        for (old, new) in self.digests {
            let word = Array(old.utf8)
            var offset = 0
            while let first = word.first {
                offset = ByteScan.index(of: UInt8(ascii: "-"), in: content, from: offset) + 1
                guard content.count - offset >= word.count else { break }
                guard content[offset] == first, content[offset..<offset + word.count].elementsEqual(word) else { continue }
                edits.append(Edit(range: offset..<offset + word.count, bytes: Array(new.utf8)))
            }
        }
        return edits
    }
}
