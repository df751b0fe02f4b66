import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct SessionEventSummaryTests {
    @Test func sourcesAreNamed() throws {
        let url = try #require(URL(string: "http://a/"))
        func summary(_ source: ExchangeSource) -> String {
            SessionEvent.Kind.transport(.head(HTTPResponse(url: url, status: 200, source: source))).summary
        }
        #expect(summary(.live) == "head 200 of http://a/")
        #expect(summary(.stub) == "head 200 of http://a/, from a stub")
        #expect(summary(.recorded(cassette: "c", id: 1)) == "head 200 of http://a/, recorded as 1")
    }

    @Test func aRequestWithoutABodySaysNoSize() throws {
        let request = TransportRequest(method: "GET", url: try #require(URL(string: "http://a/")))
        #expect(SessionEvent.Kind.started(request).summary == "started GET http://a/")
    }
}
