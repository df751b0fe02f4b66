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
        func ends(_ text: String) -> Bool {
            isWhole && bytes.count >= text.utf8.count && bytes.suffix(text.utf8.count).elementsEqual(text.utf8)
        }
        func contains(_ text: StaticString) -> Bool { bytes.withUnsafeBytes { ByteSearch.contains(text, in: $0) } }
        switch first {
        case UInt8(ascii: "["):
            if self.isTagList(bytes) { return "JavaScript" }
            if self.isJavaArray(bytes) { return "Java" }
            return self.isByteList(bytes, isWhole: isWhole) ? "Go" : nil
        case UInt8(ascii: "<"):
            guard isWhole, bytes.last == UInt8(ascii: ">") else { return begins("<Buffer ") ? "Node" : nil }
            if begins("<_io.") || begins("<open file ") || begins("<tempfile.") || begins("<class '") { return "Python" }
            if begins("<Buffer ") { return "Node" }
            // `<__main__.Pet object at 0x7f…>`
            if !contains("</"), self.isAddress(bytes.dropLast()) { return "Python" }
            return self.isObjectiveC(bytes) ? "Objective-C" : nil
        case UInt8(ascii: "{"): return begins("{length = ") && contains(", bytes = 0x") && ends("}") ? "Objective-C" : nil
        case UInt8(ascii: "&"): return begins("&{") && ends("}") ? "Go" : nil
        case UInt8(ascii: "b"):
            if begins("bytearray(b"), !isWhole || bytes.last == UInt8(ascii: ")") { return "Python" }
            guard bytes.count > 3, bytes[1] == UInt8(ascii: "'") || bytes[1] == UInt8(ascii: "\"") else { return nil }
            return !isWhole || bytes.last == bytes[1] ? "Python" : nil
        case UInt8(ascii: "#"):
            guard ends(">") else { return nil }
            let isKnown = ["#<File:", "#<Tempfile:", "#<StringIO", "#<Pathname:"].contains(where: begins)
            return isKnown || begins("#<") && contains(":0x") ? "Ruby" : nil
        case UInt8(ascii: "m"): if begins("map["), ends("]"), contains(":") { return "Go" }
        case UInt8(ascii: "u"): if bytes == Array("undefined".utf8) { return "JavaScript" }
        case UInt8(ascii: "I"): if begins("Instance of '"), ends("'") { return "Dart" }
        case UInt8(ascii: "O"): if begins("Optional("), ends(")") { return "Swift" }
        case UInt8(ascii: "S"): if isWhole, self.isDotNet(bytes) { return "C#" }
        default: break
        }
        guard isWhole else { return nil }
        if self.isPerl(bytes) { return "Perl" }
        return self.isJavaObject(bytes) ? "Java" : nil
    }

    /// Whether a text ends with ` at 0x7f…`.
    private static func isAddress(_ bytes: ArraySlice<UInt8>) -> Bool {
        let before = bytes.reversed().drop { Hex.value($0) != nil }
        return before.count < bytes.count && before.starts(with: "x0 ta ".utf8)
    }

    /// `[object File]`, or several with commas between them, which is an array of them.
    private static func isTagList(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= 1024 else { return false }
        return bytes.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).allSatisfy { tag in
            tag.starts(with: "[object ".utf8) && tag.count > 9 && tag.last == UInt8(ascii: "]")
                && tag.dropFirst(8).dropLast().allSatisfy(self.isLetter)
        }
    }

    /// `[137 80 78 71 13 10 26 10]`: eight or more bytes as numbers, with one blank between them.
    private static func isByteList(_ bytes: [UInt8], isWhole: Bool) -> Bool {
        guard !isWhole || bytes.last == UInt8(ascii: "]") else { return false }
        let inner = isWhole ? bytes.dropFirst().dropLast() : bytes.dropFirst().prefix { $0 != UInt8(ascii: "]") }
        let numbers = inner.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard numbers.count >= 8, isWhole || inner.count == bytes.count - 1 else { return false }
        // The last number of a part of the text may be cut.
        return (isWhole ? numbers[...] : numbers.dropLast()).allSatisfy { number in
            (1...3).contains(number.count) && number.allSatisfy { $0 >= 48 && $0 <= 57 }
                && (Int(String(decoding: number, as: UTF8.self)) ?? 256) <= 255
        }
    }

    /// `[B@1b6d3586`, an array of bytes, or `[Ljava.lang.String;@1b6d3586`.
    private static func isJavaArray(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= 256, let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return false }
        let name = bytes[1..<at]
        let isPlain = name.count == 1 && name.allSatisfy("BCDFIJSZ".utf8.contains)
        let isOfObjects = name.first == UInt8(ascii: "L") && name.last == UInt8(ascii: ";") && self.isQualified(name.dropFirst().dropLast())
        return (isPlain || isOfObjects) && self.isHash(bytes[(at + 1)...])
    }

    /// `java.io.ByteArrayInputStream@5f21a03e`, or `Pet@1b6d3586`.
    ///
    /// A name without a package is easily a user and a password, so that the number must be one that nobody writes.
    private static func isJavaObject(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= 256, let at = bytes.lastIndex(of: UInt8(ascii: "@")), self.isQualified(bytes[..<at]) else { return false }
        let (name, hash) = (bytes[..<at], bytes[(at + 1)...])
        guard self.isHash(hash) else { return false }
        let start = name.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? name.startIndex
        guard start < name.endIndex, name[start] >= 65, name[start] <= 90 else { return false }
        // `first.Last@cafe` is an address.
        if start > name.startIndex { return name.first.map { $0 >= 97 } == true && hash.contains { $0 < 97 } }
        return hash.count >= 6 && hash.contains { $0 >= 97 } && hash.contains { $0 < 97 }
    }

    private static func isQualified(_ name: ArraySlice<UInt8>) -> Bool {
        !name.isEmpty
            && name.allSatisfy { self.isLetter($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "_") }
    }

    /// What `Integer.toHexString` writes.
    private static func isHash(_ digits: ArraySlice<UInt8>) -> Bool {
        (1...8).contains(digits.count) && digits.allSatisfy { $0 >= 48 && $0 <= 57 || $0 >= 97 && $0 <= 102 }
    }

    /// `HASH(0x55d0c8)`, or `Pet=HASH(0x55d0c8)` of an object.
    private static func isPerl(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= 256, bytes.last == UInt8(ascii: ")"), let open = bytes.firstIndex(of: UInt8(ascii: "(")) else { return false }
        let kind = bytes[..<open].split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
        guard let last = kind.last, kind.count <= 2, kind.allSatisfy({ !$0.isEmpty }) else { return false }
        guard ["HASH", "ARRAY", "GLOB", "CODE", "SCALAR", "REF"].contains(where: { last.elementsEqual($0.utf8) }) else { return false }
        let address = bytes[(open + 1)...].dropLast()
        return address.starts(with: "0x".utf8) && address.count > 2 && address.dropFirst(2).allSatisfy { Hex.value($0) != nil }
    }

    /// ``System.Collections.Generic.List`1[System.String]``, arrays, and the streams that people send. Other names may be meant.
    private static func isDotNet(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= 512, bytes.starts(with: "System.".utf8) else { return false }
        let text = String(decoding: bytes, as: UTF8.self)
        let known = [
            "System.IO.MemoryStream", "System.IO.FileStream", "System.IO.Stream", "System.Collections.Hashtable",
            "System.Dynamic.ExpandoObject",
        ]
        if known.contains(text) { return true }
        let name = text.prefix { $0 != "`" && $0 != "[" }
        guard name.utf8.allSatisfy({ self.isLetter($0) || $0 == UInt8(ascii: ".") }) else { return false }
        let rest = text.dropFirst(name.count)
        return rest == "[]" || rest.first == "`" && rest.dropFirst().first?.isNumber == true && rest.last == "]"
    }

    /// `<NSURL: 0x600000c0>`, `<UIImage:0x600000c0 …>`
    private static func isObjectiveC(_ bytes: [UInt8]) -> Bool {
        let name = bytes.dropFirst().prefix { self.isLetter($0) || $0 == UInt8(ascii: "_") }
        let rest = bytes.dropFirst(name.count + 1)
        return !name.isEmpty && (rest.starts(with: ": 0x".utf8) || rest.starts(with: ":0x".utf8))
    }

    /// Whether a value is a path that old clients took for a file (`@/tmp/cat.png`), or the value of a browser's file input.
    static func isPath(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= 1024, !bytes.contains(where: { $0 < 32 }) else { return false }
        return ["@/", "@./", "@../", "@~/", "C:\\fakepath\\"].contains { bytes.starts(with: $0.utf8) } && bytes.contains(UInt8(ascii: "."))
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 32) >= 97 && (byte | 32) <= 122 || byte >= 48 && byte <= 57 }
}
