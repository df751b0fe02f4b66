internal import CassetteModel
internal import TapeExchange

/// Breaks an answer as a fault of a rule says: takes the items of the answer, and hands on those that the client gets.
package struct AnswerBreaking<Local: Sendable> {
    /// Bytes of a body that are held where a fault needs all of it.
    private static var heldLimit: Int { 16 << 20 }
    private static var garbage: [UInt8] { Array("\u{0}\u{1}\u{7f}wiretape garbage\u{0}\r\n".utf8) }

    private enum Phase {
        /// Before the head.
        case head
        /// The fault comes after so many more bytes of the body.
        case bytes(Int)
        /// The fault comes after so many more events or messages.
        case units(Int)
        /// The whole body is needed.
        case holding(ResponseHead, BodyFraming, [UInt8])
        /// The event or message that comes late is held.
        case reordering([UInt8])
        /// The rest comes in pieces.
        case slicing
        /// In the trailers.
        case trailers
        /// Nothing more to do: items pass.
        case passing
        /// The answer is over for the client.
        case over
    }

    private let fault: Fault
    private let method: String
    private let notes: RuleNotes
    /// The client has a body with a length before the end of the answer comes, unlike on HTTP/2.
    private let endsByLength: Bool
    private var phase = Phase.head
    private var units: StreamUnits?
    /// The fault has come.
    package private(set) var hasCome = false

    package init(_ fault: Fault, method: String, notes: RuleNotes, endsByLength: Bool = false) {
        self.fault = fault
        self.method = method
        self.notes = notes
        self.endsByLength = endsByLength
    }

    /// The client gave up: of a stream without an end it got nothing while the fault needed the whole body.
    package mutating func clientLeft() {
        guard case .holding(let head, _, _) = self.phase else { return }
        let isMovable = if case .corrupt = self.fault.kind { false } else { true }
        self.note(
            "the client left before the end of the body, which the fault needs"
                + (isMovable && StreamUnits(head.fields) != nil ? ": write where it comes, for example after: 3 events" : ""))
        self.phase = .over
    }

    /// Whether the client got less than the whole answer, or another one, so that it may ask again.
    package var isBroken: Bool {
        guard self.hasCome else { return false }
        switch self.fault.kind {
        case .slice, .reorder, .repeat, .stall: return false
        case .status, .grpc, .close, .webSocketClose, .reset, .refuse, .dns, .tls, .timeout, .truncate, .cut, .garbage, .corrupt, .drop:
            return true
        }
    }

    // MARK: Items

    /// The whole body that the item ends, if it may take too long to corrupt it on an event loop. The caller does it elsewhere, and puts the
    /// result before the item.
    package mutating func longCorruption(before item: AnswerStep<Local>) -> (@Sendable () -> CorruptBody)? {
        guard case .end = item, case .corrupt = self.fault.kind, case .holding(let head, let framing, let held) = self.phase,
            BodyWork.isLong(held.count, head.fields)
        else { return nil }
        // The body is not kept twice.
        self.phase = .passing
        let draw = self.fault.draw
        return { CorruptBody(held, head, framing, draw: draw) }
    }

    package mutating func put(_ body: CorruptBody) -> [AnswerStep<Local>] {
        if body.isCorrupt { self.hasCome = true } else { self.note("a body that is empty or cannot be decoded cannot be corrupted") }
        return [.head(body.head, body.framing), .data(body.bytes)]
    }

    package mutating func put(_ item: AnswerStep<Local>) -> [AnswerStep<Local>] {
        switch self.phase {
        case .over: return []
        case .passing: return [item]
        case .head, .bytes, .units, .holding, .reordering, .slicing, .trailers: break
        }
        switch item {
        case .interim, .raw, .stall, .flush, .closeOutput: return [item]
        case .head(let head, let framing): return self.head(head, framing)
        case .data(let bytes): return self.data(bytes)
        case .local: return self.begins ? self.come(then: [item]) : [item]
        case .end(let end): return self.end(end)
        }
    }

    /// Whether the fault comes before the head.
    private var begins: Bool {
        guard self.fault.after == nil else { return false }
        switch self.fault.part {
        case .head: return true
        case .body, .trailers: return false
        case nil: break
        }
        switch self.fault.kind {
        case .webSocketClose, .truncate, .cut, .garbage, .corrupt, .slice, .reorder, .repeat, .drop: return false
        case .status, .grpc, .close, .reset, .refuse, .dns, .tls, .timeout, .stall: return true
        }
    }

    /// The fault comes between the last byte and the end.
    private var isAtEnd: Bool {
        guard case .share(let thousandths)? = self.fault.after, thousandths >= 1000 else { return false }
        switch self.fault.kind {
        case .close, .reset, .timeout, .stall: return true
        default: return false
        }
    }

    private mutating func head(_ head: ResponseHead, _ framing: BodyFraming) -> [AnswerStep<Local>] {
        if case .webSocketClose = self.fault.kind {
            return self.cannot("an answer opens no WebSocket, so no close frame ends it", [.head(head, framing)])
        }
        if self.begins { return self.come(then: [.head(head, framing)]) }
        if self.fault.part == .trailers || self.isAtEnd {
            if self.endsByLength, self.fault.part == .trailers {
                switch framing {
                case .length: self.note("the answer has a Content-Length, so the client has all of it before the fault in the trailers")
                case .none: self.note("the answer has no body, so the client has all of it before the fault in the trailers")
                case .chunked, .untilClose: break
                }
            }
            self.phase = .trailers
            return [.head(head, framing)]
        }
        guard framing != .none else { return self.cannot("the answer has no body", [.head(head, framing)]) }
        switch self.fault.kind {
        case .corrupt: break
        case .reorder, .repeat, .drop: return self.units(head, framing)
        default:
            switch self.fault.after {
            case .events, .messages: return self.units(head, framing)
            case .bytes, .share, nil: break
            }
        }
        if case .corrupt = self.fault.kind {
            self.phase = .holding(head, framing, [])
            return []
        }
        guard let count = self.position(in: framing) else {
            self.phase = .holding(head, framing, [])
            return []
        }
        return self.head(head, framing, faultAfter: count)
    }

    /// Where in the body the fault comes, in bytes; nil if the length of the body decides and is not known.
    private func position(in framing: BodyFraming) -> Int? {
        switch self.fault.after {
        case .bytes(let count): return count
        case .share(let thousandths):
            guard case .length(let length) = framing else { return nil }
            return length * thousandths / 1000
        case nil:
            guard self.isInTheMiddle else { return 0 }
            guard case .length(let length) = framing else { return nil }
            return length / 2
        case .events, .messages: return 0
        }
    }

    /// Faults that need a part of the body come in its middle unless the rule says where.
    private var isInTheMiddle: Bool {
        switch self.fault.kind {
        case .truncate, .cut, .garbage: true
        default: false
        }
    }

    private mutating func head(_ head: ResponseHead, _ framing: BodyFraming, faultAfter count: Int) -> [AnswerStep<Local>] {
        if case .length(let length) = framing, count >= length {
            return self.cannot("the body of the answer ends before the fault", [.head(head, framing)])
        }
        self.phase = .bytes(count)
        guard case .truncate = self.fault.kind, case .length = framing else {
            return [.head(head, framing)] + (count == 0 ? self.come(then: []) : [])
        }
        var shorter = head
        shorter.fields = shorter.fields.removing("content-length")
        shorter.fields.append(name: "Content-Length", value: "\(count)")
        return [.head(shorter, .length(count))] + (count == 0 ? self.come(then: []) : [])
    }

    private mutating func units(_ head: ResponseHead, _ framing: BodyFraming) -> [AnswerStep<Local>] {
        guard let units = StreamUnits(head.fields) else {
            let reason =
                head.fields.contains("content-encoding")
                ? "the answer has a content coding, so its events or messages cannot be told apart: record with a rule that sets header:accept-encoding to identity"
                : "the answer is not a stream of events or messages"
            return self.cannot(reason, [.head(head, framing)])
        }
        self.units = units
        let count: Int
        switch self.fault.after {
        case .events(let events): count = events
        case .messages(let messages): count = messages
        case .bytes, .share, nil: count = 0
        }
        self.phase = .units(count)
        switch self.fault.kind {
        // These are for the next event.
        case .reorder, .repeat, .drop: return [.head(head, framing)]
        default: return [.head(head, framing)] + (count == 0 ? self.come(then: []) : [])
        }
    }

    private mutating func data(_ bytes: [UInt8]) -> [AnswerStep<Local>] {
        switch self.phase {
        case .slicing: return self.pieces([.data(bytes)])
        case .bytes(let count):
            guard bytes.count >= count else {
                self.phase = .bytes(count - bytes.count)
                return [.data(bytes)]
            }
            let (first, rest) = (Array(bytes.prefix(count)), Array(bytes.dropFirst(count)))
            return (count > 0 ? [.data(first)] : []) + self.come(then: !rest.isEmpty ? [.data(rest)] : [])
        case .units(let count): return self.units(bytes, count)
        case .reordering(let late): return self.reordered(late, (self.units?.push(bytes) ?? [])[...])
        case .holding(let head, let framing, var held):
            held += bytes
            guard held.count <= Self.heldLimit else {
                return self.cannot(
                    "the body of an answer has more than \(Self.heldLimit >> 20) MiB, and the fault needs all of it",
                    [.head(head, framing), .data(held)])
            }
            self.phase = .holding(head, framing, held)
            return []
        case .head, .trailers, .passing, .over: return [.data(bytes)]
        }
    }

    private mutating func units(_ bytes: [UInt8], _ count: Int) -> [AnswerStep<Local>] {
        var left = count
        var items: [AnswerStep<Local>] = []
        var complete = (self.units?.push(bytes) ?? [])[...]
        while let unit = complete.popFirst() {
            guard left == 0 else {
                items.append(.data(unit.bytes))
                guard unit.isEnd else { continue }
                left -= 1
                guard left == 0, !self.isForOneUnit else { continue }
                self.phase = .over
                return items + self.come(then: self.rest(complete))
            }
            guard unit.part == .whole else {
                guard case .drop = self.fault.kind else {
                    self.note("an event or message has more than \(StreamUnits.limit >> 20) MiB, and the fault needs all of it")
                    self.phase = .passing
                    return items + [.data(unit.bytes)] + self.rest(complete)
                }
                self.hasCome = true
                guard unit.isEnd else { continue }
                self.phase = .passing
                return items + self.rest(complete)
            }
            self.hasCome = true
            self.phase = .passing
            switch self.fault.kind {
            case .repeat: return items + [.data(unit.bytes), .data(unit.bytes)] + self.rest(complete)
            case .drop: return items + self.rest(complete)
            default: return items + self.reordered(unit.bytes, complete)
            }
        }
        self.phase = .units(left)
        return items
    }

    /// Puts an event or message after the next one.
    private mutating func reordered(_ late: [UInt8], _ complete: ArraySlice<StreamUnits.Unit>) -> [AnswerStep<Local>] {
        var complete = complete
        var items: [AnswerStep<Local>] = []
        while let unit = complete.popFirst() {
            items.append(.data(unit.bytes))
            guard unit.isEnd else { continue }
            self.phase = .passing
            return items + [.data(late)] + self.rest(complete)
        }
        self.phase = .reordering(late)
        return items
    }

    /// What follows a fault that is over, and the beginning of the next unit: from here on bytes pass as they come.
    private mutating func rest(_ complete: ArraySlice<StreamUnits.Unit>) -> [AnswerStep<Local>] {
        (complete.map(\.bytes) + [self.units?.rest() ?? []]).filter { !$0.isEmpty }.map { .data($0) }
    }

    private var isForOneUnit: Bool {
        switch self.fault.kind {
        case .reorder, .repeat, .drop: true
        default: false
        }
    }

    private mutating func end(_ end: AnswerEnd) -> [AnswerStep<Local>] {
        defer { self.phase = .over }
        switch self.phase {
        case .holding(let head, let framing, let held): return self.whole(head, framing, held) + self.ended(end)
        case .trailers:
            guard case .finished(let trailers, let neverIndexed) = end else { return [.end(end)] }
            if case .truncate = self.fault.kind {
                self.hasCome = true
                return [.end(.finished(HeaderFields(), NeverIndexed()))]
            }
            return self.come(then: [.end(.finished(trailers, neverIndexed))])
        case .reordering(let late):
            self.note("no event or message follows the one that was to come later")
            // A long unit goes on to its end.
            let rest = self.units?.isInPart == true ? self.rest([]) + [.data(late)] : [.data(late)] + self.rest([])
            return rest + [.end(end)]
        case .units:
            // Part of a long unit was dropped, and so is the rest of it.
            guard !self.hasCome else { return [.end(end)] }
            self.note("the stream of the answer ends before the fault")
            return self.rest([]) + [.end(end)]
        case .bytes:
            self.note("the body of the answer ends before the fault")
            return [.end(end)]
        case .head where self.begins: return self.come(then: [.end(end)])
        case .head, .slicing, .passing, .over: return [.end(end)]
        }
    }

    /// The end, unless the fault has ended the answer.
    private func ended(_ end: AnswerEnd) -> [AnswerStep<Local>] {
        switch self.fault.kind {
        case .corrupt, .stall, .slice: return [.end(end)]
        case .truncate: return [.end(end)]
        default: return self.hasCome ? [] : [.end(end)]
        }
    }

    /// A body that was held to its end.
    private mutating func whole(_ head: ResponseHead, _ framing: BodyFraming, _ held: [UInt8]) -> [AnswerStep<Local>] {
        if case .corrupt = self.fault.kind {
            return self.put(CorruptBody(held, head, framing, draw: self.fault.draw))
        }
        let thousandths = if case .share(let share)? = self.fault.after { share } else { 500 }
        let count = held.count * thousandths / 1000
        guard count < held.count else {
            self.note("the body of the answer ends before the fault")
            return [.head(head, framing), .data(held)]
        }
        let (first, rest) = (Array(held.prefix(count)), Array(held.dropFirst(count)))
        var items = self.head(head, framing, faultAfter: count)
        // A fault at the very beginning has come with the head; the body may follow it.
        items += count > 0 ? [.data(first)] + self.come(then: [.data(rest)]) : self.put(.data(rest))
        if case .truncate = self.fault.kind { return items.filter { if case .end = $0 { false } else { true } } }
        return items
    }

    // MARK: The fault

    /// - Parameter items: what follows if the answer goes on.
    private mutating func come(then items: [AnswerStep<Local>]) -> [AnswerStep<Local>] {
        self.hasCome = true
        self.phase = .over
        switch self.fault.kind {
        case .stall(let time):
            self.phase = .passing
            return [.stall(time)] + items
        case .timeout: return [.stall(nil)]
        case .close, .cut, .webSocketClose: return [.flush, .end(.cut)]
        case .reset(let code, let isOfConnection):
            return [.flush, .end(.reset(code: code, isOfConnection: isOfConnection))]
        case .truncate: return [.end(.finished(HeaderFields(), NeverIndexed()))]
        case .garbage: return [.raw(Self.garbage), .end(.cut)]
        case .slice:
            self.phase = .slicing
            return self.pieces(items)
        case .status, .grpc, .refuse, .dns, .tls, .corrupt, .reorder, .repeat, .drop:
            self.phase = .passing
            return items
        }
    }

    private func pieces(_ items: [AnswerStep<Local>]) -> [AnswerStep<Local>] {
        guard case .slice(let size, let delay) = self.fault.kind else { return items }
        return items.flatMap { item in
            if case .data(let bytes) = item { AnswerStep<Local>.slices(bytes, size, delay) } else { [item] }
        }
    }

    private mutating func cannot(_ reason: String, _ items: [AnswerStep<Local>]) -> [AnswerStep<Local>] {
        self.phase = .passing
        self.note(reason)
        return items
    }

    private func note(_ text: String) { self.notes.add(rule: self.fault.rule, text) }
}
