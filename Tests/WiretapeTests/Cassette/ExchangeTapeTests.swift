import CassetteModel
import CassettePlayback
import CassetteStore
import ClientTestSupport
import Foundation
import TapeBytes
import TapeRecorder
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct ExchangeTapeTests {
    /// The exchange that these events record.
    private func taped(
        _ events: [TransportEvent], of request: TransportRequest, clock: ManualClock = ManualClock(), step: Duration = .milliseconds(10)
    ) throws -> Interaction? {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let tape = ExchangeTape(request, recording: try #require(cassette.recording), clock: clock)
        try tape.takeRequestBody(waits: false)
        for event in events {
            clock.advance(by: step)
            _ = tape.take(event)
        }
        try cassette.close()
        let file = try RecordedCassette(path: folder.file("a.json"))
        return file.count == 0 ? nil : try file.interaction(at: 0)
    }

    private func head(_ status: Int = 200, _ headers: HTTPSession.Headers = [:]) -> TransportEvent {
        .head(HTTPSession.Response(url: URL(fileURLWithPath: "/"), status: status, headers: headers))
    }

    @Test func timesAreThoseOfTheEvents() throws {
        let body = Data("ab".utf8)
        let interaction = try self.taped(
            [.sent(2, of: 2), self.head(), .chunk(Data("x".utf8)), .chunk(Data("y".utf8)), .end],
            of: .make("POST", "http://a.test/", body: .data(body)))
        #expect(interaction?.timing == Timing(send: 10, wait: 10, receive: 30, total: 50))
        #expect(interaction?.response?.body?.arrival?.pieces.map(\.at) == [10, 20])
    }

    @Test func platformMetricsTakePrecedence() throws {
        let metrics = ExchangeMetrics(source: .platform, timing: Timing(dns: 3, connect: 4, wait: 7))
        let interaction = try self.taped([self.head(), .metrics(metrics), .end], of: .make("GET", "http://a.test/"))
        #expect(interaction?.timing.dns == 3)
        #expect(interaction?.timing.wait == 7)
        #expect(interaction?.timing.total == 30)
    }

    @Test func aRequestThatFailedIsKnownInFull() throws {
        let failure = TransportFailure(.network(.dns), "no such host")
        let interaction = try self.taped([.failed(failure)], of: .make("POST", "http://a.test/", body: .data(Data("ab".utf8))))
        #expect(interaction?.request.body?.isComplete == true)
        #expect(interaction?.request.body?.size == 2)
        #expect(interaction?.outcome == .failed(Failure(kind: .dns, message: "no such host")))
    }

    @Test func requestThatNeverReachedTheNetworkIsNotRecorded() throws {
        #expect(try self.taped([.failed(TransportFailure(.body, "gone"))], of: .make("GET", "http://a.test/")) == nil)
    }

    @Test func aDecodedBodyThatWasCutHasChunksForItsLength() throws {
        let fields: HTTPSession.Headers = ["Content-Encoding": "br", "Content-Length": "9"]
        let failure = TransportFailure(.network(.truncated), "closed")
        let interaction = try self.taped(
            [self.head(200, fields), .chunk(Data("half".utf8)), .failed(failure)], of: .make("GET", "http://a.test/"))
        #expect(interaction?.response?.headers.lines == ["Transfer-Encoding: chunked"])
        #expect(interaction?.response?.codedHeaders?.count == 2)
    }

    /// Whenever the cassette is closed, it contains the exchange: as it ended, or cut off.
    @Test func noneIsLostThatEndsWhileItsCassetteIsClosed() throws {
        for trial in 0..<40 {
            let folder = try TemporaryFolder()
            let cassette = try Cassette(folder.file("a.json"), mode: .once)
            let tape = ExchangeTape(.make("GET", "http://a.test/"), recording: try #require(cassette.recording), clock: ContinuousClock())
            _ = tape.take(self.head())
            let recorded = Guarded<Int?>(nil)
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                if number == 0 {
                    _ = tape.take(.failed(.cancelled()))
                } else {
                    let outcome = try? cassette.close()
                    recorded.withLock { $0 = outcome?.recorded }
                }
            }
            try #require(recorded.withLock { $0 } == 1, "in trial \(trial)")
        }
    }
}

@Suite struct ReasonPhraseTests {
    @Test func thereIsOneForEachStatus() {
        #expect(ReasonPhrase.of(200) == "OK")
        #expect(ReasonPhrase.of(404) == "Not Found")
        #expect(ReasonPhrase.of(599) == "Unknown")
    }
}

@Suite struct TimingLaidOverTests {
    @Test func measuredTimingOverridesTheTapedOne() {
        var (measured, taped) = (Timing(), Timing())
        (measured.dns, measured.tls) = (1, 2)
        (taped.dns, taped.wait, taped.total) = (3, 4, 5)
        var wanted = Timing()
        (wanted.dns, wanted.tls, wanted.wait, wanted.total) = (1, 2, 4, 5)
        #expect(measured.laidOver(taped) == wanted)
    }
}

@Suite struct WireFieldsTests {
    @Test(arguments: [
        ("http://a.test/x", ["Host: a.test"]), ("http://a.test:8080/", ["Host: a.test:8080"]), ("http://[::1]:80/", ["Host: [::1]:80"]),
        ("https://me:pw@a.test/", ["Host: a.test"]),
    ])
    func hostIsThatOfTheURL(url: String, lines: [String]) {
        #expect(WireFields.ofRequest(.make("GET", url)).lines == lines)
    }

    @Test func fieldsOfTheRequestStay() {
        let request = TransportRequest.make(
            "POST", "http://a.test/", body: .data(Data("abc".utf8)), headers: [("host", "b.test"), ("Content-Length", "3")])
        #expect(WireFields.ofRequest(request).lines == ["host: b.test", "Content-Length: 3"])
    }

    @Test func theLengthIsReportedIfItIsKnown() {
        #expect(WireFields.ofRequest(.make("POST", "http://a.test/", body: .data(Data()))).lines.last == "Content-Length: 0")
        #expect(WireFields.ofRequest(.make("POST", "http://a.test/", body: .unobservable)).lines == ["Host: a.test"])
        let chunked = TransportRequest.make("POST", "http://a.test/", body: .data(Data()), headers: [("Transfer-Encoding", "chunked")])
        #expect(WireFields.ofRequest(chunked).lines == ["Host: a.test", "Transfer-Encoding: chunked"])
    }
}
