internal import CassetteModel
internal import TapeBytes

/// The replacement for a secret that is a JSON number: a number that contains the secret's number, because nothing else may stand there.
///
/// It fits 32 bits, so that clients with typed members can read it. Its kind is not known.
package enum NumberPlaceholder {
    /// The number for a secret without a number of its own.
    private static let base = 2_002_900_000
    private static let prefix = Array("20029".utf8)
    /// In bytes.
    private static let length = 10

    static func bytes(_ number: Int) -> [UInt8] {
        // A vault holds fewer secrets than there are numbers; a cassette's placeholders may be numbered higher.
        number > 0 && number <= 99_999 ? Array("\(self.base + number)".utf8) : [UInt8(ascii: "0")]
    }

    /// The number of the secret that these bytes represent; nil if they are something else.
    package static func number(_ text: UnsafeRawBufferPointer) -> Int? {
        guard text.count == self.length, text.starts(with: self.prefix), text.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return nil }
        let number = text.dropFirst(self.prefix.count).reduce(0) { $0 * 10 + Int($1 - 48) }
        return number > 0 ? number : nil
    }

    /// The first one from an offset on that is not part of a longer word.
    package static func first(in bytes: UnsafeRawBufferPointer, from start: Int) -> (range: Range<Int>, number: Int)? {
        // Its first digit is frequent, but the first five are not.
        guard start > 0 || ByteSearch.contains("20029", in: bytes) else { return nil }
        var offset = start
        while bytes.count - offset >= self.length {
            offset = ByteScan.index(of: self.prefix[0], in: bytes, from: offset)
            guard bytes.count - offset >= self.length else { return nil }
            let range = offset..<offset + self.length
            if let number = self.number(UnsafeRawBufferPointer(rebasing: bytes[range])),
                offset == 0 || !FormSpelling.isAlphanumeric(bytes[offset - 1]),
                range.upperBound == bytes.count || !FormSpelling.isAlphanumeric(bytes[range.upperBound])
            {
                return (range, number)
            }
            offset += 1
        }
        return nil
    }
}
