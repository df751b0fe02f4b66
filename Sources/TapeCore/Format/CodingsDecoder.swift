/// Reads the `codings` of a body, with the ranges zlib takes.
enum CodingsDecoder {
    /// Nobody applies more; each is work when the body is restored.
    private static let limit = 8
    private static let parameters = ["level", "memory", "window", "strategy"]

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

    private static func deflate(_ reader: ObjectReader) throws(CassetteError) -> DeflateParameters? {
        let memory = try reader.int("memory", in: 1...9)
        let window = try reader.int("window", in: 9...15)
        let strategy = try reader.int("strategy", in: 0...4)
        guard let level = try reader.int("level", in: 0...9) else {
            guard memory == nil, window == nil, strategy == nil else { throw reader.error(reader.value, "level", "is missing") }
            return nil
        }
        return DeflateParameters(level: level, memoryLevel: memory ?? 8, windowBits: window ?? 15, strategy: strategy ?? 0)
    }

    private static func header(_ reader: ObjectReader) throws(CassetteError) -> GzipHeader {
        guard let value = reader["header"], let digits = try reader.string("header") else { return .plain }
        guard let bytes = Hex.decode(digits.utf8), bytes.count >= 10 else {
            throw reader.error(value, "header", "expected ten octets or more as hex digits")
        }
        return GzipHeader(bytes: bytes)
    }
}
