import CassetteModel
import CassettePlayback
import CassetteStore
import NIOCore
import NIOEmbedded
import TapeExchange
import TapeRecorder
import TapeTestSupport
import Testing
@testable import TapeProxy

/// Recorded answers replayed at the recorded pace: on a test clock, and over sockets with lower bounds only.
@Suite struct LatencyReplayTests {
    /// Server-sent events in chunks, with a head after 50 ms, events 60 and 120 ms after it, and an end at 200 ms.
    private static let events = ["data: one\n\n", "data: two\n\n", "data: three\n\n"]

    private static func interaction(pieces: [(at: Double, text: String)], receive: Double) -> Interaction {
        let body = pieces.map(\.text).joined()
        let arrival = Arrival(isChunked: true, pieces: pieces.map { Arrival.Piece(at: $0.at, size: $0.text.utf8.count) })
        return Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h/"),
            response: RecordedResponse(
                status: 200, reason: Array("OK".utf8),
                headers: HeaderFields(["Content-Type: text/event-stream", "Transfer-Encoding: chunked"]),
                body: Body(size: body.utf8.count, content: .text(Array(body.utf8)), arrival: arrival)),
            timing: Timing(send: 20, wait: 30, receive: receive))
    }

    // MARK: The test's clock

    private struct Scene {
        let loop = EmbeddedEventLoop()
        let client: ListeningStream
        let proxy: ProxyContext

        init() throws {
            self.proxy = try EmbeddedProxy.context(self.loop)
            self.client = ListeningStream(self.proxy)
        }

        /// The text that was sent within this many milliseconds.
        func text(after milliseconds: Int64) throws -> String {
            self.loop.advanceTime(by: .milliseconds(milliseconds))
            self.loop.run()
            return self.client.take()
        }
    }

    private func sender(_ scene: Scene, _ latency: Latency) throws -> ReplayBodySender {
        let interaction = Self.interaction(pieces: [(0, "ab"), (60, "cde"), (60, "f"), (120, "gh")], receive: 150)
        let answer = try RecordedAnswer(interaction, payload: .bytes(Array("abcdefgh".utf8)), size: 8)
        let schedule = try #require(ReplaySchedule(latency, times: answer.times, arrival: answer.arrival))
        let pace = ReplayPace(schedule, start: scene.loop.now, proxy: scene.proxy)
        return ReplayBodySender(answer: answer, trailers: answer.trailers, isChunked: true, client: scene.client, library: nil, pace: pace)
    }

    @Test func chunksGoOutWhenTheyCame() throws {
        let scene = try Scene()
        let sender = try self.sender(scene, .scaled(1))
        var ends: [Bool] = []
        sender.start { ends.append($0 == nil) }
        #expect(try scene.text(after: 49) == "")
        #expect(try scene.text(after: 1) == "2\r\nab\r\n")
        #expect(try scene.text(after: 59) == "")
        #expect(try scene.text(after: 1) == "3\r\ncde\r\n1\r\nf\r\n")
        #expect(try scene.text(after: 60) == "2\r\ngh\r\n")
        #expect(try scene.text(after: 29) == "")
        #expect(ends.isEmpty)
        #expect(try scene.text(after: 1) == "0\r\n\r\n")
        #expect(ends == [true])
    }

    @Test func aFactorStretchesThem() throws {
        let scene = try Scene()
        let sender = try self.sender(scene, .scaled(10))
        sender.start { _ in }
        #expect(try scene.text(after: 499) == "")
        #expect(try scene.text(after: 1) == "2\r\nab\r\n")
        #expect(try scene.text(after: 599) == "")
        #expect(try scene.text(after: 1) == "3\r\ncde\r\n1\r\nf\r\n")
        sender.stop()
        #expect(try scene.text(after: 10_000) == "", "a client that left gets no more, and no timer stays")
    }

    // MARK: Sockets

    /// A cassette with one exchange of chosen times, recorded in the way of the proxy.
    private func cassette() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let plan = try RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: false)
        let recorder = try #require(try Recorder(plan, version: "1.2.3"))
        var tap = Tap(
            id: recorder.nextID(), started: Timestamp(microseconds: 1_700_000_000_000_000),
            request: RecordedRequest(method: "GET", url: "http://example.test/", headers: HeaderFields(["Host: example.test"])),
            framing: .none)
        tap.requestEnded(at: 20, sendStarted: 0)
        tap.interim(
            InterimResponse(version: .http11, status: 103, reason: Array("Early Hints".utf8), headers: HeaderFields(["Link: </a>"]), at: 30)
        )
        tap.responseBegan(
            RecordedResponse(
                status: 200, reason: Array("OK".utf8),
                headers: HeaderFields(["Content-Type: text/event-stream", "Transfer-Encoding: chunked"])),
            framing: .chunked, at: 50)
        for (event, at) in zip(Self.events, [50.0, 110, 170]) {
            tap.chunk(.response, size: event.utf8.count, line: nil, at: at)
            _ = Array(event.utf8).withUnsafeBytes { tap.data(.response, $0, at: at) }
        }
        tap.lastChunk(.response, line: nil)
        tap.responseEnded()
        _ = recorder.put(.exchange(tap.ended(.complete, at: 250), stored: nil))
        _ = try recorder.close(keepsOld: false)
        return folder
    }

    private func milliseconds(since start: ContinuousClock.Instant) -> Double {
        let duration = ContinuousClock.now - start
        return Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
    }

    private static let request = "GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n"

    @Test func eventsComeNoSoonerThanTheyWereRecorded() throws {
        let replay = try RunningProxy(.none, in: self.cassette(), repetition: .last) { $0.latency = .scaled(1) }
        let client = try replay.connect()
        let start = ContinuousClock.now
        try client.send(Self.request)
        _ = try client.read(through: "</a>\r\n\r\n")
        #expect(self.milliseconds(since: start) >= 30)
        _ = try client.read(through: "\r\n\r\n")
        #expect(self.milliseconds(since: start) >= 50)
        for (event, due) in zip(Self.events, [50.0, 110, 170]) {
            try client.expect("\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n")
            #expect(self.milliseconds(since: start) >= due)
        }
        try client.expect("0\r\n\r\n")
        #expect(self.milliseconds(since: start) >= 250)
        // The connection serves the next request at the same pace.
        let second = ContinuousClock.now
        try client.send(Self.request)
        _ = try client.read(through: "0\r\n\r\n")
        #expect(self.milliseconds(since: second) >= 250)
    }

    @Test func aFixedTimeHoldsBackTheHeadAlone() throws {
        let folder = try self.cassette()
        let plain = try RunningProxy(.none, in: folder)
        let client = try plain.connect()
        try client.send(Self.request)
        let answer = try client.read(through: "0\r\n\r\n")
        try plain.stop()
        let replay = try RunningProxy(.none, in: folder) { $0.latency = .fixed(150) }
        let late = try replay.connect()
        let start = ContinuousClock.now
        try late.send(Self.request)
        #expect(try late.read(through: "0\r\n\r\n") == answer, "late, and otherwise the same bytes")
        #expect(self.milliseconds(since: start) >= 150)
    }

    @Test func aClientThatLeavesMeanwhileStopsIt() throws {
        let replay = try RunningProxy(.none, in: self.cassette()) { $0.latency = .scaled(1000) }
        let client = try replay.connect()
        try client.send(Self.request)
        client.reset()
        // Ends at once, because nothing is in flight any more.
        try replay.stop()
    }
}
