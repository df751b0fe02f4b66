/// Reads the elements of DER one after the other (X.690, 8.1 and 10.1).
///
/// Knows lengths of up to four octets and tags of one, which are all that certificates have.
struct DERReader {
    struct Element {
        var tag: UInt8
        var content: ArraySlice<UInt8>
        /// With tag and length.
        var whole: ArraySlice<UInt8>
    }

    static let boolean: UInt8 = 0x01
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30

    private var rest: ArraySlice<UInt8>

    init(_ octets: ArraySlice<UInt8>) { self.rest = octets }

    var isAtEnd: Bool { self.rest.isEmpty }

    /// Nil at the end, and where the octets are no element.
    mutating func next() -> Element? {
        var rest = self.rest
        guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), rest.count >= count else { return nil }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        guard rest.count >= length else { return nil }
        let content = rest.prefix(length)
        let whole = self.rest[self.rest.startIndex..<content.endIndex]
        self.rest = rest.dropFirst(length)
        return Element(tag: tag, content: content, whole: whole)
    }

    /// The next element where it has that tag; else nothing is read.
    mutating func next(_ tag: UInt8) -> Element? {
        guard self.rest.first == tag else { return nil }
        return self.next()
    }
}
