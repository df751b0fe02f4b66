internal import CassetteModel
internal import TapeBytes

/// Writes one body's object, in the form that its content already has.
///
/// Makes no decisions; `ContentEncoder` writes contents in the cassette itself.
enum BodyEncoder {
    /// If there are more pieces than this, each is written on its own line.
    private static let inlinePieces = 8

    /// - Parameter headers: the message's header fields, whose Content-Type has the boundary of a multipart.
    static func encode(_ body: Body, headers: HeaderFields = HeaderFields(), into writer: inout JSONWriter) {
        writer.beginObject(self.isBare(body) ? .inline : .lines)
        writer.member("size")
        writer.integer(body.size)
        if !body.isComplete {
            writer.member("complete")
            writer.bool(false)
        }
        if let digest = body.sha256 {
            writer.member("sha256")
            writer.string(digest)
        }
        if !body.codings.isEmpty {
            writer.member("codings")
            writer.beginArray(.inline)
            for coding in body.codings {
                writer.element()
                ContentCodingCoder.write(coding, into: &writer)
            }
            writer.endArray()
        }
        self.content(of: body, headers, &writer)
        if let original = body.original { self.original(original, of: body, &writer) }
        if let arrival = body.arrival { self.arrival(arrival, &writer) }
        if let marks = body.marks { MarksCoder.write(marks, into: &writer) }
        if let note = body.note {
            writer.member("note")
            writer.string(note)
        }
        writer.unknown(body.unknown)
        writer.endObject()
    }

    /// Whether the size is the only information.
    private static func isBare(_ body: Body) -> Bool {
        body.content == .empty && body.isComplete && body.sha256 == nil && body.codings.isEmpty && body.original == nil
            && body.arrival == nil && body.marks == nil && body.note == nil && body.unknown.isEmpty
    }

    // MARK: Contents

    private static func content(of body: Body, _ headers: HeaderFields, _ writer: inout JSONWriter) {
        switch body.content {
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .multipart, .grpc, .binary:
            ContentEncoder.encode(body.content, headers: headers, into: &writer)
        case .file(let sidecar):
            writer.member("file")
            writer.string(sidecar.path)
            if !body.codings.isEmpty || sidecar.size != body.size {
                writer.member("fileSize")
                writer.integer(sidecar.size)
            }
            let known = SidecarName.digest(in: sidecar.path) ?? (body.codings.isEmpty ? body.sha256 : nil) ?? ""
            if sidecar.sha256 != known || (!body.codings.isEmpty && !sidecar.sha256.isEmpty) {
                writer.member("fileSha256")
                writer.string(sidecar.sha256)
            }
        case .raw(let slice):
            writer.member("raw")
            writer.beginObject(.inline)
            writer.member("file")
            writer.string(slice.path)
            writer.member("offset")
            writer.integer(slice.offset)
            writer.member("size")
            writer.integer(slice.size)
            writer.member("crc32")
            writer.hex(slice.crc32)
            writer.endObject()
        }
    }

    /// Only a path, if the body's own size and digest apply.
    private static func original(_ original: Sidecar, of body: Body, _ writer: inout JSONWriter) {
        writer.member("original")
        let known = SidecarName.digest(in: original.path) ?? body.sha256 ?? ""
        guard original.size != body.size || original.sha256 != known else { return writer.string(original.path) }
        writer.beginObject(.inline)
        writer.member("file")
        writer.string(original.path)
        writer.member("size")
        writer.integer(original.size)
        writer.member("sha256")
        writer.string(original.sha256)
        writer.endObject()
    }

    // MARK: Arrival

    private static func arrival(_ arrival: Arrival, _ writer: inout JSONWriter) {
        writer.member("arrival")
        writer.beginObject(arrival.pieces.count > self.inlinePieces ? .lines : .inline)
        if arrival.isChunked { writer.member("chunks") } else { writer.member("reads") }
        writer.beginArray(.lines)
        for piece in arrival.pieces {
            writer.element()
            writer.beginArray(.inline)
            writer.element()
            writer.milliseconds(piece.at)
            writer.element()
            writer.integer(piece.size)
            if let line = piece.line {
                writer.element()
                writer.string(line)
            }
            writer.endArray()
        }
        writer.endArray()
        if let last = arrival.lastLine {
            writer.member("last")
            writer.string(last)
        }
        if arrival.isThinned {
            writer.member("thinned")
            writer.bool(true)
        }
        writer.unknown(arrival.unknown)
        writer.endObject()
    }
}

/// Writes one coding as an object with one member.
enum ContentCodingCoder {
    static func write(_ coding: ContentCoding, into writer: inout JSONWriter) {
        writer.beginObject(.inline)
        switch coding {
        case .gzip(let parameters, let header):
            writer.member("gzip")
            writer.beginObject(.inline)
            self.parameters(parameters, &writer)
            self.header(header, &writer)
        case .gzipMembers(let members):
            writer.member("gzip")
            writer.beginArray(.inline)
            for member in members {
                writer.element()
                writer.beginObject(.inline)
                if let size = member.size {
                    writer.member("size")
                    writer.integer(size)
                }
                self.parameters(member.parameters, &writer)
                self.header(member.header, &writer)
                writer.endObject()
            }
            writer.endArray()
            return writer.endObject()
        case .deflate(let parameters):
            writer.member("deflate")
            writer.beginObject(.inline)
            self.parameters(parameters, &writer)
        case .rawDeflate(let parameters):
            writer.member("raw-deflate")
            writer.beginObject(.inline)
            self.parameters(parameters, &writer)
        case .brotli:
            writer.member("br")
            writer.beginObject(.inline)
        case .zstandard:
            writer.member("zstd")
            writer.beginObject(.inline)
        }
        writer.endObject()
        writer.endObject()
    }

    private static func parameters(_ parameters: DeflateParameters?, _ writer: inout JSONWriter) {
        guard let parameters else { return }
        writer.member("level")
        writer.integer(parameters.level)
        if parameters.memoryLevel != 8 {
            writer.member("memory")
            writer.integer(parameters.memoryLevel)
        }
        if parameters.windowBits != 15 {
            writer.member("window")
            writer.integer(parameters.windowBits)
        }
        if parameters.strategy != 0 {
            writer.member("strategy")
            writer.integer(parameters.strategy)
        }
        if !parameters.flushes.isEmpty {
            writer.member("flushes")
            writer.beginArray(.inline)
            for flush in parameters.flushes {
                writer.element()
                writer.integer(flush)
            }
            writer.endArray()
        }
    }

    private static func header(_ header: GzipHeader, _ writer: inout JSONWriter) {
        guard header != .plain else { return }
        writer.member("header")
        writer.string(Hex.encode(header.bytes))
    }
}
