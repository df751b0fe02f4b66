internal import CassetteModel

/// A multipart body whose Content-Type says something else, as clients send it that set the field by hand.
enum HiddenMultipart {
    /// How many bytes are examined: a delimiter and the first field after it.
    private static let headSize = 1024
    private static let field = Array("content-".utf8)

    /// The boundary that the body uses; nil if it does not begin as a multipart body does.
    ///
    /// A delimiter alone is no proof: Markdown and YAML begin with hyphens too. A part's first field must follow.
    static func boundary(_ contents: BodyContents) throws -> MultipartBoundary? {
        let head = try contents.prefix(self.headSize).drop { $0 == 13 || $0 == 10 }
        guard head.starts(with: [45, 45]), let end = head.firstIndex(of: 10) else { return nil }
        let next = head[(end + 1)...].prefix(self.field.count).map { $0 | 32 }
        guard next == self.field else { return nil }
        var line = head[(head.startIndex + 2)..<end]
        while let last = line.last, last == 13 || last == 32 || last == 9 { line.removeLast() }
        return MultipartBoundary(line)
    }

    /// The message's fields with the Content-Type that the body would need.
    static func headers(_ headers: HeaderFields, boundary: MultipartBoundary) -> HeaderFields {
        var fields = headers.removing("content-type")
        fields.append(line: Array("Content-Type: ".utf8) + self.type(boundary))
        return fields
    }

    static func type(_ boundary: MultipartBoundary) -> [UInt8] { Array("multipart/form-data; boundary=".utf8) + boundary.bytes }
}
