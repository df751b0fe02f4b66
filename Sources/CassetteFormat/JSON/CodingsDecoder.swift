internal import CassetteModel
internal import TapeBytes

/// Reads the `codings` of a body, with the ranges zlib takes.
enum CodingsDecoder {
    /// Nobody applies more; each is work when the body is restored.
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

    private static func coding(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> ContentCoding {
        var members = value.members
        guard let member = members.next(), members.next() == nil, let name = member.name.string else {
            throw reader.error(value, "codings", "expected objects with one member")
        }
        let path = reader.memberPath("codings.\(name)")
        let known: [String]
        switch name {
        case "gzip" where member.value.kind == .array: return .gzipMembers(try self.members(member.value, path, reader))
        case "gzip": known = self.parameters + ["header"]
        case "deflate", "raw-deflate": known = self.parameters
        case "br", "zstd": known = []
        default: throw reader.error(value, "codings", "does not know the coding '\(name)'", code: .unsupportedVersion)
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
            // All but the last have to say where they end.
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
            guard let octets = element.int, (0...ObjectReader.largest).contains(octets) else {
                throw reader.error(element, "flushes", "expected whole numbers from 0")
            }
            flushes.append(octets)
        }
        return flushes
    }

    private static func header(_ reader: ObjectReader) throws(CassetteError) -> GzipHeader {
        guard let value = reader["header"], let digits = try reader.string("header") else { return .plain }
        guard let bytes = Hex.decode(digits.utf8), bytes.count >= 10 else {
            throw reader.error(value, "header", "expected ten octets or more as hex digits")
        }
        return GzipHeader(bytes: bytes)
    }
}
