/// Reads a body that arrives in pieces into a `MultipartBody`, with nested parts and their data as ranges of the body.
///
/// Keeps header sections and the bytes around the parts, but never data.
public struct MultipartReader: ~Copyable {
    private let level: MultipartLevel

    public init(boundary: MultipartBoundary, limits: MultipartLimits = MultipartLimits()) {
        self.level = MultipartLevel(
            boundary: boundary, limits: limits, allowance: MultipartAllowance(limits), depth: 1, offset: 0)
    }

    public mutating func push(_ bytes: UnsafeRawBufferPointer) {
        self.level.push(bytes)
    }

    /// Nil if the body has no delimiter or exceeds a limit, so that its bytes must be kept.
    public consuming func finish() -> MultipartBody<Range<Int>>? {
        self.level.finish()
    }
}

/// One level of nested parts. Reads its own parts, and passes the data of a multipart part to the next level.
///
/// A class, since a level contains another.
private final class MultipartLevel {
    private var parser: MultipartParser
    private let limits: MultipartLimits
    private let depth: Int
    /// The offset of this level in the whole body.
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

    /// Ignores all events after a limit was exceeded: how much of a piece the parser still delivers depends on how the body was split.
    private func take(_ event: MultipartEvent) {
        guard self.isWithinLimits else { return }
        switch event.kind {
        case .preamble: self.append(event.bytes, to: \.preamble)
        case .epilogue: self.append(event.bytes, to: \.epilogue)
        case .opaque:
            // The bytes that the inner level holds back count too.
            self.endInner()
            self.isWithinLimits = false
        case .delimiter(let delimiter):
            self.endInner()
            self.hasDelimiter = true
            if delimiter.isClosing {
                self.body.closing = delimiter
            } else if !self.allowance.takePart() {
                self.isWithinLimits = false
            } else {
                let start = self.offset + event.offset + event.bytes.count
                self.body.parts.append(
                    MultipartPart(delimiter: delimiter, headers: PartHeaderSection(bytes: []), content: .data(start..<start)))
            }
        case .headers: self.takeHeaders(event)
        case .data:
            self.inner?.push(event.bytes)
            self.extendData(to: self.offset + event.offset + event.bytes.count)
        }
    }

    private func append(_ bytes: UnsafeRawBufferPointer, to member: WritableKeyPath<MultipartBody<Range<Int>>, [UInt8]>) {
        guard self.allowance.takeSurroundings(bytes.count) else {
            self.isWithinLimits = false
            return
        }
        self.body[keyPath: member].append(contentsOf: bytes)
    }

    private func takeHeaders(_ event: MultipartEvent) {
        guard let last = self.body.parts.indices.last else { return }
        guard self.allowance.takeHeaders(event.bytes.count) else {
            self.isWithinLimits = false
            return
        }
        let end = self.offset + event.offset + event.bytes.count
        let headers = PartHeaderSection(bytes: Array(event.bytes))
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

    /// A part that is declared as multipart but has no delimiter, or exceeds a limit, is data.
    private func endInner() {
        guard let inner = self.inner, let last = self.body.parts.indices.last else { return }
        self.inner = nil
        if let body = inner.finish() { self.body.parts[last].content = .multipart(body) }
    }
}

/// How much all levels of one body together may still collect.
///
/// A class, since the levels of one `MultipartReader` share it.
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
