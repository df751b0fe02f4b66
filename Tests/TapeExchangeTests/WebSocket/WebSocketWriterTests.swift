internal import CassetteModel
internal import TapeBytes
@testable internal import TapeExchange
import TapeTestSupport
internal import Testing

@Suite struct WebSocketWriterTests {
    private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex.filter { $0 != " " }.utf8) ?? [] }

    private static let hello = Array("Hello".utf8)

    /// Always gives the same key, so that tests know the masked bytes.
    private struct OneKey: RandomNumberGenerator {
        func next() -> UInt64 { 0x3d21_fa37 }
    }

    /// RFC 6455, 5.7.
    @Test func framesAreThoseOfTheStandard() {
        var server = WebSocketWriter(.server)
        var output: [UInt8] = []
        Self.hello.withUnsafeBytes { server.message(true, $0, frames: [3, 2], to: &output) }
        server.control(true, Self.hello, to: &output)
        #expect(output == self.bytes("01 03 48656c 80 02 6c6f 89 05 48656c6c6f"))
        output = []
        var client = WebSocketWriter(.client, generator: OneKey())
        Self.hello.withUnsafeBytes { client.message(true, $0, to: &output) }
        client.control(false, Self.hello, to: &output)
        #expect(output == self.bytes("81 85 37fa213d 7f9f4d5158 8a 85 37fa213d 7f9f4d5158"))
    }

    @Test func eachFrameHasAKeyOfItsOwn() {
        var client = WebSocketWriter(.client, generator: SeededGenerator(seed: 1))
        var output: [UInt8] = []
        Self.hello.withUnsafeBytes { client.message(true, $0, frames: [0, 0, 5], to: &output) }
        #expect(Set([output[2..<6], output[8..<12], output[14..<18]]).count == 3)
        #expect(WebSocketTranscript.of(output, .client, stand: .server).messages.first?.bytes == Self.hello)
    }

    @Test func closeSaysItsCodeAndAReasonThatFits() {
        var server = WebSocketWriter(.server)
        var output: [UInt8] = []
        server.close(1000, reason: "ok", to: &output)
        server.close(nil, to: &output)
        server.close(1006, to: &output)
        server.close(1001, reason: String(repeating: "é", count: 100), to: &output)
        server.close(payload: [3], to: &output)
        let messages = WebSocketTranscript.of(output, stand: .client).messages
        #expect(messages[0].bytes == [3, 0xe8] + Array("ok".utf8))
        #expect(messages[1].bytes.isEmpty && messages[2].bytes.isEmpty)
        #expect(messages[3].bytes == [3, 0xe9] + Array(String(repeating: "é", count: 61).utf8))
        #expect(messages[4].bytes == [3])
    }

    @Test func deflatedMessageGoesAsItIsWithoutAnAgreement() {
        for agreement in [WebSocketAgreement(), WebSocketAgreement(deflate: PerMessageDeflate(serverWindowBits: 8))] {
            var server = WebSocketWriter(.server, agreement: agreement)
            var output: [UInt8] = []
            Self.hello.withUnsafeBytes { server.message(true, $0, isDeflated: true, to: &output) }
            #expect(output == self.bytes("81 05 48656c6c6f"))
        }
    }

    @Test func controlFramesWaitForTheEndOfAFrame() {
        var server = WebSocketWriter(.server)
        var output: [UInt8] = []
        server.begin(true, size: 5, frames: [4, 1])
        Self.hello[..<3].withUnsafeBytes { _ = server.piece($0, isLast: false, to: &output) }
        let isWithin = !server.isBetweenFrames
        #expect(isWithin)
        server.control(false, [1], to: &output)
        server.control(false, [2], to: &output)
        server.control(true, [], to: &output)
        #expect(output == self.bytes("01 04 48656c"))
        Self.hello[3...].withUnsafeBytes { _ = server.piece($0, isLast: true, to: &output) }
        #expect(output == self.bytes("01 04 48656c6c 8a 01 02 89 00 80 01 6f"))
        let isBetween = server.isBetweenFrames
        #expect(isBetween)
    }

    @Test func planHasAsManyFramesAndAllBytes() {
        #expect(WebSocketWriter.plan([], size: 5) == [5])
        #expect(WebSocketWriter.plan([4, 3], size: 7) == [4, 3])
        #expect(WebSocketWriter.plan([1, 0, 1], size: 10) == [5, 0, 5])
        #expect(WebSocketWriter.plan([0, 0], size: 3) == [0, 3])
        for frames in [[3, 5, 9], [1, 1, 1, 1], [.max, .max], [-1, 4]] {
            for size in [0, 1, 2, 1_000] {
                let plan = WebSocketWriter.plan(frames, size: size)
                #expect(plan.count == frames.count && plan.reduce(0, +) == size && plan.allSatisfy { $0 >= 0 })
            }
        }
    }

    /// Either side writes, in fragments, deflated and masked, whole or in pieces: the reader gets the sent messages.
    @Test(arguments: 0..<12) func anyConversationIsReadAsItWasWritten(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<rounds(40) {
            let side = Bool.random(using: &generator) ? WebSocketSide.client : .server
            let agreement = Self.agreement(&generator)
            let messages = (0..<6).map { _ in SentMessage.random(&generator) }
            var writer = WebSocketWriter(side, agreement: agreement, generator: generator)
            var wire: [UInt8] = []
            for message in messages { Self.send(message, &writer, &wire, &generator) }
            let pieces = (0..<20).map { _ in Int.random(in: 0...2_000, using: &generator) }
            let stand = [WebSocketStand.watcher, side == .client ? .server : .client].randomElement(using: &generator) ?? .watcher
            let packs = Bool.random(using: &generator)
            let transcript = WebSocketTranscript.of(wire, side, stand: stand, agreement: agreement, pieces: pieces, packs: packs)
            #expect(transcript.problem == nil)
            #expect(transcript.messages.map(\.kind) == messages.map(\.kind))
            #expect(transcript.messages.map(\.bytes) == messages.map(\.bytes))
            let deflates = agreement.deflate.map { $0.windowBits(side) > 8 } ?? false
            #expect(transcript.messages.map(\.isDeflated) == messages.map { $0.isDeflated && deflates })
            for (read, sent) in zip(transcript.messages, messages) where sent.frames.count > 1 && !(sent.isDeflated && deflates) {
                #expect(read.frames == sent.frames)
            }
            #expect(transcript.messages.allSatisfy { $0.isComplete && $0.note == nil && $0.reserved == 0 })
        }
    }

    private static func agreement(_ generator: inout SeededGenerator) -> WebSocketAgreement {
        guard Int.random(in: 0..<4, using: &generator) > 0 else { return WebSocketAgreement() }
        return WebSocketAgreement(
            deflate: PerMessageDeflate(
                serverForgets: Bool.random(using: &generator), clientForgets: Bool.random(using: &generator),
                serverWindowBits: Int.random(in: 8...15, using: &generator), clientWindowBits: Int.random(in: 8...15, using: &generator)))
    }

    private static func send(
        _ message: SentMessage, _ writer: inout WebSocketWriter, _ wire: inout [UInt8], _ generator: inout SeededGenerator
    ) {
        switch message.kind {
        case .ping: writer.control(true, message.bytes, to: &wire)
        case .pong: writer.control(false, message.bytes, to: &wire)
        case .close: writer.close(payload: message.bytes, to: &wire)
        case .text, .binary:
            guard Bool.random(using: &generator) else {
                return message.bytes.withUnsafeBytes {
                    writer.message(message.kind == .text, $0, isDeflated: message.isDeflated, frames: message.frames, to: &wire)
                }
            }
            writer.begin(message.kind == .text, size: message.bytes.count, isDeflated: message.isDeflated, frames: message.frames)
            var start = 0
            repeat {
                let end = min(message.bytes.count, start + Int.random(in: 1...40_000, using: &generator))
                let isWritten = message.bytes[start..<end].withUnsafeBytes {
                    writer.piece($0, isLast: end == message.bytes.count, to: &wire)
                }
                #expect(isWritten)
                start = end
            } while start < message.bytes.count
        }
    }
}
