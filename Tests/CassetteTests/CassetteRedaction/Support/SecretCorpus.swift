import TapeBytes
import TapeTestSupport

/// Generates secrets from a seed, and the spellings that a text may have of them.
struct SecretCorpus {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let marks = Array(" !\"#$%&'()*+,-./:;<=>?@[\\]^_{|}~".utf8)

    static func secret(_ random: inout SeededGenerator) -> [UInt8] {
        let length = Int.random(in: 9...40, using: &random)
        let hasMarks = Bool.random(using: &random)
        var secret = (0..<length).map { _ in
            hasMarks && Int.random(in: 0..<5, using: &random) == 0
                ? Self.marks[Int.random(in: 0..<Self.marks.count, using: &random)]
                : Self.letters[Int.random(in: 0..<Self.letters.count, using: &random)]
        }
        // Words and numbers have other rules, and fields lose white space at the ends.
        secret[0] = UInt8(ascii: "q")
        secret[length / 2] = UInt8(ascii: "7")
        secret[length - 1] = UInt8(ascii: "Z")
        return secret
    }

    static func percent(_ bytes: [UInt8], all: Bool = false, lower: Bool = false, plus: Bool = false) -> [UInt8] {
        bytes.flatMap { byte -> [UInt8] in
            if plus, byte == 32 { return [UInt8(ascii: "+")] }
            if !all, Self.letters.contains(byte) { return [byte] }
            let digits = String(byte, radix: 16, uppercase: !lower)
            return Array("%\(digits.count == 1 ? "0" : "")\(digits)".utf8)
        }
    }

    static func json(_ bytes: [UInt8], unicode: Bool = false) -> [UInt8] {
        bytes.flatMap { byte -> [UInt8] in
            if unicode, byte == UInt8(ascii: "q") || !Self.letters.contains(byte) {
                let digits = String(byte, radix: 16)
                return Array("\\u00\(digits.count == 1 ? "0" : "")\(digits)".utf8)
            }
            switch byte {
            case UInt8(ascii: "\""): return Array("\\\"".utf8)
            case UInt8(ascii: "\\"): return Array("\\\\".utf8)
            default: return [byte]
            }
        }
    }

    static func html(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "&"): Array("&amp;".utf8)
            case UInt8(ascii: "<"): Array("&lt;".utf8)
            case UInt8(ascii: ">"): Array("&gt;".utf8)
            case UInt8(ascii: "\""): Array("&quot;".utf8)
            case UInt8(ascii: "'"): Array("&#39;".utf8)
            default: [byte]
            }
        }
    }

    static func base64(_ bytes: [UInt8], urlSafe: Bool = false) -> [UInt8] {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
        guard urlSafe else { return text }
        return text.filter { $0 != UInt8(ascii: "=") }.map {
            $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
        }
    }

    /// Every spelling in which a secret may remain.
    static func spellings(_ secret: [UInt8]) -> [[UInt8]] {
        [
            secret, self.percent(secret), self.percent(secret, lower: true), self.percent(secret, all: true),
            self.percent(secret, plus: true),
            self.percent(self.percent(secret)), self.json(secret), self.json(self.json(secret)), self.html(secret),
            self.json(secret, unicode: true),
            self.percent(self.json(secret)), self.json(self.html(secret)),
        ]
            + (0..<3).flatMap { alignment in
                [false, true].map { urlSafe in
                    let text = self.base64(Array(repeating: UInt8(ascii: "x"), count: alignment) + secret, urlSafe: urlSafe)
                    return Array(text.dropFirst(alignment == 0 ? 0 : 4).dropLast(4))
                }
            }
    }

    static func contains(_ needle: [UInt8], in text: [UInt8]) -> Bool {
        guard let first = needle.first, text.count >= needle.count else { return false }
        return text.indices.dropLast(needle.count - 1).contains { text[$0] == first && text[$0..<$0 + needle.count].elementsEqual(needle) }
    }
}
