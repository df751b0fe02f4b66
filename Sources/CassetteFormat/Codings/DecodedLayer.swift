package import CassetteModel

/// What was found out about one content coding when it was taken off.
package struct DecodedLayer {
    /// A gzip member, or a whole stream of another format.
    struct Member {
        let header: GzipHeader?
        /// Octets of the member, and of the content in it.
        let codedSize: Int
        let size: Int
    }

    let name: ContentEncoding.Name
    /// Nil for codings that are not deflate's.
    let format: DeflateFormat?
    /// The first gzip member's.
    let header: GzipHeader?
    /// Octets of the stream.
    let size: Int
    /// Octets behind the stream that belong to nothing.
    let leftOver: Int
    /// All members; empty where there are more than can have parameters of their own.
    let members: [Member]

    init(_ name: ContentEncoding.Name, _ decoder: any CodingDecoder, leftOver: Int) {
        let inflating = decoder as? InflatingDecoder
        self.name = name
        self.format = inflating?.format
        self.header = inflating?.header
        self.size = decoder.consumed
        self.leftOver = leftOver
        self.members = inflating.map { $0.members == $0.firstMembers.count ? $0.firstMembers : [] } ?? []
    }

    /// Whether it is worth a search: with nothing behind the members that a restored stream would lack.
    var mayBeRestored: Bool { !self.members.isEmpty && self.leftOver == 0 }

    /// Octets behind the stream are a problem where no checksum or magic number says that there was such a stream at all.
    var problem: InflateProblem? {
        guard self.leftOver > 0, self.format == .raw || self.name == .br else { return nil }
        return InflateProblem(.corrupt, offset: self.size, reason: self.followers)
    }

    /// A sentence on octets behind the stream.
    var note: String? { self.leftOver > 0 ? "\(self.followers) at offset \(self.size)" : nil }

    var fileExtension: String { self.format?.fileExtension ?? self.name.fileExtension }

    /// - Parameter found: the parameters of each member; nil where one was not found.
    package func coding(_ found: [DeflateParameters]?) -> ContentCoding {
        let only = found?.count == 1 ? found?.first : nil
        switch (self.name, self.format) {
        case (.br, _): return .brotli
        case (.zstd, _): return .zstandard
        case (_, .gzip):
            guard let found, found.count > 1 else { return .gzip(only, header: self.header ?? .plain) }
            return .gzipMembers(
                zip(self.members, found).enumerated().map { index, member in
                    let isLast = index == found.count - 1
                    return GzipMember(
                        header: member.0.header ?? .plain, parameters: member.1, size: isLast ? nil : member.0.size)
                })
        case (_, .raw): return .rawDeflate(only)
        case (_, .zlib), (_, nil): return .deflate(only)
        }
    }

    private var followers: String {
        let stream = self.format.map { "\($0)" } ?? self.name.rawValue
        return self.leftOver == 1 ? "1 octet follows the \(stream) stream" : "\(self.leftOver) octets follow the \(stream) stream"
    }
}
