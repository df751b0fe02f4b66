internal import TapeBytes

/// Encoded words in a name (RFC 2047, 2), as mail programs and old servers write them: `=?utf-8?B?7J2M7Iud?=.txt`.
///
/// For showing only. Takes them inside quotes too, where RFC 2047, 5 forbids them and everybody writes them.
enum EncodedWords {
    /// RFC 2047, 2 allows 75 characters a word; some senders write a whole name in one.
    private static let longest = 1024

    private struct Word {
        var charset: String
        var octets: [UInt8]
        var end: Int
    }

    /// The text with all of them decoded; nil where there is none, or one whose octets are not of its charset.
    static func text(_ octets: [UInt8]) -> String? {
        var text = ""
        var plain: [UInt8] = []
        var last: Word?
        var hasWords = false
        func flush() -> Bool {
            guard let word = last else { return true }
            guard let decoded = Charset.text(word.octets, label: word.charset) else { return false }
            text += decoded
            last = nil
            return true
        }
        var index = 0
        while index < octets.count {
            guard octets[index] == UInt8(ascii: "="), let word = self.word(in: octets, at: index) else {
                plain.append(octets[index])
                index += 1
                continue
            }
            hasWords = true
            index = word.end
            // White space between two words is none of the text (6.2), and a character may lie in both.
            if let before = last, plain.allSatisfy({ $0 == 32 || $0 == 9 }), before.charset == word.charset {
                last?.octets += word.octets
            } else {
                let isBetween = last != nil && plain.allSatisfy { $0 == 32 || $0 == 9 }
                guard flush() else { return nil }
                if !isBetween { text += Latin1.text(plain) }
                last = word
            }
            plain = []
        }
        guard hasWords, flush() else { return nil }
        return text + Latin1.text(plain)
    }

    /// The word `=?charset?B?…?=` that begins at `start`.
    private static func word(in octets: [UInt8], at start: Int) -> Word? {
        let rest = octets[start...].prefix(self.longest)
        guard rest.starts(with: [UInt8(ascii: "="), UInt8(ascii: "?")]) else { return nil }
        let pieces = rest.dropFirst(2).split(separator: UInt8(ascii: "?"), maxSplits: 3, omittingEmptySubsequences: false)
        guard pieces.count == 4, pieces[3].first == UInt8(ascii: "="), let method = pieces[1].first,
            pieces[1].count == 1, !pieces[0].isEmpty, pieces[0].allSatisfy({ $0 > 32 && $0 < 127 })
        else { return nil }
        let decoded: [UInt8]?
        switch method | 32 {
        case UInt8(ascii: "b"): decoded = ContentTransferEncoding.base64.decode(Array(pieces[2]))
        case UInt8(ascii: "q"):
            let spaced = pieces[2].flatMap { $0 == UInt8(ascii: "_") ? Array("=20".utf8) : [$0] }
            decoded = ContentTransferEncoding.quotedPrintable.decode(spaced)
        default: decoded = nil
        }
        // RFC 2231, 5: a language may follow the charset.
        let charset = String(decoding: pieces[0].prefix { $0 != UInt8(ascii: "*") }, as: UTF8.self).lowercased()
        return decoded.map { Word(charset: charset, octets: $0, end: pieces[3].startIndex + 1) }
    }
}
