internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// Redacts the messages of a WebSocket that is already in a cassette, whether they are in the cassette itself or in files.
///
/// Holds one message of a file at a time. Not Sendable: lives on the recorder thread.
struct ConversationRedaction {
    /// The result of a search.
    struct Found {
        var outcome = RedactionOutcome()
        /// Placeholders that are new in messages in memory.
        var placeholders = PlaceholderTally()
    }

    let redactor: Redactor
    let reader: BodyReader
    let digest: @Sendable () -> any ContentDigest

    /// Learns the secrets and reports whether there are any. Writes nothing.
    func search(_ messages: WebSocketMessages) throws -> Found {
        var found = Found()
        try self.forEachMessage(of: messages) { message in
            let before = message.content.payload?.inlineBytes ?? []
            var message = message
            let outcome = try self.redact(&message, into: nil)
            guard outcome.isChanged else { return }
            found.outcome.add(outcome)
            before.withUnsafeBytes { found.placeholders.remove($0) }
            (message.content.payload?.inlineBytes ?? []).withUnsafeBytes { found.placeholders.add($0) }
        }
        return found
    }

    /// The messages without the secrets that are known by now. A file of messages is rewritten.
    func redacted(_ messages: WebSocketMessages, into store: BodyStore) throws -> WebSocketMessages {
        switch messages {
        case .inline(var messages):
            for index in messages.indices { _ = try self.redact(&messages[index], into: store) }
            return .inline(messages)
        case .file:
            let spool = OpenSpool(try store.makeSpool(), digest: self.digest())
            var count = 0
            var writer = JSONWriter(reserving: 2 * Self.flushSize)
            try self.forEachMessage(of: messages) { message in
                var message = message
                _ = try self.redact(&message, into: store)
                WebSocketMessageCoder.encode(message, isOneLine: true, into: &writer)
                writer.byte(10)
                count += 1
                guard writer.count >= Self.flushSize else { return }
                try spool.write(writer.bytes)
                writer.drain()
            }
            try spool.write(writer.bytes)
            return .file(try spool.finish(fileExtension: "jsonl"), count: count)
        }
    }

    private static let flushSize = 48 << 10

    /// - Parameter store: for a new payload file; nil leaves the message with the old one.
    private func redact(_ message: inout WebSocketMessage, into store: BodyStore?) throws -> RedactionOutcome {
        guard case .file(let sidecar)? = message.content.payload else { return self.redactor.redact(&message) }
        var fresh: OpenSpool?
        let outcome = try self.redactor.redact(&message, payload: self.reader.source(sidecar, digest: self.digest())) { piece in
            guard let store else { return }
            let target = try fresh ?? OpenSpool(store.makeSpool(), digest: self.digest())
            try target.write(piece)
            fresh = target
        }
        guard outcome.isBodyChanged, store != nil else { return outcome }
        guard let fresh else {
            // The message could not be searched, so none of it is kept.
            if case .text = message.content { message.content = .text(.text([])) } else { message.content = .binary(.bytes([])) }
            return outcome
        }
        let name = sidecar.path.split(separator: ".").last.map(String.init) ?? "bin"
        let file = try fresh.finish(fileExtension: name)
        message = message.mapFile { _ in file }
        return outcome
    }

    private func forEachMessage(of messages: WebSocketMessages, _ take: (WebSocketMessage) throws -> Void) throws {
        func read(_ digest: some ContentDigest) throws {
            try self.reader.forEachMessage(of: messages, digest: digest) { message, _ in
                try take(message)
                return true
            }
        }
        try read(self.digest())
    }
}
