internal import CassetteModel
internal import TapeBytes

/// Removes the secrets from the frames of an AWS event stream: from each payload as from a body of its own, and from the headers by their
/// looks alone. Lengths and checksums are made to fit.
struct AmazonEventStream {
    let content: ContentRedaction

    /// Nil if the content does not begin with a frame, whatever its declared type.
    ///
    /// A frame whose checksums are wrong, and bytes after the last whole frame, are searched by their looks and keep their lengths.
    func edits(in bytes: UnsafeRawBufferPointer) -> [Edit]? {
        guard AmazonFrame.size(ofFrameIn: bytes) != nil else { return nil }
        var edits: [Edit] = []
        var start = 0
        while start < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            guard let frame = AmazonFrame(rest) else {
                let size = AmazonFrame.size(ofFrameIn: rest).map { min($0, rest.count) } ?? rest.count
                edits += self.looks(rest[..<size], from: start)
                start += size
                continue
            }
            if let redacted = self.redacted(frame, UnsafeRawBufferPointer(rebasing: rest[..<frame.size])) {
                edits.append(Edit(range: start..<start + frame.size, bytes: redacted))
            }
            start += frame.size
        }
        return edits
    }

    private func looks(_ bytes: Slice<UnsafeRawBufferPointer>, from start: Int) -> [Edit] {
        self.content.text.edits(in: UnsafeRawBufferPointer(rebasing: bytes), as: .binary).edits.map { edit in
            Edit(range: edit.range.lowerBound + start..<edit.range.upperBound + start, bytes: edit.bytes)
        }
    }

    /// The edits of a payload that is compressed, as its first bytes tell; nil for any other.
    private func edits(ofCoded payload: UnsafeRawBufferPointer, _ fields: HeaderFields) -> EditList? {
        let bytes = Array(payload)
        guard SniffedCoding.name(bytes) != nil else { return nil }
        var notes: [String] = []
        let result = BodyRedaction(content: self.content).redacted(bytes, headers: fields, isComplete: true, notes: &notes)
        return result.map { EditList([Edit(range: 0..<bytes.count, bytes: $0.bytes)]) }
    }

    /// Nil if there is nothing to redact.
    private func redacted(_ frame: AmazonFrame, _ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        let head = UnsafeRawBufferPointer(rebasing: bytes[AmazonFrame.preludeSize..<frame.payload.lowerBound])
        // The lengths of names and values are in the headers.
        let ofHead = self.content.text.edits(in: head, as: .binary)
        let payload = UnsafeRawBufferPointer(rebasing: bytes[frame.payload])
        let type = frame.header(":content-type") ?? "application/json"
        let fields = HeaderFields(["Content-Type: \(type)"])
        // A signed stream has frames within frames.
        let ofPayload =
            self.edits(in: payload).map { EditList($0) } ?? self.edits(ofCoded: payload, fields)
            ?? self.content.edits(in: payload, headers: fields)
        guard !ofHead.isEmpty || !ofPayload.isEmpty else { return nil }
        // A representation whose range is known keeps its length, and what is in it cannot become longer.
        let payloadBytes = ofPayload.applied(to: payload)
        guard !self.content.text.keepsLengths || payloadBytes.count == payload.count else { return nil }
        return AmazonFrame.encoded(headers: ofHead.applied(to: head), payload: payloadBytes)
    }
}
