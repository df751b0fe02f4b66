/// An encoded form: its octets can be read again and again, as for a retry or a redirect.
public enum EncodedFormData: Sendable {
    case memory([UInt8])
    /// Removed with the last reference to it.
    case file(TemporaryFile)

    public var size: Int {
        switch self {
        case .memory(let octets): octets.count
        case .file(let file): file.size
        }
    }

    public var source: OctetSource {
        switch self {
        case .memory(let octets): OctetSource(octets)
        case .file(let file): OctetSource(size: file.size) { try file.read(into: $1, at: $0) }
        }
    }
}
