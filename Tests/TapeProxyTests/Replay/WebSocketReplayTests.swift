import CassetteModel
import CassettePlayback
import TapeExchange
import Testing

@testable import TapeProxy

/// WebSockets answered from a cassette, in memory, as transcripts of messages.
@Suite struct WebSocketReplayTests {
    typealias Talk = WebSocketScene.Talk

    private static let greeting = Talk(
        #"{ "at": 0, "from": "server", "text": "hello" }"#,
        #"{ "at": 2000, "from": "client", "json": { "op": "subscribe" } }"#,
        #"{ "at": 5000, "from": "server", "text": "one" }"#,
        #"{ "at": 6000, "from": "server", "ping": "cA==" }"#,
        #"{ "at": 8000, "from": "server", "text": "two" }"#,
        #"{ "at": 9000, "from": "client", "text": "bye" }"#,
        #"{ "at": 9000, "from": "server", "close": { "code": 4001, "reason": "so long" } }"#,
        #"{ "at": 9001, "from": "client", "close": { "code": 4001 } }"#)

    private static func answers(_ word: String, to messages: String...) -> Talk {
        var talk = Talk()
        talk.messages = messages.enumerated().map { "{ \"at\": \($0), \"from\": \"client\", \"text\": \"\($1)\" }" }
        talk.messages += [
            "{ \"at\": 90, \"from\": \"server\", \"text\": \"\(word)\" }",
            #"{ "at": 91, "from": "client", "close": { "code": 1000 } }"#, #"{ "at": 92, "from": "server", "close": { "code": 1000 } }"#,
        ]
        return talk
    }

    // MARK: Messages

    @Test func theServerSendsItsMessagesAfterAsManyOfTheClientsAsRecorded() throws {
        let talk = try WebSocketScene(.none, Self.greeting)
        talk.open()
        #expect(talk.heard() == ["101", "text hello"])
        talk.says(#"{"op":"subscribe"}"#)
        #expect(talk.heard() == ["text one", "text two"])
        talk.says("bye")
        #expect(talk.heard() == ["close 4001 so long"])
        talk.closes(4001)
        #expect(talk.heard() == ["client closed"])
        #expect(talk.verdict.flaws.isEmpty && talk.verdict.hits == 1)
    }

    @Test func aPingIsAnsweredAndAPongIsNot() throws {
        let talk = try WebSocketScene(.none, Self.greeting)
        talk.open()
        _ = talk.heard()
        talk.pings("are you there")
        #expect(talk.heard() == ["pong are you there"])
    }

    @Test func manyPingsAreAnsweredInTurns() throws {
        let talk = try WebSocketScene(.none, Self.greeting)
        talk.open()
        _ = talk.heard()
        let frame = talk.frame(ping: "")
        talk.scene.client(Array(repeatElement(frame, count: 20_000).joined()))
        let first = talk.heard().count
        #expect(first > 0 && first < 2000, "\(first) in one turn")
        talk.scene.advance(1)
        #expect(first + talk.heard().count == 20_000)
        talk.says(#"{"op":"subscribe"}"#)
        #expect(talk.heard() == ["text one", "text two"])
    }

    /// The client has sent more than one turn takes, and its close, before it left.
    @Test func messagesOfAClientThatLeavesAreAllLookedAt() throws {
        let talk = try WebSocketScene(.none, Self.answers("both", to: "a", "b"))
        talk.open()
        let pings = Array(repeatElement(talk.frame(ping: ""), count: 3000).joined())
        talk.scene.client(pings + talk.frames(text: "a") + talk.frames(text: "b") + talk.closing())
        talk.scene.clientEnds()
        talk.scene.advance(1)
        #expect(Array(talk.heard().suffix(3)) == ["text both", "close 1000", "client closed"])
        #expect(talk.verdict.flaws.isEmpty)
    }

    @Test func messagesInOnePieceWithTheCloseAreAllLookedAt() throws {
        let talk = try WebSocketScene(.none, Self.answers("both", to: "a", "b"))
        talk.open()
        talk.scene.client(talk.frames(text: "a") + talk.frames(text: "b") + talk.closing())
        #expect(talk.heard() == ["101", "text both", "close 1000", "client closed"])
        #expect(talk.verdict.flaws.isEmpty)
    }

    @Test func aServerThatNeverClosedAnswersACloseWithItsCode() throws {
        let talk = try WebSocketScene(
            .none,
            Talk(
                #"{ "at": 1, "from": "client", "text": "a" }"#, #"{ "at": 2, "from": "client", "close": { "code": 1000 } }"#))
        talk.open()
        talk.says("a")
        #expect(talk.heard() == ["101"])
        talk.closes(3000, "done")
        #expect(talk.heard() == ["close 3000", "client closed"])
        #expect(talk.verdict.flaws.isEmpty)
    }

    // MARK: Time

    @Test func withRecordedLatencyEachPartComesAtItsTime() throws {
        var recorded = Self.greeting
        recorded.wait = 1000
        recorded.messages[0] = #"{ "at": 3000, "from": "server", "text": "hello" }"#
        recorded.messages[1] = #"{ "at": 4000, "from": "client", "json": { "op": "subscribe" } }"#
        let talk = try WebSocketScene(.none, recorded) { $0.latency = .scaled(1) }
        talk.open()
        #expect(talk.heard().isEmpty)
        talk.scene.advance(1)
        #expect(talk.heard() == ["101"])
        talk.scene.advance(1)
        #expect(talk.heard().isEmpty)
        talk.scene.advance(1)
        #expect(talk.heard() == ["text hello"])
        talk.says(#"{"op":"subscribe"}"#)
        #expect(talk.heard().isEmpty)
        talk.scene.advance(1)
        #expect(talk.heard() == ["text one"])
        talk.scene.advance(3)
        #expect(talk.heard() == ["text two"])
    }

    @Test func aFixedLatencyDelaysTheHandshakeAlone() throws {
        let talk = try WebSocketScene(.none, Self.greeting) { $0.latency = .fixed(2000) }
        talk.open()
        talk.scene.advance(1)
        #expect(talk.heard().isEmpty)
        talk.scene.advance(1)
        #expect(talk.heard() == ["101", "text hello"])
        talk.says(#"{"op":"subscribe"}"#)
        #expect(talk.heard() == ["text one", "text two"])
    }

    @Test func aClientThatLeavesWhileTheHandshakeWaitsUsesNothing() throws {
        let talk = try WebSocketScene(.none, Self.greeting) { $0.latency = .fixed(2000) }
        talk.open()
        talk.scene.clientResets()
        talk.scene.advance(3)
        #expect(talk.heard() == ["client closed"])
        #expect(talk.verdict.hits == 0 && talk.verdict.unused == [0])
    }

    // MARK: Differences

    @Test func anotherMessageIsAMissThatClosesWithItsDifference() throws {
        let talk = try WebSocketScene(.none, Self.greeting)
        talk.open()
        _ = talk.heard()
        talk.says(#"{"op":"unsubscribe"}"#)
        let heard = talk.heard()
        #expect(
            heard.count == 1 && heard[0].hasPrefix("close 1008 wiretape: not in the cassette: message 1: JSON \"/op\" is \"unsubscribe\""),
            "\(heard)"
        )
        talk.closes(1008)
        #expect(talk.heard() == ["client closed"])
        #expect(talk.verdict.flaws == [.miss] && talk.verdict.misses == 1 && talk.verdict.hits == 0)
        #expect(talk.verdict.reports.first?.reason == .otherMessages(index: 0))
    }

    @Test func oneMessageTooManyIsAMiss() throws {
        let talk = try WebSocketScene(.none, Self.answers("a", to: "a"))
        talk.open()
        talk.says("a", "b")
        #expect(
            talk.heard() == [
                "101", "text a", "close 1008 wiretape: not in the cassette: message 2 was not recorded: the recorded client sent 1 message",
            ])
        #expect(talk.verdict.misses == 1 && talk.verdict.unsent == 0)
    }

    @Test func aCloseBeforeAllWasSaidIsAMissAndTheEnd() throws {
        let talk = try WebSocketScene(.none, Self.answers("both", to: "a", "b"))
        talk.open()
        talk.says("a")
        talk.closes()
        let heard = talk.heard()
        #expect(
            heard.first == "101" && heard.dropFirst().first?.hasPrefix("close 1008 wiretape: not in the cassette: ") == true, "\(heard)")
        // Both sides have closed, so nobody is waited for.
        #expect(heard.last == "client closed")
        #expect(talk.verdict.misses == 1 && talk.verdict.unsent == 0 && talk.verdict.hits == 0)
        #expect(talk.verdict.reports.first?.nearest.first?.differences == [.messagesMissing(sent: 1, recorded: 2)])
    }

    @Test func aMissWhileItIsBeingChosenEndsToo() throws {
        let talk = try WebSocketScene(.none, Self.answers("1", to: "a", "b"), Self.answers("2", to: "a", "c"))
        talk.open()
        talk.says("a")
        talk.closes()
        let heard = talk.heard()
        #expect(heard.count == 3 && heard[1].hasPrefix("close 1008 ") && heard[2] == "client closed", "\(heard)")
        #expect(talk.verdict.misses == 1 && talk.verdict.hits == 0 && talk.verdict.unused == [0, 1])
    }

    @Test func clientThatLeavesWithoutACloseIsReportedWithItsUnsentMessages() throws {
        for leave in [{ (talk: WebSocketScene) in talk.scene.clientEnds() }, { $0.scene.clientResets() }] {
            let talk = try WebSocketScene(.none, Self.answers("both", to: "a", "b"))
            talk.open()
            talk.says("a")
            leave(talk)
            #expect(talk.heard() == ["101", "client closed"])
            #expect(talk.verdict.misses == 0 && talk.verdict.unsentMessages.map(\.sent) == [1])
        }
    }

    @Test func aRepeatedConversationThatDiffersIsNoHitAndNoRepetition() throws {
        let talk = try WebSocketScene(.none, Self.answers("a", to: "a"), repetition: .last)
        for isFirst in [true, false] {
            talk.open(isFirst: isFirst)
            talk.says("a")
            talk.closes()
        }
        talk.open(isFirst: false)
        talk.says("b")
        #expect(talk.verdict.hits == 2 && talk.verdict.repeatedHits == 1 && talk.verdict.misses == 1)
    }

    // MARK: Last messages arrive

    private static let long = String(repeating: "x", count: 100_000)

    @Test func aLongMessageIsComparedBeforeTheCloseAndTheEndThatFollowIt() throws {
        let talk = try WebSocketScene(.none, Self.answers("long", to: Self.long))
        talk.open()
        _ = talk.heard()
        talk.scene.withoutFlush {
            talk.scene.client(talk.frames(text: Self.long) + talk.closing())
            talk.scene.clientEnds()
        }
        talk.scene.advance(1)
        #expect(talk.heard() == ["text long", "close 1000", "client closed"])
        #expect(talk.verdict.flaws.isEmpty && talk.verdict.hits == 1)
    }

    @Test func clientThatLeavesDuringTheComparisonHasSentTheMessage() throws {
        let talk = try WebSocketScene(.none, Self.answers("both", to: Self.long, "b"))
        talk.open()
        _ = talk.heard()
        talk.scene.withoutFlush {
            talk.scene.client(talk.frames(text: Self.long))
            talk.scene.clientResets()
        }
        talk.scene.advance(1)
        #expect(talk.verdict.unsentMessages.map(\.sent) == [1] && talk.verdict.misses == 0)
    }

    @Test func aDifferenceCountsOnceWhenTheClientLeavesAtOnce() throws {
        let talk = try WebSocketScene(.none, Self.answers("both", to: "a", "b"))
        talk.open()
        _ = talk.heard()
        talk.scene.withoutFlush {
            talk.says("x")
            talk.scene.clientResets()
        }
        #expect(talk.verdict.misses == 1 && talk.verdict.unsent == 0 && talk.verdict.hits == 0)
    }

    // MARK: Several recordings

    @Test func theMessagesChooseTheRecording() throws {
        let talk = try WebSocketScene(.none, Self.answers("1", to: "a", "b"), Self.answers("2", to: "a", "c"))
        talk.open()
        talk.says("a")
        #expect(talk.heard() == ["101"])
        talk.says("c")
        #expect(talk.heard() == ["text 2"])
        talk.open(isFirst: false)
        talk.says("a", "b")
        #expect(talk.heard() == ["client 2 < 101", "client 2 < text 1"])
        #expect(talk.verdict.misses == 0 && talk.verdict.hits == 2)
    }

    @Test func theHandshakeIsThatOfARecordingWhoseSubprotocolIsOffered() throws {
        func talk(_ name: String, _ word: String) -> Talk {
            var talk = Self.answers(word, to: "a")
            talk.asked = ["Sec-WebSocket-Protocol: \(name)"]
            talk.answer = ["Sec-WebSocket-Protocol: \(name)"]
            return talk
        }
        let scene = try WebSocketScene(.none, talk("v1", "one"), talk("v2", "two"))
        scene.open("Sec-WebSocket-Protocol: v3, v2")
        scene.says("a")
        #expect(scene.heard() == ["101 Sec-WebSocket-Protocol: v2", "text two"])
        // No other recording is left, so this one is as good as any.
        scene.open("Sec-WebSocket-Protocol: v2", isFirst: false)
        scene.says("a")
        #expect(scene.heard() == ["client 2 < 101", "client 2 < text one"])
    }

    @Test func inAnyOrderAsManyMessagesAreEnough() throws {
        let recorded = Talk(
            #"{ "at": 1, "from": "client", "text": "a" }"#, #"{ "at": 2, "from": "client", "text": "b" }"#,
            #"{ "at": 3, "from": "server", "text": "two" }"#, #"{ "at": 4, "from": "client", "text": "c" }"#,
            #"{ "at": 5, "from": "server", "text": "three" }"#, #"{ "at": 6, "from": "client", "close": { "code": 1000 } }"#,
            #"{ "at": 7, "from": "server", "close": { "code": 1000 } }"#)
        let talk = try WebSocketScene(.none, recorded, conversationOrder: .any)
        talk.open()
        talk.says("c")
        #expect(talk.heard() == ["101"])
        talk.says("a")
        #expect(talk.heard() == ["text two"])
        talk.says("a")
        #expect(talk.heard().first?.hasPrefix("close 1008 wiretape: not in the cassette: message 3: ") == true)
        let strict = try WebSocketScene(.none, recorded)
        strict.open()
        strict.says("c")
        #expect(strict.heard().last?.hasPrefix("close 1008 ") == true)
    }

    // MARK: Modes

    @Test(arguments: [RecordMode.once, .newEpisodes]) func messageThatDiffersFromAllIsAMissInEveryMode(_ mode: RecordMode) throws {
        let talk = try WebSocketScene(mode, Self.answers("1", to: "a", "b"), Self.answers("2", to: "a", "c"))
        talk.open()
        talk.says("x")
        let heard = talk.heard()
        #expect(heard.last?.hasPrefix("close 1008 wiretape: not in the cassette: message 1: ") == true, "\(heard)")
        #expect(talk.verdict.misses == 1 && talk.verdict.forwarded == 0)
        #expect(talk.verdict.reports.first?.nextStep.contains("to record it anew") == (mode == .newEpisodes))
    }

    @Test func oneMoreThanWasRecordedIsForwardedOrRefused() throws {
        for (mode, wanted) in [(RecordMode.newEpisodes, "dial h.test"), (.none, "HTTP/1.1 424 Not In Cassette|")] {
            let talk = try WebSocketScene(mode, Self.answers("a", to: "a"))
            talk.open()
            talk.says("a")
            talk.closes()
            _ = talk.heard()
            talk.open(isFirst: false)
            let heard = talk.heard()
            #expect(heard.first?.contains(wanted) == true, "\(heard)")
        }
    }

    // MARK: Ends

    @Test func messageCutByTheOriginIsCutAgain() throws {
        let talk = try WebSocketScene(
            .none,
            Talk(
                #"{ "at": 1, "from": "server", "text": "whole" }"#,
                #"{ "at": 2, "from": "server", "text": "half a mess", "complete": false }"#, outcome: WebSocketScene.cutByOrigin))
        talk.open()
        #expect(talk.heard() == ["101", "text whole", "client closed"])
        #expect(talk.unfinished() == "half a mess")
        #expect(talk.verdict.flaws.isEmpty && talk.verdict.hits == 1)
    }

    @Test func aMessageThatCouldNotBeReadIsNotServed() throws {
        let lines = [
            #"{ "at": 2, "from": "server", "text": "half", "complete": false, "deflated": true, "note": "not inflated further" }"#,
            #"{ "at": 2, "from": "server", "base64": "AAEC", "rsv": 2 }"#,
        ]
        for line in lines {
            let talk = try WebSocketScene(.none, Talk(line, #"{ "at": 3, "from": "server", "text": "more" }"#))
            talk.open()
            #expect(talk.heard() == ["101", "client closed"], "\(line)")
            #expect(talk.verdict.flaws == [.unserved] && talk.verdict.hits == 0, "\(line)")
        }
    }

    @Test func aMessageOfTheClientThatWasCutMayComeOrNot() throws {
        let recorded = Talk(
            #"{ "at": 1, "from": "client", "text": "a" }"#, #"{ "at": 2, "from": "server", "text": "b" }"#,
            #"{ "at": 3, "from": "client", "text": "half", "complete": false }"#, outcome: WebSocketScene.cutByClient)
        for more in [true, false] {
            let talk = try WebSocketScene(.none, recorded)
            talk.open()
            talk.says("a")
            if more { talk.says("half of it") }
            #expect(talk.heard() == ["101", "text b"])
            talk.scene.clientEnds()
            #expect(talk.verdict.flaws.isEmpty && talk.verdict.hits == 1)
        }
    }

    @Test func aMessageOfTheClientThatWasNotReadIsAnyMessage() throws {
        let talk = try WebSocketScene(
            .none,
            Talk(
                #"{ "at": 1, "from": "client", "text": "ha", "complete": false, "deflated": true, "note": "given up" }"#,
                #"{ "at": 2, "from": "client", "text": "b" }"#, #"{ "at": 3, "from": "server", "text": "c" }"#,
                #"{ "at": 4, "from": "server", "close": { "code": 1000 } }"#))
        talk.open()
        talk.says("whatever it was", "b")
        #expect(talk.heard() == ["101", "text c", "close 1000"])
    }

    @Test func serverIsSilentAfterTheRecordedClientLeft() throws {
        let talk = try WebSocketScene(
            .none, Talk(#"{ "at": 1, "from": "server", "text": "tick" }"#, outcome: WebSocketScene.cutByClient))
        talk.open()
        #expect(talk.heard() == ["101", "text tick"])
        talk.scene.advance(600)
        #expect(talk.heard().isEmpty)
        talk.closes(1001)
        #expect(talk.heard() == ["close 1001", "client closed"])
        #expect(talk.verdict.flaws.isEmpty)
    }

    /// As in a browser's archive, which contains only messages.
    @Test func withoutARecordedEndTheSocketStaysOpen() throws {
        let messages = Talk(#"{ "at": 1, "from": "client", "text": "a" }"#, #"{ "at": 2, "from": "server", "text": "b" }"#)
        let talk = try WebSocketScene(.none, messages)
        talk.open()
        talk.says("a")
        #expect(talk.heard() == ["101", "text b"])
        talk.scene.advance(600)
        #expect(talk.heard().isEmpty)
        talk.closes(1001)
        #expect(talk.heard() == ["close 1001", "client closed"])
        #expect(talk.verdict.flaws.isEmpty && talk.verdict.hits == 1)

        let surplus = try WebSocketScene(.none, messages)
        surplus.open()
        surplus.says("a", "c")
        #expect(surplus.heard().last?.hasPrefix("close 1008 wiretape: not in the cassette: message 2 was not recorded") == true)
        let unsent = try WebSocketScene(.none, messages)
        unsent.open()
        unsent.scene.clientEnds()
        #expect(unsent.verdict.unsentMessages.map(\.sent) == [0])
    }

    @Test func invalidFrameIsAnsweredWith1002() throws {
        let talk = try WebSocketScene(.none, Self.answers("a", to: "a"))
        talk.open()
        _ = talk.heard()
        // A text message without a mask.
        talk.scene.client([0x81, 0x01, 0x61])
        #expect(talk.heard().first?.hasPrefix("close 1002 ") == true)
        #expect(talk.verdict.unsent == 1)
    }

    @Test func theStoppedProxyClosesWithAReasonAndReportsUnsentMessages() throws {
        let talk = try WebSocketScene(.none, Self.answers("both", to: "a", "b"))
        talk.open()
        talk.says("a")
        _ = talk.heard()
        talk.scene.stop()
        talk.scene.advance(30)
        #expect(talk.heard() == ["stopped", "close 1001 the proxy was stopped", "client closed"])
        #expect(talk.verdict.unsentMessages.map(\.sent) == [1] && talk.verdict.misses == 0)
    }

    @Test func theIdleLimitReportsUnsentMessages() throws {
        let talk = try WebSocketScene(.none, Self.answers("both", to: "a", "b")) { $0.limits.tunnelIdle = 5 }
        talk.open()
        talk.says("a")
        talk.scene.advance(6)
        #expect(talk.heard() == ["101", "client closed"])
        #expect(talk.verdict.unsent == 1)
    }

    // MARK: Payloads

    @Test(arguments: ["permessage-deflate", "permessage-deflate; server_no_context_takeover; client_no_context_takeover"])
    func deflatedMessagesAreDeflatedAgainIfTheClientOffersIt(_ agreed: String) throws {
        let word = String(repeating: "again and ", count: 8)
        let line = "{ \"at\": 1, \"from\": \"server\", \"deflated\": true, \"text\": \"\(word)\" }"
        let recorded = Talk(
            line, line, #"{ "at": 3, "from": "client", "deflated": true, "text": "a" }"#, #"{ "at": 4, "from": "server", "text": "b" }"#,
            answer: ["Sec-WebSocket-Extensions: \(agreed)"], asked: ["Sec-WebSocket-Extensions: permessage-deflate"])
        let talk = try WebSocketScene(.none, recorded, recorded)
        talk.open("Sec-WebSocket-Extensions: permessage-deflate")
        #expect(talk.heard() == ["101 Sec-WebSocket-Extensions: \(agreed)", "deflated text \(word)", "deflated text \(word)"])
        // With the window of the first message, the second takes a few bytes.
        #expect(agreed.contains("no_context") ? talk.received > 30 : talk.received < 30, "\(talk.received)")
        talk.scene.client(talk.frames(text: "a", isDeflated: true))
        #expect(talk.heard() == ["text b"])
        talk.open(isFirst: false)
        #expect(talk.heard() == ["client 2 < 101", "client 2 < text \(word)", "client 2 < text \(word)"])
    }

    @Test func aMessageInAFileIsSentAsFastAsTheClientTakesIt() throws {
        let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let recorded = Talk(
            #"{ "at": 1, "from": "client", "text": "a" }"#,
            "{ \"at\": 2, \"from\": \"server\", \(WebSocketScene.file("a.bin", bytes)) }",
            #"{ "at": 3, "from": "server", "text": "b" }"#, #"{ "at": 4, "from": "server", "close": { "code": 1000 } }"#)
        let talk = try WebSocketScene(.none, recorded, files: ["a.bin": bytes])
        talk.open()
        talk.scene.clientTakes(false)
        talk.says("a")
        #expect(talk.heard() == ["101"])
        talk.scene.clientTakes(true)
        #expect(talk.heard() == ["binary of \(bytes.count)", "text b", "close 1000"])
    }

    @Test func aMissWaitsForTheEndOfTheMessageThatIsBeingSent() throws {
        let bytes = [UInt8](repeating: 1, count: 700_000)
        let recorded = Talk(
            "{ \"at\": 1, \"from\": \"server\", \(WebSocketScene.file("a.bin", bytes)) }", #"{ "at": 2, "from": "client", "text": "a" }"#)
        let talk = try WebSocketScene(.none, recorded, files: ["a.bin": bytes])
        talk.scene.withoutFlush {
            talk.open()
            talk.says("x")
        }
        let heard = talk.heard()
        #expect(heard.count == 3 && heard[1] == "binary of \(bytes.count)" && heard[2].hasPrefix("close 1008 "), "\(heard)")
    }

    @Test func aMessageInAFileRepeatsTheClientsOwnId() throws {
        let bytes = Array(#"{"id":"recorded","rows":[\#((0..<20_000).map(String.init).joined(separator: ","))]}"#.utf8)
        let recorded = Talk(
            #"{ "at": 1, "from": "client", "json": { "id": "recorded" } }"#,
            "{ \"at\": 2, \"from\": \"server\", \(WebSocketScene.file("a.json", bytes)), \"binary\": false }",
            #"{ "at": 3, "from": "server", "text": "b" }"#, #"{ "at": 4, "from": "server", "close": { "code": 1000 } }"#)
        let rules = try MatchRules(ignore: ["json:/id"])
        let talk = try WebSocketScene(.none, recorded, recorded, recorded, files: ["a.json": bytes], rules: rules)
        talk.open()
        talk.says(#"{"id":"mine"}"#)
        #expect(talk.heard() == ["101", "text of \(bytes.count - 4)", "text b", "close 1000"])
        // One message too many while the file is being read: nothing follows the close.
        talk.open(isFirst: false)
        talk.scene.withoutFlush { talk.says(#"{"id":"mine"}"#, "x") }
        let heard = talk.heard()
        #expect(heard.count == 2 && heard[1].contains("close 1008 "), "\(heard)")
    }

    @Test func aDamagedFileEndsTheConversationAndIsNotServed() throws {
        let bytes = [UInt8](repeating: 1, count: 700_000)
        let recorded = Talk("{ \"at\": 1, \"from\": \"server\", \(WebSocketScene.file("a.bin", bytes)) }")
        let talk = try WebSocketScene(.none, recorded, files: ["a.bin": [2] + bytes.dropFirst()])
        talk.open()
        #expect(talk.heard() == ["101", "client closed"])
        #expect(talk.verdict.flaws == [.unserved])
    }

    // MARK: Reports

    @Test func theReportsNameDifferencesAndMissingMessages() throws {
        let talk = try WebSocketScene(
            .none, Self.answers("1", to: "a"), Self.answers("2", to: "b"), Self.answers("3", to: "c", "d"), Self.answers("4", to: "e", "f"))
        for (index, says) in [["a", "x"], ["b"], ["c"], ["e"]].enumerated() {
            talk.open(isFirst: index == 0)
            for text in says { talk.says(text) }
            if index == 3 { talk.scene.clientEnds() } else { talk.closes() }
        }
        talk.open(isFirst: false)
        talk.says("y")
        let (json, junit) = (String(decoding: talk.report.json, as: UTF8.self), String(decoding: talk.report.junit(), as: UTF8.self))
        let text = talk.report.lines.joined(separator: "\n")
        for part in [json, junit, text] {
            #expect(part.contains("message 2 was not recorded"), "\(part)")
            #expect(part.contains("the client ended after 1 message, the recorded one after 2"), "\(part)")
        }
        #expect(json.contains("\"notSent\": [") && json.contains("\"sent\": 1,"), "\(json)")
        #expect(text.contains("not sent: "), "\(text)")
        #expect(junit.contains("<failure type=\"unused\" message=\"") && junit.contains("<failure type=\"miss\""), "\(junit)")
    }
}
