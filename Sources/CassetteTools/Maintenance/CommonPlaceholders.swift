internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// Numbers of placeholders in several cassettes that stand for the same secrets.
public struct CommonPlaceholders: Sendable, Hashable {
    /// The number of a placeholder in one of the cassettes.
    public struct Number: Sendable, Hashable {
        /// The cassette's place in the list.
        public var input: Int
        public var number: Int

        public init(input: Int, number: Int) { (self.input, self.number) = (input, number) }
    }

    /// The numbers of earlier cassettes by those of later ones.
    private var earlier: [Number: Set<Number>] = [:]

    public init() {}

    /// - Parameter others: the numbers in the same order. If they are not as many, nothing is known.
    mutating func add(_ numbers: [Int], of input: Int, equalTo others: [Int], of other: Int) {
        guard numbers.count == others.count else { return }
        for (number, equal) in zip(numbers, others) {
            let (one, two) = (Number(input: input, number: number), Number(input: other, number: equal))
            self.earlier[input > other ? one : two, default: []].insert(input > other ? two : one)
        }
    }

    /// The new numbers of one cassette's placeholders, by its own numbers.
    ///
    /// - Parameter final: the new number of a placeholder of an earlier cassette.
    /// - Returns: empty if nothing is known, or if copies contradict each other, as they do if one was edited.
    public func numbers(of input: Int, final: (Number) -> Int) -> [Int: Int] {
        var numbers: [Int: Int] = [:]
        for (own, others) in self.earlier where own.input == input {
            for other in others {
                let known = numbers.updateValue(final(other), forKey: own.number)
                if let known, known != final(other) { return [:] }
            }
        }
        return Set(numbers.values).count == numbers.count ? numbers : [:]
    }
}

/// An exchange without the numbers of its placeholders and all that depends on them, and these numbers in their order.
struct PlaceholderSketch {
    /// Equal for copies of one exchange, whatever the numbers are.
    private(set) var text: [UInt8] = []
    private(set) var numbers: [Int] = []

    /// - Parameters:
    ///   - comparable: the exchange without what is specific to its cassette.
    ///   - whole: the same with the names of its files.
    init(_ comparable: Interaction, of whole: Interaction, _ reader: BodyReader, _ digest: () -> any ContentDigest) {
        var comparable = comparable
        switch comparable.webSocket {
        case .file(_, let count): comparable.webSocket = .file(Self.noFile, count: count)
        case .inline(let messages): comparable.webSocket = .inline(messages.map { $0.mapFile { _ in Self.noFile } })
        case nil: break
        }
        comparable.request.headers = Self.lasting(comparable.request.headers)
        comparable.request.body = comparable.request.body.map(Self.withoutSizes)
        if let response = comparable.response {
            comparable.response?.headers = Self.lasting(response.headers)
            comparable.response?.trailers = response.trailers.map(Self.lasting)
            comparable.response?.body = response.body.map(Self.withoutSizes)
        }
        var writer = JSONWriter()
        InteractionEncoder.encode(comparable, into: &writer)
        self.add(writer.bytes)
        let bodies = [whole.request.body, whole.response?.body].flatMap { $0?.content.sidecars ?? [] }
        for sidecar in bodies + (whole.webSocket?.sidecars ?? []) {
            self.addFirsts(of: sidecar, reader, digest)
        }
    }

    private mutating func add(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var (offset, copied) = (0, 0)
            var number = NumberPlaceholder.first(in: bytes, from: 0)
            while offset < bytes.count {
                if let found = number, found.range.lowerBound == offset {
                    self.take(found.number, "number", bytes, from: &copied, found.range)
                    offset = found.range.upperBound
                    number = NumberPlaceholder.first(in: bytes, from: offset)
                } else if let (placeholder, length) = Placeholder.spelled(in: bytes, at: offset) {
                    self.take(placeholder.number, placeholder.kind, bytes, from: &copied, offset..<offset + length)
                    offset += length
                } else {
                    offset += 1
                }
            }
            self.text += bytes[copied...]
        }
    }

    private mutating func take(_ number: Int, _ kind: String, _ bytes: UnsafeRawBufferPointer, from copied: inout Int, _ range: Range<Int>)
    {
        self.numbers.append(number)
        self.text += bytes[copied..<range.lowerBound] + Array("{{\(kind)}}".utf8)
        copied = range.upperBound
    }

    /// The pieces of two files may be cut at different placeholders, so each counts once.
    private mutating func addFirsts(of sidecar: Sidecar, _ reader: BodyReader, _ digest: () -> any ContentDigest) {
        var found = PlaceholderOrder()
        if let source = try? reader.source(sidecar, digest: digest()) { try? found.read(source) }
        for placeholder in found.placeholders {
            self.numbers.append(placeholder.number)
            self.text += Array("{{\(placeholder.kind)}}".utf8)
        }
    }

    /// The fields that do not change with the length or the bytes of a body.
    private static func lasting(_ headers: HeaderFields) -> HeaderFields {
        var lasting = HeaderFields()
        for index in 0..<headers.count {
            let name = headers.name(at: index)
            guard !self.derived.contains(where: name.lowercased().contains) else { continue }
            lasting.append(name: name, value: headers.value(at: index))
        }
        return lasting
    }

    private static let derived = ["length", "range", "etag", "digest", "checksum", "md5", "sha1", "sha256", "crc32", "hash", "signature"]

    private static let noFile = Sidecar(path: "", size: 0, sha256: "")

    private static func withoutSizes(_ body: Body) -> Body {
        var body = body
        body.size = 0
        body.sha256 = nil
        body.arrival = nil
        body.original = body.original.map { _ in Self.noFile }
        switch body.content {
        case .file: body.content = .file(Self.noFile)
        case .grpc(let messages): body.content = .grpc(messages.mapFiles { _ in Self.noFile })
        case .multipart(let parts):
            body.content = .multipart(
                parts.mapData { content in
                    guard case .file = content else { return content }
                    return .file(Self.noFile)
                })
        default: break
        }
        return body
    }
}

/// The placeholders of a text, each once, in the order in which they come first.
private struct PlaceholderOrder {
    /// In bytes: more than the length of the longest placeholder in any spelling.
    private static let overlap = 256

    private(set) var placeholders: [Placeholder] = []
    private var seen: Set<Placeholder> = []

    mutating func read(_ source: ByteSource) throws {
        var window: [UInt8] = []
        try source.forEachPiece { (piece) -> Void in
            window.append(contentsOf: piece)
            window.withUnsafeBytes { bytes in
                PlaceholderTally.forEach(in: Array(bytes)) { placeholder in
                    if self.seen.insert(placeholder).inserted { self.placeholders.append(placeholder) }
                }
            }
            window.removeFirst(max(0, window.count - Self.overlap))
        }
    }
}
