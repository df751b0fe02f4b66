extension Body {
    /// Copies names and kinds of values to gRPC messages from those of another body at the same places.
    public mutating func takeLabels(from other: Body) {
        guard case .grpc(var messages) = self.content, case .grpc(let labelled) = other.content else { return }
        for index in messages.messages.indices where index < labelled.messages.count {
            guard case .proto(var message) = messages.messages[index].content, case .proto(let other) = labelled.messages[index].content
            else { continue }
            message.takeLabels(from: other)
            messages.messages[index].content = .proto(message)
        }
        self.content = .grpc(messages)
    }
}

extension ProtoMessage {
    /// Copies names and kinds of values from another message with the same fields, whose values may differ.
    ///
    /// Does not change any byte. Fields whose number or order differs from the other message are left as they are.
    public mutating func takeLabels(from other: ProtoMessage) {
        guard self.fields.count == other.fields.count, zip(self.fields, other.fields).allSatisfy({ $0.number == $1.number }) else { return }
        for index in self.fields.indices { self.fields[index].takeLabels(from: other.fields[index]) }
    }

    fileprivate func labelled(by other: ProtoMessage) -> ProtoMessage {
        var message = self
        message.takeLabels(from: other)
        return message
    }
}

extension ProtoField {
    fileprivate mutating func takeLabels(from other: ProtoField) {
        self.name = other.name
        self.value = self.value.labelled(by: other.value)
        // A label applies to one value only.
        if self.value == other.value { self.label = other.label }
    }
}

extension ProtoValue {
    fileprivate func labelled(by other: ProtoValue) -> ProtoValue {
        switch (self, other) {
        case (.fixed32(let bits, _), .fixed32(_, let isFloat)): return .fixed32(bits, isFloat: isFloat)
        case (.fixed64(let bits, _), .fixed64(_, let isDouble)): return .fixed64(bits, isDouble: isDouble)
        case (.group(let message), .group(let labelled)): return .group(message.labelled(by: labelled))
        default: break
        }
        guard let bytes = self.delimitedBytes else { return self }
        switch other {
        case .text: return .text(bytes)
        case .bytes: return .bytes(bytes)
        case .message(let labelled): return self.message.map { .message($0.labelled(by: labelled)) } ?? self
        case .entry(let labelled): return self.message.map { .entry($0.labelled(by: labelled)) } ?? self
        case .packed(let values): return other.delimitedBytes == bytes ? .packed(values) : self
        case .varint, .fixed32, .fixed64, .group: return self
        }
    }

    /// The bytes after the length of a value that has one.
    private var delimitedBytes: [UInt8]? {
        switch self {
        case .varint, .fixed32, .fixed64, .group: return nil
        case .text, .bytes, .message, .entry, .packed:
            var bytes: [UInt8] = []
            self.write(into: &bytes)
            return bytes
        }
    }

    private var message: ProtoMessage? {
        if case .message(let message) = self { return message }
        guard let bytes = self.delimitedBytes else { return nil }
        // Each field takes at least two bytes.
        var parser = ProtoParser(fields: bytes.count / 2 + 1)
        return parser.parse(bytes)
    }
}
