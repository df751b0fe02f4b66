import CassetteModel
import CassettePlayback
import CassetteStore
import NIOCore
import TapeBytes
import TapeExchange
import TapeHTTP2
import TapeTestSupport
import Testing
@testable import TapeProxy

/// gRPC calls whose clients wait for answers, replayed message by message.
@Suite struct ConversationReplayTests {
    private static let url = "http://h.test/a.B/C"

    static func message(_ text: String) -> [UInt8] {
        let size = text.utf8.count
        return [0] + (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) } + Array(text.utf8)
    }

    /// A recorded conversation.
    private struct Talk {
        var requests: [String]
        var isWhole = true
        var after: Int?
        var endAfter: Int?
        /// Each with the number of the client's messages before it.
        var answers: [(text: String, after: Int?)] = []
        var headers = ["content-type: application/grpc"]
        var outcome = Outcome.complete
        var url = ConversationReplayTests.url
    }

    /// A proxy that replays these conversations.
    private func replay(
        _ talks: Talk..., mode: RecordMode = .none, repetition: Repetition = .never, order: ReplayOrder = .any,
        configure: (inout ProxyConfiguration) -> Void = { _ in }
    ) throws -> RunningProxy {
        let folder = try TemporaryFolder()
        let interactions = talks.enumerated().map { index, talk in
            let request = talk.requests.flatMap(Self.message)
            var interaction = Interaction(
                id: index + 1, started: Timestamp(microseconds: 1_700_000_000_000_000 + Int64(index)),
                request: RecordedRequest(
                    method: "POST", url: talk.url, version: .http2, headers: HeaderFields(talk.headers),
                    body: Body(size: request.count, isComplete: talk.isWhole, content: .binary(request))))
            var marks = ConversationMarks()
            for answer in talk.answers { marks.append(after: answer.after) }
            let answer = talk.answers.flatMap { Self.message($0.text) }
            var response = RecordedResponse(
                status: 200, version: .http2, headers: HeaderFields(["content-type: application/grpc"]),
                body: Body(size: answer.count, isComplete: talk.outcome == .complete, content: .binary(answer), marks: marks),
                trailers: talk.outcome == .complete ? HeaderFields(["grpc-status: 0"]) : nil)
            response.after = talk.after
            response.endAfter = talk.endAfter
            interaction.response = response
            interaction.outcome = talk.outcome
            return interaction
        }
        try RecordedExchanges.write(interactions, to: folder.file("tape.json"))
        return try RunningProxy(mode, in: folder, repetition: repetition, order: order, configure: configure)
    }

    /// A client in the middle of a call.
    private final class Call {
        let peer: HTTP2Peer
        let id: Int32

        init(_ proxy: RunningProxy, over peer: HTTP2Peer? = nil, url: String = ConversationReplayTests.url, _ lines: [String] = []) throws {
            self.peer = try peer ?? HTTP2Peer(.client, over: proxy.connect())
            self.id = try self.peer.request(
                url, method: "POST", ["te: trailers", "content-type: application/grpc"] + lines, hasBody: true)
        }

        func send(_ texts: String..., ends: Bool = false) throws {
            for text in texts { self.peer.codec.send(self.id, ByteBuffer(bytes: ConversationReplayTests.message(text))) }
            if ends { self.peer.codec.end(self.id) }
            try self.peer.flush()
        }

        func expect(_ texts: String...) throws {
            let wanted = texts.flatMap(ConversationReplayTests.message)
            try self.peer.wait(for: "\(texts)") { ($0.bodies[self.id]?.count ?? 0) >= wanted.count || $0.closed[self.id] != nil }
            #expect(self.peer.bodies[self.id] == wanted)
        }

        func expectHead() throws { try self.peer.wait(for: "the head") { $0.heads[self.id] != nil } }

        /// - Returns: the status and its message.
        func status() throws -> (code: String?, message: String?) {
            try self.peer.wait(for: "the end") { $0.closed[self.id] != nil }
            let fields = (self.peer.trailers[self.id] ?? self.peer.heads[self.id])?.fields
            return (fields?.first("grpc-status"), fields?.first("grpc-message"))
        }
    }

    private let pingPong = Talk(requests: ["a", "b"], after: 0, answers: [("1", 1), ("2", 2)])

    @Test func eachAnswerComesBeforeTheNextMessage() throws {
        let proxy = try self.replay(self.pingPong)
        let call = try Call(proxy)
        try call.expectHead()
        try call.send("a")
        try call.expect("1")
        try call.send("b", ends: true)
        try call.expect("1", "2")
        #expect(try call.status().code == "0")
        #expect(proxy.session.verdict().flaws.isEmpty && proxy.session.verdict().hits == 1)
    }

    @Test func anyNumberOfMessagesIsReplayedInOneTurn() throws {
        let count = 10_000
        let answers = Array(repeating: (text: "", after: Optional(1)), count: count)
        let proxy = try self.replay(Talk(requests: ["a", "b"], after: 0, answers: answers))
        let call = try Call(proxy)
        try call.send("a")
        try call.peer.wait(for: "all messages") { ($0.bodies[call.id]?.count ?? 0) >= 5 * count || $0.closed[call.id] != nil }
        #expect(call.peer.bodies[call.id]?.count == 5 * count)
        try call.send("b", ends: true)
        #expect(try call.status().code == "0")
    }

    @Test func anotherMessageInTheMiddleEndsTheCallWithTheDifference() throws {
        let proxy = try self.replay(self.pingPong)
        let call = try Call(proxy)
        try call.send("a")
        try call.expect("1")
        try call.send("x")
        let (code, message) = try call.status()
        #expect(code == "9" && message?.contains("gRPC message 2") == true, "\(message ?? "")")
        #expect(call.peer.bodies[call.id] == Self.message("1") && call.peer.heads[call.id]?.status == 200)
        let verdict = proxy.session.verdict()
        #expect(verdict.misses == 1 && verdict.hits == 0 && verdict.unused.isEmpty)
        #expect(verdict.reports.first?.reason == .otherMessages(index: 0))
    }

    @Test func callThatDiffersBeforeAnAnswerLeavesTheExchangeToOthers() throws {
        let proxy = try self.replay(Talk(requests: ["a"], after: 1, answers: [("1", 1)]))
        let other = try Call(proxy)
        try other.send("x")
        let (code, message) = try other.status()
        #expect(code == "9" && message?.contains("gRPC message 1") == true)
        #expect(other.peer.heads[other.id]?.fields.first("content-type") == "application/grpc" && other.peer.trailers[other.id] == nil)
        let call = try Call(proxy)
        try call.send("a", ends: true)
        try call.expect("1")
        #expect(try call.status().code == "0")
        #expect(proxy.session.verdict().flaws == [.miss] && proxy.session.verdict().hits == 1)
    }

    @Test func oneMessageTooManyAndOneTooFewAreMisses() throws {
        let proxy = try self.replay(self.pingPong, self.pingPong)
        let more = try Call(proxy)
        try more.send("a", "b", "c")
        #expect(try more.status().message?.contains("message 3 was not recorded") == true)
        let fewer = try Call(proxy)
        try fewer.send("a", ends: true)
        #expect(try fewer.status().message?.contains("the client ended after 1 message, the recorded one after 2") == true)
        #expect(proxy.session.verdict().misses == 2)
    }

    @Test func theMessagesChooseAmongRecordedOnes() throws {
        let proxy = try self.replay(
            Talk(requests: ["a", "b"], after: 2, answers: [("ab", 2)]), Talk(requests: ["a", "c"], after: 2, answers: [("ac", 2)]),
            Talk(requests: ["d"], after: 0, answers: [("d", 1)]))
        let peer = try HTTP2Peer(.client, over: proxy.connect())
        let (second, third, first) = (try Call(proxy, over: peer), try Call(proxy, over: peer), try Call(proxy, over: peer))
        try third.send("d", ends: true)
        try second.send("a")
        try first.send("a", "b", ends: true)
        try second.send("c", ends: true)
        for (call, text) in [(first, "ab"), (second, "ac"), (third, "d")] {
            try call.expect(text)
            #expect(try call.status().code == "0")
        }
        #expect(proxy.session.verdict().misses == 0 && proxy.session.verdict().unused.isEmpty)
    }

    /// The client sends nothing until it has the head, and two recordings begin with a head.
    @Test func clientThatWaitsForAHeadGetsOneAfterAWhile() throws {
        let proxy = try self.replay(
            Talk(requests: ["a"], after: 0, answers: [("1", 1)]), Talk(requests: ["b"], after: 0, answers: [("2", 1)]))
        let call = try Call(proxy)
        try call.expectHead()
        try call.send("a", ends: true)
        try call.expect("1")
        #expect(try call.status().code == "0")
    }

    @Test func aServerThatSpeaksFirstDoes() throws {
        let proxy = try self.replay(Talk(requests: ["me"], after: 0, answers: [("who?", 0), ("hello", 1)]))
        let call = try Call(proxy)
        try call.expect("who?")
        try call.send("me", ends: true)
        try call.expect("who?", "hello")
        #expect(try call.status().code == "0")
    }

    @Test func anAnswerThatEndedEarlyDoesSoAgain() throws {
        let proxy = try self.replay(Talk(requests: ["a"], isWhole: false, after: 1, endAfter: 1, answers: [("enough", 1)]))
        let call = try Call(proxy)
        try call.send("a")
        try call.expect("enough")
        #expect(try call.status().code == "0" && call.peer.closed[call.id] == .noError)
        #expect(proxy.session.verdict().flaws.isEmpty)
    }

    @Test func cutOfTheOriginIsReplayed() throws {
        let proxy = try self.replay(
            Talk(
                requests: ["a"], isWhole: false, after: 0, endAfter: 1, answers: [("half", 1)],
                outcome: .cut(Cut(by: .origin, reason: "reset"))))
        let call = try Call(proxy)
        try call.send("a")
        try call.expect("half")
        #expect(try call.status().code == nil && call.peer.closed[call.id] == .internalError)
    }

    @Test func replayWaitsForTheClientToLeaveLikeTheRecordedOne() throws {
        let proxy = try self.replay(
            Talk(requests: ["a"], isWhole: false, after: 0, answers: [("1", 1)], outcome: .cut(Cut(by: .client, reason: "reset"))))
        let call = try Call(proxy)
        try call.send("a")
        try call.expect("1")
        call.peer.codec.reset(call.id, code: .cancel)
        try call.peer.flush()
        try proxy.stop()
        #expect(proxy.session.verdict().flaws.isEmpty && proxy.session.verdict().hits == 1)
    }

    @Test func aClientThatLeavesEarlyIsReportedWithItsUnsentMessages() throws {
        let proxy = try self.replay(self.pingPong)
        let call = try Call(proxy)
        try call.send("a")
        try call.expect("1")
        call.peer.codec.reset(call.id, code: .cancel)
        try call.peer.flush()
        try proxy.stop()
        #expect(proxy.session.verdict().unsentMessages.map { [$0.index, $0.sent, $0.recorded] } == [[0, 1, 2]])
        #expect(proxy.session.verdict().flaws == [.unused])
    }

    @Test func aClientThatLeavesBeforeTheAnswerGivesTheExchangeBack() throws {
        let proxy = try self.replay(Talk(requests: ["a", "b"], after: 2, answers: [("1", 2)]))
        let left = try Call(proxy)
        try left.send("a")
        left.peer.codec.reset(left.id, code: .cancel)
        try left.peer.flush()
        try proxy.stop()
        #expect(proxy.session.verdict().hits == 0 && proxy.session.verdict().unused == [0])
    }

    /// The client's deadline is shorter than the recorded time.
    @Test func aDeadlineEndsTheCall() throws {
        let proxy = try self.replay(self.pingPong) { $0.latency = .fixed(600_000) }
        let call = try Call(proxy, ["grpc-timeout: 50m"])
        try call.send("a", "b", ends: true)
        #expect(try call.status().code == "4")
    }

    @Test func aDeadlineNamesTheMessageThatTheReplayWaitedFor() throws {
        let proxy = try self.replay(self.pingPong)
        let call = try Call(proxy, ["grpc-timeout: 1500m"])
        try call.send("a")
        let (code, message) = try call.status()
        #expect(code == "4" && message?.contains("waited for message 2 of the client") == true, "\(message ?? "")")
        #expect(proxy.session.verdict().unsent == 1)
    }

    /// A call that no recorded head matches is refused at once, because the client may wait for that before it ends its side.
    @Test func aCallThatWasNotRecordedIsRefusedBeforeItsEnd() throws {
        let proxy = try self.replay(self.pingPong)
        let call = try Call(proxy, url: "http://h.test/a.B/Other")
        let (code, message) = try call.status()
        #expect(code == "9" && message?.contains("path is ") == true)
        #expect(call.peer.heads[call.id]?.fields.first("wiretape-error") == "miss")
    }

    @Test func strictOrderRefusesACallOutOfTurn() throws {
        let proxy = try self.replay(
            Talk(requests: ["a"], after: 0, answers: [("1", 1)], url: "http://h.test/a.B/First"), self.pingPong, order: .strict)
        let call = try Call(proxy)
        #expect(try call.status().code == "9")
        #expect(proxy.session.verdict().orderViolations == 1 && proxy.session.verdict().hits == 0)
    }

    @Test func aRepeatedConversationIsOneAgain() throws {
        let proxy = try self.replay(self.pingPong, repetition: .last)
        for _ in 0..<2 {
            let call = try Call(proxy)
            try call.send("a", "b", ends: true)
            try call.expect("1", "2")
            #expect(try call.status().code == "0")
        }
        #expect(proxy.session.verdict().repeatedHits == 1)
    }

    /// The proxy accepts at most one window from the client and sends at most one window: both sides wait for a client that reads nothing.
    @Test func aClientThatReadsNothingHoldsBackTheAnswer() throws {
        let large = String(repeating: "x", count: 1_000_000)
        let proxy = try self.replay(Talk(requests: ["a", "b"], after: 0, answers: [(large, 1), ("2", 2)]), self.pingPong)
        let call = try Call(proxy)
        call.peer.stalled = [call.id]
        try call.send("a", "b", ends: true)
        try call.peer.wait(for: "a window") { $0.bodies[call.id]?.count == 65_535 }
        call.peer.stalled = []
        call.peer.codec.credit(call.id, 65_535)
        try call.peer.flush()
        try call.expect(large, "2")
        #expect(try call.status().code == "0")
    }

    @Test func aLongMessageIsComparedAndAnswered() throws {
        let large = String(repeating: "y", count: 3_000_000)
        let proxy = try self.replay(Talk(requests: [large, "b"], after: 0, answers: [("1", 1), ("2", 2)]))
        let call = try Call(proxy)
        try call.send(large)
        try call.peer.wait(for: "the message to be taken") { $0.codec.pending(call.id) == 0 }
        try call.expect("1")
        try call.send("b", ends: true)
        try call.expect("1", "2")
        #expect(try call.status().code == "0")
    }

    /// In a mode that records new exchanges, the origin answers a call that differs. It gets the earlier messages as well.
    @Test func callThatDiffersGoesToTheOriginWithItsEarlierMessages() throws {
        let origin = try RawOrigin(scripts: [
            { connection in
                let peer = try HTTP2Peer(.server, over: connection)
                try peer.wait(for: "two messages") { $0.bodies[1] == Self.message("a") + Self.message("x") }
                let head = ResponseHead(
                    version: .http2, status: 200, reason: [], fields: HeaderFields(["content-type: application/grpc"]))
                peer.codec.respond(1, HTTP2Fields(head), hasBody: true)
                try peer.flush()
                try peer.wait(for: "the rest") { $0.ended.contains(1) }
                #expect(peer.bodies[1] == ["a", "x", "y"].flatMap(Self.message))
                peer.codec.end(1, trailers: HTTP2Fields(trailers: HeaderFields(["grpc-status: 0"])))
                try peer.flush()
                try peer.wait(for: "its end") { $0.closed[1] != nil }
            }
        ])
        let url = "http://\(origin.authority)/a.B/C"
        let proxy = try self.replay(
            Talk(requests: ["a", "b"], after: 2, answers: [("1", 2)], url: url),
            Talk(requests: ["a", "c"], after: 2, answers: [("2", 2)], url: url), mode: .newEpisodes)
        let call = try Call(proxy, url: url)
        try call.send("a")
        try call.send("x")
        try call.expectHead()
        try call.send("y", ends: true)
        #expect(try call.status().code == "0")
        origin.finish()
        #expect(proxy.session.verdict().forwarded == 1 && proxy.session.verdict().hits == 0)
    }
}
