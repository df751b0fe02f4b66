internal import NIOCore

/// Divides the bytes of one direction of a WebSocket into its messages and control frames, as they are on the wire (RFC 6455, 5).
struct WebSocketUnits {
    struct Unit {
        var bytes: ByteBuffer
        /// False for a control frame.
        var isMessage: Bool

        /// RFC 6455, 5.5.1
        var isClose: Bool { !self.isMessage && (self.bytes.getInteger(at: self.bytes.readerIndex, as: UInt8.self) ?? 0) & 0xf == 8 }
    }

    /// Bytes of a message whose end has not come; a longer one passes in parts, the last of which counts as the message.
    private static let limit = 1 << 20

    private var held = ByteBuffer()
    /// The frames of a message whose last one has not come.
    private var message = ByteBuffer()

    /// - Returns: the units that are complete now.
    mutating func push(_ bytes: ByteBuffer) -> [Unit] {
        self.held.writeImmutableBuffer(bytes)
        var units: [Unit] = []
        while let frame = self.nextFrame() {
            guard let first = frame.getInteger(at: frame.readerIndex, as: UInt8.self) else { break }
            if first & 8 != 0 {
                units.append(Unit(bytes: frame, isMessage: false))
                continue
            }
            self.message.writeImmutableBuffer(frame)
            guard first & 0x80 != 0 else { continue }
            units.append(Unit(bytes: self.message, isMessage: true))
            self.message = ByteBuffer()
        }
        if self.held.readableBytes + self.message.readableBytes > Self.limit {
            units.append(Unit(bytes: self.rest(), isMessage: false))
        }
        return units
    }

    /// Bytes of a message that is not complete. They are not held any longer.
    mutating func rest() -> ByteBuffer {
        var rest = self.message
        rest.writeImmutableBuffer(self.held)
        self.message = ByteBuffer()
        self.held = ByteBuffer()
        return rest
    }

    private mutating func nextFrame() -> ByteBuffer? {
        let start = self.held.readerIndex
        guard let second = self.held.getInteger(at: start + 1, as: UInt8.self) else { return nil }
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
        return overflows ? nil : self.held.readSlice(length: whole)
    }
}
