internal import CassetteModel
internal import TapeExchange
import TapeTestSupport

/// The output of a message reader, independent of the pieces of its input.
struct WebSocketTranscript: Equatable {
    /// With all their bytes: blocks that were passed on are prepended again.
    var messages: [TapedMessage] = []
    var problem: WebSocketProblem?
    /// The size of the largest block.
    var largestBlock = 0

    /// Feeds the bytes in pieces of the given sizes, the rest in one piece, and then the end.
    static func of(
        _ bytes: [UInt8], _ side: WebSocketSide = .server, stand: WebSocketStand = .watcher,
        agreement: WebSocketAgreement = WebSocketAgreement(), pieces: [Int] = [], packs: Bool = false
    ) -> WebSocketTranscript {
        var reader = WebSocketReader(side, stand: stand, agreement: agreement)
        var transcript = WebSocketTranscript()
        var blocks: [UInt8] = []
        func take(_ event: WebSocketEvent) {
            switch event {
            case .block(let block, _):
                transcript.largestBlock = max(transcript.largestBlock, block.count)
                blocks += block
            case .message(var message):
                if message.isSpilled {
                    message.bytes = blocks + message.bytes
                    blocks = []
                }
                transcript.messages.append(message)
            case .failed(let problem): transcript.problem = problem
            }
        }
        var start = 0
        for size in pieces + [bytes.count] {
            // A separate buffer, so that a sanitizer detects a read past the end.
            let piece = Array(bytes[start..<min(bytes.count, start + size)])
            start += piece.count
            piece.withUnsafeBytes { reader.read($0, take) }
            if packs { reader.pack() }
        }
        if let message = reader.ended() { take(.message(message)) }
        return transcript
    }
}

/// One message of a generated conversation, as the writer gets it.
struct SentMessage: Equatable {
    var kind: TapedMessage.Kind
    var bytes: [UInt8]
    var isDeflated = false
    var frames: [Int] = []

    /// A few messages of every kind and size.
    static func random(_ generator: inout SeededGenerator) -> SentMessage {
        let kind = [TapedMessage.Kind.text, .binary, .text, .binary, .ping, .pong].randomElement(using: &generator) ?? .text
        let isControl = kind == .ping || kind == .pong
        let size = (isControl ? [0, 1, 125] : [0, 1, 125, 126, 300, 5_000, 65_535, 65_536, 140_000]).randomElement(using: &generator) ?? 0
        // Fewer set bits deflate better.
        let bits = generator.next() | generator.next()
        var bytes: [UInt8] = []
        while bytes.count < size {
            withUnsafeBytes(of: generator.next() & bits) { bytes.append(contentsOf: $0.prefix(size - bytes.count)) }
        }
        var message = SentMessage(kind: kind, bytes: bytes)
        guard !isControl else { return message }
        message.isDeflated = Bool.random(using: &generator)
        if Bool.random(using: &generator) {
            var left = size
            for _ in 0..<Int.random(in: 1...5, using: &generator) {
                let frame = Int.random(in: 0...left, using: &generator)
                message.frames.append(frame)
                left -= frame
            }
            message.frames.append(left)
        }
        return message
    }
}
