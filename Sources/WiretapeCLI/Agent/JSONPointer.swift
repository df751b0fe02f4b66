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
}
