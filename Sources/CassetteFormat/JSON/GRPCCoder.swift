internal import CassetteModel
internal import TapeBytes

/// Reads and writes the messages of a gRPC body in a cassette's structure.
///
/// Each message is an object with one content; a short message is written on one line.
enum GRPCCoder {
    /// Longer messages are written on several lines.
    static let lineLimit = 120

    private static let contents = ["proto", "json", "text", "base64", "file"]
    private static let members = ["after", "compressed", "codedSize", "style", "size", "sha256", "original"] + Self.contents

    // MARK: Writing

    static func write(_ body: GRPCMessages, into writer: inout JSONWriter) {
        writer.member("grpc")
        writer.beginArray(.lines)
        for message in body.messages {
            writer.element()
            self.message(message, &writer)
        }
        writer.endArray()
        guard !body.rest.isEmpty else { return }
        writer.member("rest")
        body.rest.withUnsafeBytes { writer.base64($0) }
    }

    private static func message(_ message: GRPCMessage, _ writer: inout JSONWriter) {
        writer.beginObject(self.isShort(message) ? .inline : .lines)
        if let after = message.after {
            writer.member("after")
            writer.integer(after)
        }
        if message.isCompressed {
            writer.member("compressed")
            if let coding = message.coding { ContentCodingCoder.write(coding, into: &writer) } else { writer.bool(true) }
        }
        if message.coding != nil, let size = message.codedSize {
            writer.member("codedSize")
            writer.integer(size)
        }
        self.content(message.content, &writer)
        if let original = message.original {
            writer.member("original")
            switch original {
            case .bytes(let bytes): bytes.withUnsafeBytes { writer.base64($0) }
            case .file(let sidecar):
                writer.beginObject(.inline)
                self.file(sidecar, &writer)
                writer.endObject()
            }
        }
        writer.unknown(message.unknown)
        writer.endObject()
    }

    private static func isShort(_ message: GRPCMessage) -> Bool {
        guard message.original == nil, message.unknown.isEmpty, message.coding == nil else { return false }
        var room = self.lineLimit - 40
        switch message.content {
        case .proto(let message): ProtoCoder.measure(message, &room)
        case .json, .file: return true
        case .text(let bytes): room -= bytes.count
        case .binary(let bytes): room -= Base64.length(of: bytes.count)
        }
        return room >= 0
    }

    private static func content(_ content: GRPCContent, _ writer: inout JSONWriter) {
        switch content {
        case .proto(let message):
            writer.member("proto")
            ProtoCoder.write(message, into: &writer)
        case .json(let bytes, let style): ContentEncoder.encode(.json(bytes, style: style), headers: HeaderFields(), into: &writer)
        case .text(let bytes): ContentEncoder.encode(.text(bytes), headers: HeaderFields(), into: &writer)
        case .binary(let bytes): ContentEncoder.encode(.binary(bytes), headers: HeaderFields(), into: &writer)
        case .file(let sidecar): self.file(sidecar, &writer)
        }
    }

    private static func file(_ sidecar: Sidecar, _ writer: inout JSONWriter) {
        writer.member("file")
        writer.string(sidecar.path)
        writer.member("size")
        writer.integer(sidecar.size)
        guard sidecar.sha256 != SidecarName.digest(in: sidecar.path) ?? "" else { return }
        writer.member("sha256")
        writer.string(sidecar.sha256)
    }

    // MARK: Reading

    static func decode(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> GRPCMessages {
        guard value.kind == .array else { throw reader.error(value, "grpc", "expected an array of messages") }
        var messages: [GRPCMessage] = []
        for element in value.elements {
            guard messages.count < GRPCMessages.limit else {
                throw reader.error(element, "grpc", "expected at most \(GRPCMessages.limit) messages", code: .tooLarge)
            }
            messages.append(try self.message(element, reader))
        }
        return GRPCMessages(
            messages: messages, rest: try reader["rest"].map { _ throws(CassetteError) in try self.bytes("rest", reader) } ?? [])
    }

    private static func message(_ value: JSONValue, _ parent: ObjectReader) throws(CassetteError) -> GRPCMessage {
        let reader = try ObjectReader(value, parent.memberPath("grpc"), parent.place, known: self.members)
        var message = GRPCMessage(content: try self.content(reader), unknown: reader.unknown)
        message.after = try reader.int("after")
        if let compressed = reader["compressed"] {
            if compressed.kind == .object {
                message.isCompressed = true
                message.coding = try CodingsDecoder.coding(compressed, reader, member: "compressed")
            } else {
                message.isCompressed = try reader.bool("compressed") ?? false
            }
        }
        message.codedSize = try reader.int("codedSize")
        guard let original = reader["original"] else { return message }
        guard message.coding != nil else {
            throw reader.error(original, "original", "expected it only next to a 'compressed' that names a coding")
        }
        if original.kind == .object {
            let file = try ObjectReader(original, reader.memberPath("original"), reader.place, known: ["file", "size", "sha256"])
            try file.refuseUnknown()
            message.original = .file(try self.file(file))
        } else {
            message.original = .bytes(try self.bytes("original", reader))
        }
        return message
    }

    private static func content(_ reader: ObjectReader) throws(CassetteError) -> GRPCContent {
        guard let (name, value) = try ContentDecoder.choice(of: self.contents, reader) else {
            throw reader.error(reader.value, "proto", "is missing: a message has one of \(self.contents.joined(separator: ", "))")
        }
        switch name {
        case "proto": return .proto(try ProtoCoder.decode(value, reader))
        case "file": return .file(try self.file(reader))
        default:
            switch try ContentDecoder.decode(name, value, reader, headers: HeaderFields()) {
            case .json(let bytes, let style): return .json(bytes, style: style)
            case .text(let bytes): return .text(bytes)
            case .binary(let bytes): return .binary(bytes)
            case .empty, .encodedText, .form, .lines, .events, .multipart, .grpc, .file, .raw:
                throw reader.error(value, name, "expected one of \(self.contents.joined(separator: ", "))")
            }
        }
    }

    private static func file(_ reader: ObjectReader) throws(CassetteError) -> Sidecar {
        guard let path = try reader.path("file") else { throw reader.error(reader.value, "file", "is missing") }
        return Sidecar(
            path: path, size: try reader.requiredInt("size"), sha256: try reader.digest("sha256") ?? SidecarName.digest(in: path) ?? "")
    }

    private static func bytes(_ name: String, _ reader: ObjectReader) throws(CassetteError) -> [UInt8] {
        guard let text = try reader.utf8(name), let bytes = Base64.decode(text) else {
            throw reader.error(reader[name] ?? reader.value, name, "expected base64 with its padding and no line ends")
        }
        return bytes
    }
}
