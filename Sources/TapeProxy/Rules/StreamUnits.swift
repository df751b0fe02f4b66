internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// Divides the body of an answer into its events (text/event-stream), its messages (gRPC), or its lines (JSON lines), with all their bytes.
struct StreamUnits {
    private enum Kind { case events, messages, lines }

    /// Bytes of an event whose end has not come; a longer one passes in parts.
    private static let limit = 1 << 20

    private let kind: Kind
    private var held = ByteBuffer()

    /// Nil if the body is no such stream, or has a content coding.
    init?(_ fields: HeaderFields) {
        if let coding = fields.first("content-encoding")?.lowercased(), coding != "identity", !coding.isEmpty { return nil }
        let type = fields.first("content-type")?.lowercased() ?? ""
        if type.hasPrefix("text/event-stream") {
            self.kind = .events
        } else if type.hasPrefix("application/grpc"), !type.hasPrefix("application/grpc-web-text") {
            self.kind = .messages
        } else if ["application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq"].contains(
            where: type.hasPrefix)
        {
            self.kind = .lines
        } else {
            return nil
        }
    }

    /// Whether the units are messages of gRPC.
    var hasMessages: Bool { self.kind == .messages }

    /// - Returns: the units that are complete now.
    mutating func push(_ bytes: ByteBuffer) -> [ByteBuffer] {
        self.held.writeImmutableBuffer(bytes)
        var units: [ByteBuffer] = []
        while let size = self.nextSize(), let unit = self.held.readSlice(length: size) { units.append(unit) }
        if self.held.readableBytes > Self.limit { units.append(self.rest()) }
        return units
    }

    /// Bytes of a unit that is not complete. They are not held any longer.
    mutating func rest() -> ByteBuffer {
        defer { self.held = ByteBuffer() }
        return self.held
    }

    private func nextSize() -> Int? {
        let view = self.held.readableBytesView
        switch self.kind {
        case .lines: return view.firstIndex(of: 10).map { $0 - view.startIndex + 1 }
        case .messages:
            // A flag and a length of four bytes (gRPC over HTTP/2, "Length-Prefixed-Message").
            guard let length = self.held.getInteger(at: self.held.readerIndex + 1, as: UInt32.self) else { return nil }
            let size = 5 + Int(length)
            return self.held.readableBytes >= size ? size : nil
        case .events: return Self.eventSize(view)
        }
    }

    /// Up to and with the empty line that ends an event (HTML, 9.2.5: lines end with LF, CR, or both).
    private static func eventSize(_ view: ByteBufferView) -> Int? {
        var lineIsEmpty = true
        var index = view.startIndex
        while index < view.endIndex {
            let byte = view[index]
            guard byte == 10 || byte == 13 else {
                lineIsEmpty = false
                index += 1
                continue
            }
            var end = index + 1
            if byte == 13 {
                // Whether a LF follows is not known yet.
                guard end < view.endIndex else { return nil }
                if view[end] == 10 { end += 1 }
            }
            if lineIsEmpty { return end - view.startIndex }
            lineIsEmpty = true
            index = end
        }
        return nil
    }
}
