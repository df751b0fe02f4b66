internal import CassetteModel

/// The parts of a body that is or should be multipart.
///
/// Reads the body once and keeps header sections only.
struct BodyParts {
    /// Parts within parts follow the one that holds them.
    var all: [BodyPart]
    /// The boundary that the body has, where it is not the one that its Content-Type names.
    var isOfOtherBoundary = false

    /// Nil for a body that is not multipart, or whose parts cannot be told apart.
    init?(_ contents: BodyContents, headers: HeaderFields) throws {
        guard let type = MultipartType(headers) else { return nil }
        if let boundary = type.boundary, let body = try Self.read(contents, boundary) {
            self.init(body, contents)
            return
        }
        // Most read nothing of such a body. Who looks at it wants to see what was meant.
        var lint = MultipartLint(headers: headers)
        try contents.forEachPiece { lint.push($0) }
        guard let boundary = lint.finish().lazy.compactMap(\.proposal).first, let body = try Self.read(contents, boundary) else {
            return nil
        }
        self.init(body, contents)
        self.isOfOtherBoundary = true
    }

    private init(_ body: MultipartBody<Range<Int>>, _ contents: BodyContents) {
        self.all = []
        _ = self.list(body, offset: 0, prefix: "")
        guard let charset = body.formCharset({ try? contents.part($0).load(limit: FormCharset.longest) }) else { return }
        for index in self.all.indices { self.all[index].charset = charset }
    }

    private static func read(_ contents: BodyContents, _ boundary: MultipartBoundary) throws -> MultipartBody<Range<Int>>? {
        var reader = MultipartReader(boundary: boundary)
        try contents.forEachPiece { reader.push($0) }
        return reader.finish()
    }

    /// Adds up the octets of all there is around the data, since parts within parts are told without where they begin.
    ///
    /// - Returns: the offset behind the body.
    private mutating func list(_ body: MultipartBody<Range<Int>>, offset: Int, prefix: String) -> Int {
        var offset = offset + body.preamble.count
        for (index, part) in body.parts.enumerated() {
            offset += part.delimiter.octets(boundary: body.boundary).count
            let head = offset..<offset + part.headers.octets.count
            offset = head.upperBound
            let label = "\(prefix)\(index + 1)"
            let place = self.all.count
            switch part.content {
            case .data(let range):
                self.all.append(BodyPart(label: label, fields: part.headers.fields, head: head, data: range, isMultipart: false))
                offset = range.upperBound
            case .multipart(let inner):
                self.all.append(BodyPart(label: label, fields: part.headers.fields, head: head, data: offset..<offset, isMultipart: true))
                let end = self.list(inner, offset: offset, prefix: "\(label).")
                self.all[place].data = offset..<end
                offset = end
            }
        }
        offset += body.closing?.octets(boundary: body.boundary).count ?? 0
        return offset + body.epilogue.count
    }

    /// By number or by name; the first of several of a name.
    subscript(wanted: String) -> BodyPart? {
        self.all.first { $0.label == wanted } ?? self.all.first { $0.name == wanted } ?? self.all.first { $0.filename == wanted }
    }
}
