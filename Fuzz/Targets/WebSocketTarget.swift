internal import CassetteModel
internal import TapeBytes
internal import TapeExchange

/// The reader of a WebSocket's messages: what it tells does not depend on how the bytes arrive, and no message passes the limits.
///
/// An input is a byte for who reads and what was agreed on, one for the cuts, and the bytes of one direction.
package enum WebSocketTarget: FuzzTarget {
    private struct Told: Equatable {
        var messages: [TapedMessage] = []
        var problem: WebSocketProblem?
    }

    package static func run(_ input: UnsafeRawBufferPointer) throws {
        guard input.count > 2 else { return }
        let bytes = UnsafeRawBufferPointer(rebasing: input[2...])
        let whole = try self.told([Array(bytes)], input[0], packs: false)
        let pieces = try self.told(Cuts(seed: input[1]).pieces(of: bytes), input[0], packs: false)
        try self.expect(self.isSame(whole, pieces), "messages depend on the cuts")
        let packed = try self.told(Cuts(seed: 3).pieces(of: bytes), input[0], packs: true)
        try self.expect(self.isSame(whole, packed), "messages depend on whether the reader was packed")
        try self.send(whole.messages, input[0])
    }

    /// Where a stream fails in its middle, zlib may have given more or less of what came before, and what was too dense depends on how
    /// much of it was there: then only what is not deflated is compared.
    private static func isSame(_ left: Told, _ right: Told) -> Bool {
        let all = left.messages + right.messages
        guard all.contains(where: { $0.isDeflated && $0.note != nil }) else { return left == right }
        func plain(_ told: Told) -> Told {
            Told(messages: told.messages.filter { !$0.isDeflated }, problem: told.problem)
        }
        return left.messages.map(\.kind) == right.messages.map(\.kind) && plain(left) == plain(right)
    }

    private static func agreement(_ choice: UInt8) -> WebSocketAgreement {
        let deflate = PerMessageDeflate(
            serverForgets: choice & 8 != 0, clientForgets: choice & 8 != 0, serverWindowBits: choice & 16 != 0 ? 9 : 15,
            clientWindowBits: choice & 16 != 0 ? 9 : 15)
        return WebSocketAgreement(deflate: choice & 4 != 0 ? deflate : nil, unknown: choice & 32 != 0 ? ["x"] : [])
    }

    private static func told(_ pieces: [[UInt8]], _ choice: UInt8, packs: Bool) throws -> Told {
        let stand: WebSocketStand = choice & 3 == 1 ? .client : choice & 3 == 2 ? .server : .watcher
        var reader = WebSocketReader(choice & 3 == 1 ? .server : .client, stand: stand, agreement: self.agreement(choice))
        var told = Told()
        var blocks: [UInt8] = []
        func take(_ event: WebSocketEvent) throws {
            try self.expect(told.problem == nil, "an event after the problem")
            switch event {
            case .block(let block, _):
                try self.expect(block.count <= 2 * WebSocketReader.blockSize, "a block of \(block.count) bytes")
                blocks += block
            case .message(var message):
                if message.isSpilled {
                    message.bytes = blocks + message.bytes
                    blocks = []
                }
                try self.expect(message.bytes.count == message.size, "another size than bytes")
                try self.expect(message.frames.count <= WebSocketMessage.frameLimit, "too many frames")
                told.messages.append(message)
            case .failed(let problem): told.problem = problem
            }
        }
        for piece in pieces {
            // The reader's callback cannot throw.
            var events: [WebSocketEvent] = []
            piece.withUnsafeBytes { reader.read($0) { events.append($0) } }
            for event in events { try take(event) }
            if packs { reader.pack() }
        }
        if let message = reader.ended() { try take(.message(message)) }
        return told
    }

    /// Sent again, the messages are read as the same.
    private static func send(_ messages: [TapedMessage], _ choice: UInt8) throws {
        let whole = messages.filter { $0.isComplete && $0.reserved == 0 }
        let agreement = self.agreement(choice & ~32)
        var writer = WebSocketWriter(.client, agreement: agreement)
        var wire: [UInt8] = []
        for message in whole {
            switch message.kind {
            case .text, .binary:
                message.bytes.withUnsafeBytes {
                    writer.message(message.kind == .text, $0, isDeflated: message.isDeflated, frames: message.frames, to: &wire)
                }
            case .ping: writer.control(true, message.bytes, to: &wire)
            case .pong: writer.control(false, message.bytes, to: &wire)
            case .close: writer.close(payload: message.bytes, to: &wire)
            }
        }
        let again = try self.told([wire], choice & ~35 | 2, packs: false)
        try self.expect(again.problem == nil, "what was written cannot be read: \(String(describing: again.problem))")
        try self.expect(again.messages.map(\.kind) == whole.map(\.kind), "other messages were read than written")
        try self.expect(again.messages.map(\.bytes) == whole.map(\.bytes), "other bytes were read than written")
    }
}
