internal import CassetteModel
internal import TapeBytes

/// Reads the members of one JSON object by name, and keeps the unknown ones.
///
/// A known name that occurs twice is an error, since two readers could use different ones.
struct ObjectReader {
    let value: JSONValue
    /// The member's path, such as `response.body`; empty for the interaction.
    let path: String
    let place: InteractionPlace
    private let names: [String]
    private var found: [JSONValue?]
    private(set) var unknown: [UnknownMember] = []

    init(_ value: JSONValue, _ path: String, _ place: InteractionPlace, known names: [String]) throws(CassetteError) {
        self.value = value
        self.path = path
        self.place = place
        self.names = names
        self.found = Array(repeating: nil, count: names.count)
        guard value.kind == .object else { throw place.error(.damaged, line: value.line, member: path, "expected an object") }
        for member in value.members {
            guard let name = member.name.string else {
                throw place.error(.damaged, line: member.name.line, member: path, "expected a member's name that is Unicode")
            }
            guard let index = names.firstIndex(of: name) else {
                self.unknown.append(UnknownMember(name: name, json: Array(member.value.raw)))
                continue
            }
            guard self.found[index] == nil else { throw self.error(member.name, name, "appears twice") }
            self.found[index] = member.value
        }
    }

    /// An error about a member of this object.
    func error(_ value: JSONValue, _ name: String, _ problem: String, code: CassetteError.Code = .damaged) -> CassetteError {
        self.place.error(code, line: value.line, member: self.memberPath(name), problem)
    }

    func memberPath(_ name: String) -> String { self.path.isEmpty ? name : "\(self.path).\(name)" }

    /// For objects whose members determine how bytes are restored: an unknown one may change their meaning.
    func refuseUnknown() throws(CassetteError) {
        guard let first = self.unknown.first else { return }
        throw self.error(self.value, first.name, "is not a member this version knows", code: .unsupportedVersion)
    }

    subscript(name: String) -> JSONValue? {
        self.names.firstIndex(of: name).flatMap { self.found[$0] }
    }

    func required(_ name: String) throws(CassetteError) -> JSONValue {
        guard let value = self[name] else { throw self.error(self.value, name, "is missing") }
        return value
    }

    // MARK: Typed members

    /// 2^53, the largest whole number that every JSON reader represents exactly. Sums of a few sizes cannot overflow either.
    static let largest = Int(clamping: Int64(1) << 53)

    func int(_ name: String, in range: ClosedRange<Int> = 0...Self.largest) throws(CassetteError) -> Int? {
        guard let value = self[name] else { return nil }
        guard value.kind == .number else { throw self.error(value, name, "expected a number") }
        guard let number = value.int else { throw self.error(value, name, "expected a whole number") }
        guard range.contains(number) else {
            throw self.error(value, name, "expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func requiredInt(_ name: String, in range: ClosedRange<Int> = 0...Self.largest) throws(CassetteError) -> Int {
        guard let number = try self.int(name, in: range) else { throw self.error(self.value, name, "is missing") }
        return number
    }

    func double(_ name: String) throws(CassetteError) -> Double? {
        guard let value = self[name] else { return nil }
        guard value.kind == .number else { throw self.error(value, name, "expected a number") }
        guard let number = value.double else { throw self.error(value, name, "expected a smaller number") }
        return number
    }

    func bool(_ name: String) throws(CassetteError) -> Bool? {
        guard let value = self[name] else { return nil }
        guard let bool = value.bool else { throw self.error(value, name, "expected true or false") }
        return bool
    }

    func utf8(_ name: String) throws(CassetteError) -> [UInt8]? {
        guard let value = self[name] else { return nil }
        guard value.kind == .string else { throw self.error(value, name, "expected a string") }
        guard let text = value.utf8 else { throw self.error(value, name, "expected whole characters, not half a surrogate pair") }
        return text
    }

    func string(_ name: String) throws(CassetteError) -> String? {
        try self.utf8(name).map { String(decoding: $0, as: UTF8.self) }
    }

    func requiredString(_ name: String) throws(CassetteError) -> String {
        guard let text = try self.string(name) else { throw self.error(self.value, name, "is missing") }
        return text
    }

    /// A string that becomes part of a message's head, where a line end would begin another line.
    func headString(_ name: String, allowingTabs: Bool = false) throws(CassetteError) -> String? {
        guard let text = try self.utf8(name), let value = self[name] else { return nil }
        guard !text.contains(where: { ($0 < 0x20 && !(allowingTabs && $0 == 9)) || $0 == 0x7F }) else {
            throw self.error(value, name, "expected no control characters")
        }
        return String(decoding: text, as: UTF8.self)
    }

    func path(_ name: String) throws(CassetteError) -> String? {
        guard let text = try self.string(name), let value = self[name] else { return nil }
        if let objection = CassettePath.objection(to: text) { throw self.error(value, name, "the path \(objection)", code: .unsafePath) }
        return text
    }

    func digest(_ name: String) throws(CassetteError) -> String? {
        guard let text = try self.string(name), let value = self[name] else { return nil }
        guard SidecarName.isDigest(text.utf8) else { throw self.error(value, name, "expected 64 lower-case hex digits") }
        return text
    }
}

/// Bytes of a message's or part's head in their form in a cassette: a string, or `{ "latin1": "…" }` if they are not UTF-8.
enum HeadBytes {
    static func write(_ bytes: UnsafeRawBufferPointer, _ writer: inout JSONWriter) {
        guard !UTF8Validator.isValid(bytes) else { return writer.string(utf8: bytes) }
        writer.beginObject(.inline)
        writer.member("latin1")
        writer.string(latin1: bytes)
        writer.endObject()
    }

    /// Any bytes.
    static func decode(_ value: JSONValue, _ name: String, _ reader: ObjectReader) throws(CassetteError) -> [UInt8] {
        guard value.kind == .object else {
            guard value.kind == .string, let text = value.utf8 else { throw reader.error(value, name, "expected a string") }
            return text
        }
        let inner = try ObjectReader(value, reader.memberPath(name), reader.place, known: ["latin1"])
        try inner.refuseUnknown()
        var bytes: [UInt8] = []
        for scalar in try inner.requiredString("latin1").unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { throw inner.error(value, "latin1", "expected characters up to U+00FF") }
            bytes.append(byte)
        }
        return bytes
    }

    /// Bytes without line ends and NULs.
    static func decodeLine(_ value: JSONValue, _ name: String, _ reader: ObjectReader) throws(CassetteError) -> [UInt8] {
        let line = try self.decode(value, name, reader)
        // RFC 9110, 5.5: any of these would end the line, or would be mistaken for its end by some readers.
        guard !line.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) else {
            throw reader.error(value, name, "expected one line without line ends or NULs")
        }
        return line
    }
}
