internal import CassetteFormat
internal import CassetteModel

/// Redacts a content that comes in pieces, by its media type.
enum ContentStream {
    case text(TextStream)
    case parts(PartStream)

    /// - Parameter beginning: the first octets, which tell text from other things where the type does not.
    init(_ redaction: TextRedaction, headers: HeaderFields, beginning: UnsafeRawBufferPointer) {
        if let boundary = MultipartType(headers)?.boundary {
            self = .parts(PartStream(redaction, boundary: boundary))
        } else {
            var text = ReadableText()
            text.push(beginning)
            let kind = ContentRedaction.kind(headers, UnsafeRawBufferPointer(start: nil, count: 0))
            let isUnknown = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes)).kind == .unknown
            self = .text(TextStream(redaction, kind: isUnknown && kind != .form && !text.isReadable ? .binary : kind))
        }
    }

    var count: Int {
        switch self {
        case .text(let stream): stream.count
        case .parts(let stream): stream.count
        }
    }

    func push(_ piece: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self {
        case .text(let stream): try stream.push(piece, deliver: deliver)
        case .parts(let stream): try stream.push(piece, deliver: deliver)
        }
    }

    func finish(deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self {
        case .text(let stream): try stream.finish(deliver: deliver)
        case .parts(let stream): try stream.finish(deliver: deliver)
        }
    }
}
