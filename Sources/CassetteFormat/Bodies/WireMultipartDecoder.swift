package import CassetteModel
internal import TapeBytes

/// Splits a multipart body into parts that a cassette can store, if writing them again gives the same bytes.
///
/// Long parts go to files in pieces, so that none is held in memory.
package struct WireMultipartDecoder {
    /// A body with more parts, or with longer header sections in total, is kept in one piece: nobody reads it in a cassette.
    package static let limits: MultipartLimits = {
        var limits = MultipartLimits()
        limits.parts = 1000
        limits.allHeaderSections = 1 << 20
        // An interaction must stay within the JSON depth limit of readers, with a JSON body in its innermost part.
        limits.depth = 6
        return limits
    }()
    /// The most bytes of parts in the cassette itself; later parts go to files.
    static let inlineLimit = 1 << 20

    private let headers: HeaderFields

    init(headers: HeaderFields) {
        self.headers = headers
    }

    /// The parts, or nil if the bytes must be kept as they are, and what is wrong with them, if anything.
    func body(
        _ bytes: ByteSource, isComplete: Bool, _ sink: inout some SidecarSink
    ) throws -> (body: MultipartBody<PartContent>?, note: String?) {
        guard let boundary = MultipartType(self.headers)?.boundary else { return (nil, try self.note(bytes)) }
        var reader = MultipartReader(boundary: boundary, limits: Self.limits)
        try bytes.forEachPiece { reader.push($0) }
        guard let ranges = reader.finish(), try Self.restores(ranges, bytes) else { return (nil, try self.note(bytes)) }
        var room = Self.inlineLimit
        let body = try self.contents(ranges, bytes, &room, &sink)
        let note = body.closing == nil && isComplete ? try self.note(bytes, .notClosed) : nil
        return (body, note)
    }

    /// Whether the bytes between the data equal those of the body.
    private static func restores(_ body: MultipartBody<Range<Int>>, _ bytes: ByteSource) throws -> Bool {
        struct Differs: Error {}
        var position = 0
        do {
            try MultipartSerializer.write(
                body,
                to: { expected in
                    guard expected.count <= bytes.size - position else { throw Differs() }
                    var found = [UInt8](repeating: 0, count: expected.count)
                    try found.withUnsafeMutableBytes { try bytes.read(at: position, into: $0) }
                    guard found.withUnsafeBytes({ $0.elementsEqualFast(expected) }) else { throw Differs() }
                    position += expected.count
                },
                data: { range in
                    guard range.lowerBound == position, range.upperBound <= bytes.size else { throw Differs() }
                    position = range.upperBound
                })
        } catch is Differs {
            return false
        }
        return position == bytes.size
    }

    // MARK: Parts

    private func contents(
        _ body: MultipartBody<Range<Int>>, _ bytes: ByteSource, _ room: inout Int, _ sink: inout some SidecarSink
    ) throws -> MultipartBody<PartContent> {
        var parts: [MultipartPart<PartContent>] = []
        parts.reserveCapacity(body.parts.count)
        let charset = body.formCharset { $0.count <= FormCharset.longest ? try? bytes[$0].load() : nil }
        for part in body.parts {
            let content: MultipartContent<PartContent> =
                switch part.content {
                case .data(let range): .data(try self.content(bytes[range], part.headers.fields, charset, &room, &sink))
                case .multipart(let inner): .multipart(try self.contents(inner, bytes, &room, &sink))
                }
            parts.append(MultipartPart(delimiter: part.delimiter, headers: part.headers, content: content))
        }
        return MultipartBody(
            boundary: body.boundary, preamble: body.preamble, parts: parts, closing: body.closing, epilogue: body.epilogue)
    }

    private func content(
        _ data: ByteSource, _ fields: HeaderFields, _ charset: FormCharset?, _ room: inout Int, _ sink: inout some SidecarSink
    ) throws -> PartContent {
        // A file keeps the charset it was written in.
        let charset = charset.flatMap { ContentDisposition(fields)?.filename == nil ? $0 : nil }
        let form = ContentForm(field: fields.firstIndex(of: "content-type").map(fields.valueBytes), charset: charset)
        guard data.size > 0 else { return .text([]) }
        guard data.size <= ContentForm.textLimit, data.size <= room else { return .file(try form.file(data, sink: &sink)) }
        let bytes = try data.load()
        if let (spelling, decoded) = TransferSpelling.find(bytes, fields), let content = form.readable(decoded).flatMap(PartContent.init) {
            room -= data.size
            return .transferEncoded(content, spelling)
        }
        guard let content = PartContent(try form.content(bytes, sink: &sink)) else { return .binary(bytes) }
        if case .file = content { return content }
        room -= data.size
        return content
    }

    // MARK: What is wrong

    /// Problems that keep a body from being split; all others affect only some servers.
    private static let serious: Set<MultipartProblem.Kind> = [
        .boundaryMissing, .boundaryEmpty, .boundaryWrong, .noDelimiter, .tooMuch, .tooDeep,
    ]

    private func note(_ bytes: ByteSource, _ kind: MultipartProblem.Kind? = nil) throws -> String {
        var lint = MultipartLint(headers: self.headers, limits: Self.limits)
        try bytes.forEachPiece { lint.push($0) }
        let problems = lint.finish()
        let problem = problems.first { kind.map([$0.kind].contains) ?? Self.serious.contains($0.kind) }
        let reason =
            problem?.description
            ?? "it has more than \(Self.limits.parts) parts or \(Self.limits.allHeaderSections) bytes of header sections"
        return kind == nil ? "not split into parts: \(reason)" : reason
    }
}

/// Checks that a multipart body, once written, is read back as the same parts, since edited text may contain the boundary.
///
/// Compares the positions of delimiters, not the content of parts.
enum MultipartCheck {
    /// One level of nested parts. A class, since several are fed at once.
    private final class Level {
        struct Place: Equatable {
            var start: Int
            var end: Int
            var isClosing: Bool
        }

        var parser: MultipartParser
        var expected: [Place] = []
        var found: [Place] = []
        var size = 0

        init(_ boundary: MultipartBoundary) {
            self.parser = MultipartParser(boundary: boundary)
        }

        func push(_ bytes: UnsafeRawBufferPointer) {
            self.parser.push(bytes, deliver: self.take)
            self.size += bytes.count
        }

        func finish() {
            self.parser.finish(deliver: self.take)
        }

        private func take(_ event: MultipartEvent) {
            guard case .delimiter(let delimiter) = event.kind else { return }
            self.found.append(Place(start: event.offset, end: event.offset + event.bytes.count, isClosing: delimiter.isClosing))
        }
    }

    static func check(_ body: MultipartBody<ByteSource>) throws {
        try self.write(body, within: [])
    }

    private static func write(_ body: MultipartBody<ByteSource>, within outer: [Level]) throws {
        let level = Level(body.boundary)
        let levels = outer + [level]
        func push(_ bytes: UnsafeRawBufferPointer) {
            for level in levels { level.push(bytes) }
        }
        func put(_ bytes: [UInt8]) { bytes.withUnsafeBytes(push) }
        func put(_ delimiter: MultipartDelimiter) {
            let start = level.size
            put(delimiter.bytes(boundary: body.boundary))
            level.expected.append(Level.Place(start: start, end: level.size, isClosing: delimiter.isClosing))
        }
        put(body.preamble)
        for part in body.parts {
            put(part.delimiter)
            put(part.headers.bytes)
            switch part.content {
            case .multipart(let inner): try self.write(inner, within: levels)
            case .data(let data):
                try data.forEachPiece(push)
            }
        }
        if let closing = body.closing { put(closing) }
        put(body.epilogue)
        level.finish()
        guard level.found != level.expected else { return }
        throw self.error(body, level)
    }

    private static func error(_ body: MultipartBody<ByteSource>, _ level: Level) -> CassetteError {
        let same = zip(level.found, level.expected).prefix { $0 == $1 }.count
        let boundary = PlainText.escape(body.boundary.bytes, limit: 80)
        guard same > 0, same <= body.parts.count else {
            return CassetteError(
                .damaged,
                "the preamble of a multipart body contains its boundary \"\(boundary)\"; choose another boundary")
        }
        let name = ContentDisposition(body.parts[same - 1].headers.fields)?.name
        let label = "part \(same)" + (name.map { " (\"\(PlainText.escape($0.utf8, limit: 60))\")" } ?? "")
        return CassetteError(
            .damaged,
            "\(label) of a multipart body contains its boundary \"\(boundary)\" and would be cut there; choose another boundary, in \"Content-Type\" too"
        )
    }
}
