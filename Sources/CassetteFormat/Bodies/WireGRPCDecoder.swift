internal import CassetteModel
internal import TapeBytes

/// Splits a gRPC body into messages that a cassette can store, if writing them again gives the same bytes.
///
/// Leaves the removal of codings to `unpack`. Long messages go to files in pieces, so that none is held in memory.
struct WireGRPCDecoder {
    /// The most bytes of messages in the cassette itself; later messages go to files.
    static let inlineLimit = 1 << 20
    /// The most fields of all messages in the cassette itself. At 60 bytes each, the trees of one body stay below 4 MiB.
    static let fieldLimit = 65_536

    /// A compressed message whose coding was removed.
    struct Unpacked {
        var content: [UInt8]
        var coding: ContentCoding
        /// Whether `coding` restores the same bytes.
        var isRestorable: Bool
    }

    private let type: GRPCType
    private let schema: ProtoType?
    private let isComplete: Bool

    /// - Parameter schema: the type of the messages, which supplies names.
    init?(headers: HeaderFields, isComplete: Bool, schema: ProtoType?) {
        guard let type = GRPCType(headers) else { return nil }
        self.type = type
        self.schema = schema
        self.isComplete = isComplete
    }

    /// One message's prefix.
    private struct Frame {
        var isCompressed: Bool
        var payload: Range<Int>
    }

    /// The messages, or nil if the bytes must be kept as they are, and what is wrong with them, if anything.
    ///
    /// - Parameter unpack: removes the coding of a compressed message; nil to keep it as it is.
    func body(
        _ bytes: ByteSource, unpack: (ByteSource) throws -> Unpacked?, _ sink: inout some SidecarSink
    ) throws -> (body: GRPCMessages?, note: String?) {
        let (frames, problem) = try self.frames(bytes)
        guard problem == nil else { return (nil, problem) }
        let end = frames.last?.payload.upperBound ?? 0
        guard bytes.size - end <= ContentForm.textLimit else {
            return (nil, "not split into messages: message \(frames.count + 1) is cut after \(bytes.size - end) bytes")
        }
        var writer = MessageForms(type: self.type, schema: self.schema)
        var messages: [GRPCMessage] = []
        messages.reserveCapacity(frames.count)
        for frame in frames {
            let payload = bytes[frame.payload]
            guard frame.isCompressed, let unpacked = try unpack(payload) else {
                // Compressed bytes are not text, whatever they look like.
                let content = try frame.isCompressed ? writer.opaque(payload, &sink) : writer.content(payload, &sink)
                messages.append(GRPCMessage(isCompressed: frame.isCompressed, content: content))
                continue
            }
            var message = GRPCMessage(
                isCompressed: true, content: try writer.content(ByteSource(unpacked.content), &sink), coding: unpacked.coding,
                codedSize: payload.size)
            if !unpacked.isRestorable { message.original = try writer.original(payload, &sink) }
            messages.append(message)
        }
        let rest = try bytes[end..<bytes.size].load()
        let note = self.isComplete && !rest.isEmpty ? "it ends within message \(frames.count + 1)" : nil
        return (GRPCMessages(messages: messages, rest: rest), note)
    }

    /// The places of the complete messages, or why they are not split.
    private func frames(_ bytes: ByteSource) throws -> (frames: [Frame], problem: String?) {
        var frames: [Frame] = []
        var offset = 0
        var prefix = [UInt8](repeating: 0, count: GRPCMessage.prefixSize)
        while bytes.size - offset >= prefix.count {
            try prefix.withUnsafeMutableBytes { try bytes.read(at: offset, into: $0) }
            guard prefix[0] <= 1 else {
                let flags = Hex.encode([prefix[0]])
                return ([], "not split into messages: byte \(offset) begins no message: its flags are 0x\(flags), not 0 or 1")
            }
            let length = prefix[1...].reduce(0) { $0 << 8 | Int($1) }
            let start = offset + prefix.count
            guard length <= bytes.size - start else { break }
            guard frames.count < GRPCMessages.limit else {
                return ([], "not split into messages: it has more than \(GRPCMessages.limit)")
            }
            frames.append(Frame(isCompressed: prefix[0] == 1, payload: start..<start + length))
            offset = start + length
        }
        return (frames, nil)
    }
}

/// Converts messages to their most readable form, as far as the cassette has room.
private struct MessageForms {
    private let type: GRPCType
    private let schema: ProtoType?
    private var room = WireGRPCDecoder.inlineLimit
    private var parser = ProtoParser(fields: WireGRPCDecoder.fieldLimit)

    init(type: GRPCType, schema: ProtoType?) {
        self.type = type
        self.schema = schema
    }

    mutating func content(_ data: ByteSource, _ sink: inout some SidecarSink) throws -> GRPCContent {
        guard data.size <= ContentForm.textLimit, data.size <= self.room else { return .file(try self.file(data, &sink)) }
        let bytes = try data.load()
        guard let content = self.readable(bytes) else { return try self.opaque(data, &sink) }
        self.room -= bytes.count
        return content
    }

    private mutating func readable(_ bytes: [UInt8]) -> GRPCContent? {
        switch self.type {
        case .proto: return self.parser.parse(bytes, as: self.schema).map { .proto($0) }
        case .json, .other:
            guard !bytes.isEmpty else { return .text([]) }
            return bytes.withUnsafeBytes { buffer in
                if self.type == .json, let style = JSONBody.style(of: buffer) { return .json(bytes, style: style) }
                return ReadableText.isReadable(buffer) ? .text(bytes) : nil
            }
        }
    }

    /// Base64, or a file.
    mutating func opaque(_ data: ByteSource, _ sink: inout some SidecarSink) throws -> GRPCContent {
        guard data.size <= ContentForm.binaryLimit, data.size <= self.room else { return .file(try self.file(data, &sink)) }
        self.room -= data.size
        return .binary(try data.load())
    }

    mutating func original(_ data: ByteSource, _ sink: inout some SidecarSink) throws -> StoredBytes {
        switch try self.opaque(data, &sink) {
        case .file(let sidecar): .file(sidecar)
        case .binary(let bytes): .bytes(bytes)
        case .proto, .json, .text: .bytes(try data.load())
        }
    }

    private func file(_ data: ByteSource, _ sink: inout some SidecarSink) throws -> Sidecar {
        let name =
            switch self.type {
            case .proto: "pb"
            case .json: "json"
            case .other: "bin"
            }
        return try sink.store(fileExtension: name) { try data.forEachPiece($0) }
    }
}
