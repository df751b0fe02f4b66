import Foundation
import Testing

@testable import Wiretape

@Suite struct SessionCoreTests {
    @Test func numbersRiseAndIDsAreOfTheirVersion() {
        let core = SessionCore(Session.Configuration(), transport: ScriptedTransport())
        #expect((core.nextNumber(), core.nextNumber()) == (1, 2))
        let id = core.id(of: 0x0102_0304_0506_0708)
        #expect(id.uuidString.hasSuffix("-8203-040506070800") || id.uuidString.contains("-8"))
        #expect(id.uuid.6 >> 4 == 8 && id.uuid.8 >> 6 == 2)
        #expect(core.id(of: 1) != core.id(of: 2) && core.id(of: 1) == core.id(of: 1))
    }

    @Test func requestsAreActiveFromTheirStartToTheirEnd() {
        let session = Session.plain(ScriptedTransport())
        let request = session.request("http://a.test/")
        session.core.started(request)
        #expect(session.core.activeRequests.map(\.id) == [request.id])
        session.core.finished(request)
        #expect(session.core.activeRequests.isEmpty)
    }
}
