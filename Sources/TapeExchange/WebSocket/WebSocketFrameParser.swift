/// Finds the frames in the bytes of one direction of a WebSocket (RFC 6455, 5.2), in whatever pieces they come.
///
/// Copies nothing and keeps no byte: payload is told as ranges of the piece, still masked. Knows frames, not messages: who puts
/// them together is `WebSocketReader`.
public struct WebSocketFrameParser: Sendable {
    private enum Phase {
        case first, second
        /// Bytes that are left of the extended length, and of the mask.
        case length(Int), mask(Int)
        case payload
        case failed(WebSocketProblem)
    }

    private let stand: WebSocketStand
    private let reserved: WebSocketReservedBits
    private var phase = Phase.first
    private var head = WebSocketFrameHead(isFinal: true, reserved: 0, opcode: .text, mask: nil, length: 0)
    private var mask: UInt32 = 0
    /// Payload bytes that have not come yet.
    private var left = 0
    private var isInMessage = false
    /// Bytes of the direction before the frame.
    private var frameStart = 0
    private var consumed = 0

    /// - Parameter reserved: what an extension has agreed about the bits that RFC 6455 leaves to it.
    public init(_ stand: WebSocketStand, reserved: WebSocketReservedBits = .zero) {
        self.stand = stand
        self.reserved = reserved
    }

    /// Takes the next bytes. After a problem every call throws it again.
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
                // RFC 6455, 5.2: the most significant bit of 64 must be 0, so that the length is a number that `Int` can hold.
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

    /// Whether the bytes so far end after a frame and after a message.
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
            // RFC 7692, 6: on the first frame of a data message alone.
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
            // RFC 6455, 5.1, as the next one: the connection must be closed.
            guard isMasked else { throw self.fail(.mask, "is not masked, as those of a client must be") }
        case .client:
            guard !isMasked else { throw self.fail(.mask, "is masked, as those of a server must not be") }
        }
        if self.head.opcode.isControl, length > 125 { throw self.fail(.control, "is a control frame of more than 125 bytes") }
        self.mask = 0
        // The phase says what comes next; the mask is there or not when the length is known.
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
        // RFC 6455, 5.2: the minimal number of bytes must be used. A watcher can read the others as well.
        if self.stand != .watcher, self.head.length < (self.wideLength == 126 ? 126 : 1 << 16) {
            throw self.fail(.length, "has a length of \(self.head.length) in more bytes than it needs")
        }
        self.phase = self.head.mask == nil ? .payload : .mask(4)
    }

    /// Tells the head as soon as it is whole, and ends a frame without payload at once.
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

/// What a frame parser finds.
public enum WebSocketFrameEvent: Sendable, Hashable {
    case head(WebSocketFrameHead)
    /// The next payload, as a range of the bytes given to `consume`, and the mask that they are under, turned to their first one.
    case payload(Range<Int>, mask: WebSocketMask?)
    /// The frame's last byte has come.
    case end
}

/// What stands before a frame's payload.
public struct WebSocketFrameHead: Sendable, Hashable {
    /// The last frame of its message.
    public var isFinal: Bool
    /// RSV1 is 4, RSV2 is 2, RSV3 is 1.
    public var reserved: UInt8
    public var opcode: WebSocketOpcode
    /// Nil if the payload is not masked.
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

/// What a frame is (RFC 6455, 11.8).
public enum WebSocketOpcode: UInt8, Sendable, Hashable {
    case continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10

    public var isControl: Bool { self.rawValue >= 8 }
}

/// Who reads: an end of the connection insists on what its peer must do, and a watcher takes all that can be told apart.
public enum WebSocketStand: Sendable, Hashable { case watcher, server, client }

/// What the bits RSV1 to RSV3 may be.
public enum WebSocketReservedBits: Sendable, Hashable {
    case zero
    /// RSV1 marks a deflated message (RFC 7692, 6).
    case deflate
    /// An extension that is not known here gives them a meaning.
    case any
}

/// Why the bytes of one direction are not frames, or frames not messages.
public struct WebSocketProblem: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// What is wrong, and at which byte of the direction.
    public var message: String

    public struct Code: Hashable, Sendable {
        private enum Value { case opcode, reservedBits, control, continuation, length, mask }
        private var value: Value

        /// An opcode that means nothing yet.
        public static var opcode: Self { Self(value: .opcode) }
        /// Reserved bits that nobody agreed on.
        public static var reservedBits: Self { Self(value: .reservedBits) }
        /// A control frame that is fragmented or too long.
        public static var control: Self { Self(value: .control) }
        /// A continuation of nothing, or a message within another one.
        public static var continuation: Self { Self(value: .continuation) }
        /// A length that is not allowed.
        public static var length: Self { Self(value: .length) }
        /// Masked where it must not be, or the other way round.
        public static var mask: Self { Self(value: .mask) }
    }

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { self.message }

    /// What an end closes the connection with (RFC 6455, 7.4.1): a protocol error.
    public static let closeCode = 1002
}
