import Foundation
import Testing

@testable import Wiretape

/// Transcripts: an event in, whose it is out.
@Suite struct LoadRedirectsTests {
    private static let url = URL(string: "http://here.test/start") ?? URL(fileURLWithPath: "/")
    private static let request = TransportRequest(method: "POST", url: url, headers: [:], body: .data(Data("b".utf8)))

    private static func head(_ status: Int, _ location: String? = nil) -> TransportEvent {
        .head(HTTPResponse(url: url, status: status, headers: location.map { ["Location": $0] } ?? [:]))
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

    @Test func theNextExchangeBeginsAnew() {
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
