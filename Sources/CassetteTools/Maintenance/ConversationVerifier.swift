internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Checks the messages of a recorded WebSocket: their files, their order, their number, and their own properties.
///
/// Holds one message in memory.
struct ConversationVerifier {
    /// How many problems of one conversation are reported: the first ones show what is wrong.
    private static let limit = 3

    let reader: BodyReader
    let digest: () -> any ContentDigest

    func problems(of messages: WebSocketMessages, _ bodies: inout BodyVerifier) -> [CareFinding] {
        var findings: [CareFinding] = []
        // A file that does not match its digest is not examined further.
        if case .file(let sidecar, _) = messages, let problem = bodies.problem(of: sidecar) {
            return [CareFinding(.damagedBody, text: problem)]
        }
        var count = 0
        var last = -Double.infinity
        do {
            try self.forEachMessage(of: messages) { message in
                count += 1
                if message.at < last {
                    findings.append(
                        CareFinding(
                            .malformed,
                            text:
                                "webSocket, message \(count): its time is before that of message \(count - 1): write them in order of time")
                    )
                }
                last = message.at
                if let finding = Self.problem(ofFrames: message, number: count) { findings.append(finding) }
                if case .file(let sidecar)? = message.content.payload, let problem = bodies.problem(of: sidecar) {
                    findings.append(CareFinding(.damagedBody, text: "webSocket, message \(count): \(problem)"))
                }
                return findings.count < Self.limit
            }
        } catch {
            let text = (error as? CassetteError)?.message ?? "\(error)"
            return findings + [CareFinding(.malformed, text: "webSocket: \(text)")]
        }
        if case .file(let sidecar, let said) = messages, count != said, findings.count < Self.limit {
            findings.append(
                CareFinding(
                    .malformed,
                    text:
                        "webSocket: \"\(sidecar.path)\" has \(Quantity.count(count, "message")), but its \"count\" says \(said): write \(count)"
                ))
        }
        return findings
    }

    /// The frame sizes of a message must add up to its size. Those of a deflated message are unrelated.
    private static func problem(ofFrames message: WebSocketMessage, number: Int) -> CareFinding? {
        guard !message.isDeflated, !message.frames.isEmpty, let size = message.content.payload?.size else { return nil }
        let sum = message.frames.reduce(0) { ExchangeRow.sum($0, $1) }
        guard sum != size else { return nil }
        return CareFinding(
            .changedBody,
            text: "webSocket, message \(number): it has \(Quantity.count(size, "byte")), but its frames have \(sum): "
                + "record it again, or keep it if it was edited on purpose")
    }

    private func forEachMessage(of messages: WebSocketMessages, _ take: (WebSocketMessage) throws -> Bool) throws {
        func read(_ digest: some ContentDigest) throws {
            try self.reader.forEachMessage(of: messages, digest: digest) { message, _ in try take(message) }
        }
        try read(self.digest())
    }
}
