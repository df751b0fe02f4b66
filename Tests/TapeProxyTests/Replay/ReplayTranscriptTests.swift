import CassetteModel
import CassettePlayback
import CassetteStore
import NIOCore
import TapeExchange
import TapeTestSupport
import Testing

@testable import TapeProxy

/// Exchanges answered from a cassette, in memory, as transcripts.
@Suite struct ReplayTranscriptTests {
    private static let head = """
        {
          "wiretape": 1,
          "interactions": [

        """

    /// A cassette of these exchanges. Each argument has the members of one exchange.
    private func cassette(_ exchanges: String...) throws -> (folder: TemporaryFolder, cassette: RecordedCassette) {
        let folder = try TemporaryFolder()
        let list = exchanges.enumerated().map { number, members in
            "    { \"id\": \(number + 1), \"started\": \"2026-11-21T04:00:0\(number).000000Z\", \(members) }"
        }
        try folder.write(Array((Self.head + list.joined(separator: ",\n") + "\n  ]\n}\n").utf8), to: "tape.json")
        return (folder, try RecordedCassette(path: folder.file("tape.json")))
    }

    private func scene(
        _ mode: RecordMode, _ cassette: RecordedCassette, configure: (inout ProxyConfiguration) -> Void = { _ in }
    ) throws -> ExchangeScene {
        try ExchangeScene(CassetteSession(mode: mode, cassette: cassette), cassette: cassette, configure: configure)
    }

    private static let plain = """
        "request": { "method": "GET", "url": "http://h/a" },
        "response": { "status": 200, "reason": "OK", "headers": ["Content-Length: 2"], "body": { "size": 2, "text": "ok" } }
        """
    private static let upload = """
        "request": { "method": "POST", "url": "http://h/p", "headers": ["Content-Length: 3"], "body": { "size": 3, "text": "old" } },
        "response": { "status": 201, "reason": "Created", "headers": ["Content-Length: 0"], "body": { "size": 0, "text": "" } }
        """

    /// The second byte arrives after five seconds.
    private static let slow = """
        "response": { "status": 200, "reason": "OK", "headers": ["Content-Length: 2"],
          "body": { "size": 2, "text": "ok", "arrival": { "reads": [[0, 1], [5000, 1]] } } },
        "timing": { "send": 0, "wait": 0, "receive": 5000, "total": 5000 }
        """

    /// The proxy answers with an error of its own, which is no recorded answer.
    @Test func aBodyThatStopsIsAMiss() throws {
        let (folder, cassette) = try self.cassette(Self.upload)
        let scene = try self.scene(.none, cassette)
        scene.client("POST http://h/p HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\no")
        scene.advance(scene.proxy.limits.clientStall + 1)
        #expect(scene.heard().first?.hasPrefix("client < HTTP/1.1 408 Request Timeout|") == true)
        let verdict = scene.proxy.session.verdict()
        #expect(verdict.misses == 1 && verdict.reports.first?.description.hasPrefix("\"POST http://h/p\" was not looked up: ") == true)
        withExtendedLifetime(folder) {}
    }

    @Test func aConnectionOverTheLimitIsAMiss() throws {
        let (folder, cassette) = try self.cassette(Self.plain)
        let scene = try self.scene(.none, cassette) { $0.limits.connections = 1 }
        scene.connect()
        #expect(scene.heard().contains { $0.hasPrefix("client 2 < HTTP/1.1 503 Service Unavailable|") })
        let verdict = scene.proxy.session.verdict()
        #expect(verdict.misses == 1 && verdict.reports.first?.description.contains("limit of 1 connection") == true)
        withExtendedLifetime(folder) {}
    }

    @Test func aRecordedAnswerComesWithoutAnOriginAndKeepsTheConnection() throws {
        let (folder, cassette) = try self.cassette(Self.plain, Self.plain)
        let scene = try self.scene(.none, cassette)
        scene.client(ForwardTranscriptTests.get + ForwardTranscriptTests.get)
        #expect(scene.heard() == [ForwardTranscriptTests.gotOK + ForwardTranscriptTests.gotOK.dropFirst("client < ".count)])
        scene.client(ForwardTranscriptTests.get)
        #expect(scene.heard().first?.hasPrefix("client < HTTP/1.1 424 Not In Cassette|Wiretape-Error: miss|") == true)
        withExtendedLifetime(folder) {}
    }

    @Test func anOriginsCloseIsReplayedAsAClose() throws {
        let closing = Self.plain.replacing("\"Content-Length: 2\"", with: "\"Connection: close\", \"Content-Length: 2\"")
        let (folder, cassette) = try self.cassette(closing)
        let scene = try self.scene(.none, cassette)
        scene.client(ForwardTranscriptTests.get)
        scene.advance(61)
        #expect(scene.heard() == ["client < HTTP/1.1 200 OK|Connection: close|Content-Length: 2||ok", "client closed"])
        withExtendedLifetime(folder) {}
    }

    @Test func aCutBodyIsCutAgain() throws {
        let cut = """
            "request": { "method": "GET", "url": "http://h/a" },
            "response": { "status": 200, "reason": "OK", "headers": ["Content-Length: 9"], "body": { "size": 4, "complete": false, "text": "part" } },
            "outcome": { "cut": "origin", "reason": "gone" }
            """
        let (folder, cassette) = try self.cassette(cut)
        let scene = try self.scene(.none, cassette)
        scene.client(ForwardTranscriptTests.get)
        #expect(scene.heard() == ["client < HTTP/1.1 200 OK|Content-Length: 9||part", "client closed"])
        withExtendedLifetime(folder) {}
    }

    @Test func aBodyThatDecidesIsReadToItsEndFirst() throws {
        let (folder, cassette) = try self.cassette(Self.upload)
        let scene = try self.scene(.once, cassette)
        scene.client(ForwardTranscriptTests.post("Content-Length: 3", "ol"))
        #expect(scene.heard().isEmpty)
        scene.client("d")
        #expect(scene.heard() == ["client < HTTP/1.1 201 Created|Content-Length: 0||"])
        withExtendedLifetime(folder) {}
    }

    @Test func aBodyThatIsNotInTheCassetteIsSentOnFromTheBuffer() throws {
        let (folder, cassette) = try self.cassette(Self.upload)
        let scene = try self.scene(.newEpisodes, cassette)
        scene.client(ForwardTranscriptTests.post("Transfer-Encoding: chunked", "2;x\r\nne\r\n"))
        #expect(scene.heard().isEmpty)
        scene.client("1\r\nw\r\n0\r\nT: 1\r\n\r\n")
        scene.connected()
        #expect(
            scene.heard() == ["dial h", "origin 1 < POST /p HTTP/1.1|Host: h|Transfer-Encoding: chunked||2;x|ne|1|w|0|T: 1||"])
        scene.origin(ForwardTranscriptTests.ok)
        #expect(scene.heard() == [ForwardTranscriptTests.gotOK])
        let recorded = try #require(scene.recorder.exchanges.first)
        #expect(recorded.requestBody?.bytes == Array("new".utf8) && recorded.requestBody?.isComplete == true)
        #expect(recorded.interaction.request.trailers?.first("t") == "1")
        withExtendedLifetime(folder) {}
    }

    @Test func aBufferedBodyGoesOutAsFastAsTheOriginTakesIt() throws {
        let (folder, cassette) = try self.cassette(Self.upload)
        let scene = try self.scene(.newEpisodes, cassette)
        let size = 3 << 20
        scene.client(ForwardTranscriptTests.post("Content-Length: \(size)"))
        for _ in 0..<3 { scene.client([UInt8](repeating: 120, count: 1 << 20)) }
        scene.connected()
        scene.origin(ForwardTranscriptTests.ok)
        #expect(scene.heard().last == ForwardTranscriptTests.gotOK)
        #expect(scene.recorder.summary == ["POST 200 complete \(size) 2"])
        withExtendedLifetime(folder) {}
    }

    @Test func aClientThatWaitsGetsOne100WhereverItsRequestGoes() throws {
        let (folder, cassette) = try self.cassette(Self.upload)
        let scene = try self.scene(.newEpisodes, cassette)
        scene.client(ForwardTranscriptTests.post("Content-Length: 3\r\nExpect: 100-continue"))
        #expect(scene.heard() == ["client < HTTP/1.1 100 Continue||"])
        scene.client("new")
        scene.connected()
        _ = scene.heard()
        scene.origin("HTTP/1.1 100 Continue\r\n\r\n" + ForwardTranscriptTests.ok)
        #expect(scene.heard() == [ForwardTranscriptTests.gotOK])
        #expect(scene.recorder.exchanges.first?.interaction.interim.map(\.status) == [100])
        withExtendedLifetime(folder) {}
    }

    /// The recording without its body is used up, so the request is forwarded before it is asked for its body.
    @Test func anUnreadBodyIsReadOnceItsRequestIsForwarded() throws {
        let unread = """
            "request": { "method": "POST", "url": "http://h/p", "headers": ["Content-Length: 3", "Expect: 100-continue"], "body": { "size": 0, "complete": false, "text": "" } },
            "response": { "status": 401, "reason": "No", "headers": ["Content-Length: 0"], "body": { "size": 0, "text": "" } }
            """
        let (folder, cassette) = try self.cassette(unread)
        let scene = try self.scene(.newEpisodes, cassette)
        let asking = ForwardTranscriptTests.post("Content-Length: 3\r\nExpect: 100-continue")
        scene.client(asking)
        #expect(scene.heard().first?.hasPrefix("client < HTTP/1.1 401 No|") == true)
        scene.connect()
        scene.client(asking)
        scene.connected()
        #expect(scene.heard().contains { $0.hasPrefix("origin 1 < POST /p ") })
        scene.origin("HTTP/1.1 100 Continue\r\n\r\n")
        scene.client("new")
        scene.origin(ForwardTranscriptTests.ok)
        #expect(scene.heard().last == "client 2 < HTTP/1.1 200 OK|Content-Length: 2||ok")
        #expect(scene.recorder.summary == ["POST 200 complete 3 2"])
        withExtendedLifetime(folder) {}
    }

    @Test func aClientThatStopsInABodyThatIsComparedGetsA408() throws {
        let (folder, cassette) = try self.cassette(Self.upload)
        let scene = try self.scene(.once, cassette)
        scene.client(ForwardTranscriptTests.post("Content-Length: 3", "o"))
        scene.advance(61)
        #expect(scene.heard().first?.hasPrefix("client < HTTP/1.1 408 Request Timeout|Wiretape-Error: timeout|") == true)
        withExtendedLifetime(folder) {}
    }

    // MARK: Clients that leave

    @Test func aClientThatLeavesBeforeItsAnswerLeavesItForItsNextTry() throws {
        let (folder, cassette) = try self.cassette(Self.plain)
        let scene = try self.scene(.none, cassette) { $0.latency = .fixed(5_000) }
        scene.client(ForwardTranscriptTests.get)
        scene.clientEnds()
        #expect(scene.proxy.session.verdict().flaws.contains(.unserved))
        scene.connect()
        scene.client(ForwardTranscriptTests.get)
        scene.advance(6)
        #expect(scene.heard().last == "client 2 < HTTP/1.1 200 OK|Content-Length: 2||ok")
        let verdict = scene.proxy.session.verdict()
        #expect(verdict.hits == 1 && verdict.flaws.isEmpty && verdict.unused.isEmpty)
        withExtendedLifetime(folder) {}
    }

    /// Interim responses, for the body or with other information, are not the answer.
    @Test(arguments: [100, 103]) func aClientThatLeavesAfterAnInterimResponseLeavesTheAnswerToo(status: Int) throws {
        let interim = Self.upload.replacing("\"response\":", with: "\"interim\": [{ \"status\": \(status), \"at\": 0 }], \"response\":")
        let (folder, cassette) = try self.cassette(interim)
        let scene = try self.scene(.none, cassette) { $0.latency = .fixed(5_000) }
        scene.client(ForwardTranscriptTests.post("Content-Length: 3\r\nExpect: 100-continue"))
        scene.client("old")
        scene.advance(1)
        #expect(scene.heard().contains { $0.hasPrefix("client < HTTP/1.1 100 ") })
        scene.clientEnds()
        #expect(scene.proxy.session.verdict().unused == [0])
        withExtendedLifetime(folder) {}
    }

    @Test func aClientThatLeavesInsideItsAnswerHasUsedIt() throws {
        let (folder, cassette) = try self.cassette("\"request\": { \"method\": \"GET\", \"url\": \"http://h/a\" }, " + Self.slow)
        let scene = try self.scene(.none, cassette) { $0.latency = .scaled(1) }
        scene.client(ForwardTranscriptTests.get)
        scene.advance(1)
        #expect(scene.heard() == ["client < HTTP/1.1 200 OK|Content-Length: 2||o"])
        scene.clientEnds()
        #expect(scene.proxy.session.verdict().unused == [])
        withExtendedLifetime(folder) {}
    }

    /// The rest of an answer that has begun cannot be replaced by anything else.
    @Test func aBadBodyCutsTheAnswerThatHasBegunWithoutIt() throws {
        let unread = """
            "request": { "method": "POST", "url": "http://h/p", "headers": ["Transfer-Encoding: chunked", "Expect: 100-continue"], "body": { "size": 0, "complete": false, "text": "" } },
            """
        let (folder, cassette) = try self.cassette(unread + Self.slow)
        let scene = try self.scene(.none, cassette) { $0.latency = .scaled(1) }
        scene.client(ForwardTranscriptTests.post("Transfer-Encoding: chunked\r\nExpect: 100-continue"))
        scene.advance(1)
        #expect(scene.heard() == ["client < HTTP/1.1 200 OK|Content-Length: 2||o"])
        scene.client("zz\r\n")
        #expect(scene.heard() == ["client closed"])
        withExtendedLifetime(folder) {}
    }

    /// The body is long enough to be compared on another thread, where the decision is made while the client leaves.
    @Test func aClientThatLeavesWhileItIsDecidedLeavesTheAnswer() throws {
        let size = 100_000
        let long = Self.upload.replacing(
            "\"size\": 3, \"text\": \"old\"", with: "\"size\": \(size), \"text\": \"\(String(repeating: "x", count: size))\"")
        let (folder, cassette) = try self.cassette(long)
        let scene = try self.scene(.none, cassette)
        let body = [UInt8](repeating: 120, count: size)
        scene.client(ForwardTranscriptTests.post("Content-Length: \(size)"))
        scene.withoutFlush {
            scene.client(body)
            scene.clientResets()
        }
        #expect(scene.proxy.session.verdict().unused == [0])
        scene.connect()
        scene.client(ForwardTranscriptTests.post("Content-Length: \(size)"))
        scene.client(body)
        #expect(scene.heard().last == "client 2 < HTTP/1.1 201 Created|Content-Length: 0||")
        #expect(scene.proxy.session.verdict().hits == 1)
        withExtendedLifetime(folder) {}
    }

    @Test func aClientThatLeavesAsTheRecordedOneDidHasUsedItToo() throws {
        let cut = """
            "request": { "method": "GET", "url": "http://h/a" }, "outcome": { "cut": "client", "reason": "left" }
            """
        let (folder, cassette) = try self.cassette(cut, Self.plain)
        let scene = try self.scene(.none, cassette) { $0.latency = .fixed(5_000) }
        scene.client(ForwardTranscriptTests.get)
        scene.clientEnds()
        scene.connect()
        scene.client(ForwardTranscriptTests.get)
        scene.advance(6)
        #expect(scene.heard().last == "client 2 < HTTP/1.1 200 OK|Content-Length: 2||ok")
        #expect(scene.proxy.session.verdict().hits == 2)
        withExtendedLifetime(folder) {}
    }
}
