/// A multipart body as its parts, with everything needed to restore its bytes.
///
/// Generic over the data of parts: a range of the recorded body, the bytes themselves, or their form in a cassette. Every member except
/// `parts` defaults to the value that most clients send, so that only differences need to be stored.
public struct MultipartBody<Data> {
    public var boundary: MultipartBoundary
    /// The bytes before the first delimiter, without its line end.
    public var preamble: [UInt8]
    public var parts: [MultipartPart<Data>]
    /// Nil if the body ends within its last part.
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

    /// The delimiter that most clients send before a part or after the last one. At the start of the body, no line end precedes it.
    public static func usualDelimiter(isFirst: Bool, isClosing: Bool = false) -> MultipartDelimiter {
        MultipartDelimiter(lineEndBefore: isFirst ? .none : .carriageReturnLineFeed, isClosing: isClosing)
    }

    /// The same body with other data. Calls `transform` in the order of the parts.
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
    /// The parts of a body in memory, as ranges of it. Nil if it has no delimiter or exceeds a limit, so that its bytes must be kept.
    public static func parse(
        _ bytes: UnsafeRawBufferPointer, boundary: MultipartBoundary, limits: MultipartLimits = MultipartLimits()
    ) -> MultipartBody? {
        var reader = MultipartReader(boundary: boundary, limits: limits)
        reader.push(bytes)
        return reader.finish()
    }
}

extension MultipartBody: Sendable where Data: Sendable {}
extension MultipartBody: Equatable where Data: Equatable {}
extension MultipartBody: Hashable where Data: Hashable {}

/// One part of a multipart body with the delimiter before it.
public struct MultipartPart<Data> {
    public var delimiter: MultipartDelimiter
    public var headers: PartHeaderSection
    public var content: MultipartContent<Data>

    public init(
        delimiter: MultipartDelimiter = MultipartDelimiter(), headers: PartHeaderSection, content: MultipartContent<Data>
    ) {
        self.delimiter = delimiter
        self.headers = headers
        self.content = content
    }
}

extension MultipartPart: Sendable where Data: Sendable {}
extension MultipartPart: Equatable where Data: Equatable {}
extension MultipartPart: Hashable where Data: Hashable {}

/// The content of a part: data or nested parts.
public indirect enum MultipartContent<Data> {
    case data(Data)
    case multipart(MultipartBody<Data>)
}

extension MultipartContent: Sendable where Data: Sendable {}
extension MultipartContent: Equatable where Data: Equatable {}
extension MultipartContent: Hashable where Data: Hashable {}

/// Writes a multipart body's bytes, piece by piece.
///
/// Does not know where the data of parts is: `data` writes it.
public enum MultipartSerializer {
    public static func write<Data>(
        _ body: MultipartBody<Data>, to output: (UnsafeRawBufferPointer) throws -> Void, data: (Data) throws -> Void
    ) rethrows {
        try body.preamble.withUnsafeBytes(output)
        for part in body.parts {
            try part.delimiter.bytes(boundary: body.boundary).withUnsafeBytes(output)
            try part.headers.bytes.withUnsafeBytes(output)
            switch part.content {
            case .data(let content): try data(content)
            case .multipart(let inner): try self.write(inner, to: output, data: data)
            }
        }
        if let closing = body.closing { try closing.bytes(boundary: body.boundary).withUnsafeBytes(output) }
        try body.epilogue.withUnsafeBytes(output)
    }

    /// The bytes of a body whose parts are bytes.
    public static func bytes(_ body: MultipartBody<[UInt8]>) -> [UInt8] {
        var bytes: [UInt8] = []
        self.write(body, to: { bytes.append(contentsOf: $0) }, data: { bytes.append(contentsOf: $0) })
        return bytes
    }

    /// The bytes of a body whose parts are ranges of `source`; nil if they are not within it.
    public static func bytes(_ body: MultipartBody<Range<Int>>, source: UnsafeRawBufferPointer) -> [UInt8]? {
        var bytes: [UInt8] = []
        var isInside = true
        self.write(
            body, to: { bytes.append(contentsOf: $0) },
            data: { range in
                if range.lowerBound >= 0, range.upperBound <= source.count {
                    bytes.append(contentsOf: source[range])
                } else {
                    isInside = false
                }
            })
        return isInside ? bytes : nil
    }
}
