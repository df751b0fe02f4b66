import CassetteModel
import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct MetricsStateTests {
    private struct Refusal: Error {}

    private func request(_ path: String = "/x") throws -> TransportRequest {
        TransportRequest(method: "GET", url: try #require(URL(string: "http://a\(path)")))
    }

    private func head(_ status: Int, _ source: ExchangeSource = .live) throws -> TransportEvent {
        .head(HTTPResponse(url: try #require(URL(string: "http://a/x")), status: status, source: source))
    }

    private func state(_ events: [(SessionEvent.Kind, Int)]) -> RequestMetrics {
        var state = MetricsState(startTime: Date(timeIntervalSince1970: 0))
        for (event, milliseconds) in events { state.happened(event, at: .milliseconds(milliseconds)) }
        return state.metrics
    }

    @Test func oneExchange() throws {
        let metrics = self.state([
            (.created, 0), (.adapted(URLRequest(url: try self.request().url)), 1), (.started(try self.request()), 2),
            (.transport(.sent(5, of: 10)), 3), (.transport(.sent(10, of: 10)), 4),
            (.transport(.interim(status: 103, headers: HTTPHeaders())), 5), (.transport(try self.head(200)), 10),
            (.transport(.chunk(Data("abc".utf8))), 11), (.transport(.chunk(Data("defg".utf8))), 15),
            (.transport(.trailers(HTTPHeaders())), 16), (.transport(.end), 20), (.validated(error: nil), 21),
            (.serialized(duration: .milliseconds(1), error: nil), 25), (.finished(error: nil), 30),
        ])
        #expect(metrics.timeline.latency == .milliseconds(10))
        #expect(metrics.timeline.requestDuration == .milliseconds(20))
        #expect(metrics.timeline.serializationDuration == .milliseconds(5))
        #expect(metrics.attempts == 1)
        let hop = try #require(metrics.hops.first)
        #expect(hop.status == 200 && hop.source == .live && hop.retryCount == 0 && hop.failure == nil)
        #expect(hop.measured.timing == Timing(send: 2, wait: 6, receive: 10, total: 18))
        #expect(hop.pieces == [.init(at: .milliseconds(11), size: 3), .init(at: .milliseconds(15), size: 4)])
    }

    @Test func aRedirectIsAHopAndTheLastAnswerCounts() throws {
        let first = HTTPResponse(url: try self.request().url, status: 302)
        let metrics = self.state([
            (.started(try self.request()), 0), (.transport(.head(first)), 10), (.transport(.end), 11),
            (.redirected(from: first, to: nil), 11), (.started(try self.request("/y")), 12), (.transport(try self.head(200)), 20),
            (.transport(.end), 21),
        ])
        #expect(metrics.hops.map(\.status) == [302, 200] && metrics.hops.map(\.url.absoluteString) == ["http://a/x", "http://a/y"])
        #expect(metrics.timeline.latency == .milliseconds(20) && metrics.timeline.requestDuration == .milliseconds(21))
        #expect(metrics.attempts == 1)
    }

    @Test func aRetryIsAnAttempt() throws {
        let metrics = self.state([
            (.started(try self.request()), 0), (.transport(.failed(TransportFailure(.network(.reset), "secret"))), 5),
            (.retried(count: 1, after: .seconds(1), dueTo: Refusal()), 5), (.started(try self.request()), 1005),
            (.transport(try self.head(200, .replayed(cassette: "c", id: 3))), 1010),
            (.transport(.metrics(ExchangeMetrics(source: .recording, timing: Timing(total: 77)))), 1010), (.transport(.end), 1011),
        ])
        #expect(metrics.attempts == 2 && metrics.hops.map(\.retryCount) == [0, 1])
        #expect(metrics.hops.map(\.failure) == ["reset", nil])
        #expect(metrics.hops.last?.best.timing.total == 77)
        #expect(metrics.timeline.requestDuration == .milliseconds(1011))
    }

    @Test func theHeadOfAnEarlierAttemptDoesNotCount() throws {
        let metrics = self.state([
            (.started(try self.request()), 0), (.transport(try self.head(503)), 10), (.transport(.end), 11),
            (.retried(count: 1, after: .zero, dueTo: Refusal()), 11), (.started(try self.request()), 12),
            (.transport(.failed(TransportFailure(.network(.refused), ""))), 15),
        ])
        #expect(metrics.timeline.latency == nil && metrics.timeline.requestDuration == .milliseconds(15))
        #expect(metrics.hops.map(\.headAt) == [.milliseconds(10), nil])
    }

    @Test func aRequestThatIsCancelledWhileItWaitsEndsThen() throws {
        let metrics = self.state([
            (.started(try self.request()), 0), (.transport(.failed(TransportFailure(.network(.reset), ""))), 5),
            (.retried(count: 1, after: .seconds(9), dueTo: Refusal()), 5), (.cancelled, 300), (.finished(error: nil), 301),
        ])
        #expect(metrics.timeline.requestDuration == .milliseconds(300))
    }

    @Test func whatFailsBeforeItIsSentHasNoHops() {
        let metrics = self.state([(.created, 0), (.finished(error: Refusal()), 4)])
        #expect(metrics.hops.isEmpty && metrics.attempts == 0 && metrics.timeline.totalDuration == .milliseconds(4))
        #expect(self.state([(.transport(.end), 1)]).hops.isEmpty)
    }

    @Test func hopsHaveALimit() throws {
        let events = Array(repeating: (SessionEvent.Kind.started(try self.request()), 0), count: MetricsState.hopLimit + 5)
        #expect(self.state(events).hops.count == MetricsState.hopLimit)
    }
}
