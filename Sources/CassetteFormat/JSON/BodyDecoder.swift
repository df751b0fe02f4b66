internal import CassetteModel
internal import TapeBytes

/// Reads one body's object; opens no files and decompresses nothing.
enum BodyDecoder {
    private static let members =
        ["size", "complete", "sha256", "codings", "file", "fileSize", "fileSha256", "raw", "original", "arrival", "note"]
        + ContentDecoder.contents + ContentDecoder.companions
    private static let contents = ContentDecoder.contents + ["file", "raw"]

    /// - Parameter headers: the message's, whose Content-Type names the boundary of a multipart.
    static func decode(
        _ value: JSONValue, _ path: String, _ place: InteractionPlace, headers: HeaderFields = HeaderFields()
    ) throws(CassetteError) -> Body {
        let reader = try ObjectReader(value, path, place, known: self.members)
        let size = try reader.int("size")
        let digest = try reader.digest("sha256")
        let codings = try CodingsDecoder.decode(reader)
        let content = try self.content(reader, size: size, digest: codings.isEmpty ? digest : nil, headers)
        return Body(
            size: try self.size(size, content, codings, reader), isComplete: try reader.bool("complete") ?? true, codings: codings,
            content: content, original: try self.original(reader, size: size, digest: digest), arrival: try self.arrival(reader),
            sha256: digest, note: try reader.string("note"), unknown: reader.unknown)
    }

    /// A body written by hand may leave its size to its content.
    private static func size(
        _ stated: Int?, _ content: BodyContent, _ codings: [ContentCoding], _ reader: ObjectReader
    ) throws(CassetteError) -> Int {
        if let stated { return stated }
        if codings.isEmpty {
            if case .multipart(let body) = content {
                guard body.size <= ObjectReader.largest else {
                    throw reader.error(reader.value, "multipart", "expected smaller files: together they pass what a body can have")
                }
                return body.size
            }
            if let octets = content.inlineOctets { return octets.count }
        }
        throw reader.error(reader.value, "size", "is missing")
    }

    // MARK: Contents

    private static func content(
        _ reader: ObjectReader, size: Int?, digest: String?, _ headers: HeaderFields
    ) throws(CassetteError) -> BodyContent {
        guard let (name, value) = try ContentDecoder.choice(of: self.contents, reader) else { return .empty }
        switch name {
        case "file":
            guard let path = try reader.path("file") else { return .empty }
            let stated = try reader.digest("fileSha256")
            guard let fileSize = try reader.int("fileSize") ?? size else { throw reader.error(value, "size", "is missing") }
            return .file(Sidecar(path: path, size: fileSize, sha256: stated ?? SidecarName.digest(in: path) ?? digest ?? ""))
        case "raw": return .raw(try self.rawSlice(value, reader))
        default: return try ContentDecoder.decode(name, value, reader, headers: headers)
        }
    }

    private static func rawSlice(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> RawSlice {
        let slice = try ObjectReader(value, reader.memberPath("raw"), reader.place, known: ["file", "offset", "size", "crc32"])
        try slice.refuseUnknown()
        guard let path = try slice.path("file") else { throw slice.error(value, "file", "is missing") }
        let offset = try slice.requiredInt("offset")
        let size = try slice.requiredInt("size", in: 0...ObjectReader.largest - offset)
        let digits = try slice.requiredString("crc32")
        guard let octets = Hex.decode(digits.utf8), octets.count == 4 else {
            throw slice.error(value, "crc32", "expected eight hex digits")
        }
        return RawSlice(path: path, offset: offset, size: size, crc32: octets.reduce(0) { $0 << 8 | UInt32($1) })
    }

    private static func original(_ reader: ObjectReader, size: Int?, digest: String?) throws(CassetteError) -> Sidecar? {
        guard let value = reader["original"] else { return nil }
        if value.kind == .object {
            let file = try ObjectReader(value, reader.memberPath("original"), reader.place, known: ["file", "size", "sha256"])
            try file.refuseUnknown()
            guard let path = try file.path("file") else { throw file.error(value, "file", "is missing") }
            let known = SidecarName.digest(in: path) ?? digest ?? ""
            return Sidecar(path: path, size: try file.requiredInt("size"), sha256: try file.digest("sha256") ?? known)
        }
        guard let path = try reader.path("original") else { return nil }
        guard let size else { throw reader.error(reader.value, "size", "is missing") }
        return Sidecar(path: path, size: size, sha256: SidecarName.digest(in: path) ?? digest ?? "")
    }

    // MARK: Arrival

    private static func arrival(_ reader: ObjectReader) throws(CassetteError) -> Arrival? {
        guard let value = reader["arrival"] else { return nil }
        let arrival = try ObjectReader(value, reader.memberPath("arrival"), reader.place, known: ["chunks", "reads", "last", "thinned"])
        let name = arrival["chunks"] == nil ? "reads" : "chunks"
        let list = try arrival.required(name)
        guard list.kind == .array, name == "reads" || arrival["reads"] == nil else {
            throw arrival.error(list, name, "expected one array, 'chunks' or 'reads'")
        }
        var pieces: [Arrival.Piece] = []
        for element in list.elements {
            guard pieces.count < Arrival.pieceLimit else {
                throw arrival.error(element, name, "expected at most \(Arrival.pieceLimit) pieces", code: .tooLarge)
            }
            pieces.append(try self.piece(element, name, arrival))
        }
        return Arrival(
            isChunked: name == "chunks", pieces: pieces, lastLine: try arrival.headString("last", allowingTabs: true),
            isThinned: try arrival.bool("thinned") ?? false, unknown: arrival.unknown)
    }

    private static func piece(_ value: JSONValue, _ name: String, _ reader: ObjectReader) throws(CassetteError) -> Arrival.Piece {
        var elements = value.elements
        guard let at = elements.next()?.double, let size = elements.next()?.int, size >= 0, size <= ObjectReader.largest else {
            throw reader.error(value, name, "expected pieces as [ms, size]")
        }
        guard let line = elements.next() else { return Arrival.Piece(at: at, size: size) }
        guard let text = line.string, !text.utf8.contains(where: { ($0 < 0x20 && $0 != 9) || $0 == 0x7F }), elements.next() == nil else {
            throw reader.error(value, name, "expected a chunk-size line as the last element")
        }
        return Arrival.Piece(at: at, size: size, line: text)
    }
}
