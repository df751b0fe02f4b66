/// A place in a message that a rule names.
public enum RedactionPlace: Sendable, Hashable {
    /// A header or trailer field, in lower case.
    case header(String)
    /// An item of a URL's query, by its decoded name.
    case query(String)
    /// A value in JSON, by the segments of its pointer (RFC 6901); `*` stands for any member or element.
    case json([String])
    /// A field of a form, by its decoded name.
    case form(String)
    /// A part of multipart/form-data, by its name.
    case part(String)
    /// The path of a URL.
    case path
    /// Any text at all: for patterns.
    case text

    /// Longest name: those of fields and members stay far below.
    private static let nameLimit = 1024

    public init(_ text: String) throws(RedactionRuleError) {
        if text == "path" {
            self = .path
            return
        }
        if text == "text" {
            self = .text
            return
        }
        let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, words[1].utf8.count <= Self.nameLimit else { throw Self.unknown(text) }
        let name = String(words[1])
        switch words[0] {
        case "json": self = .json(try Self.pointer(name, of: text))
        case _ where name.isEmpty:
            throw RedactionRuleError("\"\(text)\" names nothing: write a name behind the colon, as \"header:x-api-key\"")
        case "header": self = .header(name.lowercased())
        case "query": self = .query(name)
        case "form": self = .form(name)
        case "part": self = .part(name)
        default: throw Self.unknown(text)
        }
    }

    private static func unknown(_ text: String) -> RedactionRuleError {
        RedactionRuleError(
            "\"\(text.prefix(200))\" is no place: write \"header:NAME\", \"query:NAME\", \"json:/POINTER\", \"form:NAME\", \"part:NAME\", \"path\" or \"text\""
        )
    }

    /// RFC 6901, 3 and 4.
    private static func pointer(_ pointer: String, of text: String) throws(RedactionRuleError) -> [String] {
        guard pointer.isEmpty || pointer.hasPrefix("/") else {
            throw RedactionRuleError("\"\(text)\" has no JSON pointer: write it with a slash in front, as \"json:/user/token\"")
        }
        var segments: [String] = []
        for segment in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            var bytes: [UInt8] = []
            var isEscaped = false
            for byte in segment.utf8 {
                if isEscaped {
                    guard byte == UInt8(ascii: "0") || byte == UInt8(ascii: "1") else { break }
                    bytes.append(byte == UInt8(ascii: "0") ? UInt8(ascii: "~") : UInt8(ascii: "/"))
                    isEscaped = false
                } else if byte == UInt8(ascii: "~") {
                    isEscaped = true
                } else {
                    bytes.append(byte)
                }
            }
            guard !isEscaped else {
                throw RedactionRuleError(
                    "\"\(text)\" has a \"~\" that means nothing: write \"~0\" for it, and \"~1\" for a slash in a name")
            }
            segments.append(String(decoding: bytes, as: UTF8.self))
        }
        return segments
    }
}
