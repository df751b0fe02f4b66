public import CassetteModel
internal import TapeBytes

/// Assembles the messages of one direction of a WebSocket from its bytes, in whatever pieces they arrive. Messages are unmasked and
/// inflated.
///
/// Holds less than two blocks, whatever a message's size: a longer message is handed out in blocks as it arrives, to be written to a file.
/// Has no clock, and does not know who sends. The caller keeps the bytes themselves and forwards them unchanged.
public struct WebSocketReader: ~Copyable {
    /// Bytes of a message held before the first block is handed out. This is also the most text that a cassette itself holds.
    public static let blockSize = 64 << 10
    /// The most bytes to which one message is inflated, or `inflatedRatio` times its deflated size if that is more. This bounds how much
    /// disk space it may take beyond what was sent. HTTP bodies have the same limit.
    public static let inflatedLimit = 64 << 20
    public static let inflatedRatio = 100
    /// A client's bytes are unmasked for the inflater in pieces of this size.
    private static let pieceSize = 8 << 10

    /// Why reading has ended; nil if it has not. Later bytes are ignored.
    public private(set) var problem: WebSocketProblem?

    /// The number of inflated bytes so far.
    public private(set) var inflated = 0

    private let agreement: WebSocketAgreement
    private var parser: WebSocketFrameParser
    private var inflater: MessageInflater?
    private var frame = WebSocketFrameHead(isFinal: true, opcode: .text, length: 0)
    /// The data message that has begun. Control frames may occur within it (RFC 6455, 5.4).
    private var message: TapedMessage?
    private var progress = Progress()
    private var control: [UInt8] = []

    /// State of the current message that is not reported with it.
    private struct Progress {
        var isInflating = false
        /// Payload bytes so far.
        var sent = 0
        /// The rest of the message cannot be read.
        var isGivenUp = false
        /// The message exceeds the limit. The rest is inflated only to maintain the window.
        var isDropped = false
    }

    /// - Parameters:
    ///   - side: the sender of these messages.
    ///   - stand: the reader's role.
    public init(_ side: WebSocketSide, stand: WebSocketStand, agreement: WebSocketAgreement = WebSocketAgreement()) {
        self.agreement = agreement
        self.parser = WebSocketFrameParser(stand, reserved: agreement.reservedBits)
        self.inflater = agreement.deflate.map {
            MessageInflater(windowBits: $0.windowBits(side), keepsWindow: !$0.forgets(side))
        }
    }

    /// Takes the next bytes of the direction.
    public mutating func read(_ bytes: UnsafeRawBufferPointer, _ onEvent: (WebSocketEvent) -> Void) {
        guard self.problem == nil else { return }
        var parser = self.parser
        do throws(WebSocketProblem) {
            try parser.consume(bytes) { event in
                switch event {
                case .head(let head): self.begin(head)
                case .payload(let range, let mask): self.take(UnsafeRawBufferPointer(rebasing: bytes[range]), mask, onEvent)
                case .end: self.endFrame(onEvent)
                }
            }
            self.parser = parser
        } catch {
            self.problem = error
            if let message = self.ended() { onEvent(.message(message)) }
            onEvent(.failed(error))
        }
    }

    /// No more bytes come, or none that can be read. Returns the received part of an incomplete message, if one has begun.
    public mutating func ended() -> TapedMessage? {
        guard var message = self.message.take() else { return nil }
        self.inflater = nil
        message.isComplete = false
        return message
    }

    /// Whether the bytes so far end with a complete message.
    public var isBetweenMessages: Bool { self.parser.isBetweenMessages }

    /// Releases memory that a quiet conversation does not need: all of zlib's memory except the window's bytes. Does nothing within a
    /// message.
    public mutating func pack() {
        guard self.isBetweenMessages else { return }
        self.inflater?.pack()
        self.control = []
    }

    // MARK: Frames

    private mutating func begin(_ head: WebSocketFrameHead) {
        self.frame = head
        guard !head.opcode.isControl else { return self.control.removeAll(keepingCapacity: true) }
        if head.opcode != .continuation { self.beginMessage(head) }
        guard let count = self.message?.frames.count else { return }
        if count < WebSocketMessage.frameLimit { self.message?.frames.append(0) } else { self.message?.isThinned = true }
    }

    private mutating func beginMessage(_ head: WebSocketFrameHead) {
        var message = TapedMessage(head.opcode == .text ? .text : .binary)
        self.progress = Progress()
        var reserved = head.reserved
        if self.agreement.deflate != nil, reserved & 4 != 0 {
            message.isDeflated = true
            if self.inflater?.failure == nil {
                self.progress.isInflating = true
                reserved &= 3
            } else {
                message.note = "not inflated: it may look back into an earlier message, which could not be"
            }
        }
        message.reserved = reserved
        if reserved & (message.isDeflated ? 3 : 7) != 0 {
            let names = self.agreement.unknown.map { "'\($0)'" }.joined(separator: ", ")
            message.note = "kept as it was sent: its reserved bits have a meaning that is not known here (\(names))"
        }
        if !self.progress.isInflating { message.bytes.reserveCapacity(min(head.length, Self.blockSize)) }
        self.message = message
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer, _ mask: WebSocketMask?, _ onEvent: (WebSocketEvent) -> Void) {
        guard !self.frame.opcode.isControl else { return Self.append(bytes, mask, to: &self.control) }
        self.progress.sent += bytes.count
        if let last = self.message?.frames.indices.last { self.message?.frames[last] += bytes.count }
        guard !self.progress.isGivenUp else { return }
        guard self.progress.isInflating else { return self.keep(bytes, mask, onEvent) }
        guard let mask else { return self.inflate(bytes, onEvent) }
        withUnsafeTemporaryAllocation(byteCount: min(bytes.count, Self.pieceSize), alignment: 8) { plain in
            for start in stride(from: 0, to: bytes.count, by: plain.count) where !self.progress.isGivenUp {
                let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + plain.count)])
                mask.turned(by: start).apply(to: piece, into: plain)
                self.inflate(UnsafeRawBufferPointer(rebasing: plain[..<piece.count]), onEvent)
            }
        }
    }

    private mutating func endFrame(_ onEvent: (WebSocketEvent) -> Void) {
        if self.frame.opcode.isControl {
            let kind: TapedMessage.Kind = self.frame.opcode == .ping ? .ping : self.frame.opcode == .pong ? .pong : .close
            var message = TapedMessage(kind)
            message.bytes = self.control
            message.size = self.control.count
            message.reserved = self.frame.reserved
            return onEvent(.message(message))
        }
        guard self.frame.isFinal else { return }
        if self.progress.isInflating, !self.progress.isGivenUp { self.endInflating(onEvent) }
        guard var message = self.message.take() else { return }
        if message.frames.count == 1, !message.isThinned { message.frames = [] }
        onEvent(.message(message))
    }

    // MARK: Payload

    private mutating func keep(_ bytes: UnsafeRawBufferPointer, _ mask: WebSocketMask?, _ onEvent: (WebSocketEvent) -> Void) {
        guard var message = self.message.take() else { return }
        message.size += bytes.count
        Self.append(bytes, mask, to: &message.bytes)
        if message.bytes.count > Self.blockSize {
            message.isSpilled = true
            onEvent(.block(message.bytes, isText: message.kind == .text))
            message.bytes = []
        }
        self.message = message
    }

    private static func append(_ bytes: UnsafeRawBufferPointer, _ mask: WebSocketMask?, to output: inout [UInt8]) {
        if let mask { mask.append(bytes, to: &output) } else { output.append(contentsOf: bytes) }
    }

    private mutating func inflate(_ bytes: UnsafeRawBufferPointer, _ onEvent: (WebSocketEvent) -> Void) {
        guard var inflater = self.inflater.take() else { return }
        inflater.push(bytes) { self.keepInflated($0, onEvent) }
        self.inflater = consume inflater
        self.giveUpIfFailed()
    }

    private mutating func endInflating(_ onEvent: (WebSocketEvent) -> Void) {
        guard var inflater = self.inflater.take() else { return }
        inflater.messageEnded { self.keepInflated($0, onEvent) }
        self.inflater = consume inflater
        self.giveUpIfFailed()
    }

    private mutating func keepInflated(_ bytes: UnsafeRawBufferPointer, _ onEvent: (WebSocketEvent) -> Void) -> Bool {
        self.inflated += bytes.count
        guard !self.progress.isDropped else { return true }
        let size = (self.message?.size ?? 0) + bytes.count
        let (ratio, overflows) = self.progress.sent.multipliedReportingOverflow(by: Self.inflatedRatio)
        guard size > max(Self.inflatedLimit, overflows ? .max : ratio) else {
            self.keep(bytes, nil, onEvent)
            return true
        }
        // Keep inflating: abandoning a message would also lose the window that all later messages need.
        self.progress.isDropped = true
        self.cutMessage("not kept further: what it is inflated to is more than is allowed")
        return true
    }

    private mutating func cutMessage(_ note: String) {
        // Not through `self.message?.note`: optimized code of Swift 6.3 leaks the note that is replaced.
        guard var message = self.message.take() else { return }
        message.isComplete = false
        message.note = message.note.map { "\($0); \(note)" } ?? note
        self.message = message
    }

    private mutating func giveUpIfFailed() {
        guard let failure = self.inflater?.failure else { return }
        let note =
            switch failure {
            case .corrupt(let reason): "cannot be inflated further: \(reason)"
            case .outOfMemory: "cannot be inflated further: out of memory"
            case .stopped: "not inflated further"
            }
        self.progress.isGivenUp = true
        self.cutMessage(note)
        // If messages do not share a window, the next ones can still be read. Otherwise the window is lost.
        self.inflater?.forget()
    }
}

/// The events that a reader reports.
public enum WebSocketEvent: Sendable, Hashable {
    /// The next bytes of a message too long for memory, in order; `message` ends it. Control messages may come in between.
    case block([UInt8], isText: Bool)
    case message(TapedMessage)
    /// Reported once, and nothing after it.
    case failed(WebSocketProblem)
}

/// One message as it was read: inflated, without frames and masks.
public struct TapedMessage: Sendable, Hashable {
    public enum Kind: Sendable, Hashable { case text, binary, ping, pong, close }

    public var kind: Kind
    /// For a close, the code and the reason as sent. Only the rest if blocks were handed out.
    public var bytes: [UInt8] = []
    /// Size of the whole message, in bytes.
    public var size = 0
    public var isSpilled = false
    /// Whether the message was sent deflated.
    public var isDeflated = false
    /// The reserved bits of the first frame that were not understood; RSV1 is 4. If any are set, the bytes are as sent.
    public var reserved: UInt8 = 0
    /// Payload bytes of each frame, as sent; empty for a message with a single frame.
    public var frames: [Int] = []
    /// Whether the last size also applies to all later frames.
    public var isThinned = false
    /// False if the message was truncated, or not read to its end.
    public var isComplete = true
    /// A sentence for people.
    public var note: String?

    public init(_ kind: Kind) { self.kind = kind }
}

extension WebSocketMessage {
    /// The cassette's form of a message that was read.
    ///
    /// - Parameters:
    ///   - at: milliseconds from the start of the exchange.
    ///   - payload: the bytes of a text or binary message in the form for the cassette; ignored for other kinds.
    public init(_ taped: TapedMessage, at: Double, from side: WebSocketSide, payload: WebSocketPayload) {
        let content: WebSocketContent =
            switch taped.kind {
            case .text: .text(payload)
            case .binary: .binary(payload)
            case .ping: .ping(taped.bytes)
            case .pong: .pong(taped.bytes)
            case .close: .close(WebSocketClose(payload: taped.bytes))
            }
        self.init(
            at: at, from: side, content: content, isDeflated: taped.isDeflated, reserved: Int(taped.reserved), frames: taped.frames,
            isThinned: taped.isThinned, isComplete: taped.isComplete, note: taped.note)
    }
}
