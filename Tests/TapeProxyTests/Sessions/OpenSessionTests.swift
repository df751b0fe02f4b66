import Testing
@testable import TapeProxy

@Suite struct OpenSessionTests {
    @Test func aSessionReportsWhileItIsOpenAndWhenItIsClosed() throws {
        let running = try RunningSessions()
        let session = try running.server.open(SessionOrder(cassette: "pets.json", wantsPort: true))
        #expect((session.port ?? 0) > 0)
        var report = session.report()
        #expect(report.isOpen && report.file == nil && report.recorder?.recorded == 0)
        report = try running.server.end(session.name, keepsOld: false)
        #expect(!report.isOpen && report.problem == nil)
        // An empty cassette would refuse every request of the next session.
        #expect(report.file == nil)
    }
}
