internal import CassetteModel
internal import TapeExchange

/// Edits an answer as rules say: takes the items of the answer, and hands on the edited ones.
///
/// Holds a body that is edited until its end. Answers of the proxy itself, such as errors, are not edited.
package struct AnswerEditing<Local: Sendable> {
    /// Bytes of a body that is edited; a longer one passes as it is.
    private static var heldLimit: Int { 16 << 20 }

    private let edit: MessageEdit
    private let notes: RuleNotes
    private let isToHEAD: Bool
    /// The head whose body is being held.
    private var held: (head: ResponseHead, framing: BodyFraming)?
    private var body: [UInt8] = []
    /// Each event or line is edited by itself.
    private var units: StreamUnits?
    /// An edit has made the answer one without a body.
    private var dropsBody = false

    /// - Parameter method: of the request.
    package init(_ edit: MessageEdit, method: String, notes: RuleNotes) {
        self.edit = edit
        self.notes = notes
        self.isToHEAD = method == "HEAD"
    }

    /// The edit of a whole body that the item ends, if it may take too long for an event loop. The caller makes it elsewhere, and goes on with
    /// its result and the item.
    package mutating func longEdit(before item: AnswerStep<Local>) -> (@Sendable () -> [AnswerStep<Local>])? {
        guard case .end(.finished) = item, let (head, _) = self.held, BodyWork.isLong(self.body.count, head.fields) else { return nil }
        let (edit, notes, body) = (self.edit, self.notes, self.body)
        self.held = nil
        self.body = []
        return { Self.edited(head, body, edit, notes) }
    }

    /// The client gave up: of a body without an end it got nothing while the edit needed all of it.
    package mutating func clientLeft() {
        guard self.held != nil else { return }
        self.noteAll("the client left before the end of the body, which an edit of it needs")
        self.held = nil
        self.body = []
    }

    package mutating func put(_ item: AnswerStep<Local>) -> [AnswerStep<Local>] {
        switch item {
        case .head(let head, let framing): return self.head(head, framing)
        case .data where self.dropsBody: return []
        case .data(let bytes) where self.units != nil:
            return (self.units?.push(bytes) ?? []).map { .data(self.edited(unit: $0)) }
        case .end(let end) where self.units != nil:
            // The last line may have no line end. What a cut has left is no unit.
            let part: StreamUnits.Unit.Part = if case .finished = end, self.units?.isInPart == false { .whole } else { .last }
            let rest = self.units?.rest() ?? []
            return (rest.isEmpty ? [] : [.data(self.edited(unit: StreamUnits.Unit(bytes: rest, part: part)))]) + [item]
        case .data(let bytes):
            guard let (head, framing) = self.held else { return [item] }
            self.body += bytes
            guard self.body.count > Self.heldLimit else { return [] }
            self.noteAll("the body of an answer has more than \(Self.heldLimit >> 20) MiB and is not edited")
            return self.release(head, framing)
        case .end(let end):
            guard let (head, framing) = self.held else { return [item] }
            guard case .finished = end else {
                self.noteAll("the body of an answer was cut and is not edited")
                return self.release(head, framing) + [item]
            }
            return self.edited(head) + [item]
        case .interim, .local, .raw, .stall, .flush, .closeOutput: return [item]
        }
    }

    private mutating func head(_ head: ResponseHead, _ framing: BodyFraming) -> [AnswerStep<Local>] {
        var changed = head
        var framing = framing
        if self.edit.editsHead {
            var facts = ResponseHeadFacts(
                status: head.status, reason: String(decoding: head.reason, as: UTF8.self), headers: head.fields)
            let reason = facts.reason
            self.notes.add(self.edit.apply(to: &facts))
            changed.status = facts.status
            if facts.reason != reason { changed.reason = Array(facts.reason.utf8) }
            changed.fields = facts.headers
            // RFC 9110, 6.4.1
            let isBodiless = facts.status == 204 || facts.status == 304
            if isBodiless, framing != .none {
                self.dropsBody = true
                if self.edit.editsBody { self.noteAll("an answer with the status \(facts.status) has no body to edit") }
                changed.fields = changed.fields.removing("content-length").removing("transfer-encoding")
                return [.head(changed, .none)]
            }
            // RFC 9110, 8.6
            if facts.status == 204 { changed.fields = changed.fields.removing("content-length") }
            if !isBodiless, head.status == 204 || head.status == 304, framing == .none, !self.isToHEAD {
                // A client waits for the end of a body, which is empty.
                framing = .length(0)
                changed.fields = changed.fields.removing("content-length")
                changed.fields.append(name: "Content-Length", value: "0")
            }
        }
        guard self.edit.editsBody else { return [.head(changed, framing)] }
        guard framing != .none else {
            self.noteAll("an answer has no body to edit")
            return [.head(changed, framing)]
        }
        if let units = StreamUnits(head.fields) {
            guard units.kind != .messages else {
                self.noteAll("an answer is a stream of messages of gRPC, whose fields are not edited")
                return [.head(changed, framing)]
            }
            self.units = units
            guard case .length = framing else { return [.head(changed, framing)] }
            // The length of the edited stream is not known.
            changed.version = .http2
            changed.fields = changed.fields.removing("content-length")
            return [.head(changed, .untilClose)]
        }
        self.held = (changed, framing)
        return []
    }

    /// The body as it came.
    private mutating func release(_ head: ResponseHead, _ framing: BodyFraming) -> [AnswerStep<Local>] {
        self.held = nil
        defer { self.body = [] }
        return [.head(head, framing)] + (!self.body.isEmpty ? [.data(self.body)] : [])
    }

    private mutating func edited(_ head: ResponseHead) -> [AnswerStep<Local>] {
        self.held = nil
        defer { self.body = [] }
        return Self.edited(head, self.body, self.edit, self.notes)
    }

    private static func edited(
        _ head: ResponseHead, _ old: [UInt8], _ edit: MessageEdit, _ notes: RuleNotes
    ) -> [AnswerStep<Local>] {
        var changed = head
        let (body, found) = edit.applyBody(old, headers: &changed.fields)
        notes.add(found)
        if let first = found.first, StreamFraming(head.fields.removing("content-encoding")) != nil, head.fields.contains("content-encoding")
        {
            notes.add(
                rule: first.rule,
                "an answer is a stream with a content coding, so its events or lines cannot be told apart: record with a rule that sets header:accept-encoding to identity"
            )
        }
        // The length is known now, whatever the framing was.
        changed.fields = changed.fields.removing("content-length").removing("transfer-encoding")
        changed.fields.append(name: "Content-Length", value: "\(body.count)")
        return [.head(changed, .length(body.count))] + (body.isEmpty ? [] : [.data(body)])
    }

    private func edited(unit: StreamUnits.Unit) -> [UInt8] {
        guard let kind = self.units?.kind else { return unit.bytes }
        guard unit.part == .whole else {
            if unit.isEnd {
                self.noteAll("an event or line of an answer is cut, or has more than \(StreamUnits.limit >> 20) MiB, and is not edited")
            }
            return unit.bytes
        }
        return StreamUnits.edited(unit.bytes, kind) { content in
            let (edited, notes) = self.edit.applyMessage(content)
            self.notes.add(notes)
            return edited
        } ?? unit.bytes
    }

    private func noteAll(_ text: String) { for rule in self.edit.rules { self.notes.add(rule: rule, text) } }
}
