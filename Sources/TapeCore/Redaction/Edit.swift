/// Octets of a text to be replaced by others.
struct Edit: Sendable, Hashable {
    var range: Range<Int>
    var octets: [UInt8]
}
