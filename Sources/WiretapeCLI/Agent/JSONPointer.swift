internal import TapeBytes

/// Finds a value in a JSON text by a JSON Pointer (RFC 6901).
enum JSONPointer {
    /// The content of a string, or the text of any other value.
    ///
    /// Throws if the text is not JSON or has no value there.
    static func value(at pointer: String, in bytes: [UInt8]) throws -> [UInt8] {
        guard let document = try? JSONDocument(bytes) else { throw SettingSyntaxError("the body is not JSON, or is too long") }
        guard pointer.isEmpty || pointer.hasPrefix("/") else { throw SettingSyntaxError("\"pointer\" does not begin with a slash") }
        var value = document.root
        for segment in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = segment.replacing("~1", with: "/").replacing("~0", with: "~")
            let next: JSONValue? =
                value.kind == .array
                ? Int(name).flatMap { index in index < 0 ? nil : value.elements.dropFirst(index).first { _ in true } } : value[String(name)]
            guard let next else { throw SettingSyntaxError("there is no value at that pointer") }
            value = next
        }
        return value.utf8 ?? Array(value.raw)
    }

    /// The text with another value at a pointer, or with one more member if the last name is new there. The rest stays as it is.
    ///
    /// Throws if the text is not JSON, or has no object or array there.
    static func replacing(_ new: [UInt8], at pointer: String, in bytes: [UInt8]) throws -> [UInt8] {
        guard let document = try? JSONDocument(bytes) else { throw SettingSyntaxError("the exchange is not JSON, or is too long") }
        guard pointer.hasPrefix("/") else { throw SettingSyntaxError("\"pointer\" does not begin with a slash") }
        let names = pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
            String($0.replacing("~1", with: "/").replacing("~0", with: "~"))
        }
        var value = document.root
        for (index, name) in names.enumerated() {
            let next: JSONValue? =
                value.kind == .array
                ? Int(name).flatMap { index in index < 0 ? nil : value.elements.dropFirst(index).first { _ in true } } : value[name]
            if let next {
                value = next
                continue
            }
            guard index == names.count - 1, value.kind == .object else { throw SettingSyntaxError("there is no value at that pointer") }
            var writer = JSONWriter()
            writer.string(name)
            let isEmpty = value.members.allSatisfy { _ in false }
            let member = (isEmpty ? [] : Array(", ".utf8)) + writer.bytes + Array(": ".utf8) + new
            // Before the white space and the bracket at its end.
            var end = value.range.upperBound - 1
            while end > 0, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[end - 1]) { end -= 1 }
            return Array(bytes[..<end] + member + bytes[end...])
        }
        return Array(bytes[..<value.range.lowerBound] + new + bytes[value.range.upperBound...])
    }
}
