internal import CassetteModel
internal import TapeBytes

/// Writes the contents of requests and responses, however large they are.
extension HARWriter {
    mutating func postData(_ body: Body, headers: HeaderFields, comment: JSONValue?) throws {
        let type = headers.first("content-type")
        self.writer.beginObject(.lines)
        self.writer.member("mimeType")
        // HAR 1.2 requires a type, and readers of archives reject an empty one. A likely one would become a field that was never sent when
        // the archive is imported, so that a request without a type gets the word that browsers write for an answer without one.
        self.writer.string(type.flatMap { $0.isEmpty ? nil : $0 } ?? "x-unknown")
        switch body.content {
        case .form(let form):
            self.writer.member("params")
            self.pairs(form.fields.map { FormPairs.Pair(name: $0.name, value: $0.value ?? "") })
            // Like browsers, since the pairs alone do not restore the bytes.
            _ = try self.text(of: body, headers, type: type ?? "", encoding: "_encoding")
        case .text(let text) where type?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true:
            self.writer.member("params")
            self.pairs(FormPairs.parse(text[...]))
            _ = try self.text(of: body, headers, type: type ?? "", encoding: "_encoding")
        case .multipart(let parts) where type?.lowercased().hasPrefix("multipart/form-data") == true:
            try self.params(parts)
        case .empty, .text, .encodedText, .json, .lines, .events, .multipart, .grpc, .binary, .file, .raw:
            if type?.lowercased().hasPrefix("multipart/form-data") == true, let parts = try self.parts(body, headers) {
                try self.params(parts)
                if parts.boundary != MultipartType(headers)?.boundary {
                    let boundary = String(decoding: parts.boundary.bytes, as: UTF8.self)
                    self.writer.member("comment")
                    self.writer.string("the parts have the boundary \"\(boundary)\", which the Content-Type does not name")
                    return self.writer.endObject()
                }
            } else {
                // HAR has no encoding for request bodies, so this is a member of Wiretape's own.
                _ = try self.text(of: body, headers, type: type ?? "", encoding: "_encoding")
            }
        }
        self.comment(body, comment)
        self.writer.endObject()
    }

    /// The largest body that is parsed only for the export, in bytes, since it is held in memory.
    private static let guessLimit = 8 << 20

    /// The parts of a form that the cassette stores in one piece, as shown by `inspect`: split by the boundary in its Content-Type, or
    /// otherwise by the one that the body uses. Nil if there are none.
    private func parts(_ body: Body, _ headers: HeaderFields) throws -> MultipartBody<PartContent>? {
        var bytes = body.content.inlineBytes ?? []
        if bytes.isEmpty {
            guard body.size <= Self.guessLimit, let bodies = self.bodies else { return nil }
            var isTooLong = false
            try bodies.read(body, headers: headers) { piece in
                isTooLong = isTooLong || bytes.count + piece.count > Self.guessLimit
                if !isTooLong { bytes.append(contentsOf: piece) }
            }
            guard !isTooLong else { return nil }
        }
        return bytes.withUnsafeBytes { content in
            let named = MultipartType(headers)?.boundary.flatMap { MultipartBody<Range<Int>>.parse(content, boundary: $0) }
            let proposal = named == nil ? MultipartLint.problems(headers: headers, body: content).lazy.compactMap(\.proposal).first : nil
            let body = named ?? proposal.flatMap { MultipartBody<Range<Int>>.parse(content, boundary: $0) }
            return body?.mapData { range in
                let data = Array(content[range])
                return UTF8Validator.isValid(data) ? .text(data) : .binary(data)
            }
        }
    }

    /// The parts of a form, which HAR lists instead of a text.
    private mutating func params(_ body: MultipartBody<PartContent>) throws {
        let charset = body.formCharset
        self.writer.member("params")
        self.writer.beginArray(.lines)
        for part in body.parts {
            let fields = part.headers.fields
            let disposition = ContentDisposition(fields, charset: charset)
            let type = fields.first("content-type")
            self.writer.element()
            self.writer.beginObject(.lines)
            self.writer.member("name")
            self.writer.string(disposition?.name ?? "")
            let content: BodyContent =
                switch part.content {
                case .data(let data): data.readable.bodyContent
                case .multipart(let inner): .multipart(inner)
                }
            let size = if case .multipart(let inner) = content { inner.size } else { PartContent(content)?.size ?? 0 }
            _ = try self.text(
                of: Body(size: size, content: content), HeaderFields(), type: type ?? "text/plain", as: "value", encoding: "_encoding",
                formCharset: disposition?.filename == nil ? charset : nil)
            if let filename = disposition?.filename {
                self.writer.member("fileName")
                self.writer.string(filename)
            }
            if let type {
                self.writer.member("contentType")
                self.writer.string(type)
            }
            self.writer.endObject()
            try self.flushIfFull()
        }
        self.writer.endArray()
    }

    /// - Parameter kept: the imported archive's values that differ from the cassette, or that the cassette does not have.
    mutating func content(_ body: Body?, headers: HeaderFields, _ kept: JSONValue?) throws {
        let type = headers.first("content-type") ?? "x-unknown"
        self.writer.beginObject(.lines)
        self.writer.member("mimeType")
        self.writer.string(kept?["content"]?["mimeType"]?.string ?? type)
        var size = 0
        if let body, body.content != .empty { size = try self.text(of: body, headers, type: type, encoding: "encoding") ?? body.size }
        self.writer.member("size")
        self.writer.integer(kept?["content"]?["size"]?.int ?? size)
        if let compression = kept?["compression"]?.int {
            self.writer.member("compression")
            self.writer.integer(compression)
        } else if let body, !body.codings.isEmpty || body.isUndecoded(headers) && size != body.size {
            self.writer.member("compression")
            self.writer.integer(size - body.size)
        }
        self.comment(body, kept?["content"]?["comment"])
        self.writer.endObject()
    }

    /// The archive's comment on a body, or otherwise what is known to be wrong with it.
    private mutating func comment(_ body: Body?, _ kept: JSONValue?) {
        guard self.bodies != nil || body?.content.sidecars.isEmpty != false else { return }
        if kept != nil { return self.comment(kept) }
        guard let note = body?.note else { return }
        self.writer.member("comment")
        self.writer.string(note)
    }

    /// Writes the content as text or base64. Returns its size; nil if it is not available.
    ///
    /// Writes text only if an import restores the same bytes from it, encoding the text in the charset that the type names.
    ///
    /// - Parameter formCharset: the charset of a form's fields, which a field's type need not repeat.
    private mutating func text(
        of body: Body, _ headers: HeaderFields, type: String, as member: StaticString = "text", encoding: StaticString,
        formCharset: FormCharset? = nil
    ) throws -> Int? {
        let type = formCharset.map { "\(type); charset=\($0.label)" } ?? type
        switch body.content {
        case .empty: return 0
        case .encodedText(let bytes, let charset):
            // A reader of the archive can restore the bytes from the type alone.
            let text = charset.decode(bytes).flatMap { Charset.bytes(of: $0, type: type) == bytes ? $0 : nil }
            _ = try self.text(isText: text != nil, member, encoding) { deliver in try (text ?? bytes).withUnsafeBytes(deliver) }
            return bytes.count
        case .text(let bytes), .json(let bytes, _):
            let isText = Self.isText(bytes, type)
            return try self.text(isText: isText, member, encoding) { deliver in try bytes.withUnsafeBytes(deliver) }
        case .form, .lines, .events, .binary:
            let bytes = body.content.inlineBytes ?? []
            let isText = if case .binary = body.content { false } else { Self.isText(bytes, type) }
            return try self.text(isText: isText, member, encoding) { deliver in try bytes.withUnsafeBytes(deliver) }
        case .multipart(let parts) where parts.sidecars.isEmpty:
            let source = parts.source { _ in ByteSource([]) }
            let isText = Self.isText(try source.load(), type)
            return try self.text(isText: isText, member, encoding) { deliver in try source.forEachPiece(deliver) }
        case .grpc(let messages) where messages.sidecars.isEmpty:
            let source = try messages.source { _ in ByteSource([]) }
            return try self.text(isText: false, member, encoding) { deliver in try source.forEachPiece(deliver) }
        case .multipart, .grpc, .file, .raw:
            guard let bodies = self.bodies else {
                self.writer.member("comment")
                self.writer.string("the content is in a file and was left out")
                return nil
            }
            // gRPC messages have prefixes, which are not text.
            let isText =
                Self.isTextual(type) && GRPCType(MediaType(Array(type.utf8)[...])) == nil
                ? try Self.isText(body, headers, bodies, type) : false
            return try self.text(isText: isText, member, encoding) { deliver in try bodies.read(body, headers: headers, deliver) }
        }
    }

    private mutating func text(
        isText: Bool, _ member: StaticString, _ encoding: StaticString,
        _ read: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Int {
        if !isText {
            self.writer.member(encoding)
            self.writer.string("base64")
        }
        self.writer.member(member)
        return try self.quoted(isText: isText, read)
    }

    /// Writes a string of the bytes read, as text or in base64. Returns the number of bytes.
    mutating func quoted(isText: Bool, _ read: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> Int {
        self.writer.byte(UInt8(ascii: "\""))
        var size = 0
        var base64 = Base64Stream()
        try read { piece in
            size += piece.count
            var offset = 0
            while offset < piece.count {
                let end = min(offset + Self.flushSize, piece.count)
                let part = UnsafeRawBufferPointer(rebasing: piece[offset..<end])
                if isText { self.writer.stringPiece(utf8: part) } else { base64.append(part, to: &self.writer) }
                try self.flushIfFull()
                offset = end
            }
        }
        base64.finish(&self.writer)
        self.writer.byte(UInt8(ascii: "\""))
        return size
    }

    /// Whether the bytes are UTF-8 from which a reader of the archive restores the same bytes.
    private static func isText(_ bytes: [UInt8], _ type: String) -> Bool {
        UTF8Validator.isValid(bytes) && Charset.bytes(of: bytes, type: type) == bytes
    }

    private static func isTextual(_ type: String) -> Bool {
        let type = type.lowercased()
        let words = ["json", "xml", "javascript", "ecmascript", "x-www-form-urlencoded", "yaml", "graphql"]
        return type.hasPrefix("text/") || words.contains { type.contains($0) }
    }

    /// The same for bytes that arrive in pieces. With a charset other than UTF-8, only ASCII qualifies.
    private static func isText(_ body: Body, _ headers: HeaderFields, _ bodies: any HARBodySource, _ type: String) throws -> Bool {
        // A character that every other charset either lacks or encodes differently.
        let probe = Array("\u{E9}".utf8)
        let isUTF8 = Charset.bytes(of: probe, type: type) == probe
        var validator = UTF8Validator()
        var isValid = true
        try bodies.read(body, headers: headers) { piece in
            if isValid, validator.firstInvalid(in: piece) != nil || !isUTF8 && piece.contains(where: { $0 >= 128 }) { isValid = false }
        }
        return isValid && validator.isAtCharacterEnd
    }
}
