/// Octets of a text to be replaced by others.
package struct Edit: Sendable, Hashable {
    package var range: Range<Int>
    package var octets: [UInt8]

    package init(range: Range<Int>, octets: [UInt8]) {
        self.range = range
        self.octets = octets
    }
}
