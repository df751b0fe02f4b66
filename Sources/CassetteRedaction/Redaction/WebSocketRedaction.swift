internal import CassetteFormat
public import CassetteModel
internal import TapeBytes

/// Removes the secrets from WebSocket messages, before they are deflated and split into frames.
extension Redactor {
    /// Redacts a message whose bytes are in memory. JSON and text are treated like bodies of their kind, with the same placeholders; binary
    /// data keeps its length. A message in an unknown extension is left out, since it cannot be searched.
    ///
    /// A payload in a file is not touched: see `redact(_:payload:deliver:)`.
    @discardableResult
    public func redact(_ message: inout WebSocketMessage) -> RedactionOutcome {
        guard message.reserved == 0 || message.content.payload?.size ?? 0 == 0 else { return message.leaveOut() }
        var outcome = RedactionOutcome()
        let gaps = self.vault.gaps
        var learned = -1
        // A secret learned late in a message may occur early in it.
        var looks = 0
        while learned != self.vault.learned, !self.isSpent {
            guard looks < Self.lookLimit else {
                outcome.notes.append(Self.noteOfManyLooks)
                break
            }
            looks += 1
            learned = self.vault.learned
            let count = self.redact(content: &message)
            outcome.count += count
            if count > 0 { outcome.isBodyChanged = true }
        }
        self.noteGaps(since: gaps, &outcome)
        message.add(outcome.note)
        return outcome
    }

    /// Redacts a payload in a file, in pieces. `deliver` receives the new bytes, and is not called if nothing has to be changed or nothing
    /// is left.
    ///
    /// Reads the source twice. If the outcome says that the body changed, the caller puts the new file into the message, whose frames and
    /// note are already correct.
    public func redact(
        _ message: inout WebSocketMessage, payload source: ByteSource, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        guard message.reserved == 0 || source.size == 0 else { return message.leaveOut() }
        let isText: Bool
        if case .text = message.content { isText = true } else { isText = false }
        var isJSON = false
        if source.size > 0 {
            var first: UInt8 = 0
            try withUnsafeMutableBytes(of: &first) { try source.read(at: 0, into: $0) }
            isJSON = isText && (first == UInt8(ascii: "{") || first == UInt8(ascii: "["))
        }
        var size = 0
        let outcome = try self.redact(
            source, headers: isText ? isJSON ? Self.jsonHead : Self.textHead : Self.binaryHead, isComplete: message.isComplete
        ) { piece in
            size += piece.count
            try deliver(piece)
        }
        if outcome.isBodyChanged {
            let growth = Double(size) / Double(max(source.size, 1))
            message.fitFrames(to: size) { ends in ends.map { Int(Double(min(max($0, 0), source.size)) * growth) } }
        }
        message.add(outcome.note)
        return outcome
    }

    private static let jsonHead = HeaderFields(["Content-Type: application/json"])
    private static let textHead = HeaderFields(["Content-Type: text/plain; charset=utf-8"])
    private static let binaryHead = HeaderFields(["Content-Type: application/octet-stream"])
    /// RFC 6455, 5.5: the largest ping, pong or close.
    private static let controlLimit = 125

    /// Returns how many secrets were replaced.
    private func redact(content message: inout WebSocketMessage) -> Int {
        switch message.content {
        case .text(let payload):
            guard let (new, edits) = self.redacted(payload, isText: true) else { return 0 }
            message.content = .text(new)
            message.fitFrames(to: new.size, edits.moved)
            return edits.count
        case .binary(let payload):
            guard let (new, edits) = self.redacted(payload, isText: false) else { return 0 }
            message.content = .binary(new)
            message.fitFrames(to: new.size, edits.moved)
            return edits.count
        case .ping(let bytes):
            guard let (new, count) = self.redacted(control: bytes, limit: Self.controlLimit) else { return 0 }
            message.content = .ping(new)
            return count
        case .pong(let bytes):
            guard let (new, count) = self.redacted(control: bytes, limit: Self.controlLimit) else { return 0 }
            message.content = .pong(new)
            return count
        case .close(let close):
            let code = Array(close.payload.prefix(2))
            guard let (reason, count) = self.redacted(control: Array(close.reason), limit: Self.controlLimit - code.count) else { return 0 }
            message.content = .close(WebSocketClose(payload: code + reason))
            return count
        }
    }

    /// - Parameter isText: whether invalid text is searched as text nevertheless, as in a text message that was cut.
    private func redacted(_ payload: WebSocketPayload, isText: Bool) -> (WebSocketPayload, EditList)? {
        let (bytes, head): ([UInt8], HeaderFields)
        switch payload {
        case .json(let text, _): (bytes, head) = (text, Self.jsonHead)
        case .text(let text): (bytes, head) = (text, Self.textHead)
        case .bytes(let all): (bytes, head) = (all, isText ? Self.textHead : Self.binaryHead)
        case .file: return nil
        }
        // A program may send its output as it comes, in messages that cut words.
        var text = self.text
        text.borders = .both
        let edits = bytes.withUnsafeBytes { ContentRedaction(text: text).edits(in: $0, headers: head) }
        guard !edits.isEmpty else { return nil }
        let new = edits.applied(to: bytes)
        switch payload {
        case .json: return (new.withUnsafeBytes(JSONBody.style(of:)).map { .json(new, style: $0) } ?? .text(new), edits)
        case .text: return (.text(new), edits)
        case .bytes, .file: return (.bytes(new), edits)
        }
    }

    /// If the placeholders do not fit, each is truncated to the length of its secret.
    private func redacted(control bytes: [UInt8], limit: Int) -> ([UInt8], Int)? {
        guard !bytes.isEmpty else { return nil }
        let kind: TextKind = bytes.withUnsafeBytes(ReadableText.isReadable) ? .plain : .binary
        let edits = bytes.withUnsafeBytes { self.text.edits(in: $0, as: kind) }
        guard !edits.isEmpty else { return nil }
        let new = edits.applied(to: bytes)
        guard new.count > limit else { return (new, edits.count) }
        let cut = edits.edits.map { Edit(range: $0.range, bytes: Array($0.bytes.prefix($0.range.count))) }
        return (EditList(cut).applied(to: bytes), edits.count)
    }
}

extension WebSocketMessage {
    fileprivate mutating func leaveOut() -> RedactionOutcome {
        var outcome = RedactionOutcome()
        outcome.count = 1
        outcome.isBodyChanged = true
        outcome.notes = ["left out: it cannot be searched for secrets"]
        if case .text = self.content { self.content = .text(.text([])) } else { self.content = .binary(.bytes([])) }
        self.isComplete = false
        self.add(outcome.note)
        return outcome
    }

    fileprivate mutating func add(_ note: String?) {
        guard let note else { return }
        self.note = self.note.map { "\($0); \(note)" } ?? note
    }

    /// Keeps the number of frames when the size of the payload changes, so that a replay sends as many. Does nothing for deflated messages,
    /// whose frame sizes are unrelated.
    ///
    /// - Parameter moved: returns the new offsets of the ends of frames.
    fileprivate mutating func fitFrames(to size: Int, _ moved: (_ ends: [Int]) -> [Int]) {
        guard !self.isDeflated, !self.frames.isEmpty else { return }
        var ends: [Int] = []
        for frame in self.frames { ends.append((ends.last ?? 0).addingReportingOverflow(frame).partialValue) }
        var start = 0
        for (index, end) in moved(ends).enumerated() {
            let end = index == ends.count - 1 ? size : min(max(end, start), size)
            self.frames[index] = end - start
            start = end
        }
    }
}
