import CassetteModel
import NIOCore
import TapeExchange
import Testing

@testable import TapeProxy

/// How the two ends of an exchange over HTTP/1 use their connections, in memory, as transcripts.
@Suite struct HTTP1StreamTranscriptTests {
    private static let get = ForwardTranscriptTests.get
    private static let ok = ForwardTranscriptTests.ok
    private static let gotOK = ForwardTranscriptTests.gotOK

    /// A scene whose request has reached the origin.
    private func asked(_ request: String = Self.get) throws -> ExchangeScene {
        let scene = try ExchangeScene()
        scene.client(request)
        scene.connected()
        _ = scene.heard()
        return scene
    }

    // MARK: The origin's connection

    @Test func anAnswerToHEADHasALengthAndNoBody() throws {
        let scene = try self.asked("HEAD http://h/a HTTP/1.1\r\nHost: h\r\n\r\n")
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        #expect(scene.heard() == ["client < HTTP/1.1 200 OK|Content-Length: 5||"])
        scene.client(Self.get)
        scene.origin(Self.ok)
        #expect(scene.heard() == [ForwardTranscriptTests.sentGet, Self.gotOK])
    }

    @Test func interimResponsesAreCountedForOneAnswer() throws {
        let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
        let most = String(repeating: hint, count: Limits().interimResponses)
        let scene = try self.asked()
        scene.origin(most + Self.ok)
        scene.client(Self.get)
        scene.origin(most + Self.ok)
        #expect(scene.heard().last?.hasSuffix("||HTTP/1.1 200 OK|Content-Length: 2||ok") == true)
        scene.client(Self.get)
        scene.origin(most)
        _ = scene.heard()
        scene.origin(hint)
        #expect(scene.heard().contains { $0.hasPrefix("client < HTTP/1.1 502 Bad Gateway|Wiretape-Error: malformed|") })
    }

    /// On a connection that was used before as well.
    @Test(arguments: [true, false]) func closingBeforeAndDuringAnAnswerAreDistinguished(begins: Bool) throws {
        let scene = try ForwardTranscriptTests.used()
        scene.client(ForwardTranscriptTests.post("Content-Length: 2", "ab"))
        if begins { scene.origin("HTTP/1.1 200 OK\r\n") }
        scene.originEnds()
        #expect(scene.recorder.summary.last == "POST failed \(begins ? "truncated" : "reset") 2")
        guard case .failed(let failure)? = scene.recorder.exchanges.last?.interaction.outcome else { return }
        let ending = begins ? "before the end of its answer." : "without an answer."
        #expect(failure.message.hasSuffix("closed the connection \(ending)"))
    }

    @Test func anOriginThatBreaksItsConnectionIsReported() throws {
        let scene = try self.asked()
        scene.originResets()
        #expect(scene.heard().contains { $0.hasSuffix("\"h\" broke the connection.\n") })
    }

    /// The request was still on its way when the answer was complete.
    @Test func bytesAfterAnEarlyAnswerEndTheConnection() throws {
        let scene = try self.asked(ForwardTranscriptTests.post("Content-Length: 4", "ha"))
        scene.origin("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        scene.origin("more")
        scene.client("lf")
        #expect(scene.heard().last == "origin 1 closed")
    }

    @Test func protocolsAreNotSwitchedBeforeTheRequestIsSent() throws {
        let scene = try self.asked(ForwardTranscriptTests.post("Content-Length: 4\r\nConnection: Upgrade\r\nUpgrade: chat", "ha"))
        scene.origin("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n")
        #expect(scene.heard().contains { $0.hasPrefix("client < HTTP/1.1 502 Bad Gateway|Wiretape-Error: malformed|") })
    }

    @Test func anUnusedConnectionThatEndsIsNotCountedAnyMore() throws {
        let scene = try ForwardTranscriptTests.used()
        #expect(scene.proxy.pool.count == 1)
        scene.originEnds()
        #expect(scene.proxy.pool.count == 0)
    }

    // MARK: The client's connection

    @Test func requestPipelinedInPiecesIsOneRequest() throws {
        let scene = try self.asked()
        scene.client("GET http://h/b HT")
        scene.client("TP/1.1\r\nHost: h\r\n\r\n")
        scene.origin(Self.ok)
        scene.origin(Self.ok)
        #expect(scene.heard() == [Self.gotOK, "origin 1 < GET /b HTTP/1.1|Host: h||", Self.gotOK])
    }

    @Test func theTimeOfALaterHeadRunsFromItsFirstByteToo() throws {
        let scene = try ForwardTranscriptTests.used()
        scene.advance(40)
        scene.client("GET http://h/")
        scene.advance(29)
        #expect(!scene.heard().contains { $0.hasPrefix("client") })
        scene.advance(2)
        #expect(scene.heard().first?.hasPrefix("client < HTTP/1.1 408 ") == true)
    }

    @Test func aConnectionWithAHeadInPiecesIsIdleAfterIt() throws {
        let scene = try self.asked("GET http://h/a HTTP/1.1\r\nHo")
        scene.client("st: h\r\n\r\n")
        scene.connected()
        scene.origin(Self.ok)
        _ = scene.heard()
        scene.advance(76)
        #expect(Set(scene.heard()) == ["origin 1 closed", "client closed"], "without a word")
    }

    /// The remaining bytes are the end of a body, and not a request.
    @Test func a417AfterSomeOfTheBodyEndsTheConnection() throws {
        let scene = try self.asked(ForwardTranscriptTests.post("Content-Length: 8\r\nExpect: 100-continue", "half"))
        scene.origin("HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        scene.client("rest" + Self.get)
        scene.advance(6)
        #expect(!scene.heard().contains { $0.hasPrefix("dial") })
    }

    @Test func aBodyBeforeItDoesNotKeepA417FromKeepingTheConnection() throws {
        let scene = try self.asked(ForwardTranscriptTests.post("Content-Length: 4", "body"))
        scene.origin(Self.ok)
        scene.client(ForwardTranscriptTests.post("Content-Length: 4\r\nExpect: 100-continue"))
        scene.origin("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
        _ = scene.heard()
        scene.client(Self.get)
        #expect(scene.heard() == ["dial h"])
    }

    @Test func theBytesOfEachAnswerCountOnce() throws {
        let scene = try self.asked()
        scene.origin(Self.ok)
        scene.client(Self.get)
        scene.origin(Self.ok)
        #expect(scene.proxy.common.totalCounts.bytes == 2 * Self.ok.utf8.count)
        scene.client(Self.get)
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        scene.originEnds()
        #expect(scene.proxy.common.totalCounts.bytes == 3 * Self.ok.utf8.count)
    }

    @Test func anAnswerOfOurOwnEndsAConnectionWithAnUnreadBody() throws {
        let scene = try ExchangeScene()
        scene.client(ForwardTranscriptTests.post("Content-Length: 4\r\nExpect: 100-continue"))
        scene.refused()
        #expect(scene.heard().last?.contains("|Connection: close|") == true)
        scene.client("body" + Self.get)
        scene.advance(6)
        #expect(scene.heard() == ["client closed"])
    }

    @Test func aChunkedAnswerToAnHTTP10ClientEndsWithTheConnection() throws {
        let scene = try self.asked("GET http://h/a HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n")
        scene.origin("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
        scene.advance(6)
        #expect(scene.heard().filter { $0.hasPrefix("client") } == ["client < HTTP/1.1 200 OK||ok", "client closed"])
    }
}
