internal import TapeBytes

/// A text that is hex as a whole and contains another text, with everything needed to write another content in the same letter case.
struct HexText {
    let content: [UInt8]
    private let isUpper: Bool

    /// The beginnings of JSON and XML: `{"`, `[{`, `[\"` and `<?`.
    private static let beginnings = ["7b22", "7B22", "5b7b", "5B7B", "5b22", "5B22", "3c3f", "3C3F"]
    /// Shorter texts have no room for a name and a value.
    private static let leastLength = 24

    /// Whether characters may be such a text.
    static func mayBegin(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard text.count >= self.leastLength, text.count % 2 == 0, text.first.map({ $0 == 55 || $0 == 53 || $0 == 51 }) == true else {
            return false
        }
        return self.beginnings.contains { text.starts(with: $0.utf8) }
    }

    /// Nil if the text is not hex of a text.
    init?(_ text: Slice<UnsafeRawBufferPointer>) {
        guard Self.mayBegin(text) else { return nil }
        var content: [UInt8] = []
        var high: UInt8?
        for character in text {
            guard let digit = Hex.value(character) else { return nil }
            if let first = high {
                content.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        self.content = content
        self.isUpper = text.contains { $0 >= 65 && $0 <= 70 }
    }

    func text(of content: [UInt8]) -> [UInt8] {
        let digits = Array(Hex.encode(content).utf8)
        return self.isUpper ? digits.map { $0 >= 97 ? $0 & ~32 : $0 } : digits
    }
}
