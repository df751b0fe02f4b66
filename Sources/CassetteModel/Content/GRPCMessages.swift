public import TapeBytes

/// A gRPC body as its messages (gRPC over HTTP2, "Length-Prefixed-Message").
///
/// Does not know the meaning of the messages, nor their conversation.
public struct GRPCMessages: Sendable, Hashable {
    /// The most messages that a cassette shows one by one. Nobody reads longer conversations, and each message costs a few hundred bytes in
    /// memory.
    public static let limit = 16_384

    public var messages: [GRPCMessage]
    /// Bytes after the last complete message, in a body that was cut.
    public var rest: [UInt8]

    public init(messages: [GRPCMessage], rest: [UInt8] = []) {
        self.messages = messages
        self.rest = rest
    }

    /// The size of the body in bytes.
    public var size: Int { self.messages.reduce(self.rest.count) { $0 + GRPCMessage.prefixSize + $1.size } }

    /// The files next to the cassette that contain messages.
    public var sidecars: [Sidecar] {
        self.messages.flatMap { message -> [Sidecar] in
            var files: [Sidecar] = []
            if case .file(let file) = message.content { files.append(file) }
            if case .file(let file) = message.original { files.append(file) }
            return files
        }
    }

    /// The marks of all messages; nil if none was sent before the client's end.
    public var marks: ConversationMarks? {
        get {
            guard self.messages.contains(where: { $0.after != nil }) else { return nil }
            var marks = ConversationMarks()
            for message in self.messages { marks.append(after: message.after) }
            return marks
        }
        set { for index in self.messages.indices { self.messages[index].after = newValue?[index] } }
    }

    /// The same messages with the names from a type, as far as it fits.
    public func named(_ type: ProtoType?) -> GRPCMessages {
        guard let type else { return self }
        var body = self
        for (index, message) in self.messages.enumerated() {
            if case .proto(let tree) = message.content { body.messages[index].content = .proto(tree.named(type)) }
        }
        return body
    }

    /// The same messages with other files.
    public func mapFiles(_ transform: (Sidecar) throws -> Sidecar) rethrows -> GRPCMessages {
        var body = self
        for (index, message) in self.messages.enumerated() {
            if case .file(let file) = message.content { body.messages[index].content = .file(try transform(file)) }
            if case .file(let file) = message.original { body.messages[index].original = .file(try transform(file)) }
        }
        return body
    }
}

/// One message of a gRPC body.
public struct GRPCMessage: Sendable, Hashable {
    /// The size of the flag and length before each message.
    public static let prefixSize = 5

    /// The flag before the message: whether its bytes have the coding in `grpc-encoding`.
    public var isCompressed: Bool
    /// How many client messages were complete when the first byte of this one arrived; nil for all of them and the client's end. Only used
    /// in answers.
    public var after: Int?
    /// The message, without `coding`.
    public var content: GRPCContent
    /// The coding that was removed from a compressed message; nil if `content` is its bytes as received.
    public var coding: ContentCoding?
    /// The size of the message as received, if a coding was removed; nil if unknown.
    public var codedSize: Int?
    /// The bytes as received, if `coding` cannot restore them.
    public var original: StoredBytes?
    public var unknown: [UnknownMember]

    public init(
        isCompressed: Bool = false, after: Int? = nil, content: GRPCContent, coding: ContentCoding? = nil, codedSize: Int? = nil,
        original: StoredBytes? = nil, unknown: [UnknownMember] = []
    ) {
        self.isCompressed = isCompressed
        self.after = after
        self.content = content
        self.coding = coding
        self.codedSize = codedSize
        self.original = original
        self.unknown = unknown
    }

    /// The size of the message on the wire without its prefix, as far as it is known for a compressed one.
    public var size: Int {
        guard self.coding != nil else { return self.content.size }
        return self.codedSize ?? self.original?.size ?? self.content.size
    }
}

/// Bytes in the cassette or in a file next to it.
public enum StoredBytes: Sendable, Hashable {
    case bytes([UInt8])
    /// Indirect, since a conversation may have thousands of messages, but rarely a file.
    indirect case file(Sidecar)

    public var size: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(let sidecar): sidecar.size
        }
    }
}

/// The form in which a cassette stores one message.
public enum GRPCContent: Sendable, Hashable {
    case proto(ProtoMessage)
    case json([UInt8], style: JSONStyle)
    case text([UInt8])
    case binary([UInt8])
    /// Indirect, as in `StoredBytes`.
    indirect case file(Sidecar)

    public var size: Int {
        switch self {
        case .proto(let message): message.size
        case .json(let bytes, _), .text(let bytes), .binary(let bytes): bytes.count
        case .file(let sidecar): sidecar.size
        }
    }

    /// The bytes; nil if they are in a file.
    public var inlineBytes: [UInt8]? {
        switch self {
        case .proto(let message): message.bytes
        case .json(let bytes, _), .text(let bytes), .binary(let bytes): bytes
        case .file: nil
        }
    }
}

/// What the Content-Type of gRPC declares about its messages (gRPC over HTTP2, "Content-Type").
public enum GRPCType: Sendable, Hashable {
    /// `application/grpc` and `application/grpc+proto`
    case proto
    /// `application/grpc+json`
    case json
    /// Any other: `application/grpc+thrift`.
    case other

    /// Nil for any other type, including `application/grpc-web`, whose bodies have another form.
    public init?(_ type: MediaType) {
        let essence = type.essence
        guard essence.hasPrefix("application/grpc") else { return nil }
        self.init(suffix: essence.dropFirst("application/grpc".count))
    }

    /// - Parameter suffix: what follows the name of the protocol in a media type; empty for Protocol Buffers.
    package init?(suffix: Substring) {
        switch suffix {
        case "", "+proto": self = .proto
        case "+json": self = .json
        case let rest where rest.hasPrefix("+"): self = .other
        default: return nil
        }
    }

    public init?(_ headers: HeaderFields) {
        guard let index = headers.firstIndex(of: "content-type") else { return nil }
        let value = headers.valueBytes(at: index)
        // Nearly all messages have another type.
        guard MediaType.begins(value, with: "application/grpc") else { return nil }
        self.init(MediaType(value))
    }

    /// The coding of compressed messages (gRPC over HTTP2, "Message-Encoding"), in lower case; nil if there are none.
    public static func coding(_ headers: HeaderFields) -> String? { self.coding(headers, field: "grpc-encoding") }

    package static func coding(_ headers: HeaderFields, field: StaticString) -> String? {
        guard let index = headers.firstIndex(of: field) else { return nil }
        let name = headers.value(at: index).lowercased()
        return name == "identity" || name.isEmpty ? nil : name
    }
}
