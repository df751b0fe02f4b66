import CassetteModel
import Foundation
import TapeBytes
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct ClosureEventMonitorTests {
    @Test func itGetsEachEvent() {
        let ids = Guarded<[UUID]>([])
        let monitor: any HTTPSession.EventMonitor = .events { event in ids.withLock { $0.append(event.requestID) } }
        let wanted = [UUID(), UUID()]
        for id in wanted { monitor.sessionDid(HTTPSession.Event(requestID: id, kind: .created)) }
        #expect(ids.withLock { $0 } == wanted)
    }
}

@Suite struct CompositeEventMonitorTests {
    @Test func allMonitorsAreCalledInOrder() {
        let told = Guarded<[Int]>([])
        let all = HTTPSession.CompositeEventMonitor(
            (0..<3).map { number in HTTPSession.ClosureEventMonitor { _ in told.withLock { $0.append(number) } } })
        all.sessionDid(HTTPSession.Event(requestID: UUID(), kind: .created))
        #expect(told.withLock { $0 } == [0, 1, 2])
    }
}

@Suite struct LoggingEventMonitorTests {
    private static let secret = "hunter2"

    private struct Refusal: Error { var text = LoggingEventMonitorTests.secret }

    private func lines(_ detail: HTTPSession.LoggingEventMonitor.Detail) throws -> [String] {
        let lines = Guarded<[String]>([])
        let monitor = HTTPSession.LoggingEventMonitor(detail) { line in lines.withLock { $0.append(line) } }
        let id = try #require(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF"))
        for kind in try self.everyKind() { monitor.sessionDid(HTTPSession.Event(requestID: id, kind: kind)) }
        return lines.withLock { $0 }
    }

    private func everyKind() throws -> [HTTPSession.Event.Kind] {
        let url = try #require(URL(string: "http://u:\(Self.secret)@a/x?key=\(Self.secret)"))
        let headers = HTTPSession.Headers([HTTPSession.Header(name: "Authorization", value: Self.secret)])
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(Self.secret.utf8)
        request.setValue(Self.secret, forHTTPHeaderField: "Authorization")
        let response = HTTPSession.Response(
            url: url, status: 302, reason: Self.secret, headers: headers, source: .replayed(cassette: "c", id: 3))
        let failure = TransportFailure(.network(.reset), Self.secret, cause: Refusal())
        let system = NSError(domain: "NSURLErrorDomain", code: -1004, userInfo: [NSLocalizedDescriptionKey: Self.secret])
        return [
            .created, .adapted(request),
            .started(TransportRequest(method: "POST", url: url, headers: headers, body: .data(Data(Self.secret.utf8)))),
            .transport(.sent(3, of: 7)), .transport(.interim(status: 103, headers: headers)), .transport(.head(response)),
            .transport(.chunk(Data(Self.secret.utf8))), .transport(.trailers(headers)),
            .transport(.metrics(ExchangeMetrics(source: .recording, timing: Timing()))), .transport(.end), .transport(.failed(failure)),
            .redirected(from: response, to: request), .redirected(from: response, to: nil), .validated(error: nil),
            .validated(error: Refusal()), .retried(count: 1, after: .milliseconds(1500), dueTo: failure), .suspended, .resumed, .cancelled,
            .serialized(duration: .milliseconds(2), error: nil), .serialized(duration: .zero, error: system), .finished(error: nil),
            .finished(error: CancellationError()),
        ]
    }

    @Test func everythingOnALineEachWithoutSecrets() throws {
        let lines = try self.lines(.everything)
        #expect(
            lines == [
                "01234567 created", "01234567 adapted POST http://a/x?key=…", "01234567 started POST http://a/x?key=…, 7 bytes",
                "01234567 sent 3 of 7 bytes", "01234567 interim 103", "01234567 head 302 of http://a/x?key=…, replayed from 3",
                "01234567 chunk of 7 bytes", "01234567 trailers, 1", "01234567 metrics", "01234567 end", "01234567 failed: reset",
                "01234567 redirected by 302, to POST http://a/x?key=…", "01234567 redirected by 302, not followed", "01234567 validated",
                "01234567 validated, failed: Refusal 1", "01234567 retry 1 after 1.500 s, failed: reset", "01234567 suspended",
                "01234567 resumed", "01234567 cancelled", "01234567 serialized in 0.002 s",
                "01234567 serialized in 0.000 s, failed: NSURLErrorDomain -1004", "01234567 finished",
                "01234567 finished, failed: cancelled",
            ])
        #expect(!lines.contains { $0.contains(Self.secret) || $0.contains("\n") })
    }

    @Test func exchangesAloneAreFewerLines() throws {
        #expect(
            try self.lines(.exchanges).map { $0.dropFirst(9).prefix { $0 != " " && $0 != ":" && $0 != "," } } == [
                "started", "head", "failed", "redirected", "redirected", "validated", "retry", "cancelled", "serialized", "finished",
                "finished",
            ])
    }
}

@Suite struct SessionEventStreamsTests {
    private func event(_ status: Int) -> HTTPSession.Event {
        HTTPSession.Event(requestID: UUID(), kind: .transport(.interim(status: status, headers: HTTPSession.Headers())))
    }

    private func statuses(_ stream: AsyncStream<HTTPSession.Event>) async -> [Int] {
        var statuses: [Int] = []
        for await event in stream { if case .transport(.interim(let status, _)) = event.kind { statuses.append(status) } }
        return statuses
    }

    @Test func eachReaderGetsAllFromItsBeginningOn() async {
        let streams = HTTPSession.EventStreams()
        let early = streams.events()
        streams.sessionDid(self.event(1))
        let late = streams.events()
        streams.sessionDid(self.event(2))
        streams.finish()
        streams.sessionDid(self.event(3))
        #expect(await self.statuses(early) == [1, 2])
        #expect(await self.statuses(late) == [2])
        #expect(await self.statuses(streams.events()) == [])
        #expect(streams.droppedCount == 0)
    }

    @Test func aSlowReaderLosesTheLaterOnesAndThatIsCounted() async {
        let streams = HTTPSession.EventStreams()
        let small = streams.events(limit: 2)
        let large = streams.events(limit: 10)
        for status in 1...5 { streams.sessionDid(self.event(status)) }
        streams.finish()
        #expect(await self.statuses(small) == [1, 2])
        #expect(await self.statuses(large) == [1, 2, 3, 4, 5])
        #expect(streams.droppedCount == 3)
    }

    @Test func aReaderThatLeavesIsForgotten() async {
        let streams = HTTPSession.EventStreams()
        do {
            let stream = streams.events(limit: 1)
            _ = consume stream
        }
        for status in 1...3 { streams.sessionDid(self.event(status)) }
        #expect(streams.droppedCount == 0)
    }

    @Test func theSequencesEndWithTheMonitor() async {
        var streams: HTTPSession.EventStreams? = HTTPSession.EventStreams()
        let stream = streams?.events()
        streams?.sessionDid(self.event(1))
        streams = nil
        if let stream { #expect(await self.statuses(stream) == [1]) }
    }
}
