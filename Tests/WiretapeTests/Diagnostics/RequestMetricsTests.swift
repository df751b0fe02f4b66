import CassetteModel
import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestMetricsTests {
    @Test func aLineForEachExchangeBelowTheTimeline() throws {
        let url = try #require(URL(string: "http://a/x"))
        var metrics = RequestMetrics(
            timeline: RequestMetrics.Timeline(startTime: Date(timeIntervalSince1970: 0), latency: .milliseconds(3)))
        #expect(metrics.attempts == 0)
        metrics.hops = [
            RequestMetrics.Hop(method: "GET", url: url, sentAt: .zero),
            RequestMetrics.Hop(method: "GET", url: url, retryCount: 1, sentAt: .zero),
        ]
        #expect(metrics.attempts == 2)
        #expect(
            "\(metrics)" == """
                Timeline: { "Latency": 0.003 secs, "Total Duration": 0.003 secs }
                  GET http://a/x: no response yet
                  GET http://a/x (retry 1): no response yet
                """)
    }
}

@Suite struct HopMetricsTests {
    private func hop() throws -> RequestMetrics.Hop {
        RequestMetrics.Hop(method: "GET", url: try #require(URL(string: "http://a/x")), sentAt: .milliseconds(10))
    }

    @Test func theSessionsFiguresInTheWordsOfACassette() throws {
        var hop = try self.hop()
        hop.bodySentAt = .milliseconds(15)
        hop.headAt = .milliseconds(40)
        hop.take(.init(at: .milliseconds(40), size: 3))
        hop.take(.init(at: .milliseconds(45), size: 4))
        hop.endedAt = .milliseconds(50)
        #expect(hop.measured.source == .session && hop.best == hop.measured && hop.received == 7)
        #expect(hop.measured.timing == Timing(send: 5, wait: 25, receive: 10, total: 40))
        #expect(hop.measured.pieces == [.init(at: 0, size: 3), .init(at: 5, size: 4)])
    }

    @Test func phasesThatDidNotHappenAreNotMeasured() throws {
        var hop = try self.hop()
        #expect(hop.measured.timing == Timing())
        hop.endedAt = .milliseconds(12)
        #expect(hop.measured.timing == Timing(total: 2))
    }

    @Test func anAnswerBeforeTheEndOfTheRequestWaitedForNothing() throws {
        var hop = try self.hop()
        hop.headAt = .milliseconds(20)
        hop.bodySentAt = .milliseconds(30)
        #expect(hop.measured.timing.wait == 0)
    }

    @Test func metricsOfTheTransportArePreferred() throws {
        var hop = try self.hop()
        hop.reported = ExchangeMetrics(source: .recording, timing: Timing(total: 99))
        #expect(hop.best.timing.total == 99)
    }

    @Test func thereIsALimitToPieces() throws {
        var hop = try self.hop()
        for _ in 0...Arrival.pieceLimit { hop.take(.init(at: .zero, size: 2)) }
        #expect(hop.isThinned && hop.pieces.count == Arrival.pieceLimit && hop.received == 2 * (Arrival.pieceLimit + 1))
    }
}

@Suite struct HopTextTests {
    private func hop() throws -> RequestMetrics.Hop {
        RequestMetrics.Hop(method: "GET", url: try #require(URL(string: "http://u:p@a/x?token=secret")), sentAt: .zero)
    }

    @Test func aMeasuredExchange() throws {
        var hop = try self.hop()
        hop.status = 200
        hop.source = .live
        hop.headAt = .milliseconds(10)
        hop.take(.init(at: .milliseconds(10), size: 1024))
        hop.endedAt = .microseconds(12_340)
        #expect(HopText.line(hop) == "GET http://a/x?token=…: 200; 12.3 ms (wait 10.0, receive 2.3); 1024 bytes in 1 piece")
    }

    @Test func aReplayedOneShowsTheTimesOfItsRecording() throws {
        var hop = try self.hop()
        hop.status = 200
        hop.source = .replayed(cassette: "c.json", id: 4)
        hop.retryCount = 2
        hop.reported = ExchangeMetrics(
            source: .recording, timing: Timing(blocked: 1, dns: 2, connect: 3, tls: 4, send: 5, wait: 6, receive: 7, total: 28))
        #expect(
            HopText.line(hop)
                == "GET http://a/x?token=… (retry 2): 200 replayed from 4; 28.0 ms when it was recorded (blocked 1.0, dns 2.0, connect 3.0, tls 4.0, send 5.0, wait 6.0, receive 7.0)"
        )
    }

    @Test func failuresAndOtherSources() throws {
        var hop = try self.hop()
        hop.failure = "timeout"
        hop.endedAt = .seconds(1)
        #expect(HopText.line(hop) == "GET http://a/x?token=…: failed, timeout; 1000.0 ms")
        hop.status = 200
        hop.source = .recorded(cassette: "c", id: 2)
        hop.take(.init(at: .zero, size: 1))
        hop.take(.init(at: .zero, size: 1))
        hop.isThinned = true
        #expect(
            HopText.line(hop) == "GET http://a/x?token=…: 200 recorded as 2, then failed, timeout; 1000.0 ms; 2 bytes in 2 or more pieces")
        hop.failure = nil
        hop.source = .stub
        #expect(HopText.line(hop).contains(": 200 from a stub;"))
    }
}

@Suite struct MetricsStateTests {
    private struct Refusal: Error {}

    private func request(_ path: String = "/x") throws -> TransportRequest {
        TransportRequest(method: "GET", url: try #require(URL(string: "http://a\(path)")))
    }

    private func head(_ status: Int, _ source: ExchangeSource = .live) throws -> TransportEvent {
        .head(HTTPSession.Response(url: try #require(URL(string: "http://a/x")), status: status, source: source))
    }

    private func state(_ events: [(HTTPSession.Event.Kind, Int)]) -> RequestMetrics {
        var state = RequestMetrics.State(startTime: Date(timeIntervalSince1970: 0))
        for (event, milliseconds) in events { state.happened(event, at: .milliseconds(milliseconds)) }
        return state.metrics
    }

    @Test func oneExchange() throws {
        let metrics = self.state([
            (.created, 0), (.adapted(URLRequest(url: try self.request().url)), 1), (.started(try self.request()), 2),
            (.transport(.sent(5, of: 10)), 3), (.transport(.sent(10, of: 10)), 4),
            (.transport(.interim(status: 103, headers: HTTPSession.Headers())), 5), (.transport(try self.head(200)), 10),
            (.transport(.chunk(Data("abc".utf8))), 11), (.transport(.chunk(Data("defg".utf8))), 15),
            (.transport(.trailers(HTTPSession.Headers())), 16), (.transport(.end), 20), (.validated(error: nil), 21),
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
        let first = HTTPSession.Response(url: try self.request().url, status: 302)
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

    @Test func requestThatFailsBeforeItIsSentHasNoHops() {
        let metrics = self.state([(.created, 0), (.finished(error: Refusal()), 4)])
        #expect(metrics.hops.isEmpty && metrics.attempts == 0 && metrics.timeline.totalDuration == .milliseconds(4))
        #expect(self.state([(.transport(.end), 1)]).hops.isEmpty)
    }

    @Test func hopsHaveALimit() throws {
        let events = Array(repeating: (HTTPSession.Event.Kind.started(try self.request()), 0), count: RequestMetrics.State.hopLimit + 5)
        #expect(self.state(events).hops.count == RequestMetrics.State.hopLimit)
    }
}

@Suite struct TimelineTests {
    private let whole = RequestMetrics.Timeline(
        startTime: Date(timeIntervalSince1970: 1_800_000_000), latency: .milliseconds(412), requestDuration: .milliseconds(1500),
        serializationCompleted: .milliseconds(1502))

    @Test func durationsAndTimesFollowFromEachOther() {
        #expect(self.whole.serializationDuration == .milliseconds(2))
        #expect(self.whole.totalDuration == .milliseconds(1502))
        let times = [self.whole.initialResponseTime, self.whole.requestCompletedTime, self.whole.serializationCompletedTime]
        #expect(times.map { $0.map { ($0.timeIntervalSince(self.whole.startTime) * 1000).rounded() } } == [412, 1500, 1502])
    }

    @Test func missingEventsHaveNoTime() {
        var timeline = RequestMetrics.Timeline(startTime: Date(timeIntervalSince1970: 0))
        #expect(timeline.totalDuration == nil && timeline.initialResponseTime == nil && timeline.serializationDuration == nil)
        timeline.latency = .seconds(1)
        #expect(timeline.totalDuration == .seconds(1))
        timeline.requestDuration = .seconds(2)
        #expect(timeline.totalDuration == .seconds(2))
        #expect("\(timeline)" == #"Timeline: { "Latency": 1.000 secs, "Request Duration": 2.000 secs, "Total Duration": 2.000 secs }"#)
    }

    @Test func itPrintsReadably() {
        #expect(
            "\(self.whole)"
                == #"Timeline: { "Latency": 0.412 secs, "Request Duration": 1.500 secs, "Serialization Duration": 0.002 secs, "Total Duration": 1.502 secs }"#
        )
        #expect(
            String(reflecting: self.whole)
                == #"Timeline: { "Request Start Time": 2027-01-15T08:00:00.000000Z, "Initial Response Time": 2027-01-15T08:00:00.412000Z, "Request Completed Time": 2027-01-15T08:00:01.500000Z, "Serialization Completed Time": 2027-01-15T08:00:01.502000Z, "Latency": 0.412 secs, "Request Duration": 1.500 secs, "Serialization Duration": 0.002 secs, "Total Duration": 1.502 secs }"#
        )
    }
}
