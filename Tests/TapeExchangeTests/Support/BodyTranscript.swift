internal import TapeExchange

/// The events of a body parser, independent of the pieces of its input.
struct BodyTranscript: Equatable {
    var payload: [UInt8] = []
    /// Chunk lines, last-chunk line and trailers in order; data is in `payload`.
    var parts: [BodyEvent] = []
    var consumed = 0
    var isDone = false
    var error: MessageError?

    /// Feeds the bytes in pieces of the given sizes, and the rest in one piece.
    static func of(_ bytes: [UInt8], framing: BodyFraming, pieces: [Int] = [], limits: Limits = Limits()) -> BodyTranscript {
        var parser = BodyParser(framing: framing, side: .request, limits: limits)
        var transcript = BodyTranscript()
        var start = 0
        for size in pieces + [bytes.count] where transcript.error == nil {
            let piece = Array(bytes[start..<min(bytes.count, start + size)])
            start += piece.count
            do {
                let progress = try piece.withUnsafeBytes { buffer in
                    try parser.consume(buffer) { event in
                        if case .data(let range) = event {
                            transcript.payload += piece[range]
                        } else {
                            transcript.parts.append(event)
                        }
                    }
                }
                transcript.consumed += progress.consumed
                transcript.isDone = progress.isDone
            } catch {
                // The content of the last piece before the error depends on the split.
                transcript.error = error as? MessageError
                transcript.consumed = 0
            }
        }
        return transcript
    }

    static func of(_ text: String, framing: BodyFraming = .chunked, limits: Limits = Limits()) -> BodyTranscript {
        self.of(Array(text.utf8), framing: framing, limits: limits)
    }
}
