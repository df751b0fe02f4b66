import CassetteModel
import CassettePlayback
import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct ReplayTransportTests {
    private let origin = CassetteFixture.origin

    @Test func recordingOfTheProxyReplaysAsAClientSeesIt() async throws {
        let cassette = try Cassette(CassetteFixture.recorded("pets"))
        let log = try await ReplayTransport(cassette).exchange("GET", "\(self.origin)/pets.gz", headers: [("Accept-Encoding", "gzip")])
        #expect(log.lines.first == "head 200")
        #expect(log.lines.last == "end")
        #expect(log.head?.headers.value(for: "content-encoding") == "gzip")
        #expect(log.head?.headers.value(for: "content-length") == "196")
        #expect(log.head?.source == .replayed(cassette: cassette.path, id: 2))
        let pets = try JSONSerialization.jsonObject(with: log.body) as? [String: Any]
        #expect((pets?["pets"] as? [Any])?.count == 3)
        #expect(log.metrics?.source == .recording)
        #expect(log.metrics?.timing.total != nil)
    }

    @Test func theAnswerIsThereBeforeStartReturns() throws {
        let log = EventLog()
        let transport = ReplayTransport(try Cassette(CassetteFixture.recorded("stream")))
        _ = transport.start(.make("GET", "\(self.origin)/stream")) { log.receive($0) }
        let pieces = (1...5).map { "chunk data: piece \($0)\n\n" }
        #expect(log.lines == ["head 200"] + pieces + ["end"])
        #expect(log.metrics?.pieces.count == 5)
    }

    @Test func theURLIsThatOfTheRequest() async throws {
        let log = try await ReplayTransport(try Cassette(CassetteFixture.recorded("pets"))).exchange("GET", "\(self.origin)/pets#top")
        #expect(log.head?.url.absoluteString == "\(self.origin)/pets#top")
    }

    @Test func aLargeBodyInAFileComesInPiecesAsFastAsItIsTaken() async throws {
        let cassette = try Cassette(CassetteFixture.recorded("demo"))
        let transport = ReplayTransport(cassette)
        let whole = try await transport.exchange("GET", "\(self.origin)/image.png")
        #expect(whole.lines.first == "head 200")
        #expect(whole.lines.last == "end")
        #expect(whole.body.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(whole.body.count == whole.head?.headers.value(for: "content-length").flatMap { Int($0) })
    }

    @Test func aHeadAnswerHasNoBody() async throws {
        let log = try await ReplayTransport(try Cassette(CassetteFixture.recorded("demo"))).exchange("HEAD", "\(self.origin)/pets")
        #expect(log.lines == ["head 200", "end"])
        #expect(log.head?.headers.value(for: "content-length") != nil)
    }

    /// The client would reconnect after an end.
    @Test func aStreamOfEventsThatTheClientLeftHasNoEnd() async throws {
        let folder = try TemporaryFolder()
        var left = CassetteFixture.interaction(
            url: "http://a.test/events", headers: ["Content-Type: text/event-stream"],
            body: CassetteFixture.text("data: 1\n\n", isComplete: false))
        left.outcome = .cut(Cut(by: .client, reason: "the client left"))
        let log = EventLog()
        let task = ReplayTransport(try CassetteFixture.cassette([left], in: folder))
            .start(.make("GET", "http://a.test/events")) { log.receive($0) }
        #expect(log.lines == ["head 200", "chunk data: 1\n\n"])
        task.cancel()
        await log.wait()
        #expect(log.lines.last == "failed cancelled")
    }

    @Test func lastEventIDSelectsTheFollowingStream() async throws {
        let folder = try TemporaryFolder()
        let recorded = [nil, "7", nil, "9"].enumerated().map { index, after in
            CassetteFixture.interaction(
                index + 1, url: "http://a.test/events",
                requestHeaders: ["Accept: text/event-stream"] + (after.map { ["Last-Event-ID: \($0)"] } ?? []),
                headers: ["Content-Type: text/event-stream"], body: CassetteFixture.text("data: \(index)\n\n"))
        }
        let transport = ReplayTransport(try CassetteFixture.cassette(recorded, in: folder))
        for (after, wanted) in [("9", 3), (nil, 0), ("7", 1), (nil, 2)] {
            let headers = [("Accept", "text/event-stream")] + (after.map { [("Last-Event-ID", $0)] } ?? [])
            let log = try await transport.exchange("GET", "http://a.test/events", headers: headers)
            #expect(log.lines == ["head 200", "chunk data: \(wanted)\n\n", "end"])
        }
    }

    @Test func aRedirectIsAnAnswerLikeAnyOther() async throws {
        let log = try await ReplayTransport(try Cassette(CassetteFixture.recorded("demo"))).exchange("GET", "\(self.origin)/old")
        #expect(log.head?.status == 302)
        #expect(log.head?.headers.value(for: "Location") != nil)
    }

    @Test func aMissNamesTheSettingThatWouldHelp() async throws {
        let cassette = try Cassette(CassetteFixture.recorded("pets"))
        let log = try await ReplayTransport(cassette).exchange("GET", "\(self.origin)/pets?page=2")
        #expect(log.lines == ["failed no match"])
        let lines = log.failure?.message.split(separator: "\n") ?? []
        #expect(lines.first == "no recorded exchange answers \"GET \(self.origin)/pets?page=2\"")
        #expect(
            lines.last
                == #"to match it with exchange 1, add to settings.ignore: "query:page"; to record it, open the cassette with mode .newEpisodes"#
        )
        #expect(cassette.verdict.misses == 1)
        #expect(cassette.verdict.unused == [0, 1])
    }

    @Test func eachExchangeAnswersOnce() async throws {
        let cassette = try Cassette(CassetteFixture.recorded("pets"))
        let transport = ReplayTransport(cassette)
        #expect(try await transport.exchange("GET", "\(self.origin)/pets").lines.last == "end")
        #expect(try await transport.exchange("GET", "\(self.origin)/pets").lines == ["failed no match"])
        #expect(cassette.verdict.hits == 1)
    }

    @Test(arguments: [false, true]) func aBodyIsComparedInAnyForm(isFile: Bool) async throws {
        let folder = try TemporaryFolder()
        let url = "http://a.test/pets"
        let json = ["Content-Type: application/json"]
        let interactions = ["cat", "dog"].enumerated().map { index, kind in
            CassetteFixture.interaction(
                index + 1, method: "POST", url: url,
                requestBody: Body(size: 14, content: .text(Array(#"{"kind":"\#(kind)"}"#.utf8))), requestHeaders: json,
                body: CassetteFixture.text("a \(kind)"))
        }
        let transport = ReplayTransport(try CassetteFixture.cassette(interactions, in: folder))
        func body(_ text: String) throws -> RequestBody {
            guard isFile else { return .data(Data(text.utf8)) }
            let path = folder.file("body-\(UUID().uuidString)")
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return .file(URL(fileURLWithPath: path), size: text.utf8.count)
        }
        let headers = [("Content-Type", "application/json")]
        let dog = try await transport.exchange("POST", url, body: try body(#"{ "kind": "dog" }"#), headers: headers)
        #expect(dog.lines == ["sent 17 of 17", "head 200", "chunk a dog", "end"])
        let bird = try await transport.exchange("POST", url, body: try body(#"{"kind":"bird"}"#), headers: headers)
        #expect(bird.lines == ["failed no match"])
        #expect(bird.failure?.message.contains("json:/kind") == true)
    }

    @Test func aLargeBodyIsComparedOnAnotherThread() async throws {
        let folder = try TemporaryFolder()
        let large = [UInt8](repeating: 65, count: RequestDecider.inlineSize + 1)
        let path = folder.file("large")
        try Data(large).write(to: URL(fileURLWithPath: path))
        let body = RequestBody.file(URL(fileURLWithPath: path), size: large.count)
        let interaction = CassetteFixture.interaction(
            method: "PUT", url: "http://a.test/", requestBody: Body(size: large.count, content: .text(large)),
            body: CassetteFixture.text("stored"))
        let transport = ReplayTransport(try CassetteFixture.cassette([interaction], in: folder))
        let log = try await transport.exchange("PUT", "http://a.test/", body: body)
        #expect(log.lines == ["sent \(large.count) of \(large.count)", "head 200", "chunk stored", "end"])
        let missing = RequestBody.file(URL(fileURLWithPath: folder.file("missing")), size: large.count)
        let failed = try await transport.exchange("PUT", "http://a.test/", body: missing)
        #expect(failed.lines == ["failed body"])
        #expect(failed.failure?.message.contains("\"\(folder.file("missing"))\"") == true)
    }

    @Test func anInvisibleBodyIsNotTreatedAsEmpty() async throws {
        let folder = try TemporaryFolder()
        let interaction = CassetteFixture.interaction(
            method: "POST", url: "http://a.test/", requestBody: Body(size: 0, content: .empty), body: CassetteFixture.text("empty"))
        let cut = CassetteFixture.interaction(
            2, method: "POST", url: "http://a.test/", requestBody: Body(size: 0, isComplete: false, content: .empty),
            body: CassetteFixture.text("unseen"))
        let transport = ReplayTransport(try CassetteFixture.cassette([interaction, cut], in: folder))
        #expect(try await transport.exchange("POST", "http://a.test/", body: .unobservable).lines == ["head 200", "chunk unseen", "end"])
        #expect(try await transport.exchange("POST", "http://a.test/", body: .unobservable).lines == ["failed no match"])
    }

    @Test func aTruncatedAnswerFailsAfterItsReceivedPart() async throws {
        let folder = try TemporaryFolder()
        var cut = CassetteFixture.interaction(url: "http://a.test/cut", body: CassetteFixture.text("half", isComplete: false))
        cut.outcome = .failed(Failure(kind: .truncated, message: "the origin closed"))
        var failed = CassetteFixture.interaction(2, url: "http://a.test/refused")
        failed.response = nil
        failed.outcome = .failed(Failure(kind: .refused, message: "nobody listens"))
        var left = CassetteFixture.interaction(3, url: "http://a.test/left", body: CassetteFixture.text("ha", isComplete: false))
        left.outcome = .cut(Cut(by: .client, reason: "client left"))
        let transport = ReplayTransport(try CassetteFixture.cassette([cut, failed, left], in: folder))
        #expect(try await transport.exchange("GET", "http://a.test/cut").lines == ["head 200", "chunk half", "failed truncated"])
        let refused = try await transport.exchange("GET", "http://a.test/refused")
        #expect(refused.lines == ["failed refused"])
        #expect(refused.failure?.message == "nobody listens")
        #expect(try await transport.exchange("GET", "http://a.test/left").lines == ["head 200", "chunk ha", "failed truncated"])
    }

    @Test func interimResponsesAndTrailersAreGiven() async throws {
        let folder = try TemporaryFolder()
        var interaction = CassetteFixture.interaction(
            url: "http://a.test/", headers: ["Set-Cookie: a=1", "Set-Cookie: b=2"],
            body: CassetteFixture.text("ab", pieces: [(0, 1), (5, 1)]))
        interaction.interim = [
            InterimResponse(version: .http11, status: 103, reason: [], headers: HeaderFields(["Link: </a.css>"]), at: 3)
        ]
        interaction.response?.trailers = HeaderFields(["Checksum: 7"])
        let log = try await ReplayTransport(try CassetteFixture.cassette([interaction], in: folder)).exchange("GET", "http://a.test/")
        #expect(log.lines == ["interim 103", "head 200", "chunk a", "chunk b", "trailers Checksum: 7", "end"])
        #expect(log.head?.headers.values(for: "set-cookie") == ["a=1", "b=2"])
    }

    @Test func aReceiverThatPausesGetsNoMoreUntilItWantsIt() async throws {
        let log = EventLog(pauses: [0, 2])
        let transport = ReplayTransport(try Cassette(CassetteFixture.recorded("stream")))
        let task = transport.start(.make("GET", "\(self.origin)/stream")) { log.receive($0) }
        #expect(log.lines == ["head 200"])
        task.resume()
        await log.wait(for: 3)
        #expect(log.events.count == 3)
        task.resume()
        await log.wait()
        #expect(log.lines.count == 7)
    }

    @Test func aPausedExchangeCanBeCancelled() async throws {
        let log = EventLog(pauses: [0])
        let transport = ReplayTransport(try Cassette(CassetteFixture.recorded("stream")))
        let task = transport.start(.make("GET", "\(self.origin)/stream")) { log.receive($0) }
        task.cancel()
        task.cancel()
        task.resume()
        #expect(log.lines == ["head 200", "failed cancelled"])
    }

    @Test func recordedTimesAreWaitedForOnTheClock() async throws {
        let folder = try TemporaryFolder()
        var settings = Cassette.Settings()
        settings.latency = .scaled(2)
        let interaction = CassetteFixture.interaction(url: "http://a.test/", body: CassetteFixture.text("ab", pieces: [(0, 1), (100, 1)]))
        let cassette = try CassetteFixture.cassette([interaction], in: folder, settings: settings)
        let clock = ManualClock()
        let log = EventLog()
        let task = ReplayTransport(cassette, clock: clock).start(.make("GET", "http://a.test/")) { log.receive($0) }
        await clock.sleepers(1)
        #expect(log.lines.isEmpty)
        clock.advance(by: .milliseconds(80))
        await log.wait(for: 2)
        #expect(log.lines == ["head 200", "chunk a"])
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(199))
        await clock.sleepers(1)
        #expect(log.lines == ["head 200", "chunk a"])
        clock.advance(by: .milliseconds(1))
        await log.wait()
        #expect(log.lines == ["head 200", "chunk a", "chunk b", "end"])
        task.cancel()
        #expect(log.lines.count == 4)
    }

    @Test func requestForALateAnswerCanBeCancelled() async throws {
        let folder = try TemporaryFolder()
        var settings = Cassette.Settings()
        settings.latency = .fixed(1000)
        let interaction = CassetteFixture.interaction(url: "http://a.test/", body: CassetteFixture.text("ab"))
        let cassette = try CassetteFixture.cassette([interaction], in: folder, settings: settings)
        let clock = ManualClock()
        let log = EventLog()
        let task = ReplayTransport(cassette, clock: clock).start(.make("GET", "http://a.test/")) { log.receive($0) }
        await clock.sleepers(1)
        task.cancel()
        #expect(log.lines == ["failed cancelled"])
        clock.advance(by: .seconds(2))
        #expect(log.lines == ["failed cancelled"])
    }
}

@Suite struct ReplayPlayerTests {
    @Test func anAnswerThatCannotBeReadIsNotedAndNamed() async throws {
        let folder = try TemporaryFolder()
        let sidecar = Sidecar(
            path: "made.bodies/\(String(repeating: "a", count: 64)).bin", size: 9, sha256: String(repeating: "a", count: 64))
        let interaction = CassetteFixture.interaction(url: "http://a.test/", body: Body(size: 9, content: .file(sidecar)))
        let cassette = try CassetteFixture.cassette([interaction], in: folder)
        let log = try await ReplayTransport(cassette).exchange("GET", "http://a.test/")
        #expect(log.lines == ["failed unserved"])
        #expect(cassette.verdict.unserved == 1)
        #expect(cassette.verdict.hits == 0)
        #expect(try cassette.close().failures.first?.hasPrefix("not served: exchange 1 could not be replayed") == true)
    }

    /// Clients match answers by the ids that they sent.
    @Test func theClientsOwnIdsComeBack() async throws {
        let folder = try TemporaryFolder()
        let exchange = CassetteFixture.interaction(
            method: "POST", url: "http://a.test/rpc", requestBody: CassetteFixture.text(#"{"id":1,"method":"add"}"#),
            requestHeaders: ["Content-Type: application/json", "X-Request-Id: recorded"],
            headers: ["Content-Type: application/json", "X-Request-Id: recorded", "Content-Length: 19"],
            body: CassetteFixture.text(#"{"id":1,"result":2}"#))
        var settings = Cassette.Settings()
        settings.ignore = ["json:/id"]
        let cassette = try CassetteFixture.cassette([exchange], in: folder, settings: settings)
        let log = try await ReplayTransport(cassette).exchange(
            "POST", "http://a.test/rpc", body: .data(Data(#"{"id":"of the client","method":"add"}"#.utf8)),
            headers: [("Content-Type", "application/json"), ("X-Request-Id", "live")])
        #expect(String(decoding: log.body, as: UTF8.self) == #"{"id":"of the client","result":2}"#)
        #expect(log.head?.headers.value(for: "X-Request-Id") == "live")
        #expect(log.head?.headers.value(for: "Content-Length") == "33")
    }
}
