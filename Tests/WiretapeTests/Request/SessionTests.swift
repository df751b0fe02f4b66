import Foundation
import Testing

@testable import Wiretape

@Suite struct SessionTests {
    @Test func requestsOnTheirWayAreListedInOrderAndCancelledTogether() async {
        let transport = ScriptedTransport()
        let session = Session.plain(transport)
        let tasks = ["a", "b", "c"].map { session.request("http://a.test/\($0)").serializingData() }
        session.withAllRequests { #expect($0.map { $0.sentRequest?.url.path } == ["/a", "/b", "/c"]) }
        session.cancelAllRequests()
        for task in tasks { #expect(await task.response.error?.isCancelled == true) }
        session.withAllRequests { #expect($0.isEmpty) }
        await session.waitUntilIdle()
    }

    @Test func waitingUntilIdleWaitsForTheLastRequest() async throws {
        let transport = ScriptedTransport()
        let session = Session.plain(transport)
        let task = session.request("http://a.test/x").serializingData()
        async let idle: Void = session.waitUntilIdle()
        await transport.exchange(1).answer()
        await idle
        session.withAllRequests { #expect($0.isEmpty) }
        _ = await task.response
    }

    @Test func aRequestComesToItsEndWithoutItsSession() async {
        let transport = ScriptedTransport()
        var session: Session? = .plain(transport)
        let task = session?.request("http://a.test/x").serializingData()
        let later = session?.request("http://a.test/y")
        session = nil
        await transport.exchange(1).answer(200, [:], "x")
        #expect(await task?.response.error == nil)
        async let second = later?.serializingData().response.error
        await transport.exchange(2).answer(200, [:], "y")
        #expect(await second == nil)
    }

    @Test func requestIDsDiffer() {
        let session = Session.plain(ScriptedTransport())
        let ids = Set((0..<100).map { _ in session.request("http://a.test/").id })
        #expect(ids.count == 100)
        #expect(session.configuration.headers.isEmpty)
    }
}
