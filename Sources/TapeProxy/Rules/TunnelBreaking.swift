internal import NIOCore
internal import TapeExchange
internal import TrafficRules

/// Breaks what the server sends through a WebSocket, as a fault of a rule says.
struct TunnelBreaking {
    private enum Phase {
        /// The fault comes after so many more messages.
        case messages(Int)
        case bytes(Int)
        /// The message that comes late is held.
        case reordering(ByteBuffer)
        /// The rest comes in pieces.
        case slicing
        case passing
        case over
    }

    private let fault: Fault
    private let notes: RuleNotes
    private var phase: Phase
    private var units = WebSocketUnits()
    private var hasSliced = false

    init(_ fault: Fault, notes: RuleNotes) {
        self.fault = fault
        self.notes = notes
        switch fault.after {
        case .messages(let count): self.phase = .messages(count)
        case .bytes(let count): self.phase = .bytes(count)
        case nil: self.phase = .messages(0)
        case .events, .share:
            self.phase = .passing
            notes.add(rule: fault.rule, "a WebSocket has no events and no known length: write for example after: 3 messages")
        }
        switch fault.kind {
        case .truncate, .corrupt, .status, .grpc, .refuse, .dns, .tls:
            self.phase = .passing
            notes.add(rule: fault.rule, "the fault is not for the messages of a WebSocket")
        default: break
        }
    }

    /// What a fault at the very beginning does, once the WebSocket is open.
    mutating func opened() -> [AnswerItem] {
        guard case .messages(0) = self.phase, !self.isForOneMessage else { return [] }
        return self.come()
    }

    private var isForOneMessage: Bool {
        switch self.fault.kind {
        case .reorder, .repeat, .drop, .slice: true
        default: false
        }
    }

    mutating func put(_ bytes: ByteBuffer) -> [AnswerItem] {
        switch self.phase {
        case .over: return []
        case .passing: return [.bytes(bytes)]
        case .slicing: return self.pieces(bytes)
        case .bytes(let count):
            guard bytes.readableBytes >= count else {
                self.phase = .bytes(count - bytes.readableBytes)
                return [.bytes(bytes)]
            }
            var rest = bytes
            let first = rest.readSlice(length: count) ?? ByteBuffer()
            return [.bytes(first)] + self.come(then: rest)
        case .messages, .reordering:
            var items = self.units.push(bytes).flatMap { self.put($0) }
            // From here on bytes pass as they come, so the beginning of the next message goes first.
            if case .passing = self.phase { items += self.rest() }
            return items
        }
    }

    /// The WebSocket ends, with or without a close frame.
    mutating func ended() -> [AnswerItem] {
        defer { self.phase = .passing }
        switch self.phase {
        case .slicing, .passing, .over: return []
        case .bytes:
            self.noteEnd()
            return []
        case .messages:
            self.noteEnd()
            return self.rest()
        case .reordering(let late):
            self.noteLateEnd()
            return [.bytes(late)] + self.rest()
        }
    }

    private mutating func put(_ unit: WebSocketUnits.Unit) -> [AnswerItem] {
        switch unit.kind {
        case .control: return self.put(control: unit)
        case .part: return self.put(part: unit.bytes, isLast: false)
        case .lastPart: return self.put(part: unit.bytes, isLast: true)
        case .message: break
        }
        switch self.phase {
        case .over: return []
        case .slicing, .passing, .bytes: return [.bytes(unit.bytes)]
        case .reordering(let late):
            self.phase = .passing
            return [.bytes(unit.bytes), .bytes(late)]
        case .messages(let left) where left > 0: return [.bytes(unit.bytes)] + self.passed(left)
        case .messages:
            self.phase = .passing
            switch self.fault.kind {
            case .drop: return []
            case .repeat: return [.bytes(unit.bytes), .bytes(unit.bytes)]
            case .reorder:
                self.phase = .reordering(unit.bytes)
                return []
            case .slice:
                // All messages from here on.
                self.phase = .messages(0)
                self.hasSliced = true
                return self.pieces(unit.bytes)
            default: return self.come(then: unit.bytes)
            }
        }
    }

    private mutating func put(control unit: WebSocketUnits.Unit) -> [AnswerItem] {
        if case .over = self.phase { return [] }
        guard unit.isClose else { return [.bytes(unit.bytes)] }
        if case .reordering(let late) = self.phase {
            self.phase = .passing
            self.noteLateEnd()
            return [.bytes(late), .bytes(unit.bytes)]
        }
        if case .messages = self.phase { self.noteEnd() }
        return [.bytes(unit.bytes)]
    }

    /// A part of a message that is too long to be held. It counts when its last part has come.
    private mutating func put(part: ByteBuffer, isLast: Bool) -> [AnswerItem] {
        switch self.phase {
        case .over: return []
        case .slicing, .passing, .bytes: return [.bytes(part)]
        case .reordering(let late):
            guard isLast else { return [.bytes(part)] }
            self.phase = .passing
            return [.bytes(part), .bytes(late)]
        case .messages(let left) where left > 0: return [.bytes(part)] + (isLast ? self.passed(left) : [])
        case .messages:
            switch self.fault.kind {
            case .drop:
                if isLast { self.phase = .passing }
                return []
            case .slice:
                self.hasSliced = true
                return self.pieces(part)
            case .repeat, .reorder:
                self.phase = .passing
                self.notes.add(
                    rule: self.fault.rule, "a message has more than \(WebSocketUnits.limit >> 20) MiB, and the fault needs all of it")
                return [.bytes(part)]
            default: return self.come(then: part)
            }
        }
    }

    /// A message has passed before the fault.
    ///
    /// - Parameter left: the messages before the fault, with this one.
    private mutating func passed(_ left: Int) -> [AnswerItem] {
        self.phase = .messages(left - 1)
        return left == 1 && !self.isForOneMessage ? self.come() : []
    }

    private mutating func rest() -> [AnswerItem] {
        let rest = self.units.rest()
        return rest.readableBytes > 0 ? [.bytes(rest)] : []
    }

    private func pieces(_ bytes: ByteBuffer) -> [AnswerItem] {
        guard case .slice(let size, let delay) = self.fault.kind else { return [.bytes(bytes)] }
        return AnswerItem.slices(Array(bytes.readableBytesView), size, delay)
    }

    /// The WebSocket ends before the fault has come.
    private func noteEnd() {
        guard !self.hasSliced else { return }
        self.notes.add(rule: self.fault.rule, "the WebSocket ends before the fault")
    }

    private func noteLateEnd() { self.notes.add(rule: self.fault.rule, "no message follows the one that was to come later") }

    private mutating func come(then rest: ByteBuffer = ByteBuffer()) -> [AnswerItem] {
        self.phase = .over
        switch self.fault.kind {
        case .stall(let time):
            self.phase = .passing
            return [.stall(time)] + (rest.readableBytes > 0 ? [.bytes(rest)] : [])
        case .slice:
            self.phase = .slicing
            return self.pieces(rest)
        case .timeout: return [.stall(nil)]
        case .webSocketClose(let code, let reason): return [.data(Self.closeFrame(code, reason)), .flush, .end(.closed)]
        case .reset(let code, let isOfConnection): return [.flush, .end(.reset(code: code, isOfConnection: isOfConnection))]
        // A frame with an opcode that RFC 6455 reserves.
        case .garbage: return [.data([0x8b, 0x02, 0xff, 0x00]), .flush, .end(.cut)]
        default: return [.flush, .end(.cut)]
        }
    }

    /// RFC 6455, 5.5.1
    private static func closeFrame(_ code: Int?, _ reason: String) -> [UInt8] {
        var payload: [UInt8] = []
        if let code { payload = [UInt8(code >> 8 & 0xff), UInt8(code & 0xff)] + reason.utf8 }
        return [0x88, UInt8(payload.count)] + payload
    }
}

extension AnswerItem {
    fileprivate static func bytes(_ buffer: ByteBuffer) -> AnswerItem { .data(Array(buffer.readableBytesView)) }
}
