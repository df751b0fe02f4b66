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

/// Makes a `MultipartBody` of a body that comes in pieces, with parts within parts. Their data is told as ranges of the body.
///
/// Keeps header sections and what stands around the parts, never data.
public struct MultipartReader: ~Copyable {
    private let level: MultipartLevel

    public init(boundary: MultipartBoundary, limits: MultipartLimits = MultipartLimits()) {
        self.level = MultipartLevel(
            boundary: boundary, limits: limits, allowance: MultipartAllowance(limits), depth: 1, offset: 0)
    }

    public mutating func push(_ bytes: UnsafeRawBufferPointer) {
        self.level.push(bytes)
    }

    /// Nil where the body has no delimiter or passes a limit, so that its octets must be kept.
    public consuming func finish() -> MultipartBody<Range<Int>>? {
        self.level.finish()
    }
}

/// One level of a body of parts within parts: reads its own parts, and hands the data of a part that is a multipart to the next level.
///
/// Belongs to one `MultipartReader` and is used by nothing else. A class, since a level holds another.
final class MultipartLevel {
    private var parser: MultipartParser
    private let limits: MultipartLimits
    private let depth: Int
    /// Where this level's octets begin in the whole body.
    private let offset: Int
    private var body: MultipartBody<Range<Int>>
    private var inner: MultipartLevel?
    private var isWithinLimits = true
    private var hasDelimiter = false
    private let allowance: MultipartAllowance

    init(boundary: MultipartBoundary, limits: MultipartLimits, allowance: MultipartAllowance, depth: Int, offset: Int) {
        self.parser = MultipartParser(boundary: boundary, limits: limits)
        self.limits = limits
        self.allowance = allowance
        self.depth = depth
        self.offset = offset
        self.body = MultipartBody(boundary: boundary, parts: [], closing: nil)
    }

    func push(_ bytes: UnsafeRawBufferPointer) {
        guard self.isWithinLimits else { return }
        self.parser.push(bytes) { self.take($0) }
    }

    func finish() -> MultipartBody<Range<Int>>? {
        self.parser.finish { self.take($0) }
        self.endInner()
        return self.isWithinLimits && self.hasDelimiter ? self.body : nil
    }

    private func take(_ event: MultipartEvent) {
        switch event.kind {
        case .preamble: self.append(event.octets, to: \.preamble)
        case .epilogue: self.append(event.octets, to: \.epilogue)
        case .opaque:
            self.isWithinLimits = false
            self.inner = nil
        case .delimiter(let delimiter):
            self.endInner()
            self.hasDelimiter = true
            if delimiter.isClosing {
                self.body.closing = delimiter
            } else if !self.allowance.takePart() {
                self.isWithinLimits = false
            } else {
                let start = self.offset + event.offset + event.octets.count
                self.body.parts.append(
                    MultipartPart(delimiter: delimiter, headers: PartHeaderSection(octets: []), content: .data(start..<start)))
            }
        case .headers: self.takeHeaders(event)
        case .data:
            self.inner?.push(event.octets)
            self.extendData(to: self.offset + event.offset + event.octets.count)
        }
    }

    private func append(_ octets: UnsafeRawBufferPointer, to member: WritableKeyPath<MultipartBody<Range<Int>>, [UInt8]>) {
        guard self.allowance.takeSurroundings(octets.count) else {
            self.isWithinLimits = false
            return
        }
        self.body[keyPath: member].append(contentsOf: octets)
    }

    private func takeHeaders(_ event: MultipartEvent) {
        guard let last = self.body.parts.indices.last else { return }
        guard self.allowance.takeHeaders(event.octets.count) else {
            self.isWithinLimits = false
            return
        }
        let end = self.offset + event.offset + event.octets.count
        let headers = PartHeaderSection(octets: Array(event.octets))
        self.body.parts[last].headers = headers
        self.body.parts[last].content = .data(end..<end)
        guard self.depth < self.limits.depth, let boundary = MultipartType(part: headers)?.boundary else { return }
        self.inner = MultipartLevel(
            boundary: boundary, limits: self.limits, allowance: self.allowance, depth: self.depth + 1, offset: end)
    }

    private func extendData(to end: Int) {
        guard let last = self.body.parts.indices.last, case .data(let range) = self.body.parts[last].content else { return }
        self.body.parts[last].content = .data(range.lowerBound..<end)
    }

    /// A part that says it is a multipart and has no delimiter, or passes a limit, is data.
    private func endInner() {
        guard let inner = self.inner, let last = self.body.parts.indices.last else { return }
        self.inner = nil
        if let body = inner.finish() { self.body.parts[last].content = .multipart(body) }
    }
}

/// What all levels of one body together may still collect.
///
/// Belongs to one `MultipartReader`. A class, since its levels share it.
final class MultipartAllowance {
    private var parts: Int
    private var headerSections: Int
    private var surroundings: Int

    init(_ limits: MultipartLimits) {
        self.parts = limits.parts
        self.headerSections = limits.allHeaderSections
        self.surroundings = limits.surroundings
    }

    func takePart() -> Bool {
        self.parts -= 1
        return self.parts >= 0
    }

    func takeHeaders(_ count: Int) -> Bool {
        self.headerSections -= count
        return self.headerSections >= 0
    }

    func takeSurroundings(_ count: Int) -> Bool {
        self.surroundings -= count
        return self.surroundings >= 0
    }
}

/// One part of a multipart body with the delimiter in front of it.
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
