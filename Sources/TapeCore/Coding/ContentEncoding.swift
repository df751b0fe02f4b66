/// What the Content-Encoding fields of a message say (RFC 9110, 8.4): a claim, which the octets may not keep.
public enum ContentEncoding: Sendable, Hashable {
    /// No coding, or `identity` alone.
    case none
    case gzip
    /// The zlib format, or the raw one that some servers send in its place (RFC 9110, 8.4.1.2).
    case deflate
    /// Several codings or an unknown one, in words that are safe to print.
    case other(String)

    /// Of a longer list of codings only the beginning is shown.
    private static let printLimit = 64

    public init(_ headers: HeaderFields) {
        self = .none
        for index in 0..<headers.count where headers.isNamed("content-encoding", at: index) {
            for part in headers.valueBytes(at: index).split(separator: UInt8(ascii: ",")) { self.add(part) }
        }
    }

    private mutating func add(_ part: ArraySlice<UInt8>) {
        let visible = part.lazy.filter { $0 > 32 && $0 < 127 }.map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }
        let name = String(decoding: Array(visible.prefix(Self.printLimit)), as: UTF8.self)
        switch (self, name) {
        case (_, ""), (_, "identity"): break
        case (.none, "gzip"), (.none, "x-gzip"): self = .gzip
        case (.none, "deflate"): self = .deflate
        case (.none, _): self = .other(name)
        case (.gzip, _): self = .other("gzip, " + name)
        case (.deflate, _): self = .other("deflate, " + name)
        case (.other(let names), _): self = .other(String((names + ", " + name).prefix(Self.printLimit)))
        }
    }

    /// The extension of a file with the octets as sent.
    var fileExtension: String? {
        switch self {
        case .none: nil
        case .gzip: "gz"
        case .deflate: "zz"
        case .other("br"): "br"
        case .other("zstd"): "zst"
        case .other: nil
        }
    }
}
