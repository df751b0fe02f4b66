import CassetteModel
import CassettePlayback
import NIOCore
import TapeExchange
import TapeRecorder
import TapeTestSupport
import Testing

@testable import TapeProxy

/// Whole forwarded exchanges in memory, as transcripts.
@Suite struct ForwardTranscriptTests {
    static let get = "GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n"
    static let sentGet = "origin 1 < GET /a HTTP/1.1|Host: h||"
    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    static let gotOK = "client < HTTP/1.1 200 OK|Content-Length: 2||ok"

    static func post(_ fields: String = "Content-Length: 4", _ body: String = "") -> String {
        "POST http://h/p HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n\(body)"
    }

    /// A scene in which one GET was answered and its connection to the origin is unused.
    static func used() throws -> ExchangeScene {
        let scene = try ExchangeScene()
        scene.client(self.get)
        scene.connected()
        scene.origin(self.ok)
        #expect(scene.heard() == ["dial h", self.sentGet, self.gotOK])
        return scene
    }

    // MARK: Whole exchanges

    @Test func aRequestAndItsAnswerPassAndBothConnectionsServeTheNext() throws {
        let scene = try Self.used()
        scene.client(Self.get)
        scene.origin("HTTP/1.1 204 No Content\r\nA: b\r\n\r\n")
        #expect(scene.heard() == [Self.sentGet, "client < HTTP/1.1 204 No Content|A: b||"])
        #expect(scene.recorder.summary == ["GET 200 complete 2", "GET 204 complete "])
        #expect(scene.recorder.exchanges.map(\.interaction.id) == [1, 2])
    }

    @Test func anAnswerThatComesByteByByteIsTheSame() throws {
        let answer =
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: 1\r\n\r\n"
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.connected()
        _ = scene.heard()
        for byte in answer.utf8 { scene.origin(String(UnicodeScalar(byte))) }
        let got = scene.heard().map { $0.dropFirst("client < ".count) }.joined()
        #expect(got.replacing("|", with: "\r\n") == answer)
        let body = try #require(scene.recorder.exchanges.first?.responseBody)
        #expect(body.bytes == Array("abc".utf8) && body.arrival?.pieces.map(\.line) == ["3;a=b"])
        #expect(scene.recorder.exchanges.first?.interaction.response?.trailers?.first("t") == "1")
    }

    @Test func aBodyPassesAsItComes() throws {
        let scene = try ExchangeScene()
        scene.client(Self.post("Transfer-Encoding: chunked", "2;x\r\nab\r\n"))
        scene.connected()
        scene.client("1\r\nc\r\n0\r\n\r\n")
        scene.origin(Self.ok)
        #expect(
            scene.heard() == [
                "dial h", "origin 1 < POST /p HTTP/1.1|Host: h|Transfer-Encoding: chunked||2;x|ab|", "origin 1 < 1|c|0||", Self.gotOK,
            ])
        #expect(scene.recorder.summary == ["POST 200 complete 3 2"])
    }

    @Test(arguments: [
        ("/보리.txt?q=한글", "/%EB%B3%B4%EB%A6%AC.txt?q=%ED%95%9C%EA%B8%80", 12), ("?é", "?%C3%A9", 2), ("/%EB보/%ff", "/%EB%EB%B3%B4/%ff", 3),
    ])
    func lettersInATargetAreForwardedAsTheyCame(target: String, recorded: String, count: Int) throws {
        let scene = try ExchangeScene()
        scene.client("GET http://h\(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        scene.connected()
        scene.origin(Self.ok)
        let path = target.hasPrefix("/") ? target : "/" + target
        #expect(scene.heard() == ["dial h", "origin 1 < GET \(path) HTTP/1.1|Host: h||", Self.gotOK])
        let request = try #require(scene.recorder.exchanges.first?.interaction.request)
        #expect(request.url == "http://h\(recorded)")
        #expect(
            request.note == "\(count) bytes of the target that are not ASCII are percent-encoded here; they were forwarded as they came")
    }

    // MARK: Origins that break off

    @Test(
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-", "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 999999 x\r\n\r\n"],
        [Failure.Answer.page, .break, nil])
    func aClientGetsAPageOrTheSameBreak(answer: String, choice: Failure.Answer?) throws {
        let scene = try ExchangeScene { $0.originErrors = choice }
        scene.client(Self.get)
        scene.connected()
        _ = scene.heard()
        if !answer.isEmpty { scene.origin(answer) }
        scene.originEnds()
        let heard = scene.heard().filter { $0.hasPrefix("client") }
        guard case .failed(let failure)? = scene.recorder.exchanges.first?.interaction.outcome else {
            Issue.record("not failed: \(heard)")
            return
        }
        #expect(failure.answered == (choice == .break ? .break : nil))
        if choice == .break {
            #expect(heard == ["client closed"])
        } else {
            #expect(heard.first?.hasPrefix("client < HTTP/1.1 502 Bad Gateway|") == true, "\(heard)")
        }
    }

    // MARK: The last recipient

    @Test(arguments: ["OPTIONS", "TRACE"]) func requestWithNoForwardsLeftIsAnsweredByTheProxy(method: String) throws {
        let scene = try ExchangeScene()
        scene.client(
            "\(method) http://h/a HTTP/1.1\r\nHost: h\r\nX-A: b\r\nCookie: c=d\r\nAuthorization: Bearer e\r\nMax-Forwards: 0\r\n\r\n")
        let heard = scene.heard()
        #expect(heard.count == 1 && heard[0].hasPrefix("client < HTTP/1.1 200 OK|"), "\(heard)")
        if method == "TRACE" {
            #expect(heard[0].hasSuffix("||TRACE http://h/a HTTP/1.1|Host: h|X-A: b|Max-Forwards: 0||"), "\(heard)")
            #expect(heard[0].contains("|Content-Type: message/http|"))
        } else {
            #expect(heard[0].contains("|Allow: GET, HEAD, "))
        }
        #expect(scene.recorder.exchanges.isEmpty)
    }

    @Test(arguments: [
        ("OPTIONS", "3", "2"), ("TRACE", "1", "0"), ("OPTIONS", "007", "6"), ("OPTIONS", "x", "x"), ("OPTIONS", "-1", "-1"),
        ("GET", "0", "0"),
        ("GET", "5", "5"),
    ])
    func eachForwardCounts(method: String, value: String, forwarded: String) throws {
        let scene = try ExchangeScene()
        scene.client("\(method) http://h/a HTTP/1.1\r\nHost: h\r\nMax-Forwards: \(value)\r\n\r\n")
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard().dropFirst().first == "origin 1 < \(method) /a HTTP/1.1|Host: h|Max-Forwards: \(forwarded)||")
        #expect(scene.recorder.exchanges.first?.interaction.request.headers.first("max-forwards") == value)
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let scene = try ExchangeScene()
        scene.client(Self.get + Self.post("Content-Length: 2", "hi") + Self.get)
        scene.connected()
        #expect(scene.heard() == ["dial h", Self.sentGet])
        scene.origin(Self.ok)
        #expect(scene.heard() == [Self.gotOK, "origin 1 < POST /p HTTP/1.1|Host: h|Content-Length: 2||hi"])
        scene.origin(Self.ok)
        scene.origin(Self.ok)
        #expect(scene.heard() == [Self.gotOK, Self.sentGet, Self.gotOK])
        #expect(scene.recorder.exchanges.count == 3)
    }

    @Test func morePipelinedThanTheLimitWaitsInTheSocket() throws {
        let scene = try ExchangeScene { $0.limits.pipelined = 100 }
        scene.client(Self.get)
        #expect(scene.clientIsRead)
        scene.client(Self.get + Self.get + Self.get)
        #expect(!scene.clientIsRead)
        scene.connected()
        for _ in 0..<4 { scene.origin(Self.ok) }
        #expect(scene.clientIsRead)
        #expect(scene.recorder.exchanges.count == 4)
    }

    @Test func aClientThatWaitsFor100GetsTheOrigins() throws {
        let scene = try ExchangeScene()
        scene.client(Self.post("Content-Length: 4\r\nExpect: 100-continue"))
        scene.connected()
        #expect(scene.heard().last == "origin 1 < POST /p HTTP/1.1|Host: h|Content-Length: 4|Expect: 100-continue||")
        scene.origin("HTTP/1.1 100 Continue\r\n\r\n")
        scene.client("body")
        scene.origin(Self.ok)
        #expect(scene.heard() == ["client < HTTP/1.1 100 Continue||", "origin 1 < body", Self.gotOK])
        #expect(scene.recorder.exchanges.first?.interaction.interim.map(\.status) == [100])
    }

    #if os(Linux)
    /// An origin that writes head and body separately may hold back the body until its head is acknowledged.
    @Test func anAnswerThatComesInPiecesIsAcknowledgedAtOnce() throws {
        let scene = try Self.used()
        #expect(scene.acknowledgements == 0, "a whole answer needs no word")
        scene.client(Self.get)
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
        #expect(scene.acknowledgements == 1)
    }
    #endif

    // MARK: The connection fields

    @Test(arguments: [
        // (the request's field, the answer's, what the client gets of the answer's, whether its connection stays)
        ("A: b", "A: b", "A: b", true), ("Connection: close", "A: b", "A: b", false),
        ("A: b", "Connection: close", "Connection: close", false), ("Connection: close", "Connection: close", "Connection: close", false),
        ("A: b", "Connection: keep-alive", "Connection: keep-alive", true), ("Connection: close", "Connection: keep-alive", "", false),
    ])
    func theClientGetsTheOriginsConnectionField(asked: String, said: String, got: String, stays: Bool) throws {
        let scene = try ExchangeScene()
        scene.client("GET http://h/a HTTP/1.1\r\nHost: h\r\n\(asked)\r\n\r\n")
        scene.connected()
        _ = scene.heard()
        scene.origin("HTTP/1.1 200 OK\r\n\(said)\r\nContent-Length: 2\r\n\r\nok")
        let heard = scene.heard()
        #expect(heard.contains("client < HTTP/1.1 200 OK|\(got.isEmpty ? "" : "\(got)|")Content-Length: 2||ok"), "\(heard)")
        scene.advance(61)
        #expect(scene.heard().contains("client closed") == !stays)
    }

    @Test func anAnswerWithoutALengthEndsWithTheConnectionAndAddsNothing() throws {
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nA: b\r\n\r\nto the ")
        scene.origin("end")
        scene.originEnds()
        scene.advance(61)
        #expect(
            scene.heard() == [
                "dial h", Self.sentGet, "client < HTTP/1.1 200 OK|A: b||to the ", "client < end", "origin 1 closed", "client closed",
            ])
        #expect(scene.recorder.summary == ["GET 200 complete 10"])
    }

    @Test func anHTTP10OriginDecidesAsWithoutAProxy() throws {
        for (field, stays) in [("A: b", false), ("Connection: keep-alive", true)] {
            let scene = try ExchangeScene()
            scene.client(Self.get)
            scene.connected()
            _ = scene.heard()
            scene.origin("HTTP/1.0 200 OK\r\n\(field)\r\nContent-Length: 2\r\n\r\nok")
            #expect(scene.heard().contains("client < HTTP/1.0 200 OK|\(field)|Content-Length: 2||ok"))
            scene.advance(61)
            #expect(scene.heard().contains("client closed") == !stays)
        }
    }

    // MARK: Bytes that nobody asked for

    @Test(arguments: [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"), ("GET", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\n\r\n"), ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), ("GET", Self.ok),
    ])
    func bytesAfterAnAnswerEndTheConnection(method: String, answer: String) throws {
        let stray = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        let ask = Self.get.replacing("GET", with: method)
        for isApart in [false, true] {
            let scene = try ExchangeScene()
            scene.client(ask)
            scene.connected()
            scene.origin(isApart ? answer : answer + stray)
            if isApart { scene.origin(stray) }
            let heard = scene.heard()
            #expect(heard.last == "origin 1 closed" && !heard.contains { $0.contains("evil") }, "\(heard)")
            scene.client(Self.get)
            #expect(scene.heard() == ["dial h"])
        }
    }

    @Test func bytesThatCameBeforeTheRequestLeftAnswerNothing() throws {
        let scene = try Self.used()
        // Both sides have sent something before the event loop looks: the request takes the connection, and then its bytes are read.
        scene.withoutFlush {
            scene.client(Self.post("Content-Length: 0"))
            scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        }
        #expect(scene.heard() == ["dial h", "origin 1 closed"])
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard() == ["origin 2 < POST /p HTTP/1.1|Host: h|Content-Length: 0||", Self.gotOK])
        #expect(scene.recorder.summary == ["GET 200 complete 2", "POST 200 complete 0 2"])
    }

    @Test func aBodyThatComesWhileItsRequestIsSentAgainIsNotLost() throws {
        let scene = try Self.used()
        scene.withoutFlush {
            scene.client(Self.post("Content-Length: 4"))
            scene.originEnds()
            scene.client("body")
        }
        #expect(scene.heard() == ["dial h", "origin 1 closed"])
        scene.connected()
        #expect(scene.heard() == ["origin 2 < POST /p HTTP/1.1|Host: h|Content-Length: 4||body"])
        scene.origin(Self.ok)
        #expect(scene.recorder.summary == ["GET 200 complete 2", "POST 200 complete 4 2"])
    }

    // MARK: Whose connection

    @Test(arguments: ["POST", "PUT", "PATCH"]) func aRequestThatCannotBeRepeatedTakesNoStrangersConnection(method: String) throws {
        let scene = try Self.used()
        scene.connect()
        scene.client(Self.post("Content-Length: 2", "hi").replacing("POST", with: method))
        #expect(scene.heard() == ["dial h"])
        scene.connected()
        scene.originEnds(1)
        scene.origin(Self.ok)
        #expect(
            scene.heard() == [
                "origin 2 < \(method) /p HTTP/1.1|Host: h|Content-Length: 2||hi", "origin 1 closed",
                "client 2 < HTTP/1.1 200 OK|Content-Length: 2||ok",
            ])
    }

    @Test func itTakesTheOneThatItsOwnClientHasUsed() throws {
        let scene = try Self.used()
        scene.client(Self.post("Content-Length: 2", "hi"))
        #expect(scene.heard() == ["origin 1 < POST /p HTTP/1.1|Host: h|Content-Length: 2||hi"])
    }

    @Test func aRequestThatCanBeRepeatedIsRepeatedOnAStrangersStaleConnection() throws {
        let scene = try Self.used()
        scene.connect()
        scene.client(Self.get)
        #expect(scene.heard() == [Self.sentGet])
        scene.originEnds()
        #expect(scene.heard() == ["dial h", "origin 1 closed"])
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard() == ["origin 2 < GET /a HTTP/1.1|Host: h||", "client 2 < HTTP/1.1 200 OK|Content-Length: 2||ok"])
        #expect(scene.recorder.exchanges.count == 2)
    }

    @Test func anUnusedConnectionThatItsOriginClosesIsForgotten() throws {
        let scene = try Self.used()
        scene.originEnds()
        scene.client(Self.get)
        #expect(scene.heard() == ["origin 1 closed", "dial h"])
    }

    // MARK: Early answers

    @Test func theBodyGoesOnAfterAnEarlyAnswer() throws {
        let scene = try ExchangeScene()
        scene.client(Self.post("Content-Length: 8", "half"))
        scene.connected()
        _ = scene.heard()
        scene.origin("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
        #expect(scene.heard() == ["client < HTTP/1.1 413 Content Too Large|Content-Length: 3||big"])
        scene.client("rest" + Self.get)
        #expect(scene.heard() == ["origin 1 < restGET /a HTTP/1.1|Host: h||"])
        scene.origin(Self.ok)
        #expect(scene.recorder.summary == ["POST 413 complete 8 3", "GET 200 complete 2"])
    }

    @Test func anOriginThatClosesAfterAnEarlyAnswerEndsTheUpload() throws {
        for announces in [true, false] {
            let scene = try ExchangeScene()
            scene.client(Self.post("Content-Length: 8", "half"))
            scene.connected()
            scene.origin("HTTP/1.1 413 Too Large\r\n\(announces ? "Connection: close\r\n" : "")Content-Length: 0\r\n\r\n")
            if !announces { scene.originEnds() }
            scene.client("rest")
            scene.advance(61)
            #expect(Set(scene.heard().suffix(2)) == ["origin 1 closed", "client closed"])
            #expect(scene.recorder.summary == ["POST 413 complete 4… 0"])
        }
    }

    @Test func a417LeavesTheConnectionForTheRequestsRepetition() throws {
        let scene = try ExchangeScene()
        scene.client(Self.post("Content-Length: 4\r\nExpect: 100-continue"))
        scene.connected()
        _ = scene.heard()
        scene.origin("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
        #expect(scene.heard() == ["client < HTTP/1.1 417 Expectation Failed|Content-Length: 2||no", "origin 1 closed"])
        scene.client(Self.post("Content-Length: 4", "body"))
        #expect(scene.heard() == ["dial h"])
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard() == ["origin 2 < POST /p HTTP/1.1|Host: h|Content-Length: 4||body", Self.gotOK])
    }

    @Test func anUnrequestedBodyIsNotReadAsARequest() throws {
        let scene = try ExchangeScene()
        scene.client(Self.post("Content-Length: 4\r\nExpect: 100-continue"))
        scene.connected()
        scene.origin("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
        _ = scene.heard()
        scene.client("{\"a\": 1}\r\n\r\n")
        scene.advance(6)
        #expect(scene.heard() == ["client closed"], "without an answer, and not at once")
        #expect(scene.proxy.common.totalCounts.malformed == 0)
    }

    @Test func anyOtherAnswerInsteadOf100ClosesTheConnection() throws {
        let scene = try ExchangeScene()
        scene.client(Self.post("Content-Length: 4\r\nExpect: 100-continue"))
        scene.connected()
        scene.origin("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno")
        scene.advance(61)
        let heard = scene.heard().suffix(3)
        #expect(Set(heard) == ["client < HTTP/1.1 401 Unauthorized|Content-Length: 2||no", "origin 1 closed", "client closed"])
    }

    // MARK: Cuts and failures

    @Test func aConnectionThatCannotBeMadeIsAnsweredAndKeepsTheClient() throws {
        let scene = try ExchangeScene()
        scene.proxy.session.limitRecording(to: 2)
        scene.client(Self.get)
        scene.refused()
        let heard = scene.heard()
        #expect(heard.count == 2 && heard[1].hasPrefix("client < HTTP/1.1 502 Bad Gateway|Wiretape-Error: refused|"))
        #expect(scene.recorder.summary == ["GET failed refused "])
        scene.client(Self.get)
        scene.refused(.loop)
        #expect(scene.heard().last?.hasPrefix("client < HTTP/1.1 508 Loop Detected|") == true)
        #expect(scene.recorder.exchanges.count == 1, "a loop is not recorded")
        #expect(scene.proxy.session.verdict() == Verdict(unreached: 2))
        scene.client(Self.get)
        scene.refused()
        #expect(scene.recorder.exchanges.count == 2, "a loop takes no place in a limited recording")
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nLength: 9\r\n\r\n", "HTTP/1.1 200 OK\r\nLength: 9\r\n\r\npart"])
    func anOriginThatGoesAwayIsAnsweredBeforeTheHeadAndCutAfterIt(said: String) throws {
        for resets in [false, true] {
            let scene = try ExchangeScene()
            scene.client(Self.get)
            scene.connected()
            _ = scene.heard()
            scene.origin(said.replacing("Length", with: "Content-Length"))
            if resets { scene.originResets() } else { scene.originEnds() }
            let heard = scene.heard().joined(separator: "\n")
            let hasBegun = said.hasSuffix("\r\n\r\n") || said.hasSuffix("part")
            #expect(heard.contains("origin 1 closed"))
            #expect(heard.contains("HTTP/1.1 502 Bad Gateway") == !hasBegun, "\(heard)")
            #expect(heard.contains("client closed") == hasBegun, "\(heard)")
            #expect(scene.recorder.exchanges.count == 1)
            let outcome = try #require(scene.recorder.exchanges.first?.interaction.outcome)
            if case .cut(let cut) = outcome { #expect(hasBegun && cut.by == .origin) } else { #expect(!hasBegun) }
        }
    }

    @Test func aClientThatLeavesCancelsTheRequestInAnyState() throws {
        for step in 0..<4 {
            for resets in [false, true] {
                let scene = try ExchangeScene()
                scene.client(step == 1 ? Self.post("Content-Length: 4", "bo") : Self.get)
                if step > 0 { scene.connected() }
                if step > 2 { scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart") }
                if resets { scene.clientResets() } else { scene.clientEnds() }
                if step == 0 { scene.connected() }
                let heard = scene.heard()
                #expect(heard.contains("client closed") && heard.contains("origin 1 closed"), "\(step) \(heard)")
                #expect(scene.recorder.exchanges.count == 1)
                guard case .cut(let cut)? = scene.recorder.exchanges.first?.interaction.outcome else {
                    Issue.record("\(scene.recorder.summary)")
                    continue
                }
                #expect(cut.by == .client)
            }
        }
    }

    @Test func aBadChunkOfTheClientIsRefusedBeforeTheHeadAndCutAfterIt() throws {
        for hasBegun in [false, true] {
            let scene = try ExchangeScene()
            scene.client(Self.post("Transfer-Encoding: chunked", "2\r\nab\r\n"))
            scene.connected()
            if hasBegun { scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart") }
            _ = scene.heard()
            scene.client("g\r\n")
            scene.advance(61)
            let heard = scene.heard()
            #expect(heard.contains { $0.hasPrefix("client < HTTP/1.1 400 Bad Request|Wiretape-Error: bad-request|") } == !hasBegun)
            #expect(heard.contains("client closed") && heard.contains("origin 1 closed") && !heard.contains("origin 1 < g|"))
            #expect(scene.recorder.exchanges.count == 1)
            #expect(scene.proxy.common.totalCounts.malformed == 1)
        }
    }

    @Test(arguments: ["HTTP/1.1 20 OK\r\n\r\n", "hello\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n"])
    func anAnswerThatIsNotHTTPIsA502(bad: String) throws {
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.connected()
        scene.origin(bad)
        let heard = scene.heard()
        #expect(heard.contains { $0.hasPrefix("client < HTTP/1.1 502 Bad Gateway|Wiretape-Error: malformed|") }, "\(heard)")
        #expect(heard.contains("origin 1 closed"))
    }

    @Test func anInvalidChunkNeverReachesTheClient() throws {
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        _ = scene.heard()
        scene.origin("2\r\nde\r\nzz\r\nevil")
        #expect(scene.heard() == ["client < 2|de|", "client closed", "origin 1 closed"])
        let body = try #require(scene.recorder.exchanges.first?.responseBody)
        #expect(!body.isComplete && body.bytes == Array("abcde".utf8), "what the client got is what is recorded")
    }

    /// Gives a text in seeded pieces: whole, byte by byte, and in between.
    static func divided(_ text: String, seed: Int) -> [String] {
        var random = SeededGenerator(seed: UInt64(seed))
        var (pieces, rest) = ([String](), Substring(text))
        while !rest.isEmpty {
            let count = seed == 0 ? rest.count : seed == 1 ? 1 : Int.random(in: 1...40, using: &random)
            pieces.append(String(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }

    @Test(arguments: [Failure.Answer.page, .break], 0..<12)
    func everythingBeforeAnInvalidChunkReachesTheClientHoweverItIsDivided(choice: Failure.Answer, seed: Int) throws {
        for bad in ["zz\r\n", "5 5\r\nabcde\r\n", "1\r\nab\r\n", "0\r\nHost: a\r\n\r\n"] {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            let good = "3\r\nabc\r\n2;x=y\r\nde\r\n" + (bad.hasPrefix("1") ? "1\r\na" : bad.hasPrefix("0") ? "0\r\n" : "")
            let scene = try ExchangeScene { $0.originErrors = choice }
            scene.client(Self.get)
            scene.connected()
            _ = scene.heard()
            for piece in Self.divided(head + "3\r\nabc\r\n2;x=y\r\nde\r\n" + bad, seed: seed) { scene.origin(piece) }
            let heard = scene.heard()
            let got = heard.filter { $0.hasPrefix("client < ") }.map { $0.dropFirst("client < ".count) }.joined()
            #expect(got.replacing("|", with: "\r\n") == head + good, "\(heard)")
            #expect(heard.contains("client closed") && heard.contains("origin 1 closed"))
            guard case .cut(let cut)? = scene.recorder.exchanges.first?.interaction.outcome else {
                Issue.record("not cut: \(scene.recorder.summary)")
                continue
            }
            #expect(cut.by == .origin && cut.kind == (choice == .break ? .truncated : nil))
            let body = try #require(scene.recorder.exchanges.first?.responseBody)
            #expect(String(decoding: body.bytes, as: UTF8.self) == "abcde" + (bad.hasPrefix("1") ? "a" : "") && !body.isComplete)
        }
    }

    @Test(arguments: 0..<12) func everythingBeforeAnInvalidChunkOfTheClientReachesTheOriginHoweverItIsDivided(seed: Int) throws {
        for isEarly in [false, true] {
            let scene = try ExchangeScene()
            let good = "3\r\nabc\r\n2;x=y\r\nde\r\n"
            let pieces = Self.divided(Self.post("Transfer-Encoding: chunked", good + "zz\r\nevil"), seed: seed)
            // The body comes before or after the connection to the origin.
            let first = isEarly ? pieces.count : pieces.firstIndex { _ in true }.map { $0 + 1 } ?? 0
            for piece in pieces[..<first] { scene.client(piece) }
            var isConnected = scene.heard().contains("dial h")
            if isConnected { scene.connected() }
            for piece in pieces[first...] {
                scene.client(piece)
                guard !isConnected, scene.heard().contains("dial h") else { continue }
                isConnected = true
                scene.connected()
            }
            scene.advance(61)
            let heard = scene.heard()
            let got = heard.filter { $0.hasPrefix("origin 1 < ") }.map { $0.dropFirst("origin 1 < ".count) }.joined()
            #expect(
                got.replacing("|", with: "\r\n") == "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + good, "\(heard)")
            #expect(heard.contains { $0.hasPrefix("client < HTTP/1.1 400 Bad Request|Wiretape-Error: bad-request|") }, "\(heard)")
            #expect(heard.contains("client closed") && heard.contains("origin 1 closed"))
            #expect(scene.recorder.exchanges.first?.requestBody?.bytes == Array("abcde".utf8))
            #expect(scene.proxy.common.totalCounts.malformed == 1)
        }
    }

    // MARK: Time

    @Test func anOriginThatSaysNothingIsA504() throws {
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.connected()
        scene.advance(299)
        #expect(scene.heard() == ["dial h", Self.sentGet])
        scene.advance(2)
        #expect(scene.heard().contains { $0.hasPrefix("client < HTTP/1.1 504 Gateway Timeout|Wiretape-Error: timeout|") })
        #expect(scene.recorder.summary == ["GET failed timeout "])
    }

    @Test func aConnectionThatIsNotMadeInTimeIsA504() throws {
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.advance(62)
        #expect(scene.heard().contains { $0.hasPrefix("client < HTTP/1.1 504 Gateway Timeout|Wiretape-Error: timeout|") })
        scene.connected()
        #expect(scene.heard() == ["origin 1 closed"])
    }

    @Test func aClientThatStopsInItsBodyIsCut() throws {
        let scene = try ExchangeScene()
        scene.client(Self.post("Content-Length: 9", "part"))
        scene.connected()
        scene.advance(59)
        scene.client("more")
        scene.advance(59)
        #expect(!scene.heard().contains("client closed"))
        scene.advance(2)
        #expect(scene.heard() == ["client closed", "origin 1 closed"])
        #expect(scene.recorder.summary == ["POST cut by client 8…"])
    }

    @Test func aClientThatReadsNothingIsCut() throws {
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart")
        _ = scene.heard()
        scene.clientTakes(false)
        #expect(!scene.originIsRead)
        scene.advance(61)
        #expect(scene.heard() == ["client closed", "origin 1 closed"])
        guard case .cut(let cut)? = scene.recorder.exchanges.first?.interaction.outcome else { throw RawError("not cut") }
        #expect(cut.by == .client && cut.reason == "client read nothing for 60 s")
    }

    /// The stall of a client that reads again is over. Its timer must not continue against a slow origin.
    @Test func aSlowOriginSurvivesItsClientsShortStall() throws {
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        scene.clientTakes(false)
        scene.advance(1)
        scene.clientTakes(true)
        #expect(scene.originIsRead)
        scene.advance(200)
        scene.origin("3\r\ntwo\r\n0\r\n\r\n")
        #expect(scene.heard().last == "client < 3|two|0||")
        #expect(scene.recorder.summary == ["GET 200 complete 6"])
    }

    @Test func anOriginThatTakesNothingOfTheBodyHasItsOwnTime() throws {
        let scene = try ExchangeScene()
        scene.client(Self.post("Content-Length: 9", "part"))
        scene.connected()
        scene.originTakes(false)
        #expect(!scene.clientIsRead)
        scene.advance(200)
        #expect(!scene.heard().contains("client closed"))
        scene.originTakes(true)
        #expect(scene.clientIsRead)
        scene.client("12345")
        scene.origin(Self.ok)
        #expect(scene.recorder.summary == ["POST 200 complete 9 2"])
    }

    // MARK: Back-pressure, the recorder, the disk

    @Test func aFullRecorderStopsBothSidesWithoutATimeout() throws {
        let scene = try ExchangeScene()
        scene.client(Self.post("Content-Length: 200000"))
        scene.connected()
        scene.recorder.isFull = true
        scene.client([UInt8](repeating: 120, count: 100_000))
        #expect(!scene.clientIsRead)
        scene.advance(500)
        _ = scene.heard()
        scene.drained()
        #expect(scene.clientIsRead)
        scene.client([UInt8](repeating: 120, count: 100_000))
        scene.origin(Self.ok)
        #expect(scene.heard().last == Self.gotOK)
        #expect(scene.recorder.summary == ["POST 200 complete 200000 2"])
    }

    /// The call is on its way when the queue fills again.
    @Test func anOldDrainWakesNoConnection() throws {
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.connected()
        scene.recorder.isFull = true
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + String(repeating: "x", count: 100_000))
        #expect(!scene.originIsRead)
        scene.proxy.recorderDrained()
        #expect(!scene.originIsRead && scene.proxy.isRecorderFull)
        scene.drained()
        #expect(scene.originIsRead)
    }

    @Test func aFullRecorderTakesNoNewRequests() throws {
        let scene = try Self.used()
        scene.recorder.isFull = true
        scene.client(Self.get)
        scene.origin(Self.ok)
        _ = scene.heard()
        scene.client(Self.get)
        #expect(scene.heard().isEmpty && !scene.clientIsRead)
        scene.drained()
        #expect(scene.heard() == [Self.sentGet])
    }

    @Test func aFullDiskRefusesNewRequestsIfThatWasAskedFor() throws {
        let scene = try ExchangeScene { $0.diskFullPolicy = .refuse }
        scene.recorder.obstacle = RecorderProblem(.diskFull, "the disk is full")
        scene.client(Self.get)
        #expect(scene.heard().first?.hasPrefix("client < HTTP/1.1 507 Insufficient Storage|Wiretape-Error: disk-full|") == true)
        scene.recorder.obstacle = nil
        scene.client(Self.get)
        #expect(scene.heard() == ["dial h"])
    }

    @Test(arguments: [true, false]) func aFullDiskEndsAWebSocketIfThatWasAskedFor(refuses: Bool) throws {
        let scene = try ExchangeScene { if refuses { $0.diskFullPolicy = .refuse } }
        scene.client(WebSocketTalk.request("http://h/a", host: "h"))
        scene.connected()
        scene.origin(WebSocketTalk.switching)
        scene.client(WebSocketTalk.text("one", from: .client))
        _ = scene.heard()
        scene.recorder.obstacle = RecorderProblem(.diskFull, "the disk is full")
        scene.client(WebSocketTalk.text("two", from: .client))
        #expect(scene.heard().contains { $0.hasPrefix("origin 1 < ") } == !refuses)
        #expect((scene.recorder.kept.last == "close") == refuses)
    }

    @Test func withFullDurabilityTheEndOfAnAnswerWaitsForTheDisk() throws {
        let scene = try ExchangeScene { $0.durability = .full }
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        #expect(scene.heard().last == "client < HTTP/1.1 200 OK|Content-Length: 4||ab")
        scene.origin("cd")
        scene.advance(100)
        #expect(!scene.heard().contains("client < cd"))
        scene.stored()
        #expect(scene.heard() == ["client < cd"])
    }

    @Test func anAnswerThatWasNotWrittenIsNotDeliveredAsComplete() throws {
        for isSmall in [true, false] {
            let scene = try ExchangeScene {
                $0.durability = .full
                $0.diskFullPolicy = .refuse
            }
            scene.client(Self.get)
            scene.connected()
            if isSmall {
                scene.origin(Self.ok)
            } else {
                scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
                scene.origin("cd")
            }
            _ = scene.heard()
            scene.stored(ExchangeScene.diskFull)
            let heard = scene.heard()
            if isSmall {
                #expect(heard.first?.hasPrefix("client < HTTP/1.1 507 Insufficient Storage|") == true)
            } else {
                #expect(heard == ["client closed"])
            }
        }
    }

    /// Other exchanges are recorded, because the disk has room.
    @Test func answerThatCannotBeRecordedIsDelivered() throws {
        let scene = try ExchangeScene {
            $0.durability = .full
            $0.diskFullPolicy = .refuse
        }
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        scene.stored(RecorderProblem(.exchange, "its body cannot be redacted"))
        #expect(scene.heard().last == Self.gotOK)
    }

    @Test func withPassAnAnswerIsDeliveredThoughTheDiskIsFull() throws {
        let scene = try ExchangeScene { $0.durability = .full }
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        scene.stored(ExchangeScene.diskFull)
        #expect(scene.heard().last == Self.gotOK)
    }

    // MARK: Times

    /// The client has sent the whole request.
    @Test func aSlowAnswerToAnUploadIsTheOriginsTime() throws {
        let scene = try ExchangeScene()
        scene.client(Self.post("Content-Length: 4"))
        scene.connected()
        scene.client("body")
        scene.advance(250)
        scene.origin(Self.ok)
        #expect(scene.heard().last == Self.gotOK)
    }

    @Test(arguments: ["HTTP/1.1 102 Processing\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"])
    func eachMessageOfTheOriginRestartsItsTime(word: String) throws {
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.connected()
        scene.advance(200)
        scene.origin(word)
        scene.advance(200)
        #expect(!scene.heard().contains { $0.contains(" 504 ") || $0.contains("closed") })
        scene.advance(150)
        #expect(scene.heard().contains { $0.contains(" 504 ") || $0.contains("closed") })
    }

    // MARK: Stops

    @Test func aStopLetsRequestsUnderWayEnd() throws {
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.connected()
        _ = scene.heard()
        scene.stop()
        #expect(scene.heard().isEmpty)
        scene.origin(Self.ok)
        scene.advance(61)
        #expect(Set(scene.heard()) == [Self.gotOK, "origin 1 closed", "client closed", "stopped"])
        #expect(scene.recorder.summary == ["GET 200 complete 2"])
    }

    @Test func aStopThatWaitsNoLongerCutsInTheRecordersName() throws {
        let scene = try ExchangeScene()
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        _ = scene.heard()
        scene.stop()
        scene.advance(61)
        #expect(Set(scene.heard()) == ["origin 1 closed", "client closed", "stopped"])
        #expect(scene.recorder.summary == ["GET 200 cut by recorder 2…"])
    }

    // MARK: Upgrades

    @Test func anUpgradeBecomesATunnel() throws {
        let scene = try ExchangeScene()
        scene.client("GET http://h/c HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\nearly")
        scene.connected()
        scene.origin("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\nhello")
        #expect(
            scene.heard().suffix(2) == [
                "client < HTTP/1.1 101 Switching Protocols|Connection: Upgrade|Upgrade: chat||hello", "origin 1 < early",
            ])
        scene.client("ping")
        scene.origin("pong")
        #expect(scene.heard() == ["origin 1 < ping", "client < pong"])
        scene.clientEnds()
        scene.originEnds()
        #expect(Set(scene.heard()) == ["client closed", "origin 1 closed"])
        #expect(scene.recorder.exchanges.first?.interaction.tunnel == TunnelCounts(sent: 9, received: 9))
        #expect(scene.recorder.exchanges.first?.interaction.response?.status == 101)
        #expect(scene.recorder.exchanges.count == 1)
    }
}
