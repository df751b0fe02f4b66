internal import CassetteModel
internal import TapeBytes

/// Proves that a multipart body, written out, is read back as the same parts: text that was edited may hold the boundary.
///
/// Looks at where delimiters stand, and not at what is in the parts.
enum MultipartCheck {
    /// One level of parts within parts. A class, since several are fed at once.
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

        func push(_ octets: UnsafeRawBufferPointer) {
            self.parser.push(octets, deliver: self.take)
            self.size += octets.count
        }

        func finish() {
            self.parser.finish(deliver: self.take)
        }

        private func take(_ event: MultipartEvent) {
            guard case .delimiter(let delimiter) = event.kind else { return }
            self.found.append(Place(start: event.offset, end: event.offset + event.octets.count, isClosing: delimiter.isClosing))
        }
    }

    static func check(_ body: MultipartBody<OctetSource>) throws {
        try self.write(body, within: [])
    }

    private static func write(_ body: MultipartBody<OctetSource>, within outer: [Level]) throws {
        let level = Level(body.boundary)
        let levels = outer + [level]
        func push(_ octets: UnsafeRawBufferPointer) {
            for level in levels { level.push(octets) }
        }
        func put(_ octets: [UInt8]) { octets.withUnsafeBytes(push) }
        func put(_ delimiter: MultipartDelimiter) {
            let start = level.size
            put(delimiter.octets(boundary: body.boundary))
            level.expected.append(Level.Place(start: start, end: level.size, isClosing: delimiter.isClosing))
        }
        put(body.preamble)
        for part in body.parts {
            put(part.delimiter)
            put(part.headers.octets)
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

    private static func error(_ body: MultipartBody<OctetSource>, _ level: Level) -> CassetteError {
        let same = zip(level.found, level.expected).prefix { $0 == $1 }.count
        let boundary = PlainText.escape(body.boundary.octets, limit: 80)
        guard same > 0, same <= body.parts.count else {
            return CassetteError(
                .damaged,
                "what stands in front of the parts of a multipart body has its boundary \"\(boundary)\" in it; choose another boundary")
        }
        let name = ContentDisposition(body.parts[same - 1].headers.fields)?.name
        let label = "part \(same)" + (name.map { " (\"\(PlainText.escape($0.utf8, limit: 60))\")" } ?? "")
        return CassetteError(
            .damaged,
            "\(label) of a multipart body has its boundary \"\(boundary)\" in it, where it would be cut; choose another boundary, in \"Content-Type\" too"
        )
    }
}
