/// A multipart body as its parts, with all it takes to write it again octet by octet.
///
/// Generic over the data of parts: where it lies in the recorded body, the octets themselves, or their form in a cassette. Every member
/// besides parts has the value most clients send, so that only what differs needs to be stored.
public struct MultipartBody<Data> {
    public var boundary: MultipartBoundary
    /// In front of the first delimiter, without its line end.
    public var preamble: [UInt8]
    public var parts: [MultipartPart<Data>]
    /// Nil where the body ends within its last part.
    public var closing: MultipartDelimiter?
    public var epilogue: [UInt8]

    public init(
        boundary: MultipartBoundary, preamble: [UInt8] = [], parts: [MultipartPart<Data>],
        closing: MultipartDelimiter? = MultipartDelimiter(isClosing: true), epilogue: [UInt8] = []
    ) {
        self.boundary = boundary
        self.preamble = preamble
        self.parts = parts
        self.closing = closing
        self.epilogue = epilogue
    }

    /// The delimiter that most clients send in front of a part or behind the last one: without a line end before it where the body begins.
    public static func usualDelimiter(isFirst: Bool, isClosing: Bool = false) -> MultipartDelimiter {
        MultipartDelimiter(lineEndBefore: isFirst ? .none : .carriageReturnLineFeed, isClosing: isClosing)
    }

    /// The same body with other data, asked for in the order of parts.
    public func mapData<Other>(_ transform: (Data) throws -> Other) rethrows -> MultipartBody<Other> {
        MultipartBody<Other>(
            boundary: self.boundary, preamble: self.preamble,
            parts: try self.parts.map { part in
                let content: MultipartContent<Other> =
                    switch part.content {
                    case .data(let data): .data(try transform(data))
                    case .multipart(let body): .multipart(try body.mapData(transform))
                    }
                return MultipartPart<Other>(delimiter: part.delimiter, headers: part.headers, content: content)
            },
            closing: self.closing, epilogue: self.epilogue)
    }
}

extension MultipartBody<Range<Int>> {
    /// The parts of a body in memory, as ranges of it; nil where it has no delimiter or passes a limit, so that its octets must be kept.
    public static func parse(
        _ octets: UnsafeRawBufferPointer, boundary: MultipartBoundary, limits: MultipartLimits = MultipartLimits()
    ) -> MultipartBody? {
        var reader = MultipartReader(boundary: boundary, limits: limits)
        reader.push(octets)
        return reader.finish()
    }
}

extension MultipartBody: Sendable where Data: Sendable {}
extension MultipartBody: Equatable where Data: Equatable {}
extension MultipartBody: Hashable where Data: Hashable {}
