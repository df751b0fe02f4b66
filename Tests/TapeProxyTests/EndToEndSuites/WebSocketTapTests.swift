import CassetteModel
import Foundation
import TapeBytes
import TapeExchange
import Testing
import TrafficRules
@testable import TapeProxy

/// WebSockets that pass through a recording proxy: what the ends receive, and what the cassette records.
@Suite struct WebSocketTapTests {
    private static let switching = WebSocketTalk.switching
    private static let hello = WebSocketTalk.text("hello", from: .server)
    private static let ask = WebSocketTalk.text("who?", from: .client)

    private static func lines(_ proxy: RunningProxy) throws -> (lines: [String], interaction: Interaction) {
        let interaction = try #require(try proxy.recorded().first)
        return (try WebSocketTalk.lines(in: interaction, beside: proxy.folder.file("tape.json")), interaction)
    }

    private static func party(_ interaction: Interaction) -> Cut.Party? {
        if case .cut(let cut) = interaction.outcome { cut.by } else { nil }
    }

    /// The client's part, over any kind of connection.
    private static func talk(_ client: RawConnection, _ request: String) throws {
        // In one write, so that the frame comes with the request.
        try client.send(Array(request.utf8) + self.ask)
        try client.expect(self.switching)
        #expect(try client.read(count: self.hello.count) == self.hello)
        try client.send(WebSocketTalk.close(1000, from: .client))
        let goodbye = WebSocketTalk.close(1000, from: .server)
        #expect(try client.read(count: goodbye.count) == goodbye)
    }

    /// The origin's part.
    private static func answer(_ connection: RawConnection) throws {
        let head = try connection.expectRequest("GET /chat").lowercased()
        #expect(head.components(separatedBy: "\r\nsec-websocket-key: ").count == 2, "\(head)")
        try connection.send(Array(self.switching.utf8) + self.hello)
        let wanted = self.ask + WebSocketTalk.close(1000, from: .client)
        #expect(try connection.read(count: wanted.count) == wanted)
        try connection.send(WebSocketTalk.close(1000, from: .server))
    }

    private static let talked = ["client close [3, 232]", "client text who?", "server close [3, 232]", "server text hello"]

    @Test func framesThatComeWithTheHeadsAreRecorded() throws {
        let origin = try RawOrigin { try Self.answer($0) }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try Self.talk(client, WebSocketTalk.request(origin))
        try client.expectEnd()
        origin.finish()
        let (lines, interaction) = try Self.lines(proxy)
        #expect(lines.sorted() == Self.talked)
        #expect(interaction.outcome == .complete && interaction.response?.status == 101)
        let sent = Self.ask.count + WebSocketTalk.close(1000, from: .client).count
        let received = Self.hello.count + WebSocketTalk.close(1000, from: .server).count
        #expect(interaction.tunnel == TunnelCounts(sent: sent, received: received))
    }

    @Test func theSameInsideTLS() throws {
        let scene = try TLSScene()
        let origin = try RawOrigin(
            scene.origin().plays { stream in
                try Self.answer(stream)
                try stream.sayGoodbye()
            })
        let proxy = try scene.proxy()
        let stream = try scene.secure(proxy.connect(), to: origin.authority)
        try Self.talk(stream, WebSocketTalk.request("/chat", host: "example.test"))
        try stream.expectEnd()
        stream.close()
        origin.finish()
        let (lines, interaction) = try Self.lines(proxy)
        #expect(lines.sorted() == Self.talked)
        #expect(interaction.outcome == .complete && interaction.connection?.tls != nil)
    }

    @Test func theSameInHTTP2() throws {
        let origin = try RawOrigin { connection in
            try Self.answer(connection)
            _ = try connection.readToEnd()
        }
        let proxy = try RunningProxy()
        let client = try ExtendedConnect(
            proxy.connect(), authority: "127.0.0.1:\(proxy.server.port)", path: "/http://\(origin.authority)/chat")
        #expect(try client.status() == 200)
        try client.send(Self.ask)
        #expect(try client.read(count: Self.hello.count) == Self.hello)
        try client.send(WebSocketTalk.close(1000, from: .client))
        let goodbye = WebSocketTalk.close(1000, from: .server)
        #expect(try client.read(count: goodbye.count) == goodbye)
        try client.end()
        try client.expectEnd()
        origin.finish()
        let (lines, interaction) = try Self.lines(proxy)
        #expect(lines.sorted() == Self.talked)
        #expect(interaction.outcome == .complete)
        #expect(interaction.request.method == "GET" && interaction.request.connectProtocol == "websocket")
    }

    /// As with HTTP/1.1, where each direction of a connection ends separately.
    @Test func anOriginThatEndsFirstReceivesFromTheClientOfHTTP2() throws {
        let goodbye = WebSocketTalk.close(1000, from: .client)
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /chat")
            try connection.send(Array(Self.switching.utf8) + WebSocketTalk.close(1000, from: .server))
            connection.closeOutput()
            #expect(try connection.read(count: goodbye.count) == goodbye)
            try connection.expectEnd()
        }
        let proxy = try RunningProxy()
        let client = try ExtendedConnect(
            proxy.connect(), authority: "127.0.0.1:\(proxy.server.port)", path: "/http://\(origin.authority)/chat")
        #expect(try client.status() == 200)
        #expect(try client.read(count: 4) == WebSocketTalk.close(1000, from: .server))
        try client.expectEnd()
        try client.send(goodbye)
        try client.end()
        origin.finish()
    }

    /// A final answer opens the WebSocket, so its body is messages.
    @Test(arguments: [
        (#"{"kind": "drop", "after": "1 messages"}"#, "ac"), (#"{"kind": "garbage", "after": "1 messages"}"#, "a"), (#""cut""#, ""),
    ])
    func aRuleBreaksItInHTTP2(fault: String, messages: String) throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /chat")
            try connection.send(Array(Self.switching.utf8) + "abc".flatMap { WebSocketTalk.text(String($0), from: .server) })
            _ = try? connection.readToEnd()
        }
        let node = RuleNode(try JSONDocument(Array("[{\"fault\": \(fault)}]".utf8)).root)
        let engine = RuleEngine(try TrafficRules([RuleList(node: node, file: "rules", folder: nil)]))
        let proxy = try RunningProxy { $0.rules = engine }
        let client = try ExtendedConnect(
            proxy.connect(), authority: "127.0.0.1:\(proxy.server.port)", path: "/http://\(origin.authority)/chat")
        #expect(try client.status() == 200)
        for message in messages { #expect(try client.read(count: 3) == WebSocketTalk.text(String(message), from: .server)) }
        if messages == "ac" {
            try client.send(WebSocketTalk.close(1000, from: .client))
            try client.end()
        } else {
            #expect(throws: (any Error).self) { try client.read(count: 5) }
        }
        try proxy.stop()
        origin.finish()
        #expect(engine.report().flatMap(\.notes) == [])
    }

    // MARK: Unreadable bytes

    @Test func invalidFrameEndsTheRecordingAndPassesOn() throws {
        let noise = [UInt8](repeating: 0x8f, count: 5_000)
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /chat")
            try connection.send(Array(Self.switching.utf8) + Self.hello + noise)
            #expect(try connection.read(count: noise.count) == noise)
            try connection.send("and so on")
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(WebSocketTalk.request(origin))
        try client.expect(Self.switching)
        #expect(try client.read(count: Self.hello.count + noise.count) == Self.hello + noise)
        try client.send(noise)
        try client.expect("and so on")
        try client.expectEnd()
        origin.finish()
        let (lines, interaction) = try Self.lines(proxy)
        #expect(lines == ["server text hello"])
        guard case .cut(let cut) = interaction.outcome else { return #expect(Bool(false), "\(interaction.outcome)") }
        #expect(cut.by == .recorder && cut.reason.contains("the server sent what is no WebSocket"))
        #expect(interaction.tunnel == TunnelCounts(sent: noise.count, received: Self.hello.count + noise.count + 9))
    }

    // MARK: Ends

    @Test func aSideThatHasEndedStillReceivesAndAllIsRecorded() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /chat")
            try connection.send(Self.switching)
            #expect(try connection.read(count: Self.ask.count) == Self.ask)
            // The client has ended its side; this side continues.
            try connection.expectEnd()
            try connection.send(Self.hello)
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(WebSocketTalk.request(origin))
        try client.expect(Self.switching)
        try client.send(Self.ask)
        client.closeOutput()
        #expect(try client.readToEnd().bytes == Self.hello)
        origin.finish()
        let (lines, interaction) = try Self.lines(proxy)
        #expect(lines == ["client text who?", "server text hello"])
        #expect(Self.party(interaction) == .client)
    }

    @Test func anOriginThatBreaksOffWithinAMessageHasCutIt() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /chat")
            try connection.send(Array(Self.switching.utf8) + Self.hello.dropLast(2))
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(WebSocketTalk.request(origin))
        try client.expect(Self.switching)
        #expect(try client.readToEnd().bytes == Array(Self.hello.dropLast(2)))
        client.close()
        origin.finish()
        let (lines, interaction) = try Self.lines(proxy)
        #expect(lines == ["server text cut hel"])
        #expect(Self.party(interaction) == .origin)
    }

    @Test func aClientThatBreaksOffWithinAMessageHasCutIt() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /chat")
            try connection.send(Self.switching)
            #expect(try connection.read(count: Self.ask.count - 1) == Array(Self.ask.dropLast()))
            try connection.send(Self.hello)
            _ = try connection.readToEnd()
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(WebSocketTalk.request(origin))
        try client.expect(Self.switching)
        try client.send(Array(Self.ask.dropLast()))
        #expect(try client.read(count: Self.hello.count) == Self.hello)
        client.reset()
        origin.finish()
        let (lines, interaction) = try Self.lines(proxy)
        #expect(lines == ["server text hello", "client text cut who"])
        #expect(Self.party(interaction) == .client)
    }
}
