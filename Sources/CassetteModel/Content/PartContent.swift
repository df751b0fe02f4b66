public import TapeBytes

/// The form in which the data of one part of a multipart body lie in a cassette.
///
/// Those of `BodyContent` that a part can have: parts within parts are `MultipartContent`'s.
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

    /// Nil for what only a whole body can be.
    public init?(_ content: BodyContent) {
        switch content {
        case .text(let octets): self = .text(octets)
        case .encodedText(let octets, let charset): self = .encodedText(octets, charset)
        case .json(let octets, let style): self = .json(octets, style: style)
        case .form(let form): self = .form(form)
        case .lines(let lines): self = .lines(lines)
        case .events(let events): self = .events(events)
        case .binary(let octets): self = .binary(octets)
        case .file(let sidecar): self = .file(sidecar)
        case .empty, .multipart, .raw: return nil
        }
    }

    /// What people read, freed of its Content-Transfer-Encoding where a cassette shows it so.
    public var readable: PartContent {
        if case .transferEncoded(let content, _) = self { return content.readable }
        return self
    }

    /// The same octets as the content of a body of its own.
    public var bodyContent: BodyContent {
        switch self {
        // Both encodings write ASCII.
        case .transferEncoded(let content, let spelling): .text(spelling.write(content.bodyContent.inlineOctets ?? []))
        case .text(let octets): .text(octets)
        case .encodedText(let octets, let charset): .encodedText(octets, charset)
        case .json(let octets, let style): .json(octets, style: style)
        case .form(let form): .form(form)
        case .lines(let lines): .lines(lines)
        case .events(let events): .events(events)
        case .binary(let octets): .binary(octets)
        case .file(let sidecar): .file(sidecar)
        }
    }
}

extension MultipartBody<PartContent> {
    /// The files beside the cassette that hold parts.
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
