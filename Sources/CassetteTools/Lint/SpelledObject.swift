internal import TapeBytes

/// The text that a language gives an object when it is used as a string: `[object Object]`, `<_io.BufferedReader …>`, `b'…'`.
///
/// Nobody means to send it: a client was given an object where it wanted text or bytes.
struct SpelledObject {
    /// Longer texts are data, whatever they begin with.
    private static let longest = 4096

    private let text: String
    private let language: String

    init?(_ contents: BodyContents) throws {
        let beginning = try contents.prefix(Self.longest)
        self.init(beginning, isWhole: contents.size <= Self.longest)
    }

    init?(_ bytes: [UInt8], isWhole: Bool = true) {
        guard let first = bytes.first, let language = Self.language(first, bytes, isWhole: isWhole) else { return nil }
        self.language = language
        self.text = PlainText.escape(bytes, limit: 40)
    }

    /// - Parameter what: `part 2 ("photo")`
    func sentence(_ what: String) -> String {
        "\(what) is \"\(self.text)\", the text that \(self.language) makes of an object; pass its contents, not the object"
    }

    private static func language(_ first: UInt8, _ bytes: [UInt8], isWhole: Bool) -> String? {
        func begins(_ text: String) -> Bool { bytes.starts(with: text.utf8) }
        switch first {
        case UInt8(ascii: "["):
            if begins("[object "), bytes.count <= 64, bytes.last == UInt8(ascii: "]"),
                bytes.dropFirst(8).dropLast().allSatisfy(self.isLetter)
            {
                return "JavaScript"
            }
            // `[B@1b6d3586`, a byte array of Java.
            return begins("[B@") && bytes.count <= 16 && bytes.dropFirst(3).allSatisfy { Hex.value($0) != nil } ? "Java" : nil
        case UInt8(ascii: "<"):
            guard isWhole, bytes.last == UInt8(ascii: ">") else { return begins("<Buffer ") ? "Node" : nil }
            if begins("<_io.") || begins("<open file ") || begins("<tempfile.") { return "Python" }
            if begins("<Buffer ") { return "Node" }
            return nil
        case UInt8(ascii: "b"):
            guard bytes.count > 3, bytes[1] == UInt8(ascii: "'") || bytes[1] == UInt8(ascii: "\"") else { return nil }
            return !isWhole || bytes.last == bytes[1] ? "Python" : nil
        case UInt8(ascii: "#"):
            return ["#<File:", "#<Tempfile:", "#<StringIO", "#<Pathname:"].contains(where: begins) && bytes.last == UInt8(ascii: ">")
                ? "Ruby" : nil
        case UInt8(ascii: "S"):
            return ["System.Byte[]", "System.IO.MemoryStream", "System.IO.FileStream"].contains { Array($0.utf8) == bytes } ? "C#" : nil
        case UInt8(ascii: "O"): return isWhole && begins("Optional(") && bytes.last == UInt8(ascii: ")") ? "Swift" : nil
        case UInt8(ascii: "u"): return bytes == Array("undefined".utf8) ? "JavaScript" : nil
        default: return nil
        }
    }

    /// Whether a value is a path that old clients took for a file (`@/tmp/cat.png`), or the value of a browser's file input.
    static func isPath(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= 1024, !bytes.contains(where: { $0 < 32 }) else { return false }
        return ["@/", "@./", "@../", "@~/", "C:\\fakepath\\"].contains { bytes.starts(with: $0.utf8) } && bytes.contains(UInt8(ascii: "."))
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 32) >= 97 && (byte | 32) <= 122 || byte >= 48 && byte <= 57 }
}
