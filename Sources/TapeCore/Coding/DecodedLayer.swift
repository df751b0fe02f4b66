/// What was found out about one content coding when it was taken off.
struct DecodedLayer {
    let name: ContentEncoding.Name
    /// Nil for codings that are not deflate's.
    let format: DeflateFormat?
    /// The first gzip member's.
    let header: GzipHeader?
    /// Octets of the stream.
    let size: Int
    /// Octets behind the stream that belong to nothing.
    let leftOver: Int
    private let isSingle: Bool

    init(_ name: ContentEncoding.Name, _ decoder: any CodingDecoder, leftOver: Int) {
        let inflating = decoder as? InflatingDecoder
        self.name = name
        self.format = inflating?.format
        self.header = inflating?.header
        self.size = decoder.consumed
        self.leftOver = leftOver
        self.isSingle = inflating?.members == 1
    }

    /// Whether it is worth a search: zlib makes one member, and nothing behind it.
    var mayBeRestored: Bool { self.isSingle && self.leftOver == 0 }

    /// Octets behind the stream are a problem where no checksum or magic number says that there was such a stream at all.
    var problem: InflateProblem? {
        guard self.leftOver > 0, self.format == .raw || self.name == .br else { return nil }
        return InflateProblem(.corrupt, offset: self.size, reason: self.followers)
    }

    /// A sentence on octets behind the stream.
    var note: String? { self.leftOver > 0 ? "\(self.followers) at offset \(self.size)" : nil }

    var fileExtension: String { self.format?.fileExtension ?? self.name.fileExtension }

    func coding(_ parameters: DeflateParameters?) -> ContentCoding {
        switch (self.name, self.format) {
        case (.br, _): .brotli
        case (.zstd, _): .zstandard
        case (_, .gzip): .gzip(parameters, header: self.header ?? .plain)
        case (_, .raw): .rawDeflate(parameters)
        case (_, .zlib), (_, nil): .deflate(parameters)
        }
    }

    private var followers: String {
        let stream = self.format.map { "\($0)" } ?? self.name.rawValue
        return self.leftOver == 1 ? "1 octet follows the \(stream) stream" : "\(self.leftOver) octets follow the \(stream) stream"
    }
}
