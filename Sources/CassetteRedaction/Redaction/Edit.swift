/// Bytes of a text to be replaced by others.
package struct Edit: Sendable, Hashable {
    package var range: Range<Int>
    package var bytes: [UInt8]

    package init(range: Range<Int>, bytes: [UInt8]) {
        self.range = range
        self.bytes = bytes
    }
}
