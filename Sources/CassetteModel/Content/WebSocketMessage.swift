public import TapeBytes

/// One message of a recorded WebSocket (RFC 6455), as it was before it was deflated, split into frames and masked.
///
/// Does not keep masks and deflated bytes: a replay makes its own.
public struct WebSocketMessage: Sendable, Hashable {
    /// The most frame sizes that are kept, so that the list does not outgrow the message: see `isThinned`.
    public static let frameLimit = 4096

    /// Milliseconds from the start of the exchange to the message's last byte.
    public var at: Double
    public var from: WebSocketSide
    public var content: WebSocketContent
    /// Whether it was sent deflated (RFC 7692).
    public var isDeflated: Bool
    /// The reserved bits that were not understood, 0 to 7; RSV1 is 4. The content is the payload as sent.
    public var reserved: Int
    /// The payload size of each frame as sent, that is, deflated if it was; empty for a message of one frame.
    public var frames: [Int]
    /// Whether the last size in `frames` applies to all later frames as well.
    public var isThinned: Bool
    /// False if the message was cut, or could not be read to its end.
    public var isComplete: Bool
    /// A sentence for people.
    public var note: String?
    /// Members that this version does not know; they are kept when the cassette is rewritten.
    public var unknown: [UnknownMember]

    public init(
        at: Double, from: WebSocketSide, content: WebSocketContent, isDeflated: Bool = false, reserved: Int = 0, frames: [Int] = [],
        isThinned: Bool = false, isComplete: Bool = true, note: String? = nil, unknown: [UnknownMember] = []
    ) {
        self.at = at
        self.from = from
        self.content = content
        self.isDeflated = isDeflated
        self.reserved = reserved
        self.frames = frames
        self.isThinned = isThinned
        self.isComplete = isComplete
        self.note = note
        self.unknown = unknown
    }
}

extension WebSocketMessage {
    /// The same message with its payload's file replaced, if it has one.
    package func mapFile(_ transform: (Sidecar) throws -> Sidecar) rethrows -> WebSocketMessage {
        var message = self
        switch self.content {
        case .text(.file(let sidecar)): message.content = .text(.file(try transform(sidecar)))
        case .binary(.file(let sidecar)): message.content = .binary(.file(try transform(sidecar)))
        case .text, .binary, .ping, .pong, .close: break
        }
        return message
    }
}

/// The messages of a recorded WebSocket, in the order in which they were completed.
public enum WebSocketMessages: Sendable, Hashable {
    case inline([WebSocketMessage])
    /// A long conversation: a file next to the cassette contains one message per line.
    case file(Sidecar, count: Int)

    public var count: Int {
        switch self {
        case .inline(let messages): messages.count
        case .file(_, let count): count
        }
    }

    /// The files that the cassette itself refers to. Messages in a file may refer to others.
    public var sidecars: [Sidecar] {
        switch self {
        case .inline(let messages):
            messages.compactMap { if case .file(let sidecar)? = $0.content.payload { sidecar } else { nil } }
        case .file(let sidecar, _): [sidecar]
        }
    }
}

/// An end of a WebSocket.
public enum WebSocketSide: String, Sendable, Hashable, CaseIterable { case client, server }

/// The type and payload of a WebSocket message.
public enum WebSocketContent: Sendable, Hashable {
    case text(WebSocketPayload)
    case binary(WebSocketPayload)
    /// At most 125 bytes, like all control frames (RFC 6455, 5.5).
    case ping([UInt8])
    case pong([UInt8])
    case close(WebSocketClose)

    /// The payload of a text or binary message.
    public var payload: WebSocketPayload? {
        switch self {
        case .text(let payload), .binary(let payload): payload
        case .ping, .pong, .close: nil
        }
    }

    /// Whether it is a text message.
    public var isText: Bool { if case .text = self { true } else { false } }

    /// Whether it is part of the conversation, unlike pings and pongs, which may come at any time.
    public var isData: Bool { self.payload != nil }
}

/// The form in which a cassette stores the bytes of a text or binary message.
public enum WebSocketPayload: Sendable, Hashable {
    /// Valid UTF-8, including control characters.
    case text([UInt8])
    /// A JSON text with the bytes as received, and the white space that restores them from its structure.
    case json([UInt8], style: JSONStyle)
    case bytes([UInt8])
    case file(Sidecar)

    /// Nil if they are in a file.
    public var inlineBytes: [UInt8]? {
        switch self {
        case .text(let bytes), .json(let bytes, _), .bytes(let bytes): bytes
        case .file: nil
        }
    }

    public var size: Int {
        switch self {
        case .text(let bytes), .json(let bytes, _), .bytes(let bytes): bytes.count
        case .file(let sidecar): sidecar.size
        }
    }

    /// The same bytes as the content of a body.
    public var bodyContent: BodyContent {
        switch self {
        case .text(let bytes): .text(bytes)
        case .json(let bytes, let style): .json(bytes, style: style)
        case .bytes(let bytes): .binary(bytes)
        case .file(let sidecar): .file(sidecar)
        }
    }
}

/// The payload of a close frame (RFC 6455, 5.5.1): empty, or a code with a reason.
public struct WebSocketClose: Sendable, Hashable {
    /// As sent.
    public var payload: [UInt8]

    public init(payload: [UInt8] = []) { self.payload = payload }

    public init(code: UInt16, reason: [UInt8] = []) {
        self.payload = [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + reason
    }

    /// Nil if the frame had none.
    public var code: Int? { self.payload.count < 2 ? nil : Int(self.payload[0]) << 8 | Int(self.payload[1]) }

    /// Bytes that should be UTF-8.
    public var reason: ArraySlice<UInt8> { self.payload.dropFirst(2) }
}
