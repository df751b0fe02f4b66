internal import CassetteModel
internal import TapeBytes

/// Writes a multipart body as its parts: an array if everything between them is as most clients send it, otherwise an object that lists the
/// differences.
enum MultipartEncoder {
    /// A part with one line of header and of data is written on one line, if together they are no longer than this.
    private static let inlineLimit = 96

    /// - Parameter boundary: the boundary in the Content-Type.
    static func encode(_ body: MultipartBody<PartContent>, named boundary: MultipartBoundary?, into writer: inout JSONWriter) {
        writer.member("multipart")
        let isFirst = body.preamble.isEmpty
        let closing = MultipartBody<PartContent>.usualDelimiter(isFirst: isFirst && body.parts.isEmpty, isClosing: true)
        let isUsual = body.boundary == boundary && isFirst && body.closing == closing && body.epilogue.isEmpty
        if isUsual { return self.parts(body, &writer) }
        writer.beginObject(.lines)
        if body.boundary != boundary {
            writer.member("boundary")
            body.boundary.bytes.withUnsafeBytes { HeadBytes.write($0, &writer) }
        }
        self.surroundings("preamble", body.preamble, &writer)
        writer.member("parts")
        self.parts(body, &writer)
        if body.closing != closing {
            writer.member("closing")
            if let found = body.closing { self.delimiter(found, usual: closing, &writer) } else { writer.raw("null") }
        }
        self.surroundings("epilogue", body.epilogue, &writer)
        writer.endObject()
    }

    private static func surroundings(_ name: StaticString, _ bytes: [UInt8], _ writer: inout JSONWriter) {
        guard !bytes.isEmpty else { return }
        writer.member(name)
        bytes.withUnsafeBytes { HeadBytes.write($0, &writer) }
    }

    private static func delimiter(_ delimiter: MultipartDelimiter, usual: MultipartDelimiter, _ writer: inout JSONWriter) {
        writer.beginObject(.inline)
        if delimiter.lineEndBefore != usual.lineEndBefore {
            writer.member("before")
            delimiter.lineEndBefore.bytes.withUnsafeBytes { writer.string(utf8: $0) }
        }
        if !delimiter.padding.isEmpty {
            writer.member("padding")
            delimiter.padding.withUnsafeBytes { HeadBytes.write($0, &writer) }
        }
        if delimiter.lineEndAfter != usual.lineEndAfter {
            writer.member("after")
            delimiter.lineEndAfter.bytes.withUnsafeBytes { writer.string(utf8: $0) }
        }
        writer.endObject()
    }

    // MARK: Parts

    private static func parts(_ body: MultipartBody<PartContent>, _ writer: inout JSONWriter) {
        let charset = body.formCharset
        writer.beginArray(.lines)
        for (index, part) in body.parts.enumerated() {
            let usual = MultipartBody<PartContent>.usualDelimiter(isFirst: index == 0 && body.preamble.isEmpty)
            self.part(part, usual: usual, charset, &writer)
        }
        writer.endArray()
    }

    private static func part(
        _ part: MultipartPart<PartContent>, usual: MultipartDelimiter, _ charset: FormCharset?, _ writer: inout JSONWriter
    ) {
        let fields = part.headers.fields
        writer.element()
        writer.beginObject(self.isShort(part) ? .inline : .lines)
        let disposition = ContentDisposition(fields, charset: charset)
        if let name = disposition?.name {
            writer.member("name")
            writer.string(name)
        }
        if let filename = disposition?.filename {
            writer.member("filename")
            writer.string(filename)
        }
        if part.delimiter != usual {
            writer.member("delimiter")
            self.delimiter(part.delimiter, usual: usual, &writer)
        }
        if let lines = part.headers.canonicalLines {
            writer.member("headers")
            writer.beginArray(.lines)
            for line in lines {
                writer.element()
                line.withUnsafeBytes { HeadBytes.write($0, &writer) }
            }
            writer.endArray()
        } else {
            writer.member("head")
            part.headers.bytes.withUnsafeBytes { HeadBytes.write($0, &writer) }
        }
        switch part.content {
        case .multipart(let inner): self.encode(inner, named: MultipartType(fields)?.boundary, into: &writer)
        case .data(.file(let sidecar)):
            writer.member("file")
            writer.string(sidecar.path)
            writer.member("size")
            writer.integer(sidecar.size)
            if sidecar.sha256 != SidecarName.digest(in: sidecar.path) ?? "" {
                writer.member("sha256")
                writer.string(sidecar.sha256)
            }
        case .data(.transferEncoded(let content, let spelling)):
            writer.member("transfer")
            TransferCoder.write(spelling, into: &writer)
            ContentEncoder.encode(content.readable.bodyContent, headers: fields, into: &writer)
        case .data(let content): ContentEncoder.encode(content.bodyContent, headers: fields, into: &writer)
        }
        writer.endObject()
    }

    private static func isShort(_ part: MultipartPart<PartContent>) -> Bool {
        let size: Int
        switch part.content {
        case .data(.text(let bytes)) where !bytes.contains(10): size = bytes.count
        case .data(.binary(let bytes)): size = Base64.length(of: bytes.count)
        default: return false
        }
        return part.headers.bytes.count + size <= self.inlineLimit
    }
}
