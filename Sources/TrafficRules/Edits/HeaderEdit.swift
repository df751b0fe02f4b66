internal import CassetteModel
internal import TapeBytes

/// Checks and edits of header fields by names that are known at run time.
enum HeaderEdit {
    /// Fields that say where a message ends: they follow from the body.
    private static let framing: Set<String> = ["content-length", "transfer-encoding", "trailer"]

    static func check(name: String, line: Int, _ reader: RuleReader) throws(SettingSyntaxError) {
        let shown = RuleReader.shown(name)
        guard !name.isEmpty, name.utf8.allSatisfy(self.isTokenByte) else {
            throw reader.error(line, "\"\(shown)\" cannot be the name of a header field; write it without a colon or spaces")
        }
        guard !self.isFraming(name) else {
            throw reader.error(line, "\"\(shown)\" says where a message ends, which follows from its body; remove it")
        }
    }

    /// RFC 9110, 5.6.2
    static func isTokenByte(_ byte: UInt8) -> Bool { byte > 32 && byte < 127 && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte) }

    static func isFraming(_ name: String) -> Bool { self.framing.contains(name.lowercased()) }

    static func check(value: String, line: Int, _ reader: RuleReader) throws(SettingSyntaxError) {
        guard self.isValue(Array(value.utf8)) else {
            throw reader.error(line, "the value of a header field has a line end or another control character in it; remove it")
        }
    }

    /// RFC 9110, 5.5
    static func isValue(_ value: [UInt8]) -> Bool { value.allSatisfy { $0 == 9 || $0 >= 32 && $0 != 127 } }

    static func indices(_ name: String, in fields: HeaderFields) -> [Int] {
        let name = name.lowercased()
        return (0..<fields.count).filter { fields.name(at: $0).lowercased() == name }
    }

    /// Puts a value into the first field of a name and removes the others; appends a field if there is none.
    static func set(_ name: String, to value: [UInt8], in fields: inout HeaderFields) {
        let indices = self.indices(name, in: fields)
        let line = Array(name.utf8) + [UInt8(ascii: ":"), 32] + value
        var edited = HeaderFields()
        for index in 0..<fields.count {
            if index == indices.first {
                edited.append(line: Array(fields.nameBytes(at: index)) + [UInt8(ascii: ":"), 32] + value)
            } else if !indices.contains(index) {
                edited.append(line: fields.line(at: index))
            }
        }
        if indices.isEmpty { edited.append(line: line) }
        fields = edited
    }

    /// Whether there was such a field.
    static func remove(_ name: String, from fields: inout HeaderFields) -> Bool {
        let indices = self.indices(name, in: fields)
        guard !indices.isEmpty else { return false }
        fields = fields.picking((0..<fields.count).filter { !indices.contains($0) })
        return true
    }
}
