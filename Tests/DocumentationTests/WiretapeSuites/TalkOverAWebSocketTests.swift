import Foundation
import TapeTestSupport
import Testing
import Wiretape

@Suite struct TalkOverAWebSocketTests {
    @Test func messagesAreASequence() async throws {
        let server = StubTransport { _ in
            .webSocket(protocol: "prices.v2") { socket in
                _ = try await socket.receive()
                for price in 1...3 { try await socket.send("\(price)") }
                _ = try await socket.receive()
            }
        }
        let session = HTTPSession(transport: server)
        var prices: [String] = []
        // snippet: socket-messages
        let socket = try await session.webSocket("wss://example.test/prices", protocols: ["prices.v2"])
        try await socket.send(#"{"op": "subscribe", "pet": 3}"#)
        for try await message in socket.messages {
            prices.append(message.text ?? "\(message.data.count) bytes")
            if prices.count == 2 { break }
        }
        await socket.close(reason: "enough")
        // snippet end
        #expect(prices == ["1", "2"])
        #expect(socket.negotiatedProtocol == "prices.v2" && socket.closeReason == "enough")
    }

    @Test func aMessageThatDiffersIsAMiss() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("prices.json")
        let server = StubTransport { _ in .webSocket { _ = try await $0.receive() } }
        let recording = try Cassette(file, mode: .all)
        let recorded = try await HTTPSession(transport: RecordingTransport(recording, around: server))
            .webSocket("wss://example.test/prices")
        try await recorded.send(#"{"op": "subscribe", "pet": 3}"#)
        await recorded.close()
        try recording.close()
        // snippet: socket-replay
        let cassette = try Cassette(file)
        let session = HTTPSession(cassette: cassette)
        let socket = try await session.webSocket("wss://example.test/prices")
        do {
            try await socket.send(#"{"op": "subscribe", "pet": 4}"#)
        } catch {
            print(error.missReport?.description ?? error.message)
        }
        try cassette.close()
        // snippet end
        #expect(cassette.verdict.misses == 1)
    }

    @Test func theServersEndIsAClosure() async throws {
        // snippet: socket-stub
        let transport = StubTransport { _ in
            .webSocket(protocol: "prices.v2") { socket in
                while let message = try await socket.receive() {
                    try await socket.send("heard \(message.text ?? "")")
                }
            }
        }
        let socket = try await HTTPSession(transport: transport).webSocket("wss://example.test/prices")
        try await socket.send("hello")
        #expect(try await socket.receive() == .text("heard hello"))
        // snippet end
    }
}
