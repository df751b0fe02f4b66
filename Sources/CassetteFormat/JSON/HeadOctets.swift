internal import CassetteModel
internal import TapeBytes

/// Octets of a message's or part's head as a cassette has them: a string, or `{ "latin1": "…" }` where they are not UTF-8.
enum HeadOctets {
    static func write(_ octets: UnsafeRawBufferPointer, _ writer: inout JSONWriter) {
        guard !UTF8Validator.isValid(octets) else { return writer.string(utf8: octets) }
        writer.beginObject(.inline)
        writer.member("latin1")
        writer.string(latin1: octets)
        writer.endObject()
    }

    /// Any octets.
    static func decode(_ value: JSONValue, _ name: String, _ reader: ObjectReader) throws(CassetteError) -> [UInt8] {
        guard value.kind == .object else {
            guard value.kind == .string, let text = value.utf8 else { throw reader.error(value, name, "expected a string") }
            return text
        }
        let inner = try ObjectReader(value, reader.memberPath(name), reader.place, known: ["latin1"])
        try inner.refuseUnknown()
        var octets: [UInt8] = []
        for scalar in try inner.requiredString("latin1").unicodeScalars {
            guard let octet = UInt8(exactly: scalar.value) else { throw inner.error(value, "latin1", "expected characters up to U+00FF") }
            octets.append(octet)
        }
        return octets
    }

    /// Octets without line ends and NULs.
    static func decodeLine(_ value: JSONValue, _ name: String, _ reader: ObjectReader) throws(CassetteError) -> [UInt8] {
        let line = try self.decode(value, name, reader)
        // RFC 9110, 5.5: any of these would end the line, or be taken for its end by someone.
        guard !line.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) else {
            throw reader.error(value, name, "expected one line without line ends and NULs")
        }
        return line
    }
}
