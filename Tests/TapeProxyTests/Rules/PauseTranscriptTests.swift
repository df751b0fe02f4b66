import CassetteModel
import CassettePlayback
import NIOCore
import TapeBytes
import Testing
import TrafficRules

@testable import TapeProxy

/// Messages that rules pause, in memory, as transcripts.
@Suite struct PauseTranscriptTests {
    private static let get = "GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n"
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let sentGet = "origin 1 < GET /a HTTP/1.1|Host: h||"
    private static let gotOK = "client < HTTP/1.1 200 OK|Content-Length: 2||ok"

    private let desk = PauseDesk()

    private func scene(_ rules: String, isWatched: Bool = true) throws -> ExchangeScene {
        let node = RuleNode(try JSONDocument(Array(rules.utf8)).root)
        let parsed = try TrafficRules([RuleList(node: node, file: "rules", folder: nil)])
        self.desk.setWatched { isWatched }
        return try ExchangeScene {
            $0.rules = RuleEngine(parsed)
            $0.pauseDesk = self.desk
        }
    }

    private var items: [PauseDesk.Item] { self.desk.items(at: .zero) }

    private func decide(_ scene: ExchangeScene, _ decision: (PauseDesk.Content) -> PauseDesk.Decision) throws {
        let item = try #require(self.items.first)
        #expect(self.desk.decide(item.id, decision(item.content)))
        scene.advance(0)
    }

    @Test func aRequestWaitsUntilSomebodyDecides() throws {
        let scene = try self.scene(#"[{"name": "look", "pause": "request"}]"#)
        scene.client(Self.get)
        #expect(scene.heard() == [])
        #expect(self.items.map(\.stage) == [.request])
        #expect(self.items.map(\.content.url) == ["http://h/a"])
        try self.decide(scene) { _ in .pass }
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard() == ["dial h", Self.sentGet, Self.gotOK])
        #expect(scene.recorder.exchanges.first?.interaction.modified == Modification(rules: ["look"]))
    }

    @Test func aRequestGoesOnByItselfWhenItsTimeIsOver() throws {
        let scene = try self.scene(#"[{"pause": "request", "for": "5s"}]"#)
        scene.client(Self.get)
        scene.advance(4)
        #expect(scene.heard() == [])
        scene.advance(1)
        #expect(scene.heard() == ["dial h"])
        #expect(self.items.isEmpty)
    }

    @Test func aRequestIsChangedByHand() throws {
        let scene = try self.scene(#"[{"pause": "request"}]"#)
        scene.client("POST http://h/a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
        #expect(self.items.isEmpty)
        scene.client("1\r\nc\r\n0\r\n\r\n")
        #expect(self.items.map(\.content.body) == [Array("abc".utf8)])
        try self.decide(scene) { content in
            var changed = content
            changed.method = "PUT"
            changed.url = "http://h/b"
            changed.headers.append(name: "x-by", value: "hand")
            changed.body = Array("other".utf8)
            return .change(changed)
        }
        scene.connected()
        scene.origin(Self.ok)
        #expect(
            scene.heard() == ["dial h", "origin 1 < PUT /b HTTP/1.1|Host: h|x-by: hand|Content-Length: 5||other", Self.gotOK])
        let interaction = try #require(scene.recorder.exchanges.first?.interaction)
        #expect(interaction.request.method == "POST" && interaction.request.url == "http://h/a")
        #expect(interaction.modified?.forwardedTo == "http://h/b")
    }

    @Test func aRequestIsAnsweredByHand() throws {
        let scene = try self.scene(#"[{"pause": "request"}]"#)
        scene.client(Self.get)
        try self.decide(scene) { _ in
            var answer = PauseDesk.Content()
            answer.status = 418
            answer.headers.append(name: "x-by", value: "hand")
            answer.body = Array("tea".utf8)
            return .answer(answer)
        }
        let heard = scene.heard()
        #expect(
            heard.count == 1 && heard[0].hasPrefix("client < HTTP/1.1 418 ") && heard[0].hasSuffix("|x-by: hand|Content-Length: 3||tea"))
    }

    @Test func aRequestThatIsDroppedClosesItsConnection() throws {
        let scene = try self.scene(#"[{"pause": "request"}]"#)
        scene.client(Self.get)
        try self.decide(scene) { _ in .drop }
        #expect(scene.heard() == ["client closed"])
    }

    @Test func aClientThatLeavesIsStruckOut() throws {
        let scene = try self.scene(#"[{"pause": "request"}]"#)
        scene.client(Self.get)
        scene.clientResets()
        #expect(self.items.map(\.clientHasLeft) == [true])
        #expect(self.desk.count == 0)
    }

    @Test func anAnswerIsChangedByHand() throws {
        let scene = try self.scene(#"[{"pause": "response"}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard() == ["dial h", Self.sentGet])
        #expect(self.items.map(\.stage) == [.response])
        #expect(self.items.map(\.content.body) == [Array("ok".utf8)])
        // The recording has what the origin answered.
        #expect(scene.recorder.summary == ["GET 200 complete 2"])
        try self.decide(scene) { content in
            var changed = content
            changed.status = 500
            changed.body = Array("broken".utf8)
            return .change(changed)
        }
        #expect(scene.heard() == ["client < HTTP/1.1 500 Internal Server Error|Content-Length: 6||broken"])
        // The connection goes on.
        scene.client(Self.get)
        #expect(scene.heard() == [Self.sentGet])
    }

    /// Many long answers at once would fill the memory before they are on the desk.
    @Test(arguments: ["Content-Length: 200", "Transfer-Encoding: chunked"]) func anAnswerWaitsOnlyIfThereIsRoomForItsBody(framing: String)
        throws
    {
        let scene = try self.scene(#"[{"pause": "response"}]"#)
        try self.desk.reserve(PauseDesk.sizeLimit - 150)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n")
        let isChunked = framing.hasSuffix("chunked")
        #expect(scene.heard().joined().contains("client < HTTP/1.1 200 OK") == !isChunked)
        let half = String(repeating: "x", count: 100)
        scene.origin(isChunked ? "64\r\n\(half)\r\n" : half)
        #expect(scene.heard().isEmpty == isChunked)
        scene.origin(isChunked ? "64\r\n\(half)\r\n0\r\n\r\n" : half)
        #expect(scene.heard().joined().count { $0 == "x" } == (isChunked ? 200 : 100))
        #expect(self.items.isEmpty)
        #expect(scene.proxy.rules?.engine.report().first?.notes.first?.hasSuffix("further ones go on") == true)
        // The room is free again.
        try self.desk.reserve(150)
    }

    @Test func theRoomOfAnAnswerIsFreeAfterItsDecision() throws {
        let scene = try self.scene(#"[{"pause": "response"}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n")
        scene.origin("ok")
        // A body that cannot be shown is held as well.
        #expect(throws: PauseDesk.Refusal.full) { try self.desk.reserve(PauseDesk.sizeLimit) }
        try self.decide(scene) { _ in .pass }
        try self.desk.reserve(PauseDesk.sizeLimit)
    }

    @Test func theRoomOfAnAnswerIsFreeWhenItsClientLeaves() throws {
        let scene = try self.scene(#"[{"pause": "response"}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\nx")
        #expect(throws: PauseDesk.Refusal.full) { try self.desk.reserve(PauseDesk.sizeLimit) }
        scene.clientResets()
        try self.desk.reserve(PauseDesk.sizeLimit)
    }

    @Test func aLongAnswerWaitsWithItsHeadAlone() throws {
        let scene = try self.scene(#"[{"pause": "response"}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n")
        #expect(self.items.map(\.bodyNote) == ["the body has more than 4 MiB and goes on as it is"])
        #expect(self.items.map(\.content.body) == [nil])
    }

    /// It waits with its head alone, and its body goes on after that.
    @Test(arguments: ["text/plain", "application/octet-stream", "application/json"]) func anAnswerThatDoesNotEndWaitsInTheEnd(type: String)
        throws
    {
        let scene = try self.scene(#"[{"pause": "response", "for": "5s"}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\nline 1\n")
        scene.advance(4)
        #expect(self.items.isEmpty)
        scene.advance(1)
        #expect(self.items.map(\.bodyNote) == ["the body has not ended yet and goes on as it is"])
        try self.decide(scene) { _ in .pass }
        #expect(scene.heard().last?.contains("line 1\n") == true)
        scene.origin("line 2\n")
        #expect(scene.heard().last?.contains("line 2\n") == true)
        #expect(self.items.isEmpty)
    }

    @Test(arguments: ["text/event-stream", "application/x-ndjson", "multipart/x-mixed-replace; boundary=a"])
    func aStreamWaitsAtOnceWithItsHeadAloneWhateverItsCoding(type: String) throws {
        for coding in ["", "Content-Encoding: gzip\r\n"] {
            let scene = try self.scene(#"[{"pause": "response"}]"#)
            scene.client(Self.get)
            scene.connected()
            scene.origin("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\(coding)\r\nx")
            #expect(self.items.map(\.bodyNote) == ["the body is a stream and goes on as it is"], "\(coding)")
            try self.decide(scene) { _ in .pass }
        }
    }

    @Test func aClientThatLeavesBeforeAnAnswerCouldBeShownIsNoted() throws {
        let scene = try self.scene(#"[{"name": "look", "pause": "response"}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nline 1\n")
        scene.clientResets()
        let lines = (scene.proxy.rules?.engine.report() ?? []).flatMap { RuleLines.lines(of: $0) }.map(\.text)
        #expect(lines.last == "rule \"look\": the client left before the end of the body, so the answer was not shown.")
        scene.advance(60)
        #expect(self.items.isEmpty)
    }

    /// Its size alone decides, not the pieces in which it comes.
    @Test(arguments: [0, 10, 500_000]) func aRequestOfMoreThanOneMebibyteWaitsWithItsHeadAlone(last: Int) throws {
        let scene = try self.scene(#"[{"pause": "request"}]"#)
        let size = (1 << 20) + 10
        scene.client("POST http://h/a HTTP/1.1\r\nHost: h\r\nContent-Length: \(size)\r\n\r\n")
        scene.client([UInt8](repeating: 97, count: size - last))
        if last > 0 { scene.client([UInt8](repeating: 97, count: last)) }
        #expect(self.items.map(\.bodyNote) == ["the body has more than 1 MiB and goes on as it is"])
    }

    @Test func eachEventWaits() throws {
        let scene = try self.scene(#"[{"pause": "events"}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\ndata: 2\n\n")
        #expect(scene.heard().last?.hasPrefix("client < HTTP/1.1 200 OK|Content-Type: text/event-stream") == true)
        #expect(self.items.map(\.content.body) == [Array("data: 1\n\n".utf8)])
        try self.decide(scene) { content in
            var changed = content
            changed.body = Array("data: one\n\n".utf8)
            return .change(changed)
        }
        #expect(scene.heard() == ["client < data: one\n\n"])
        try self.decide(scene) { _ in .drop }
        #expect(scene.heard() == [])
        scene.origin("data: 3\n\n")
        try self.decide(scene) { _ in .pass }
        #expect(scene.heard() == ["client < data: 3\n\n"])
    }

    @Test func eachMessageOfAWebSocketWaits() throws {
        let scene = try self.scene(#"[{"pause": "messages"}]"#)
        scene.client(WebSocketTalk.request("http://h/a", host: "h"))
        scene.connected()
        scene.origin(WebSocketTalk.switching)
        _ = scene.heard()
        scene.origin(WebSocketTalk.text("one", from: .server) + WebSocketTalk.text("two", from: .server))
        #expect(scene.heard() == [])
        #expect(self.items.map(\.stage) == [.serverMessage])
        try self.decide(scene) { content in
            var changed = content
            changed.body = Array("1".utf8)
            return .change(changed)
        }
        #expect(scene.heard().joined().hasSuffix("\u{1}1"))
        try self.decide(scene) { _ in .drop }
        #expect(scene.heard() == [])
        let said = WebSocketTalk.text("three", from: .client)
        scene.client(said)
        #expect(scene.heard() == [])
        #expect(self.items.map(\.stage) == [.clientMessage])
        #expect(self.items.map(\.content.body) == [Array("three".utf8)])
        try self.decide(scene) { _ in .pass }
        #expect(scene.heard().map { $0.hasPrefix("origin 1 < ") } == [true])
    }

    /// Nobody could read or change them.
    @Test(arguments: [true, false]) func messagesThatMayWaitAreNotCompressed(mayWait: Bool) throws {
        let scene = try self.scene(mayWait ? #"[{"pause": "messages"}]"# : #"[{"pause": "request"}]"#, isWatched: mayWait)
        scene.client(WebSocketTalk.request("http://h/a", host: "h", deflates: true))
        scene.connected()
        #expect(scene.heard().joined().contains("permessage-deflate") == !mayWait)
    }

    @Test func aLongMessageOfAWebSocketDoesNotWait() throws {
        let scene = try self.scene(#"[{"pause": "messages"}]"#)
        scene.client(WebSocketTalk.request("http://h/a", host: "h"))
        scene.connected()
        scene.origin(WebSocketTalk.switching)
        _ = scene.heard()
        let long = WebSocketTalk.text(String(repeating: "x", count: 1_500_000), from: .server)
        scene.origin(Array(long[..<700_000]))
        scene.origin(Array(long[700_000...]))
        #expect(self.items.isEmpty)
        #expect(scene.heard().joined().count { $0 == "x" } == 1_500_000)
        scene.origin(WebSocketTalk.text("short", from: .server))
        #expect(self.items.map(\.stage) == [.serverMessage])
        try self.decide(scene) { _ in .pass }
        scene.client(WebSocketTalk.text(String(repeating: "x", count: 1_500_000), from: .client))
        #expect(self.items.isEmpty)
        scene.client(WebSocketTalk.text("short", from: .client))
        #expect(self.items.map(\.stage) == [.clientMessage])
        #expect(scene.proxy.rules?.engine.report().first?.notes == ["a message has more than 1 MiB, so it does not wait"])
    }

    @Test func aLongEventDoesNotWait() throws {
        let scene = try self.scene(#"[{"pause": "events"}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n")
        let half = String(repeating: "x", count: 700_000)
        for piece in [half, half, "x\n"] { scene.origin(piece) }
        #expect(self.items.isEmpty)
        // With that of the Content-Type.
        #expect(scene.heard().joined().count { $0 == "x" } == 1_400_002)
        #expect(scene.proxy.rules?.engine.report().first?.notes == ["an event or message has more than 1 MiB, so it does not wait"])
        scene.origin("1\n")
        #expect(self.items.map(\.content.body) == [Array("1\n".utf8)])
    }

    @Test func nothingWaitsWhileNoPageIsOpen() throws {
        let scene = try self.scene(#"[{"pause": "both"}]"#, isWatched: false)
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard() == ["dial h", Self.sentGet, Self.gotOK])
        #expect(scene.proxy.rules?.engine.report().first?.notes == ["nothing waits while no page is open"])
    }
}
