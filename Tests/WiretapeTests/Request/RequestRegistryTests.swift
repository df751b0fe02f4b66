import Testing

@testable import Wiretape

@Suite struct RequestRegistryTests {
    @Test func requestsAreListedInOrderUntilTheyAreRemoved() {
        let session = Session.plain(ScriptedTransport())
        let requests = (0..<3).map { session.request("http://a.test/\($0)") }
        var registry = RequestRegistry()
        #expect(registry.isIdle)
        for request in requests.reversed() { registry.add(request) }
        #expect(registry.requests.map(\.id) == requests.map(\.id))
        for request in requests { #expect(registry.remove(request).isEmpty) }
        #expect(registry.isIdle)
    }

    @Test func whoWaitsIsWokenByTheLast() async {
        let session = Session.plain(ScriptedTransport())
        let request = session.request("http://a.test/")
        var registry = RequestRegistry()
        registry.add(request)
        await withCheckedContinuation { waiter in
            let waits = registry.wait(waiter)
            #expect(waits)
            for waiter in registry.remove(request) { waiter.resume() }
        }
        await withCheckedContinuation { waiter in
            let waits = registry.wait(waiter)
            #expect(!waits, "there is nothing to wait for")
            waiter.resume()
        }
    }
}
