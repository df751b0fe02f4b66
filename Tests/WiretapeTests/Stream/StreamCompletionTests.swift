import Foundation
import Testing

@testable import Wiretape

@Suite struct StreamCompletionTests {
    @Test func itTellsHowTheRequestEnded() async throws {
        let (session, request) = Session.streaming(["x"], 203)
        request.resume()
        let completion = StreamCompletion(await request.outcome())
        #expect(completion.response?.status == 203 && completion.error == nil)
        #expect(completion.request?.url.path == "/s" && completion.trailers.isEmpty)
        #expect(completion.metrics.hops.count == 1)
        withExtendedLifetime(session) {}
    }
}
