internal import CassetteModel
internal import TapeBytes

/// Reads one body's object; does not open files or decompress.
enum BodyDecoder {
    private static let members =
        ["size", "complete", "sha256", "codings", "file", "fileSize", "fileSha256", "raw", "original", "arrival", "marks", "note"]
        + ContentDecoder.contents + ContentDecoder.companions
    private static let contents = ContentDecoder.contents + ["file", "raw"]

    /// - Parameter headers: the message's header fields, whose Content-Type has the boundary of a multipart.
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
            marks: try MarksCoder.decode(reader), sha256: digest, note: try reader.string("note"), unknown: reader.unknown)
    }

    /// A body written by hand may omit its size.
    private static func size(
        _ stated: Int?, _ content: BodyContent, _ codings: [ContentCoding], _ reader: ObjectReader
    ) throws(CassetteError) -> Int {
        if let stated { return stated }
        if codings.isEmpty {
            if case .multipart(let body) = content {
                guard body.size <= ObjectReader.largest else {
                    throw reader.error(
                        reader.value, "multipart", "expected smaller files: together they exceed the size that a body can have")
                }
                return body.size
            }
            if case .grpc(let body) = content, body.messages.allSatisfy({ $0.coding == nil || $0.codedSize != nil || $0.original != nil }) {
                // Each size is below 2^53, and there are at most 2^14.
                guard body.size <= ObjectReader.largest else {
                    throw reader.error(
                        reader.value, "grpc", "expected smaller files: together they exceed the size that a body can have")
                }
                return body.size
            }
            if let bytes = content.inlineBytes { return bytes.count }
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
        guard let bytes = Hex.decode(digits.utf8), bytes.count == 4 else {
            throw slice.error(value, "crc32", "expected eight hex digits")
        }
        return RawSlice(path: path, offset: offset, size: size, crc32: bytes.reduce(0) { $0 << 8 | UInt32($1) })
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
            throw reader.error(value, name, "expected pieces of the form [ms, size]")
        }
        guard let line = elements.next() else { return Arrival.Piece(at: at, size: size) }
        guard let text = line.string, !text.utf8.contains(where: { ($0 < 0x20 && $0 != 9) || $0 == 0x7F }), elements.next() == nil else {
            throw reader.error(value, name, "expected a chunk-size line as the last element")
        }
        return Arrival.Piece(at: at, size: size, line: text)
    }
}

/// Reads the `codings` of a body, within the ranges that zlib accepts.
enum CodingsDecoder {
    /// Nobody applies more codings, and each costs work when the body is restored.
    private static let limit = 8
    private static let parameters = ["level", "memory", "window", "strategy", "flushes"]

    static func decode(_ reader: ObjectReader) throws(CassetteError) -> [ContentCoding] {
        guard let value = reader["codings"] else { return [] }
        guard value.kind == .array else { throw reader.error(value, "codings", "expected an array") }
        var codings: [ContentCoding] = []
        for element in value.elements {
            guard codings.count < self.limit else {
                throw reader.error(element, "codings", "expected at most \(self.limit)", code: .tooLarge)
            }
            codings.append(try self.coding(element, reader))
        }
        return codings
    }

    /// - Parameter name: the member with the coding.
    static func coding(_ value: JSONValue, _ reader: ObjectReader, member place: String = "codings") throws(CassetteError) -> ContentCoding
    {
        var members = value.members
        guard let member = members.next(), members.next() == nil, let name = member.name.string else {
            throw reader.error(value, place, "expected objects with one member")
        }
        let path = reader.memberPath("\(place).\(name)")
        let known: [String]
        switch name {
        case "gzip" where member.value.kind == .array: return .gzipMembers(try self.members(member.value, path, reader))
        case "gzip": known = self.parameters + ["header"]
        case "deflate", "raw-deflate": known = self.parameters
        case "br", "zstd": known = []
        default: throw reader.error(value, place, "the coding '\(name)' is unknown", code: .unsupportedVersion)
        }
        let inner = try ObjectReader(member.value, path, reader.place, known: known)
        try inner.refuseUnknown()
        let parameters = try self.deflate(inner)
        switch name {
        case "gzip": return .gzip(parameters, header: try self.header(inner))
        case "deflate": return .deflate(parameters)
        case "br": return .brotli
        case "zstd": return .zstandard
        default: return .rawDeflate(parameters)
        }
    }

    private static func members(_ value: JSONValue, _ path: String, _ reader: ObjectReader) throws(CassetteError) -> [GzipMember] {
        var members: [GzipMember] = []
        for element in value.elements {
            // All members but the last need a size.
            if let last = members.last, last.size == nil {
                throw reader.place.error(.damaged, line: element.line, member: path, "expected a 'size' in all members but the last")
            }
            guard members.count < GzipMember.limit else {
                throw reader.place.error(.tooLarge, line: element.line, member: path, "expected at most \(GzipMember.limit) members")
            }
            let inner = try ObjectReader(element, path, reader.place, known: self.parameters + ["header", "size"])
            try inner.refuseUnknown()
            guard let parameters = try self.deflate(inner) else { throw inner.error(element, "level", "is missing") }
            members.append(GzipMember(header: try self.header(inner), parameters: parameters, size: try inner.int("size")))
        }
        guard members.count > 1, members.last?.size == nil else {
            throw reader.place.error(.damaged, line: value.line, member: path, "expected two members or more, the last without 'size'")
        }
        return members
    }

    private static func deflate(_ reader: ObjectReader) throws(CassetteError) -> DeflateParameters? {
        let memory = try reader.int("memory", in: 1...9)
        let window = try reader.int("window", in: 9...15)
        let strategy = try reader.int("strategy", in: 0...4)
        let flushes = try self.flushes(reader)
        guard let level = try reader.int("level", in: 0...9) else {
            guard memory == nil, window == nil, strategy == nil, flushes.isEmpty else {
                throw reader.error(reader.value, "level", "is missing")
            }
            return nil
        }
        return DeflateParameters(
            level: level, memoryLevel: memory ?? 8, windowBits: window ?? 15, strategy: strategy ?? 0, flushes: flushes)
    }

    private static func flushes(_ reader: ObjectReader) throws(CassetteError) -> [Int] {
        guard let value = reader["flushes"] else { return [] }
        guard value.kind == .array else { throw reader.error(value, "flushes", "expected an array") }
        var flushes: [Int] = []
        for element in value.elements {
            guard flushes.count < DeflateParameters.flushLimit else {
                throw reader.error(element, "flushes", "expected at most \(DeflateParameters.flushLimit)", code: .tooLarge)
            }
            guard let bytes = element.int, (0...ObjectReader.largest).contains(bytes) else {
                throw reader.error(element, "flushes", "expected whole numbers from 0")
            }
            flushes.append(bytes)
        }
        return flushes
    }

    private static func header(_ reader: ObjectReader) throws(CassetteError) -> GzipHeader {
        guard let value = reader["header"], let digits = try reader.string("header") else { return .plain }
        guard let bytes = Hex.decode(digits.utf8), bytes.count >= 10 else {
            throw reader.error(value, "header", "expected ten bytes or more as hex digits")
        }
        return GzipHeader(bytes: bytes)
    }
}
