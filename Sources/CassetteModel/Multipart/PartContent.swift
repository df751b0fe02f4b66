public import TapeBytes

/// The form in which a cassette stores the data of one part of a multipart body.
///
/// Has the cases of `BodyContent` that a part can have; nested parts are in `MultipartContent`.
public enum PartContent: Sendable, Hashable {
    case text([UInt8])
    case encodedText([UInt8], Charset)
    case json([UInt8], style: JSONStyle)
    case form(FormText)
    case lines(JSONLines)
    case events(EventStream)
    case binary([UInt8])
    case file(Sidecar)
    /// Readable content that was sent in a Content-Transfer-Encoding.
    indirect case transferEncoded(PartContent, TransferSpelling)

    /// Nil for forms that only a whole body can have.
    public init?(_ content: BodyContent) {
        switch content {
        case .text(let bytes): self = .text(bytes)
        case .encodedText(let bytes, let charset): self = .encodedText(bytes, charset)
        case .json(let bytes, let style): self = .json(bytes, style: style)
        case .form(let form): self = .form(form)
        case .lines(let lines): self = .lines(lines)
        case .events(let events): self = .events(events)
        case .binary(let bytes): self = .binary(bytes)
        case .file(let sidecar): self = .file(sidecar)
        case .empty, .multipart, .grpc, .raw: return nil
        }
    }

    /// The readable content, without a Content-Transfer-Encoding.
    public var readable: PartContent {
        if case .transferEncoded(let content, _) = self { return content.readable }
        return self
    }

    /// The same bytes as the content of a separate body.
    public var bodyContent: BodyContent {
        switch self {
        // Both encodings produce ASCII.
        case .transferEncoded(let content, let spelling): .text(spelling.write(content.bodyContent.inlineBytes ?? []))
        case .text(let bytes): .text(bytes)
        case .encodedText(let bytes, let charset): .encodedText(bytes, charset)
        case .json(let bytes, let style): .json(bytes, style: style)
        case .form(let form): .form(form)
        case .lines(let lines): .lines(lines)
        case .events(let events): .events(events)
        case .binary(let bytes): .binary(bytes)
        case .file(let sidecar): .file(sidecar)
        }
    }
}

extension MultipartBody<PartContent> {
    /// The files next to the cassette that contain parts.
    public var sidecars: [Sidecar] {
        self.parts.flatMap { part -> [Sidecar] in
            switch part.content {
            case .data(.file(let sidecar)): [sidecar]
            case .data: []
            case .multipart(let inner): inner.sidecars
            }
        }
    }
}

extension PartContent {
    /// The size in bytes, as sent.
    public var size: Int {
        if case .file(let sidecar) = self { return sidecar.size }
        return self.bodyContent.inlineBytes?.count ?? 0
    }
}

extension MultipartBody<PartContent> {
    /// The size of the whole body in bytes; `Int.max` if the sizes in the cassette overflow.
    public var size: Int {
        var size = 0
        func add(_ count: Int) {
            let (sum, isTooLarge) = size.addingReportingOverflow(count)
            size = isTooLarge ? .max : sum
        }
        MultipartSerializer.write(self, to: { add($0.count) }, data: { add($0.size) })
        return size
    }

    /// The body with sources for the data of its parts; does not load files.
    package func sources(file: (Sidecar) throws -> ByteSource) rethrows -> MultipartBody<ByteSource> {
        try self.mapData { content in
            if case .file(let sidecar) = content { return try file(sidecar) }
            return ByteSource(content.bodyContent.inlineBytes ?? [])
        }
    }

    public func source(file: (Sidecar) throws -> ByteSource) rethrows -> ByteSource {
        try self.sources(file: file).source
    }
}

extension MultipartBody<ByteSource> {
    /// All bytes in order.
    package var source: ByteSource {
        var sources: [ByteSource] = []
        var bytes: [UInt8] = []
        MultipartSerializer.write(
            self, to: { bytes.append(contentsOf: $0) },
            data: { data in
                if let memory = data.memory {
                    bytes.append(contentsOf: memory)
                } else {
                    sources.append(ByteSource(bytes))
                    bytes = []
                    sources.append(data)
                }
            })
        sources.append(ByteSource(bytes))
        return ByteSource(joining: sources)
    }
}
