import Foundation
import Testing
@testable import Wiretape

@Suite struct AnswerAssemblyTests {
    private static let url = URL(fileURLWithPath: "/")
    private static let head = TransportEvent.head(HTTPSession.Response(url: url, status: 200))
    private static func piece(_ text: String) -> TransportEvent { .chunk(Data(text.utf8)) }

    /// The events, and the calls expected after them: first with a joined body, then with one in pieces.
    private static let table: [(events: [TransportEvent], joined: [String], pieces: [String])] = [
        ([head, .end], ["200", "finished"], ["200", "finished"]),
        ([head, piece("a"), .end], ["200", "\"a\"", "finished"], ["200", "\"a\"", "finished"]),
        (
            [head, piece("a"), piece(""), piece("b"), piece("c"), .end], ["200", "\"abc\"", "finished"],
            ["200", "\"a\"", "\"b\"", "\"c\"", "finished"]
        ),
        (
            [head, piece("a"), piece("b"), .failed(.cancelled("cut")), .end], ["200", "\"ab\"", "failed: cut"],
            ["200", "\"a\"", "\"b\"", "failed: cut"]
        ),
        ([.failed(.cancelled("refused")), head, .end], ["failed: refused"], ["failed: refused"]),
        (
            [.interim(status: 103, headers: HTTPSession.Headers()), head, .sent(1, of: 2), .trailers(HTTPSession.Headers()), .end],
            ["200", "finished"],
            ["200", "finished"]
        ),
        ([head, head, .end, .end], ["200", "finished"], ["200", "finished"]),
        (
            [.end], ["failed: the response has no head: check the transport that produced it"],
            ["failed: the response has no head: check the transport that produced it"]
        ),
        (
            [piece("lost"), .end], ["failed: the response has no head: check the transport that produced it"],
            ["failed: the response has no head: check the transport that produced it"]
        ),
    ]

    @Test(arguments: table.indices) func aWholeAnswer(index: Int) {
        let row = Self.table[index]
        var joined = AnswerAssembly()
        for event in row.events { joined.received(event) }
        #expect(joined.isReady && joined.isEnded)
        #expect(joined.take().map(\.text) == row.joined)
        #expect(joined.take().isEmpty)

        var pieces = AnswerAssembly()
        pieces.joinsBody = false
        var calls: [String] = []
        for event in row.events {
            pieces.received(event)
            calls += pieces.take().map(\.text)
        }
        #expect(calls == row.pieces)
    }

    @Test func aJoinedBodyWaitsForItsEnd() {
        var answer = AnswerAssembly()
        answer.received(Self.head)
        answer.received(Self.piece("a"))
        #expect(!answer.isReady)
        #expect(answer.take().isEmpty)
        #expect(!answer.hasPieces)
        answer.received(Self.piece("b"))
        #expect(answer.hasPieces)
    }

    @Test func theLastCallIsTheOneThatEnds() {
        var answer = AnswerAssembly()
        for event in [Self.head, Self.piece("a"), .end] { answer.received(event) }
        #expect(answer.take().map(\.isLast) == [false, false, true])
        #expect(AnswerAssembly.Call.failed(.cancelled()).isLast)
    }
}

/// Transcripts: an event goes in, and its receiver comes out.
@Suite struct LoadRedirectsTests {
    private static let url = URL(string: "http://here.test/start") ?? URL(fileURLWithPath: "/")
    private static let request = TransportRequest(method: "POST", url: url, headers: [:], body: .data(Data("b".utf8)))

    private static func head(_ status: Int, _ location: String? = nil) -> TransportEvent {
        .head(HTTPSession.Response(url: url, status: status, headers: location.map { ["Location": $0] } ?? [:]))
    }

    private func text(_ finding: LoadRedirects.Finding) -> String {
        switch finding {
        case .answer: "answer"
        case .redirect: "redirect"
        case .ended(let response, let next): "\(response.status) to \(next.method) \(next.url.path)"
        case .failed(let failure): "failed: \(failure.message)"
        }
    }

    private func sent() -> LoadRedirects {
        var redirects = LoadRedirects()
        redirects.sent(Self.request)
        return redirects
    }

    @Test func anAnswerThatSendsNowhereIsTheAnswer() {
        var redirects = self.sent()
        for event in [Self.head(200), .chunk(Data("a".utf8)), .end, Self.head(304), Self.head(302)] {
            #expect(self.text(redirects.received(event)) == "answer")
        }
        #expect(redirects.body.isEmpty)
    }

    @Test func aRedirectHasABodyAndIsFollowedAtItsEnd() {
        var redirects = self.sent()
        #expect(self.text(redirects.received(Self.head(302, "/next"))) == "redirect")
        #expect(self.text(redirects.received(.chunk(Data("moved".utf8)))) == "redirect")
        #expect(self.text(redirects.received(.trailers([:]))) == "redirect")
        #expect(redirects.body == [Data("moved".utf8)])
        #expect(self.text(redirects.received(.end)) == "302 to GET /next")
    }

    @Test func theNextExchangeStartsOver() {
        var redirects = self.sent()
        _ = redirects.received(Self.head(307, "/next"))
        _ = redirects.received(.chunk(Data("moved".utf8)))
        redirects.sent(Self.request)
        #expect(redirects.body.isEmpty)
        #expect(self.text(redirects.received(Self.head(200))) == "answer")
    }

    @Test func aRedirectThatIsCutFailsAsTheAnswerDoes() {
        var redirects = self.sent()
        _ = redirects.received(Self.head(302, "/next"))
        #expect(self.text(redirects.received(.failed(.cancelled("cut")))) == "answer")
        #expect(self.text(redirects.received(.end)) == "answer")
    }

    @Test func oneTooManyIsRefused() {
        var redirects = self.sent()
        for _ in 0..<20 {
            #expect(self.text(redirects.received(Self.head(302, "/start"))) == "redirect")
            redirects.sent(Self.request)
        }
        #expect(self.text(redirects.received(Self.head(302, "/start"))).contains("20 redirects"))
    }
}
