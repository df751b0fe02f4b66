import CassetteModel
import TapeExchange
import TapeTestSupport
import Testing
@testable import TapeProxy

/// The same conversations directly and through a recording proxy. Both ends get the same bytes, and the cassette has all messages.
@Suite struct WebSocketDifferenceTests {
    /// One generated conversation: the messages of each side, and their bytes in the pieces in which they are written.
    private struct Conversation: Sendable {
        var said: [WebSocketSide: [WebSocketTalk.Said]] = [:]
        var pieces: [WebSocketSide: [[UInt8]]] = [:]
        let deflates: Bool

        init(seed: UInt64) {
            var generator = SeededGenerator(seed: seed)
            self.deflates = Bool.random(using: &generator)
            for side in WebSocketSide.allCases {
                let agreement = WebSocketAgreement(deflate: self.deflates ? PerMessageDeflate() : nil)
                var writer = WebSocketWriter(side, agreement: agreement, generator: SeededGenerator(seed: seed &+ 1))
                var bytes: [UInt8] = []
                var said: [WebSocketTalk.Said] = []
                for _ in 0..<Int.random(in: 1...12, using: &generator) {
                    said.append(Self.say(side, &writer, &bytes, deflates: self.deflates, &generator))
                }
                said.append(WebSocketTalk.Said(from: side, kind: "close", bytes: [3, 232]))
                writer.close(1000, to: &bytes)
                self.said[side] = said
                self.pieces[side] = Self.cut(bytes, &generator)
            }
        }

        private static func say(
            _ side: WebSocketSide, _ writer: inout WebSocketWriter, _ output: inout [UInt8], deflates: Bool,
            _ generator: inout SeededGenerator
        ) -> WebSocketTalk.Said {
            let kind = ["text", "binary", "text", "binary", "ping"].randomElement(using: &generator) ?? "text"
            let size =
                (kind == "ping" ? [0, 125] : [0, 1, 125, 126, 4_000, 65_536, 70_000, 150_000]).randomElement(using: &generator) ?? 0
            // Letters, so that text is valid; part of it repeats and deflates well.
            let letter = UInt8.random(in: 97...122, using: &generator)
            let bytes = (0..<size).map { $0 % 3 == 0 ? UInt8.random(in: 97...122, using: &generator) : letter }
            var said = WebSocketTalk.Said(from: side, kind: kind, bytes: bytes)
            guard kind != "ping" else {
                writer.control(true, bytes, to: &output)
                return said
            }
            said.isDeflated = deflates && Bool.random(using: &generator)
            if !said.isDeflated, size > 10, Bool.random(using: &generator) { said.frames = [size / 3, 0, size - size / 3] }
            bytes.withUnsafeBytes {
                writer.message(kind == "text", $0, isDeflated: said.isDeflated, frames: said.frames, to: &output)
            }
            return said
        }

        private static func cut(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [[UInt8]] {
            var (pieces, start): ([[UInt8]], Int) = ([], 0)
            while start < bytes.count {
                let limit = [3, 200, 50_000].randomElement(using: &generator) ?? 200
                let end = min(bytes.count, start + Int.random(in: 1...limit, using: &generator))
                pieces.append(Array(bytes[start..<end]))
                start = end
                // Writes most of a long conversation in few pieces.
                if pieces.count > 50 {
                    pieces.append(Array(bytes[start...]))
                    break
                }
            }
            return pieces
        }

        func bytes(_ side: WebSocketSide) -> [UInt8] { Array((self.pieces[side] ?? []).joined()) }
    }

    /// The bytes that one end received.
    private struct Heard: Equatable {
        var head: String
        var bytes: [UInt8]
        var end: RawConnection.End
    }

    /// - Parameter request: nil asks the origin directly.
    private static func have(
        _ talk: Conversation, with origin: RawOrigin, over client: RawConnection, isDirect: Bool
    ) throws -> Heard {
        let url = isDirect ? "/chat" : "http://\(origin.authority)/chat"
        try client.send(WebSocketTalk.request(url, host: origin.authority, deflates: talk.deflates))
        let head = String(decoding: try client.read(through: "\r\n\r\n"), as: UTF8.self)
        for piece in talk.pieces[.client] ?? [] { try client.send(piece) }
        let (bytes, end) = try client.readToEnd()
        return Heard(head: head, bytes: bytes, end: end)
    }

    private static func origin(_ talk: Conversation) throws -> RawOrigin {
        let script: RawOrigin.Script = { connection in
            try connection.expectRequest("GET /chat")
            try connection.send(WebSocketTalk.opening(deflates: talk.deflates))
            for piece in talk.pieces[.server] ?? [] { try connection.send(piece) }
            let wanted = talk.bytes(.client)
            guard try connection.read(count: wanted.count) == wanted else { throw RawError("the client's bytes came as others") }
        }
        return try RawOrigin(scripts: [script, script])
    }

    @Test(arguments: 0..<rounds(100)) func bothEndsHearTheSameAsWithoutAProxy(seed: Int) throws {
        let talk = Conversation(seed: UInt64(seed))
        let origin = try Self.origin(talk)
        let direct = try Self.have(talk, with: origin, over: RawConnection(port: origin.port), isDirect: true)
        let proxy = try RunningProxy()
        let recorded = try Self.have(talk, with: origin, over: proxy.connect(), isDirect: false)
        origin.finish()
        #expect(direct.bytes == talk.bytes(.server) && direct.end == .closed)
        #expect(recorded == direct)
        let interaction = try #require(try proxy.recorded().first)
        let said = try WebSocketTalk.said(in: interaction, beside: proxy.folder.file("tape.json"))
        for side in WebSocketSide.allCases { #expect(said.filter { $0.from == side } == talk.said[side]) }
        #expect(interaction.outcome == .complete)
    }
}
