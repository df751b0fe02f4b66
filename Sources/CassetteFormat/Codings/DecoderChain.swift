public import CassetteModel

/// Decodes all content codings of a body at once, starting with the one applied last.
///
/// The limits apply to each coding separately, which stops nested decompression bombs.
public final class DecoderChain {
    private struct Stopped: Error {}

    private let layers: [any CodingDecoder]
    private let names: [ContentEncoding.Name]
    /// How many bytes each layer received.
    private var fed: [Int]
    /// How many bytes the innermost layer delivered.
    public private(set) var produced = 0
    /// Receives the number of bytes that come out of any layer, piece by piece. An error it throws ends `push`.
    package var meter: ((_ count: Int) throws -> Void)?

    /// `names` are in the order applied. Nil if this build cannot decode one of them.
    public convenience init?(_ names: [ContentEncoding.Name], limits: InflateLimits) {
        self.init(names.map { ($0, nil) }, limits: limits)
    }

    /// Takes the wrapper of deflate as well, if it is known.
    package init?(_ codings: [(name: ContentEncoding.Name, format: DeflateFormat?)], limits: InflateLimits) {
        var layers: [any CodingDecoder] = []
        for coding in codings.reversed() {
            switch coding.name {
            case .gzip: layers.append(InflatingDecoder(format: .gzip, limits: limits))
            case .deflate: layers.append(InflatingDecoder(format: coding.format, limits: limits))
            case .br:
                #if CODINGS
                layers.append(BrotliDecoder(limits: limits))
                #else
                return nil
                #endif
            case .zstd:
                #if CODINGS
                layers.append(ZstandardDecoder(limits: limits))
                #else
                return nil
                #endif
            }
        }
        self.layers = layers
        self.names = codings.reversed().map(\.name)
        self.fed = layers.map { _ in 0 }
    }

    /// The first problem from the outermost layer inwards, and the coding that has it.
    public var problem: (name: ContentEncoding.Name, problem: InflateProblem)? {
        for (index, layer) in self.layers.enumerated() {
            if case .failed(let problem) = layer.status { return (self.names[index], problem) }
        }
        return nil
    }

    /// How many bytes after each stream belong to none, from the outermost layer inwards.
    var leftOver: [Int] { zip(self.fed, self.layers).map { $0 - $1.consumed } }

    /// The data found about each coding, from the outermost inwards.
    package var found: [DecodedLayer] {
        zip(self.names, self.layers).enumerated().map { index, layer in
            DecodedLayer(layer.0, layer.1, leftOver: self.fed[index] - layer.1.consumed)
        }
    }

    /// Takes the next piece. Returns whether it can take more. The chain must not be used after `deliver` has thrown.
    public func push(_ input: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        do {
            try self.push(input, to: 0, deliver)
            return true
        } catch is Stopped {
            return false
        }
    }

    /// Ends the input. Returns whether all streams were complete.
    public func finish() -> Bool {
        // After a problem, the rest of the input was not examined, so it does not count as truncated.
        guard self.problem == nil else { return false }
        for layer in self.layers where layer.status == .needsMore { _ = layer.finish() }
        return self.problem == nil
    }

    private func push(_ input: UnsafeRawBufferPointer, to index: Int, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard index < self.layers.count else {
            self.produced += input.count
            return try deliver(input)
        }
        let layer = self.layers[index]
        self.fed[index] += input.count
        guard layer.status == .needsMore else { return }
        let status = try layer.push(input) { output in
            try self.meter?(output.count)
            try self.push(output, to: index + 1, deliver)
        }
        if case .failed = status { throw Stopped() }
    }
}

/// The data found about one content coding while it was decoded.
package struct DecodedLayer {
    /// A gzip member, or a whole stream of another format.
    struct Member {
        let header: GzipHeader?
        /// The sizes of the member and of the content in it, in bytes.
        let codedSize: Int
        let size: Int
    }

    let name: ContentEncoding.Name
    /// Nil for codings other than deflate.
    let format: DeflateFormat?
    /// The header of the first gzip member.
    let header: GzipHeader?
    /// The size of the stream in bytes.
    let size: Int
    /// How many bytes after the stream belong to nothing.
    package let leftOver: Int
    /// All members; empty if there are more than can have their own parameters.
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

    package init(_ name: ContentEncoding.Name, _ stream: WholeStream, codedSize: Int) {
        self.name = name
        self.format = stream.format
        self.header = stream.header
        self.size = codedSize
        self.leftOver = 0
        self.members = [Member(header: stream.header, codedSize: codedSize, size: stream.content.count)]
    }

    /// Whether a search may succeed: nothing may follow the members, since a restored stream would lack it.
    var mayBeRestored: Bool { !self.members.isEmpty && self.leftOver == 0 }

    /// Bytes after the stream are a problem if neither a checksum nor a magic number proves that there was such a stream at all.
    var problem: InflateProblem? {
        guard self.leftOver > 0, self.format == .raw || self.name == .br else { return nil }
        return InflateProblem(.corrupt, offset: self.size, reason: self.followers)
    }

    /// A sentence on bytes after the stream.
    var note: String? { self.leftOver > 0 ? "\(self.followers) at offset \(self.size)" : nil }

    var fileExtension: String { self.format?.fileExtension ?? self.name.fileExtension }

    /// - Parameter found: the parameters of each member; nil if one was not found.
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
        return self.leftOver == 1 ? "1 byte follows the \(stream) stream" : "\(self.leftOver) bytes follow the \(stream) stream"
    }
}

/// The readable content of a coded body: all of it, or the part before the stream breaks.
///
/// For display only. `WireBodyDecoder` decodes bodies for a cassette, and checks that they can be restored.
public struct DecodedBeginning: Sendable, Hashable {
    public var bytes: [UInt8]
    /// Whether this is the whole content of a complete stream.
    public var isWhole: Bool
    /// Where and why it breaks; also nil if only the caller's limit was reached.
    public var problem: InflateProblem?
    /// The coding that has the problem.
    public var name: ContentEncoding.Name?
    /// How many bytes after the coded stream belong to nothing.
    public var leftOver = 0

    private struct Enough: Error {}

    /// Collects at most `limit` bytes. If no coding is supported, the source is the content.
    public static func read(
        _ source: ByteSource, _ encoding: ContentEncoding, limit: Int = WireBodyDecoder.memoryLimit
    ) throws -> DecodedBeginning {
        var bytes: [UInt8] = []
        var isAll = true
        func collect(_ piece: UnsafeRawBufferPointer) throws {
            let room = limit - bytes.count
            bytes.append(contentsOf: piece.prefix(room))
            guard piece.count <= room else { throw Enough() }
        }
        guard case .coded(let names) = encoding, let chain = DecoderChain(names, limits: .file(codedSize: source.size)) else {
            do { try source.forEachPiece(collect) } catch is Enough { isAll = false }
            return DecodedBeginning(bytes: bytes, isWhole: isAll && bytes.count == source.size)
        }
        do {
            try source.forEachPiece(while: { try chain.push($0, deliver: collect) })
        } catch is Enough {
            return DecodedBeginning(bytes: bytes, isWhole: false)
        }
        let isWhole = chain.finish()
        let problem = chain.problem
        return DecodedBeginning(
            bytes: bytes, isWhole: isWhole, problem: problem?.problem, name: problem?.name,
            leftOver: problem == nil ? chain.leftOver.reduce(0, +) : 0)
    }
}
