/// The placeholders in a text: how many of each kind, and the highest number of each.
public struct PlaceholderTally: Sendable, Hashable {
    public private(set) var counts: [String: Int] = [:]
    public private(set) var highest: [String: Int] = [:]

    public init() {}

    /// Numbers that nobody made are not taken for those of secrets: counting on behind one would leave the vault no numbers.
    private static let highestNumber = 1_000_000

    public mutating func add(_ text: UnsafeRawBufferPointer) {
        self.forEach(in: text) { kind, number in
            self.counts[kind, default: 0] += 1
            if number <= Self.highestNumber { self.highest[kind] = max(self.highest[kind] ?? 0, number) }
        }
    }

    /// Takes away what stood in a text before.
    public mutating func remove(_ text: UnsafeRawBufferPointer) {
        self.forEach(in: text) { kind, _ in self.counts[kind, default: 0] -= 1 }
    }

    private func forEach(in text: UnsafeRawBufferPointer, _ body: (_ kind: String, _ number: Int) -> Void) {
        var offset = 0
        while offset < text.count {
            let octet = text[offset]
            guard octet == UInt8(ascii: "{") || octet == UInt8(ascii: "%"), let length = Placeholder.length(in: text, at: offset) else {
                offset += 1
                continue
            }
            // Neither a kind nor a number has a percent sign.
            let spelled = UnsafeRawBufferPointer(rebasing: text[offset..<offset + length])
            let words = (Finding.Spelling.query.decode(spelled) ?? Array(spelled)).split { [123, 125, 58].contains($0) }
            if words.count == 2, let number = Int(String(decoding: words[1], as: UTF8.self)) {
                body(String(decoding: words[0], as: UTF8.self), number)
            }
            offset += length
        }
    }
}
