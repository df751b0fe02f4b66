internal import CassetteModel
internal import TapeBytes

/// Messages of gRPC in base64, as browsers receive them that cannot read bytes (gRPC-Web, "application/grpc-web-text").
struct GRPCWebText {
    /// All frames.
    let content: [UInt8]
    /// The length of the frames before the trailers, which are a frame of their own.
    let messagesLength: Int
    /// The fields of the same messages in gRPC over HTTP/2.
    let headers: HeaderFields

    private static let type = "application/grpc-web-text"

    /// Nil for a body of another type, or one that is not base64.
    init?(_ body: UnsafeRawBufferPointer, _ headers: HeaderFields) {
        guard let type = headers.first("content-type"), type.lowercased().hasPrefix(Self.type) else { return nil }
        var content: [UInt8] = []
        var group: [UInt8] = []
        for byte in body where byte > 32 {
            group.append(byte)
            guard group.count == 4 else { continue }
            // A server may encode each message by itself, so padding may be in the middle.
            guard let bytes = Base64.decode(group) else { return nil }
            content += bytes
            group = []
        }
        guard group.isEmpty, !content.isEmpty else { return nil }
        var fields = HeaderFields()
        for index in 0..<headers.count {
            if headers.isNamed("content-type", at: index) {
                fields.append(name: "content-type", value: "application/grpc" + type.dropFirst(Self.type.count))
            } else {
                fields.append(line: headers.line(at: index))
            }
        }
        (self.content, self.headers) = (content, fields)
        self.messagesLength = Self.messagesLength(content)
    }

    private static func messagesLength(_ content: [UInt8]) -> Int {
        var offset = 0
        // The highest bit of a frame's flags marks trailers.
        while content.count - offset >= 5, content[offset] < 128 {
            let length = content[(offset + 1)..<(offset + 5)].reduce(0) { $0 << 8 | Int($1) }
            guard length <= content.count - offset - 5 else { return content.count }
            offset += 5 + length
        }
        return offset
    }

    func text(of content: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        content.withUnsafeBytes { Base64.encode($0, into: &text) }
        return text
    }
}
