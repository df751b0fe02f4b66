/// Finds the frames in the bytes of one direction of a WebSocket (RFC 6455, 5.2), in whatever pieces the bytes arrive.
///
/// Copies and keeps no bytes: payload is reported as ranges of the piece, still masked. Knows only frames; `WebSocketReader` assembles
/// messages.
public struct WebSocketFrameParser: Sendable {
    private enum Phase {
        case first, second
        /// The number of bytes still missing from the extended length or the mask.
        case length(Int), mask(Int)
        case payload
        case failed(WebSocketProblem)
    }

    private let stand: WebSocketStand
    private let reserved: WebSocketReservedBits
    private var phase = Phase.first
    private var head = WebSocketFrameHead(isFinal: true, reserved: 0, opcode: .text, mask: nil, length: 0)
    private var mask: UInt32 = 0
    /// Payload bytes that have not arrived yet.
    private var left = 0
    private var isInMessage = false
    /// Number of bytes in this direction before the frame.
    private var frameStart = 0
    private var consumed = 0

    /// - Parameter reserved: the meaning that extensions have negotiated for the reserved bits of RFC 6455.
    public init(_ stand: WebSocketStand, reserved: WebSocketReservedBits = .zero) {
        self.stand = stand
        self.reserved = reserved
    }

    /// Takes the next bytes. After a problem, every call throws it again.
    public mutating func consume(
        _ bytes: UnsafeRawBufferPointer, _ onEvent: (WebSocketFrameEvent) -> Void
    ) throws(WebSocketProblem) {
        var index = 0
        while index < bytes.count {
            switch self.phase {
            case .first:
                self.frameStart = self.consumed + index
                try self.takeFirst(bytes[index])
                index += 1
            case .second:
                try self.takeSecond(bytes[index])
                index += 1
                self.beginPayload(onEvent)
            case .length(let missing):
                // RFC 6455, 5.2: the most significant of the 64 bits must be 0, so the length always fits into an `Int`.
                if missing == 8, bytes[index] & 0x80 != 0 {
                    throw self.fail(.length, "has a length of more than 63 bits")
                }
                self.head.length = self.head.length << 8 | Int(bytes[index])
                index += 1
                self.phase = .length(missing - 1)
                guard missing == 1 else { continue }
                try self.lengthIsKnown()
                self.beginPayload(onEvent)
            case .mask(let missing):
                self.mask |= UInt32(bytes[index]) << UInt32((4 - missing) * 8)
                index += 1
                self.phase = .mask(missing - 1)
                guard missing == 1 else { continue }
                self.head.mask = WebSocketMask(self.mask)
                self.beginPayload(onEvent)
            case .payload:
                let taken = min(self.left, bytes.count - index)
                onEvent(.payload(index..<index + taken, mask: self.head.mask?.turned(by: self.head.length - self.left)))
                index += taken
                self.left -= taken
                if self.left == 0 { self.endFrame(onEvent) }
            case .failed(let problem): throw problem
            }
        }
        self.consumed += bytes.count
    }

    /// Whether the bytes so far end after a complete frame and a complete message.
    public var isBetweenMessages: Bool {
        if case .first = self.phase { return !self.isInMessage }
        return false
    }

    private mutating func takeFirst(_ byte: UInt8) throws(WebSocketProblem) {
        guard let opcode = WebSocketOpcode(rawValue: byte & 15) else {
            throw self.fail(.opcode, "has the opcode \(byte & 15), which RFC 6455 reserves")
        }
        let isFinal = byte & 0x80 != 0
        let bits = byte >> 4 & 7
        if bits != 0 {
            switch self.reserved {
            case .any: break
            // RFC 7692, 6: only on the first frame of a data message.
            case .deflate where bits == 4 && (opcode == .text || opcode == .binary): break
            case .deflate, .zero: throw self.fail(.reservedBits, "has reserved bits (\(bits)) that no extension has agreed on")
            }
        }
        if opcode.isControl {
            guard isFinal else { throw self.fail(.control, "is a control frame in fragments") }
        } else if opcode == .continuation {
            guard self.isInMessage else { throw self.fail(.continuation, "continues a message that has not begun") }
            self.isInMessage = !isFinal
        } else {
            guard !self.isInMessage else { throw self.fail(.continuation, "begins a message within another one") }
            self.isInMessage = !isFinal
        }
        self.head = WebSocketFrameHead(isFinal: isFinal, reserved: bits, opcode: opcode, mask: nil, length: 0)
        self.phase = .second
    }

    private mutating func takeSecond(_ byte: UInt8) throws(WebSocketProblem) {
        let isMasked = byte & 0x80 != 0
        let length = Int(byte & 0x7f)
        switch self.stand {
        case .watcher: break
        case .server:
            // RFC 6455, 5.1, here and below: the connection must be closed.
            guard isMasked else { throw self.fail(.mask, "is not masked, as those of a client must be") }
        case .client:
            guard !isMasked else { throw self.fail(.mask, "is masked, as those of a server must not be") }
        }
        if self.head.opcode.isControl, length > 125 { throw self.fail(.control, "is a control frame of more than 125 bytes") }
        self.mask = 0
        // Marks whether a mask follows. Its value is read after the length.
        self.head.mask = isMasked ? WebSocketMask(0) : nil
        switch length {
        case 126: self.phase = .length(2)
        case 127: self.phase = .length(8)
        default:
            self.head.length = length
            self.phase = isMasked ? .mask(4) : .payload
        }
        self.wideLength = length
    }

    /// 126 or 127 if the length has bytes of its own.
    private var wideLength = 0

    private mutating func lengthIsKnown() throws(WebSocketProblem) {
        // RFC 6455, 5.2: the length must use the minimal number of bytes. A watcher can read longer forms as well.
        if self.stand != .watcher, self.head.length < (self.wideLength == 126 ? 126 : 1 << 16) {
            throw self.fail(.length, "has a length of \(self.head.length) in more bytes than it needs")
        }
        self.phase = self.head.mask == nil ? .payload : .mask(4)
    }

    /// Reports the head as soon as it is complete, and ends a frame without payload at once.
    private mutating func beginPayload(_ onEvent: (WebSocketFrameEvent) -> Void) {
        switch self.phase {
        case .payload, .mask(0): break
        case .first, .second, .length, .mask, .failed: return
        }
        self.phase = .payload
        self.left = self.head.length
        onEvent(.head(self.head))
        if self.left == 0 { self.endFrame(onEvent) }
    }

    private mutating func endFrame(_ onEvent: (WebSocketFrameEvent) -> Void) {
        self.phase = .first
        onEvent(.end)
    }

    private mutating func fail(_ code: WebSocketProblem.Code, _ what: String) -> WebSocketProblem {
        let problem = WebSocketProblem(code, "the frame at byte \(self.frameStart) \(what)")
        self.phase = .failed(problem)
        return problem
    }
}

/// The events that a frame parser reports.
public enum WebSocketFrameEvent: Sendable, Hashable {
    case head(WebSocketFrameHead)
    /// The next payload, as a range of the bytes given to `consume`, and its mask, rotated to the first of these bytes.
    case payload(Range<Int>, mask: WebSocketMask?)
    /// The frame's last byte has arrived.
    case end
}

/// The part of a frame before its payload.
public struct WebSocketFrameHead: Sendable, Hashable {
    /// Whether this is the last frame of its message.
    public var isFinal: Bool
    /// RSV1 is 4, RSV2 is 2, RSV3 is 1.
    public var reserved: UInt8
    public var opcode: WebSocketOpcode
    /// nil if the payload is not masked.
    public var mask: WebSocketMask?
    /// Bytes of payload.
    public var length: Int

    public init(isFinal: Bool, reserved: UInt8 = 0, opcode: WebSocketOpcode, mask: WebSocketMask? = nil, length: Int) {
        self.isFinal = isFinal
        self.reserved = reserved
        self.opcode = opcode
        self.mask = mask
        self.length = length
    }
}

/// The type of a frame (RFC 6455, 11.8).
public enum WebSocketOpcode: UInt8, Sendable, Hashable {
    case continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10

    public var isControl: Bool { self.rawValue >= 8 }
}

/// The reader's role: an endpoint enforces what its peer must do, and a watcher accepts everything that is unambiguous.
public enum WebSocketStand: Sendable, Hashable { case watcher, server, client }

/// The values that the bits RSV1 to RSV3 may have.
public enum WebSocketReservedBits: Sendable, Hashable {
    case zero
    /// RSV1 marks a deflated message (RFC 7692, 6).
    case deflate
    /// An extension that is unknown here defines their meaning.
    case any
}

/// Why the bytes of one direction are not valid frames, or the frames not valid messages.
public struct WebSocketProblem: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// What is wrong, and at which byte of the direction.
    public var message: String

    public struct Code: Hashable, Sendable {
        private enum Value { case opcode, reservedBits, control, continuation, length, mask }
        private var value: Value

        /// An opcode without a defined meaning.
        public static var opcode: Self { Self(value: .opcode) }
        /// Reserved bits that were not negotiated.
        public static var reservedBits: Self { Self(value: .reservedBits) }
        /// A control frame that is fragmented or too long.
        public static var control: Self { Self(value: .control) }
        /// A continuation without a message, or a message within another one.
        public static var continuation: Self { Self(value: .continuation) }
        /// A length that is not allowed.
        public static var length: Self { Self(value: .length) }
        /// Masked where it must not be, or unmasked where it must be.
        public static var mask: Self { Self(value: .mask) }
    }

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { self.message }

    /// The code with which an endpoint closes the connection (RFC 6455, 7.4.1): a protocol error.
    public static let closeCode = 1002
}
