package import CassetteModel
package import TapeBytes

/// Mends the header fields and the arrival that speak of a body's bytes, once these have changed.
package struct FieldsOfBody {
    package let makeDigest: () -> any ContentDigest

    package init(makeDigest: @escaping () -> any ContentDigest) {
        self.makeDigest = makeDigest
    }

    /// Digests that this cannot compute anew, or that a key goes into.
    private static let others: [StaticString] = [
        "content-md5", "x-hub-signature", "x-hub-signature-256", "stripe-signature", "x-goog-hash", "x-amz-checksum-crc32",
        "x-amz-checksum-crc32c", "x-amz-checksum-sha1",
    ]

    /// - Parameters:
    ///   - growth: bytes that came in, less those that went.
    ///   - old: the SHA-256 of the bytes, asked for when a field has one.
    package func mend(
        _ fields: inout HeaderFields, growth: Int, old: () throws -> [UInt8], new: () throws -> [UInt8], notes: inout [String]
    ) rethrows {
        // Of a body that was cut, as much is missing as before.
        if let length = fields.first("content-length").flatMap({ Int($0) }), length >= 0 {
            fields = fields.replacing("content-length", with: "\(max(0, length + growth))")
        }
        for name in ["digest", "content-digest", "repr-digest"] as [StaticString] where fields.contains(name) {
            try self.mend(&fields, name, old, new, &notes)
        }
        if let hex = fields.first("x-amz-content-sha256"), hex.utf8.count == 64 {
            if try Hex.encode(old()) == hex.lowercased() {
                fields = fields.replacing("x-amz-content-sha256", with: Hex.encode(try new()))
            } else {
                notes.append("x-amz-content-sha256 does not fit the redacted body")
            }
        }
        if let base64 = fields.first("x-amz-checksum-sha256") {
            if try Self.base64(old()) == base64 { fields = fields.replacing("x-amz-checksum-sha256", with: Self.base64(try new())) }
        }
        for name in Self.others where fields.contains(name) { notes.append("\(name) does not fit the redacted body") }
    }

    /// `sha-256=…` or `sha-256=:…:`, in a list (RFC 3230, 4.3.2; RFC 9530, 2).
    private func mend(
        _ fields: inout HeaderFields, _ name: StaticString, _ old: () throws -> [UInt8], _ new: () throws -> [UInt8],
        _ notes: inout [String]
    ) rethrows {
        guard let value = fields.first(name) else { return }
        var isRight = true
        var items: [String] = []
        for item in value.split(separator: ",") {
            let text = String(item.drop { $0 == " " })
            let isStructured = text.hasSuffix(":")
            let digest = String(text.dropFirst("sha-256=".count).filter { $0 != ":" && $0 != " " })
            guard text.lowercased().hasPrefix("sha-256="), try Self.base64(old()) == digest else {
                isRight = false
                items.append(String(item))
                continue
            }
            let mended = Self.base64(try new())
            items.append("\(item.prefix { $0 == " " })\(text.prefix("sha-256=".count))\(isStructured ? ":\(mended):" : mended)")
        }
        if !isRight { notes.append("\(name) does not fit the redacted body") }
        let mended = items.joined(separator: ",")
        if mended != value { fields = fields.replacing(name, with: mended) }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The SHA-256 of bytes in memory.
    package func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = self.makeDigest()
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.finalize()
    }

    // MARK: Arrival

    /// The same pieces of the new bytes. Edges within a secret move behind it.
    package static func mend(_ arrival: inout Arrival?, edits: EditList?, oldSize: Int, newSize: Int) {
        guard var mended = arrival, !mended.pieces.isEmpty else { return }
        var ends: [Int] = []
        for piece in mended.pieces { ends.append((ends.last ?? 0) + piece.size) }
        let moved = edits?.moved(ends) ?? ends.map { oldSize > 0 ? Int(Double($0) * Double(newSize) / Double(oldSize)) : 0 }
        var pieces: [Arrival.Piece] = []
        var start = 0
        for (index, piece) in mended.pieces.enumerated() {
            let end = index == ends.count - 1 ? newSize : min(max(moved[index], start), newSize)
            // A chunk of no size would end the message (RFC 9112, 7.1).
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

/// What the name of a part of multipart/form-data says about its data.
enum PartMeaning: Sendable, Hashable {
    /// All of it is one secret.
    case secret(kind: String, isSure: Bool)
    /// An exception names it.
    case kept
    /// Looked into, with these patterns.
    case content([RedactionRule])

    init(_ fields: HeaderFields, rules: RedactionRules) {
        guard let disposition = ContentDisposition(fields), let name = disposition.name else {
            self = .content([])
            return
        }
        if rules.keeps(part: name) {
            self = .kept
        } else if let kind = rules.kind(part: name) {
            self = .secret(kind: kind, isSure: true)
        } else if disposition.filename == nil, let meaning = SecretNames.meaning(of: Self.last(name).utf8), !meaning.needsCompany,
            !meaning.needsKeyShape
        {
            self = .secret(kind: meaning.kind, isSure: meaning.isSure)
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
