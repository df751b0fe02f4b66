internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TrafficRules

/// Pauses an answer, or each of its events and messages, until somebody decides about it.
///
/// Not Sendable: lives on its event loop.
final class AnswerPausing {
    /// Bytes that may wait behind a paused message before the exchange that makes the answer has to pause.
    private static let highWater = 64 << 10

    private enum Work {
        case item(AnswerItem)
        case event(StreamUnits.Unit)
        case message(WebSocketUnits.Unit)
    }

    private enum Phase {
        case head
        /// The body is held until its end.
        case holding(ResponseHead, BodyFraming, [UInt8])
        case units(StreamUnits)
        case webSocket(WebSocketUnits)
        case passing
    }

    private let plan: ExchangePlan
    private let isToHEAD: Bool
    private let makePoint: (PauseDesk.Stage, PauseDesk.Content, String?, Pause, @escaping (PauseDesk.Decision) -> Void) -> PausePoint?
    private let reserve: (Int, Pause) -> Bool
    private let release: (Int) -> Void
    private let note: (Int, String) -> Void
    private let schedule: (Duration, @escaping () -> Void) -> Scheduled<Void>
    /// Runs while a body is held.
    private var timer: Scheduled<Void>?
    private var phase = Phase.head
    private var queue = CircularBuffer<Work>()
    private var queuedSize = 0
    /// Bytes for which there is room on the desk, while a body is held.
    private var reserved = 0
    private var point: PausePoint?
    private var isRunning = false
    /// Takes what goes on.
    var deliver: (AnswerItem) -> Void = { _ in }
    /// Called when there is room again after `isFull`.
    var drained: () -> Void = {}

    /// Nil if the plan pauses nothing of the answer.
    ///
    /// - Parameters:
    ///   - method: of the request.
    ///   - reserve: keeps room on the desk for bytes that are held, and returns whether there is some. Notes why there is none.
    ///   - release: gives the room back.
    ///   - schedule: calls later on the event loop.
    ///   - point: puts a message on the desk.
    init?(
        _ plan: ExchangePlan, method: String, notes: RuleNotes, reserve: @escaping (Int, Pause) -> Bool, release: @escaping (Int) -> Void,
        schedule: @escaping (Duration, @escaping () -> Void) -> Scheduled<Void>,
        point: @escaping (PauseDesk.Stage, PauseDesk.Content, String?, Pause, @escaping (PauseDesk.Decision) -> Void) -> PausePoint?
    ) {
        guard plan.pausesResponse != nil || plan.pausesEvents != nil || plan.pausesMessages != nil else { return nil }
        self.plan = plan
        self.isToHEAD = method == "HEAD"
        self.makePoint = point
        self.reserve = reserve
        self.release = release
        self.schedule = schedule
        self.note = { notes.add(rule: $0, $1) }
    }

    deinit { if self.reserved > 0 { self.release(self.reserved) } }

    var isWaiting: Bool { self.point != nil }
    var isFull: Bool { self.point != nil && self.queuedSize >= Self.highWater }

    /// A WebSocket has opened.
    func open() { self.phase = self.plan.pausesMessages == nil ? .passing : .webSocket(WebSocketUnits()) }

    func put(_ item: AnswerItem) {
        if case .data(let bytes) = item { self.queuedSize += bytes.count }
        self.queue.append(.item(item))
        self.run()
    }

    func clientLeft() {
        self.timer?.cancel()
        if case .holding = self.phase, let pause = self.plan.pausesResponse {
            self.note(pause.rule, "the client left before the end of the body, so the answer was not shown")
        }
        self.point?.clientLeft()
        self.point = nil
        self.queue.removeAll()
        self.phase = .passing
        self.releaseAll()
    }

    // MARK: Working

    private func run() {
        guard !self.isRunning else { return }
        self.isRunning = true
        defer { self.isRunning = false }
        while self.point == nil, let work = self.queue.popFirst() {
            switch work {
            case .item(let item):
                if case .data(let bytes) = item { self.queuedSize -= bytes.count }
                self.take(item)
            case .event(let unit): self.take(event: unit)
            case .message(let unit): self.take(message: unit)
            }
        }
    }

    private func take(_ item: AnswerItem) {
        switch (item, self.phase) {
        case (.head(let head, let framing), .head): self.head(head, framing)
        case (.data(let bytes), .holding(let head, let framing, var held)):
            // Releases the phase's own reference, so that the held bytes are not copied.
            self.phase = .passing
            held += bytes
            guard held.count <= PausePoint.contentLimit else { return self.wait(head, framing, held, note: Self.isTooLong) }
            guard self.holds(held.count) else {
                self.passed(head, framing)
                return self.again(held)
            }
            self.phase = .holding(head, framing, held)
        case (.data(let bytes), .units(var units)):
            let complete = units.push(bytes)
            self.phase = .units(units)
            for unit in complete.reversed() { self.queue.prepend(.event(unit)) }
        case (.data(let bytes), .webSocket(var units)):
            let complete = units.push(ByteBuffer(bytes: bytes))
            self.phase = .webSocket(units)
            for unit in complete.reversed() { self.queue.prepend(.message(unit)) }
        case (.end(let end), .holding(let head, let framing, let held)):
            self.queue.prepend(.item(item))
            if case .finished = end { return self.wait(head, framing, held, isWhole: true) }
            self.wait(head, framing, held, note: "the body was cut and goes on as it is")
        case (.end, .units(var units)):
            self.phase = .passing
            let rest = units.rest()
            if !rest.isEmpty { self.deliver(.data(rest)) }
            self.deliver(item)
        case (.end, .webSocket(var units)), (.closeOutput, .webSocket(var units)):
            self.phase = .passing
            let rest = units.rest()
            if rest.readableBytes > 0 { self.deliver(.data(Array(rest.readableBytesView))) }
            self.deliver(item)
        default: self.deliver(item)
        }
    }

    private func head(_ head: ResponseHead, _ framing: BodyFraming) {
        guard self.plan.pausesResponse != nil else { return self.passed(head, framing) }
        guard framing != .none else { return self.wait(head, framing, [], note: "the answer has no body") }
        // A content coding changes nothing of that.
        guard StreamFraming(head.fields.removing("content-encoding")).map(\.isOpen) != true else {
            return self.wait(head, framing, [], note: "the body is a stream and goes on as it is")
        }
        // Many answers at once must not fill the memory before they are on the desk, which counts what it holds.
        var size = 0
        if case .length(let length) = framing { size = length }
        guard size <= PausePoint.contentLimit else { return self.wait(head, framing, [], note: Self.isTooLong) }
        guard self.holds(size), let pause = self.plan.pausesResponse else { return self.passed(head, framing) }
        self.phase = .holding(head, framing, [])
        self.timer = self.schedule(pause.wait) { [weak self] in self?.bodyIsLate() }
    }

    /// A body that comes bit by bit, or never ends, waits without being seen.
    private func bodyIsLate() {
        guard case .holding(let head, let framing, let held) = self.phase else { return }
        self.wait(head, framing, held, note: "the body has not ended yet and goes on as it is")
        self.run()
    }

    private static let isTooLong = "the body has more than \(PausePoint.contentLimit >> 20) MiB and goes on as it is"

    /// Whether there is room on the desk for so many bytes of the body.
    private func holds(_ size: Int) -> Bool {
        guard let pause = self.plan.pausesResponse else { return false }
        guard size > self.reserved || size == 0 else { return true }
        guard self.reserve(size - self.reserved, pause) else {
            self.releaseAll()
            return false
        }
        self.reserved = size
        return true
    }

    private func releaseAll() {
        self.release(self.reserved)
        self.reserved = 0
    }

    /// The head goes to the client, and the body follows.
    private func passed(_ head: ResponseHead, _ framing: BodyFraming) {
        self.phase = .passing
        self.deliver(.head(head, framing))
        guard let pause = self.plan.pausesEvents ?? self.plan.pausesMessages, framing != .none else { return }
        guard let units = StreamUnits(head.fields), ((units.kind == .messages) ? self.plan.pausesMessages : self.plan.pausesEvents) != nil
        else {
            // WebSockets have messages as well, and begin with another answer.
            if self.plan.pausesEvents != nil {
                self.note(
                    pause.rule,
                    head.fields.contains("content-encoding")
                        ? "an answer has a content coding, so its events cannot be told apart: record with a rule that sets header:accept-encoding to identity"
                        : "an answer is not a stream of events")
            }
            return
        }
        self.phase = .units(units)
    }

    /// Bytes that were held go on, before all others.
    private func again(_ bytes: [UInt8]) {
        self.queuedSize += bytes.count
        self.queue.prepend(.item(.data(bytes)))
    }

    // MARK: Waiting

    /// - Parameter isWhole: the bytes are the whole body, which can be changed.
    private func wait(_ head: ResponseHead, _ framing: BodyFraming, _ wire: [UInt8], note: String? = nil, isWhole: Bool = false) {
        self.phase = .passing
        self.timer?.cancel()
        self.timer = nil
        guard let pause = self.plan.pausesResponse else { return }
        var content = PauseDesk.Content()
        content.status = head.status
        content.reason = String(decoding: head.reason, as: UTF8.self)
        content.headers = head.fields
        var note = note
        if isWhole {
            content.body = MessageEdit.content(of: wire, headers: head.fields, limit: PausePoint.contentLimit)
            if content.body == nil {
                note =
                    "the content coding of the body cannot be removed, or the content has more than \(PausePoint.contentLimit >> 20) MiB, so it goes on as it is"
            }
        }
        // The desk counts what it shows.
        if content.body != nil { self.releaseAll() }
        func passed() {
            self.passed(head, framing)
            if !wire.isEmpty { self.again(wire) }
        }
        self.point = self.makePoint(.response, content, note, pause) { [weak self] decision in
            self?.decided {
                switch decision {
                case .pass: passed()
                case .drop: self?.drop()
                case .change(let changed), .answer(let changed):
                    self?.change(head, framing, wire, from: content, to: changed, passed)
                }
            }
        }
        guard self.point == nil else { return }
        self.releaseAll()
        passed()
    }

    /// Goes on after a decision.
    private func decided(_ work: () -> Void) {
        self.point = nil
        self.releaseAll()
        work()
        self.run()
        self.drained()
    }

    private func drop() {
        self.queue.removeAll()
        self.queuedSize = 0
        self.phase = .passing
        self.deliver(.end(.cut))
    }

    private func change(
        _ head: ResponseHead, _ framing: BodyFraming, _ wire: [UInt8], from old: PauseDesk.Content, to new: PauseDesk.Content,
        _ passed: () -> Void
    ) {
        var changed = head
        changed.status = new.status
        changed.reason = Array((new.status == head.status || new.reason != old.reason ? new.reason : StatusText.reason(new.status)).utf8)
        changed.fields = new.headers
        let isBodiless = new.status == 204 || new.status == 304
        if framing == .none {
            // RFC 9110, 8.6
            if new.status == 204 { changed.fields = changed.fields.removing("content-length") }
            if !isBodiless, head.status == 204 || head.status == 304, !self.isToHEAD {
                // A client waits for the end of a body, which is empty.
                changed.fields = changed.fields.removing("content-length")
                changed.fields.append(name: "Content-Length", value: "0")
                return self.passed(changed, .length(0))
            }
        }
        guard let before = old.body, let body = new.body, framing != .none else {
            self.passed(changed, framing)
            if !wire.isEmpty { self.again(wire) }
            return
        }
        let sent = body == before ? wire : MessageEdit.recoded(wire, to: body, headers: &changed.fields)
        changed.fields = changed.fields.removing("content-length").removing("transfer-encoding")
        if !isBodiless { changed.fields.append(name: "Content-Length", value: "\(sent.count)") }
        self.passed(changed, isBodiless ? .none : .length(sent.count))
        if !isBodiless, !sent.isEmpty { self.again(sent) }
    }

    private func take(event unit: StreamUnits.Unit) {
        let bytes = unit.bytes
        guard case .units(let units) = self.phase, let pause = (units.kind == .messages) ? self.plan.pausesMessages : self.plan.pausesEvents
        else {
            return self.deliver(.data(bytes))
        }
        guard unit.part == .whole else {
            if unit.isEnd { self.note(pause.rule, "an event or message has more than \(StreamUnits.limit >> 20) MiB, so it does not wait") }
            return self.deliver(.data(bytes))
        }
        var content = PauseDesk.Content()
        var note: String?
        let prefix = (units.kind == .messages) ? 5 : 0
        if (units.kind == .messages), bytes.first != 0 {
            note = "the message is compressed and is not shown"
        } else {
            content.body = Array(bytes.dropFirst(prefix))
        }
        self.point = self.makePoint((units.kind == .messages) ? .serverMessage : .event, content, note, pause) { [weak self] decision in
            self?.decided {
                var sent = bytes
                switch decision {
                case .drop: return
                case .pass: break
                case .change(let changed), .answer(let changed):
                    guard let old = content.body, let body = changed.body, body != old else { break }
                    // The prefix of a message of gRPC: a flag, and the length in network order.
                    let size = UInt32(clamping: body.count)
                    sent =
                        prefix == 0
                        ? Self.ended(body, as: units.kind) : [0] + (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) } + body
                }
                self?.deliver(.data(sent))
            }
        }
        if self.point == nil { self.deliver(.data(bytes)) }
    }

    /// An event that somebody has changed, with the empty line at its end, or a line with its end. Otherwise the next one would be part of it.
    private static func ended(_ body: [UInt8], as kind: StreamUnits.Kind) -> [UInt8] {
        guard let last = body.last else { return body }
        let newline = UInt8(ascii: "\n")
        switch kind {
        case .events:
            let ends: [[UInt8]] = [Array("\n\n".utf8), Array("\r\n\r\n".utf8), Array("\r\r".utf8)]
            guard !ends.contains(where: { Array(body.suffix($0.count)) == $0 }) else { return body }
            return body + (last == newline ? [newline] : [newline, newline])
        case .lines: return last == newline ? body : body + [newline]
        case .messages, .frames: return body
        }
    }

    private func take(message unit: WebSocketUnits.Unit) {
        guard let pause = self.plan.pausesMessages, let content = unit.content else {
            if let pause = self.plan.pausesMessages, unit.kind == .lastPart { self.note(pause.rule, WebSocketUnits.isTooLongToWait) }
            return self.deliver(unit)
        }
        self.point = self.makePoint(.serverMessage, content.shown, content.note, pause) { [weak self] decision in
            self?.decided {
                if let bytes = content.bytes(after: decision, from: .server, unit.bytes) {
                    self?.deliver(.data(Array(bytes.readableBytesView)))
                }
            }
        }
        if self.point == nil { self.deliver(unit) }
    }

    private func deliver(_ unit: WebSocketUnits.Unit) { self.deliver(.data(Array(unit.bytes.readableBytesView))) }
}
