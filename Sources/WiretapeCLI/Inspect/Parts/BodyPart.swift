internal import CassetteModel

/// One part of a multipart body as views name it.
///
/// Knows where its octets lie, and does not hold them.
struct BodyPart {
    /// Counts from 1: `2`, and `2.1` for the first part within the second.
    var label: String
    var fields: HeaderFields
    /// The header section's own octets.
    var head: Range<Int>
    /// Of the body with its codings taken off.
    var data: Range<Int>
    /// Whether its data are parts again, which follow it in a list.
    var isMultipart: Bool
    /// Of its names, where they are not UTF-8.
    var charset: FormCharset?

    var disposition: ContentDisposition? { ContentDisposition(self.fields, charset: self.charset) }
    var name: String? { self.disposition?.name }
    var filename: String? { self.disposition?.filename }
    var type: String? { ExchangeRow.type(self.fields) }

    /// Parts of more than this are left in their transfer encoding: form data has none.
    private static let decodeLimit = 64 << 20

    /// The part's data, freed of its Content-Transfer-Encoding unless `raw`.
    func contents(in body: BodyContents, raw: Bool = false) throws -> BodyContents {
        let contents = body.part(self.data)
        let encoding = ContentTransferEncoding(self.fields)
        guard !raw, !self.isMultipart, encoding != .identity else { return contents }
        guard let octets = try contents.load(limit: Self.decodeLimit), let decoded = encoding.decode(octets) else { return contents }
        return BodyContents(decoded)
    }

    /// `part 2, "avatar", file "a.png", image/png, 5.3 KB`
    var words: String {
        var words = ["part \(self.label)"]
        if let name = self.name { words.append("\"\(name)\"") }
        if let filename = self.filename { words.append("file \"\(filename)\"") }
        if let type = self.type { words.append(type) }
        words.append(Quantity.bytes(self.data.count))
        switch ContentTransferEncoding(self.fields) {
        case .identity: break
        case .base64: words.append("in base64")
        case .quotedPrintable: words.append("in quoted-printable")
        case .other(let name): words.append("in \(name)")
        }
        return words.joined(separator: ", ")
    }
}
