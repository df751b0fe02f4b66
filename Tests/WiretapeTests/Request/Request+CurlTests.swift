import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestCurlTests {
    @Test func aRequestIsDescribedBeforeAndAfterItWentOut() async throws {
        let session = Session.answering()
        let request = session.request("http://a.test/x", headers: ["X-A": "1", "Authorization": "Bearer secret"])
        let before = request.cURLDescription()
        #expect(before.hasPrefix("curl") && before.contains("http://a.test/x") && before.contains("X-A: 1"))
        #expect(!before.contains("secret"))
        #expect(request.isInitialized)
        #expect(try request.curl(redaction: nil).command.contains("Bearer secret"))
        _ = await request.serializingData().response
        #expect(request.cURLDescription() == before)
    }

    @Test func aRequestThatCannotBeMadeTellsWhy() {
        let request = Session.answering().request("no url")
        #expect(throws: WiretapeError.self) { try request.curl() }
        #expect(request.cURLDescription().contains("no url"))
    }
}
