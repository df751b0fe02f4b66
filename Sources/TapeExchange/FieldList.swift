/// The elements of a comma-separated field value, trimmed, without the empty ones (RFC 9110, 5.6.1).
///
/// For lists of tokens: a comma within quotes parts elements too.
struct FieldList: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ value: ArraySlice<UInt8>) {
        self.rest = value
    }

    mutating func next() -> ArraySlice<UInt8>? {
        while !self.rest.isEmpty {
            let end = self.rest.firstIndex(of: UInt8(ascii: ",")) ?? self.rest.endIndex
            var element = self.rest[self.rest.startIndex..<end]
            self.rest = self.rest[Swift.min(end + 1, self.rest.endIndex)...]
            while let first = element.first, first == Octets.space || first == Octets.tab { element.removeFirst() }
            while let last = element.last, last == Octets.space || last == Octets.tab { element.removeLast() }
            if !element.isEmpty { return element }
        }
        return nil
    }

    /// Compares without regard to case.
    static func equals(_ element: ArraySlice<UInt8>, _ lowercase: StaticString) -> Bool {
        guard element.count == lowercase.utf8CodeUnitCount else { return false }
        var offset = 0
        for byte in element {
            // SAFETY: the element is as long as the literal, so the offset stays within it.
            if Octets.lower(byte) != lowercase.utf8Start[offset] { return false }
            offset += 1
        }
        return true
    }
}
