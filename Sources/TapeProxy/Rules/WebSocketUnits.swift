internal import NIOCore

/// Divides the bytes of one direction of a WebSocket into its messages and control frames, as they are on the wire (RFC 6455, 5).
///
/// Which units there are depends on the frames alone. Only where the parts of a long message end depends on how its bytes come.
struct WebSocketUnits {
    struct Unit {
        enum Kind {
            case control
            /// A whole message.
            case message
            /// Bytes of a message that is too long to be held. More of them follow.
            case part
            /// The last bytes of such a message.
            case lastPart
        }

        var bytes: ByteBuffer
        var kind: Kind

        var isMessage: Bool { self.kind == .message }

        /// RFC 6455, 5.5.1
        var isClose: Bool {
            self.kind == .control && (self.bytes.getInteger(at: self.bytes.readerIndex, as: UInt8.self) ?? 0) & 0xf == 8
        }
    }

    /// Bytes of a message with its frames that are held until its end. A longer one passes in parts.
    static let limit = 1 << 20
    private let limit: Int

    /// The first bytes of a frame, as far as they have come.
    private struct FrameHead {
        var isControl: Bool
        var isLast: Bool
        /// With the head.
        var size: Int
    }

    /// Bytes of a frame whose end has not come.
    private var held = ByteBuffer()
    /// The frames of a message whose last one has not come.
    private var message = ByteBuffer()
    /// The message that is coming passes in parts.
    private var isLong = false
    /// Bytes that are missing of a frame that passes in parts: they are payload, and no head of a frame is looked for in them.
    private var missing = 0
    /// The end of that frame is the end of its message.
    private var missingIsLast = false

    init(limit: Int = Self.limit) { self.limit = limit }

    /// - Returns: the units that are complete now, and parts of long messages.
    mutating func push(_ bytes: ByteBuffer) -> [Unit] {
        self.held.writeImmutableBuffer(bytes)
        // The buffer would otherwise grow with all that ever came.
        defer { self.held.discardReadBytes() }
        var units: [Unit] = []
        while true {
            if self.missing > 0 {
                guard let part = self.held.readSlice(length: min(self.missing, self.held.readableBytes)), part.readableBytes > 0 else {
                    break
                }
                self.missing -= part.readableBytes
                let isLast = self.missing == 0 && self.missingIsLast
                if isLast { self.isLong = false }
                units.append(Unit(bytes: part, kind: isLast ? .lastPart : .part))
                continue
            }
            guard let head = self.nextHead() else { break }
            let whole = head.isControl ? head.size : head.size.addingReportingOverflow(self.message.readableBytes).partialValue
            // A size that overflows is negative.
            if self.isLong && !head.isControl || whole > self.limit || whole < 0 {
                if !head.isControl {
                    self.isLong = true
                    if self.message.readableBytes > 0 { units.append(Unit(bytes: self.takeMessage(), kind: .part)) }
                }
                self.missing = head.size
                self.missingIsLast = !head.isControl && head.isLast
                continue
            }
            guard var frame = self.held.readSlice(length: head.size) else { break }
            guard !head.isControl else {
                units.append(Unit(bytes: frame, kind: .control))
                continue
            }
            self.message.writeBuffer(&frame)
            if head.isLast { units.append(Unit(bytes: self.takeMessage(), kind: .message)) }
        }
        return units
    }

    /// Bytes of a message that is not complete. They are not held any longer, and what follows is not divided any more.
    mutating func rest() -> ByteBuffer {
        var rest = self.takeMessage()
        rest.writeImmutableBuffer(self.held)
        self.held = ByteBuffer()
        return rest
    }

    private mutating func takeMessage() -> ByteBuffer {
        defer { self.message = ByteBuffer() }
        return self.message
    }

    /// The head of the frame that the held bytes begin with; nil if they end before it does.
    private func nextHead() -> FrameHead? {
        let start = self.held.readerIndex
        guard let first = self.held.getInteger(at: start, as: UInt8.self), let second = self.held.getInteger(at: start + 1, as: UInt8.self)
        else { return nil }
        var size = 2
        var length = Int(second & 0x7f)
        if length == 126 {
            guard let long = self.held.getInteger(at: start + 2, as: UInt16.self) else { return nil }
            (size, length) = (4, Int(long))
        } else if length == 127 {
            guard let long = self.held.getInteger(at: start + 2, as: UInt64.self) else { return nil }
            (size, length) = (10, Int(clamping: long))
        }
        if second & 0x80 != 0 { size += 4 }
        let (whole, overflows) = size.addingReportingOverflow(length)
        return FrameHead(isControl: first & 8 != 0, isLast: first & 0x80 != 0, size: overflows ? .max : whole)
    }
}
