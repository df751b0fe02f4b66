package import CassetteModel
package import CassetteStore
internal import CassetteFormat
internal import TapeBytes

/// The messages of a gRPC body for display: in recorded order, numbered from 1.
package struct BodyMessages {
    package private(set) var all: [BodyMessage] = []
    /// Bytes after the last complete message.
    package let rest: Int

    /// Nil if the cassette stores the body in another form.
    package init?(_ body: Body, reader: BodyReader) {
        guard case .grpc(let messages) = body.content else { return nil }
        self.rest = messages.rest.count
        for (index, message) in messages.messages.enumerated() {
            self.all.append(BodyMessage(number: index + 1, message: message, reader: reader))
        }
    }

    /// By number, as parts are named.
    package subscript(wanted: String) -> BodyMessage? {
        Int(wanted).flatMap { $0 >= 1 && $0 <= self.all.count ? self.all[$0 - 1] : nil }
    }

    /// The beginnings of all messages without their codings, concatenated, for a search.
    package func prefix(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for message in self.all where bytes.count < count {
            bytes += try message.contents().prefix(count - bytes.count)
            bytes.append(10)
        }
        return bytes
    }
}

/// One message of a gRPC body in the form shown by views.
package struct BodyMessage {
    package let number: Int
    package let message: GRPCMessage
    fileprivate let reader: BodyReader

    /// The fields; nil if the message is in another form.
    package var tree: ProtoMessage? {
        if case .proto(let tree) = self.message.content { return tree }
        return nil
    }

    /// The size without the coding, in bytes.
    package var size: Int { self.message.content.size }

    /// The message without its coding; with `raw`, as it crossed the wire, without its prefix.
    package func contents(raw: Bool = false) throws -> BodyContents {
        let file = { (sidecar: Sidecar) in try self.reader.source(sidecar, digest: PortableSHA256()) }
        return BodyContents(try raw ? self.message.payload(file: file) : self.message.decoded(file: file))
    }

    /// The extension for a file with the message, corresponding to a media type's suffix.
    package var fileExtension: String {
        switch self.message.content {
        case .proto: "pb"
        case .json: "json"
        case .text: "txt"
        case .binary: self.message.isCompressed ? "bin" : "pb"
        case .file(let sidecar): sidecar.path.split(separator: ".").last.map { SafeFileName.make(String($0)) } ?? "bin"
        }
    }

    /// `message 2, 18 bytes, after 1 message of the client`
    package var words: String {
        var words = ["message \(self.number)"]
        if let coding = self.message.coding {
            words.append("\(BodyWords.name(of: coding)), \(self.message.size) → \(self.size) bytes")
        } else {
            words.append(Quantity.bytes(self.size))
            if self.message.isCompressed { words.append("compressed") }
        }
        if let after = self.message.after { words.append(Self.words(after: after)) }
        return words.joined(separator: ", ")
    }

    /// - Parameter count: the number of client messages that were complete.
    package static func words(after count: Int) -> String {
        count == 0 ? "before any message of the client" : "after \(Quantity.count(count, "message")) of the client"
    }
}

/// The fields of a Protocol Buffers message as lines of text: number and name, the value, and its meaning.
package struct ProtoText {
    /// How many bytes of an unstructured value a line shows.
    private static let bytesLimit = 32
    /// How many numbers of a packed field a line shows.
    private static let packedLimit = 32

    package struct Line: Sendable, Hashable {
        package var depth: Int
        /// `1` or `1:name`
        package var key: String
        /// Without control characters.
        package var value: String
        /// The meaning of the value; empty if it is unknown.
        package var label: String
    }

    /// - Parameter deliver: called with each line in order until it returns false.
    package static func write(_ message: ProtoMessage, _ deliver: (Line) throws -> Bool) rethrows {
        _ = try self.write(message, depth: 0, deliver)
    }

    private static func write(_ message: ProtoMessage, depth: Int, _ deliver: (Line) throws -> Bool) rethrows -> Bool {
        for field in message.fields {
            let key = field.name.map { "\(field.number):\($0)" } ?? "\(field.number)"
            guard
                try deliver(
                    Line(
                        depth: depth, key: VisibleText.line(key), value: self.value(field.value), label: VisibleText.line(field.label ?? "")
                    ))
            else { return false }
            switch field.value {
            case .message(let inner), .entry(let inner), .group(let inner):
                guard try self.write(inner, depth: depth + 1, deliver) else { return false }
            case .varint, .fixed32, .fixed64, .text, .bytes, .packed: break
            }
        }
        return true
    }

    /// Negative numbers are only recognised in 64 bits; shorter ones are shown in their most common meaning.
    package static func value(_ value: ProtoValue) -> String {
        switch value {
        case .varint(let number): return "\(Int64(bitPattern: number))"
        case .fixed32(let bits, let isFloat): return isFloat ? "\(Float(bitPattern: bits))" : "0x\(Self.hex(UInt64(bits), 4)) (32 bits)"
        case .fixed64(let bits, let isDouble): return isDouble ? "\(Double(bitPattern: bits))" : "0x\(Self.hex(bits, 8)) (64 bits)"
        case .text(let text): return "\"\(VisibleText.line(text))\""
        case .message(let inner), .entry(let inner): return inner.fields.isEmpty ? "{}" : ""
        case .group(let inner): return inner.fields.isEmpty ? "group {}" : "group"
        case .bytes(let bytes):
            let shown = Hex.encode(Array(bytes.prefix(self.bytesLimit)))
            return "\(Quantity.bytes(bytes.count))\(bytes.isEmpty ? "" : " ")\(shown)\(bytes.count > self.bytesLimit ? "…" : "")"
        case .packed(let values):
            let shown = values.prefix(self.packedLimit).map(self.value).joined(separator: ", ")
            return "[\(shown)\(values.count > self.packedLimit ? ", … \(values.count) in all" : "")]"
        }
    }

    private static func hex(_ bits: UInt64, _ count: Int) -> String {
        Hex.encode((0..<count).reversed().map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) })
    }
}
