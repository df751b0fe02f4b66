package import CassetteModel
package import TapeBytes

/// Corrects the header fields and the arrival that describe a body's bytes after these have changed.
package struct FieldsOfBody {
    package let makeDigest: () -> any ContentDigest

    package init(makeDigest: @escaping () -> any ContentDigest) {
        self.makeDigest = makeDigest
    }

    /// Signatures, which depend on a key.
    private static let signatures: [StaticString] = ["x-hub-signature", "x-hub-signature-256", "stripe-signature"]
    /// Words in the names of fields with checksums, among others those of HTTP, S3, Azure, Google, Artifactory, tus and registries.
    private static let words = [
        "digest", "checksum", "md5", "sha1", "sha256", "sha384", "sha512", "crc", "adler", "hash", "etag", "blake", "xxh", "sha3", "sha224",
        "murmur", "fnv",
    ]

    /// Corrects lengths and checksums. A checksum that did not match the old bytes is left as it is and gets a note.
    ///
    /// - Parameters:
    ///   - growth: the number of bytes added, minus those removed.
    ///   - oldSize: the number of old bytes, for fields that repeat it (`X-Content-Length`); nil if it is unknown.
    ///   - old: computes a checksum of the old bytes, when a field may contain it; nil if it cannot be computed.
    ///   - new: the same for the new bytes.
    ///   - content: the bytes without their content codings, before and after. Checksums that an application made of its content stay the
    ///     same if a server compresses the answer.
    ///   - replaced: receives each checksum that was replaced.
    package func mend(
        _ fields: inout HeaderFields, growth: Int, oldSize: Int? = nil, old: (BodyChecksum) throws -> [UInt8]?,
        new: (BodyChecksum) throws -> [UInt8]?,
        content: (old: [UInt8], new: [UInt8])? = nil, notes: inout [String],
        replaced: (_ old: String, _ new: String) -> Void = { _, _ in }
    ) rethrows {
        // If the body was cut, the same number of bytes is missing as before.
        if let length = fields.first("content-length").flatMap({ Int($0) }), length >= 0 {
            fields = fields.replacing("content-length", with: "\(max(0, length + growth))")
        }
        if growth != 0, fields.contains("content-range") { notes.append("content-range does not fit the redacted body") }
        var mended = HeaderFields()
        var isChanged = false
        for index in 0..<fields.count {
            let name = fields.name(at: index).lowercased()
            if let size = oldSize.flatMap({ Self.size(fields, index, name, growth: growth, oldSize: $0, content) }) {
                isChanged = true
                mended.append(name: fields.name(at: index), value: "\(size)")
                continue
            }
            guard Self.mayHaveChecksum(name) else {
                mended.append(line: fields.line(at: index))
                continue
            }
            var misfits = false
            let value = try self.mended(fields.value(at: index), name: name, &misfits, old, new, content, replaced)
            // Most entity tags are not checksums.
            if misfits, name != "etag" { notes.append("\(name) does not fit the redacted body") }
            if let value {
                isChanged = true
                mended.append(name: fields.name(at: index), value: value)
            } else {
                mended.append(line: fields.line(at: index))
            }
        }
        if isChanged { fields = mended }
        for name in Self.signatures where fields.contains(name) { notes.append("\(name) does not fit the redacted body") }
    }

    /// The new size in a field that has that of the old bytes, with or without their codings, in addition to Content-Length; nil for any
    /// other field.
    private static func size(
        _ fields: HeaderFields, _ index: Int, _ name: String, growth: Int, oldSize: Int, _ content: (old: [UInt8], new: [UInt8])?
    ) -> Int? {
        guard name.hasSuffix("-content-length"), let size = Int(fields.value(at: index)) else { return nil }
        if size == oldSize { return growth == 0 ? nil : size + growth }
        guard let content, size == content.old.count, content.old.count != content.new.count else { return nil }
        return content.new.count
    }

    /// Whether a field with this name, in lower case, may contain a checksum of a body.
    static func mayHaveChecksum(_ name: String) -> Bool {
        self.words.contains(where: name.contains) && !name.hasPrefix("want-")
    }

    /// A value with its checksums replaced; nil if none of them matched.
    private func mended(
        _ value: String, name: String, _ misfits: inout Bool, _ old: (BodyChecksum) throws -> [UInt8]?,
        _ new: (BodyChecksum) throws -> [UInt8]?, _ content: (old: [UInt8], new: [UInt8])?,
        _ replaced: (_ old: String, _ new: String) -> Void
    ) rethrows -> String? {
        func other(_ checksum: BodyChecksum, isFitting: ([UInt8]) -> Bool) throws -> [UInt8]? {
            if let bytes = try old(checksum), isFitting(bytes) { return try new(checksum) }
            guard let content, isFitting(self.checksum(checksum, of: content.old)) else { return nil }
            return self.checksum(checksum, of: content.new)
        }
        var isShaped = false
        return try ChecksumWords.replaced(
            in: value,
            missed: {
                misfits = misfits || isShaped
                isShaped = false
            }
        ) { word in
            for (spelling, checksum) in ChecksumSpelling.candidates(for: word, in: name) {
                isShaped = isShaped || spelling.isCertain
                guard let fitting = try other(checksum, isFitting: { spelling.isSpelled(word, of: $0) }) else { continue }
                isShaped = false
                let spelled = spelling.text(of: fitting)
                replaced(word, spelled)
                return spelled
            }
            return nil
        }
    }

    /// A checksum of bytes in memory.
    package func checksum(_ checksum: BodyChecksum, of bytes: [UInt8]) -> [UInt8] {
        checksum == .sha256 ? self.digest(bytes) : checksum.value(of: bytes)
    }

    /// The SHA-256 of bytes in memory.
    package func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = self.makeDigest()
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.finalize()
    }

    // MARK: Arrival

    /// Keeps the pieces of the body, applied to the new bytes. Boundaries within a secret move to its end.
    package static func mend(_ arrival: inout Arrival?, edits: EditList?, oldSize: Int, newSize: Int) {
        guard var mended = arrival, !mended.pieces.isEmpty else { return }
        var ends: [Int] = []
        for piece in mended.pieces { ends.append((ends.last ?? 0) + piece.size) }
        let moved = edits?.moved(ends) ?? ends.map { oldSize > 0 ? Int(Double($0) * Double(newSize) / Double(oldSize)) : 0 }
        var pieces: [Arrival.Piece] = []
        var start = 0
        for (index, piece) in mended.pieces.enumerated() {
            let end = index == ends.count - 1 ? newSize : min(max(moved[index], start), newSize)
            // A chunk of size zero would end the message (RFC 9112, 7.1).
            guard end > start || piece.size == 0 else { continue }
            pieces.append(
                Arrival.Piece(at: piece.at, size: end - start, line: piece.size == end - start ? piece.line : Self.line(piece, end - start))
            )
            start = end
        }
        mended.pieces = pieces
        arrival = mended
    }

    /// A chunk-size line with another size and the same extensions.
    private static func line(_ piece: Arrival.Piece, _ size: Int) -> String? {
        guard let line = piece.line else { return nil }
        let rest = line.drop { $0.isHexDigit }
        return rest.isEmpty ? nil : String(size, radix: 16) + rest
    }
}

/// How a checksum is written in a header field.
private enum ChecksumSpelling {
    case hex(isUpper: Bool)
    /// Azure writes the lowest byte of a CRC first.
    case base64(isReversed: Bool)
    /// The standard alphabet without padding.
    case unpaddedBase64
    /// The URL-safe alphabet (RFC 4648, 5).
    case base64URL(isPadded: Bool)
    case decimal

    /// The checksums that a text may be, judging by its length.
    static func candidates(for text: String, in name: String) -> [(ChecksumSpelling, BodyChecksum)] {
        let count = text.utf8.count
        // Short checksums are recognised only with the help of the field's name.
        let isShortNamed =
            name.contains("crc") || name.contains("checksum") || name.contains("hash") || name.contains("digest") || name == "etag"
            || name.contains("xxh") || name.contains("fnv") || name.contains("murmur")
        var found: [(ChecksumSpelling, BodyChecksum)] = []
        if name.contains("crc"), !text.isEmpty, text.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) {
            let checksums: [BodyChecksum] = name.contains("crc64") ? [.crc64xz, .crc64nvme] : [.crc32, .crc32c]
            found += checksums.map { (.decimal, $0) }
        }
        if text.utf8.allSatisfy({ Hex.value($0) != nil }) {
            let spelling = ChecksumSpelling.hex(isUpper: text.utf8.contains { $0 >= 65 && $0 <= 70 })
            found += BodyChecksum.allCases.filter { $0.size * 2 == count && ($0.size > 8 || isShortNamed) }.map { (spelling, $0) }
        }
        // A text without the characters specific to either alphabet may be in both. Padded text is taken as standard, unpadded text as
        // URL-safe, which is most common.
        let isURLSafe = text.utf8.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        let isStandard = text.utf8.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
        guard !isURLSafe || !isStandard else { return found }
        if count % 4 == 0, text.utf8.last == UInt8(ascii: "=") || count > 24 {
            let fitting = BodyChecksum.allCases.filter { ($0.size + 2) / 3 * 4 == count && ($0.size > 8 || isShortNamed) }
            if isURLSafe {
                found += fitting.map { (.base64URL(isPadded: true), $0) }
            } else {
                found += fitting.map { (.base64(isReversed: false), $0) }
                if name.contains("crc64") { found += fitting.filter { $0.size == 8 }.map { (.base64(isReversed: true), $0) } }
            }
        }
        // MD5 is usually written as in Content-MD5 (RFC 1864).
        let bare = ChecksumSpelling.bare(isStandard: isStandard || name.contains("md5") && !isURLSafe)
        found += BodyChecksum.allCases.filter { ($0.size * 8 + 5) / 6 == count && $0.size > 8 }.map { (bare, $0) }
        return found
    }

    private static func bare(isStandard: Bool) -> ChecksumSpelling { isStandard ? .unpaddedBase64 : .base64URL(isPadded: false) }

    /// Whether a text of this form is almost certainly a checksum.
    var isCertain: Bool {
        switch self {
        case .hex, .base64, .decimal: true
        case .unpaddedBase64, .base64URL: false
        }
    }

    func isSpelled(_ text: String, of bytes: [UInt8]) -> Bool {
        switch self {
        case .hex: text.lowercased() == Hex.encode(bytes)
        case .base64, .unpaddedBase64, .base64URL, .decimal: text == self.text(of: bytes)
        }
    }

    func text(of bytes: [UInt8]) -> String {
        switch self {
        case .hex(let isUpper): return isUpper ? Hex.encode(bytes).uppercased() : Hex.encode(bytes)
        case .base64(let isReversed): return Self.base64(isReversed ? bytes.reversed() : bytes, isPadded: true)
        case .unpaddedBase64: return Self.base64(bytes, isPadded: false)
        case .base64URL(let isPadded):
            return String(decoding: Self.base64(bytes, isPadded: isPadded).utf8.map(Base64Run.urlSafe), as: UTF8.self)
        case .decimal: return String(bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
    }

    private static func base64(_ bytes: [UInt8], isPadded: Bool) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
        if !isPadded { while text.last == UInt8(ascii: "=") { text.removeLast() } }
        return String(decoding: text, as: UTF8.self)
    }
}

/// What the name of a part of multipart/form-data implies about its data.
enum PartMeaning: Sendable, Hashable {
    /// The whole content is one secret.
    case secret(kind: String, isSure: Bool, isRuled: Bool)
    /// An exception refers to it.
    case kept
    /// The content is searched, with these patterns.
    case content([RedactionRule])

    /// - Parameter name: the part's name, or its number if it has none. Only rules refer to a number.
    init(_ fields: HeaderFields, named name: String, rules: RedactionRules) {
        let disposition = ContentDisposition(fields)
        if rules.keeps(part: name) {
            self = .kept
        } else if let kind = rules.kind(part: name) {
            self = .secret(kind: kind, isSure: true, isRuled: true)
        } else if let disposition, disposition.filename == nil, let name = disposition.name,
            let meaning = SecretNames.meaning(of: Self.last(name).utf8), !meaning.needsCompany,
            !meaning.needsKeyShape
        {
            self = .secret(kind: meaning.kind, isSure: meaning.isSure, isRuled: false)
        } else {
            self = .content(rules.rules.filter { $0.place == .part(name) && $0.pattern != nil })
        }
    }

    /// `password` of `user[password]`
    private static func last(_ name: String) -> Substring {
        guard name.hasSuffix("]"), let open = name.lastIndex(of: "[") else { return name[...] }
        return name[name.index(after: open)...].dropLast()
    }
}
