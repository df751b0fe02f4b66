internal import CassetteModel
internal import TapeBytes
internal import TapeExchange
import TapeTestSupport
internal import Testing

/// Conversations that we write are read by Python's websockets and wsproto, and the other way round.
@Suite struct WebSocketPeerTests {
    @Test(.enabled(if: WebSocketPeers.python != nil, "PyPI's websockets and wsproto"))
    func otherLibrariesAndOursReadEachOther() throws {
        var generator = SeededGenerator(seed: 18)
        let python = try #require(WebSocketPeers.python)
        let cases = (0..<rounds(200)).map { _ in Self.conversation(&generator) }
        let answers = try WebSocketPeers.answers(to: cases, by: python)
        for (sent, answer) in zip(cases, answers) {
            let messages = sent.messages.map { [$0.kind, $0.hex] }
            #expect(answer.websockets == messages)
            #expect(answer.wsproto == messages)
            let deflate = PerMessageDeflate(
                serverForgets: sent.forgets, clientForgets: sent.forgets, serverWindowBits: sent.bits, clientWindowBits: sent.bits)
            let wire = try #require(Hex.decode(answer.written.utf8))
            let pieces = (0..<40).map { _ in Int.random(in: 0...3_000, using: &generator) }
            let read = WebSocketTranscript.of(
                wire, sent.client ? .client : .server, stand: sent.client ? .server : .client,
                agreement: WebSocketAgreement(deflate: sent.deflates ? deflate : nil), pieces: pieces)
            #expect(read.problem == nil)
            #expect(read.messages.map { ["\($0.kind)", Hex.encode($0.bytes)] } == messages)
            #expect(read.messages.map(\.isDeflated) == sent.messages.map { $0.deflated && sent.deflates })
            #expect(read.messages.allSatisfy { $0.isComplete && $0.note == nil })
        }
        #expect(answers.count == cases.count)
    }

    private static func conversation(_ generator: inout SeededGenerator) -> WebSocketPeers.Case {
        var sent = WebSocketPeers.Case(
            client: Bool.random(using: &generator), deflates: Bool.random(using: &generator), forgets: Bool.random(using: &generator),
            bits: Int.random(in: 9...15, using: &generator), messages: [], wire: "")
        let deflate = PerMessageDeflate(
            serverForgets: sent.forgets, clientForgets: sent.forgets, serverWindowBits: sent.bits, clientWindowBits: sent.bits)
        var writer = WebSocketWriter(
            sent.client ? .client : .server, agreement: WebSocketAgreement(deflate: sent.deflates ? deflate : nil), generator: generator)
        var wire: [UInt8] = []
        for _ in 0..<6 {
            var message = SentMessage.random(&generator)
            // Valid text, since the libraries insist on it.
            if message.kind == .text { message.bytes = message.bytes.map { $0 & 0x7f } }
            switch message.kind {
            case .text, .binary:
                message.bytes.withUnsafeBytes {
                    writer.message(message.kind == .text, $0, isDeflated: message.isDeflated, frames: message.frames, to: &wire)
                }
            case .ping: writer.control(true, message.bytes, to: &wire)
            case .pong: writer.control(false, message.bytes, to: &wire)
            case .close: continue
            }
            sent.messages.append(
                .init(
                    kind: "\(message.kind)", hex: Hex.encode(message.bytes), deflated: message.isDeflated,
                    frames: message.frames.isEmpty ? [message.bytes.count] : message.frames))
        }
        writer.close(1000, reason: "done", to: &wire)
        sent.messages.append(.init(kind: "close", hex: "03e8" + Hex.encode(Array("done".utf8)), deflated: false, frames: [6]))
        sent.wire = Hex.encode(wire)
        return sent
    }
}
