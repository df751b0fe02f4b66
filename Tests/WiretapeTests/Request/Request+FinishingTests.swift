import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestFinishingTests {
    private final class Monitor: EventMonitor {
        let words = Collected<String>()

        func sessionDid(_ event: SessionEvent) {
            switch event.kind {
            case .created: self.words.add("created")
            case .adapted: self.words.add("adapted")
            case .started: self.words.add("started")
            case .transport(let event): self.words.add(event.isLast ? "last" : "event")
            case .redirected: self.words.add("redirected")
            case .validated(let error): self.words.add("validated \(error == nil)")
            case .retried(let count, _, _): self.words.add("retried \(count)")
            case .suspended: self.words.add("suspended")
            case .resumed: self.words.add("resumed")
            case .cancelled: self.words.add("cancelled")
            case .serialized: self.words.add("serialized")
            case .finished(let error): self.words.add("finished \(error == nil)")
            }
        }
    }

    @Test func monitorsAreToldOfEachStepInOrder() async throws {
        let monitor = Monitor()
        let transport = ScriptedTransport { exchange, _ in
            if exchange.request.url.path == "/a" { exchange.answer(302, ["Location": "/b"]) } else { exchange.answer(200, [:], "x") }
        }
        let session = Session.plain(transport) { $0.eventMonitors = [monitor] }
        _ = try await session.request("http://a.test/a").validate().serializingData().value
        #expect(
            monitor.words.all == [
                "created", "resumed", "started", "event", "last", "redirected", "started", "event", "event", "last", "validated true",
                "finished true", "serialized",
            ])
    }

    @Test func aCancelIsToldOnce() async {
        let monitor = Monitor()
        let session = Session.plain(ScriptedTransport()) { $0.eventMonitors = [monitor] }
        let request = session.request("http://a.test/a")
        let task = request.serializingData()
        request.cancel()
        request.cancel()
        _ = await task.response
        #expect(monitor.words.all == ["created", "resumed", "started", "cancelled", "finished false", "serialized"])
    }

    @Test func handlersRunInOrderOnTheirQueuesAlsoWhenAddedLate() async {
        let transport = ScriptedTransport()
        let session = Session.plain(transport)
        let request = session.request("http://a.test/a")
        let calls = Collected<Int>()
        let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
        await withCheckedContinuation { continuation in
            for number in 0..<20 {
                request.response(queue: number.isMultiple(of: 2) ? first : second) { response in
                    dispatchPrecondition(condition: .onQueue(number.isMultiple(of: 2) ? first : second))
                    #expect(response.value == Data("x".utf8))
                    calls.add(number)
                }
            }
            Task {
                await transport.exchange(1).answer(200, [:], "x")
                request.responseString(queue: first) { response in
                    calls.add(response.value == "x" ? 20 : -1)
                    request.responseData(queue: second) { _ in
                        calls.add(21)
                        continuation.resume()
                    }
                }
            }
        }
        #expect(calls.all == Array(0...21))
    }
}
