internal import CassetteModel

/// Redacts a gRPC body that arrives in pieces, message by message.
///
/// Holds one message in memory. A message too long for that is only searched by shape, keeping its length, or is left out if it is
/// compressed.
final class MessageStream {
    private enum State {
        /// Collects a prefix and the message after it.
        case message
        /// Within a long message: the bytes left of it, and the stream that searches them.
        case long(left: Int, TextStream?)
        /// The following bytes are not messages.
        case other(TextStream)
    }

    private let redaction: GRPCRedaction
    private var state = State.message
    private var held: [UInt8] = []
    private var index = 0
    private(set) var count = 0
    private(set) var notes: [String] = []

    init(_ redaction: GRPCRedaction) {
        self.redaction = redaction
    }

    func push(_ piece: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        var rest = piece[...]
        while !rest.isEmpty {
            switch self.state {
            case .message: try self.collect(&rest, deliver)
            case .long(let left, let stream):
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(left))
                rest = rest.dropFirst(part.count)
                try stream?.push(part, deliver: deliver)
                self.state = .long(left: left - part.count, stream)
                if left == part.count { try self.endLong(deliver) }
            case .other(let stream):
                try stream.push(UnsafeRawBufferPointer(rebasing: rest), deliver: deliver)
                return
            }
        }
    }

    func finish(deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch self.state {
        case .message:
            guard !self.held.isEmpty else { return }
            try self.deliverHeld(deliver)
        case .long: try self.endLong(deliver)
        case .other(let stream):
            try stream.finish(deliver: deliver)
            self.count += stream.count
        }
    }

    /// The length of the message that is held; nil until its prefix has arrived.
    private var length: Int? {
        guard self.held.count >= GRPCMessage.prefixSize else { return nil }
        return self.held[1..<GRPCMessage.prefixSize].reduce(0) { $0 << 8 | Int($1) }
    }

    private func collect(_ rest: inout Slice<UnsafeRawBufferPointer>, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let missing = (self.length.map { GRPCMessage.prefixSize + $0 } ?? GRPCMessage.prefixSize) - self.held.count
        self.held.append(contentsOf: rest.prefix(missing))
        rest = rest.dropFirst(missing)
        guard let length = self.length else { return }
        if !self.redaction.framing.takes(self.held[0]) {
            let stream = TextStream(self.redaction.content.text, kind: .binary)
            try self.held.withUnsafeBytes { try stream.push($0, deliver: deliver) }
            self.held = []
            self.state = .other(stream)
        } else if length > GRPCRedaction.messageLimit {
            try self.beginLong(length, deliver)
        } else if self.held.count == GRPCMessage.prefixSize + length {
            try self.deliverHeld(deliver)
        }
    }

    private func deliverHeld(_ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let result = self.held.withUnsafeBytes {
            self.redaction.redacted($0, from: self.index, isComplete: true, notes: &self.notes)
        }
        self.count += result.count
        try EditList(result.edits).applied(to: self.held).withUnsafeBytes(deliver)
        self.held = []
        self.index += 1
    }

    private func beginLong(_ length: Int, _ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        let isCompressed = self.held[0] & 1 != 0
        let how = isCompressed ? "left out: it is too long to be searched for secrets" : "searched for secrets by their looks alone"
        self.notes.append("message \(self.index + 1) of \(length) bytes is \(how)")
        if isCompressed {
            try [UInt8](repeating: 0, count: GRPCMessage.prefixSize).withUnsafeBytes(deliver)
            self.count += 1
        } else {
            try self.held.withUnsafeBytes(deliver)
        }
        self.held = []
        self.state = .long(left: length, isCompressed ? nil : TextStream(self.redaction.content.text, kind: .binary))
    }

    private func endLong(_ deliver: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard case .long(_, let stream) = self.state else { return }
        try stream?.finish(deliver: deliver)
        self.count += stream?.count ?? 0
        self.state = .message
        self.index += 1
    }
}
