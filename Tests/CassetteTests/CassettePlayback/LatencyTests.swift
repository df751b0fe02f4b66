@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes
import Testing

@Suite struct LatencyTests {
    @Test(arguments: [
        ("none", Latency.none), ("recorded", .scaled(1)), ("×2", .scaled(2)), ("x0.5", .scaled(0.5)), ("10×", .scaled(10)),
        ("1x", .scaled(1)), ("250ms", .fixed(250)), ("2s", .fixed(2000)), ("1.5s", .fixed(1500)), ("0ms", .fixed(0)),
    ])
    func aTextSaysIt(text: String, latency: Latency) throws {
        #expect(try Latency(text) == latency)
        #expect(try Latency(latency.description) == latency, "and is written so again")
    }

    @Test(arguments: [
        "", "fast", "2", "x", "×", "x-1", "-5ms", "s", "ms", "x0", "×x2", "2xx", "1e3ms", "nan×", "infs", "1.s", ".5s", "x1001", "3601s",
        "recorded x2", "None",
    ])
    func otherTextsAreRefused(text: String) {
        let error = #expect(throws: SettingSyntaxError.self) { try Latency(text) }
        #expect(error?.message.hasPrefix("\"\(text)\" ") == true)
        #expect(error?.message.contains("\"recorded\"") == true, "says what to write")
    }
}

@Suite struct LatencyErrorTests {
    @Test func aTextFromElsewhereIsShownPlainly() {
        let error = #expect(throws: SettingSyntaxError.self) { try Latency("\u{1B}[31mred") }
        #expect(error?.message.utf8.contains(0x1B) == false)
    }
}

@Suite struct RecordedTimesTests {
    private func interaction(_ timing: Timing, status: Int? = 200, interim: Double? = nil) -> Interaction {
        Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h/"),
            interim: interim.map { [InterimResponse(version: .http11, status: 103, reason: [], headers: HeaderFields(), at: $0)] } ?? [],
            response: status.map { RecordedResponse(status: $0) }, timing: timing)
    }

    @Test func thePhasesInFrontAddUp() {
        let timing = Timing(blocked: 1, dns: 2, connect: 4, tls: 8, send: 16, wait: 32, receive: 64, total: 130)
        #expect(RecordedTimes(self.interaction(timing)) == RecordedTimes(head: 63, end: 127))
        #expect(RecordedTimes(self.interaction(Timing(wait: 5))) == RecordedTimes(head: 5, end: 5))
    }

    @Test func withoutPhasesTheTotalOrTheInterimSaysIt() {
        #expect(RecordedTimes(self.interaction(Timing(receive: 30, total: 100))) == RecordedTimes(head: 70, end: 100))
        #expect(RecordedTimes(self.interaction(Timing(), interim: 12)) == RecordedTimes(head: 12, end: 12))
        #expect(RecordedTimes(self.interaction(Timing())) == RecordedTimes(head: 0, end: 0))
    }

    @Test func aFailureComesWhenItWasKnown() {
        #expect(RecordedTimes(self.interaction(Timing(connect: 3, total: 3000), status: nil)) == RecordedTimes(head: 3000, end: 3000))
    }
}

@Suite struct ReplayScheduleTests {
    private let times = RecordedTimes(head: 100, end: 500)

    private func arrival(_ pieces: (at: Double, size: Int)...) -> Arrival {
        Arrival(isChunked: true, pieces: pieces.map { Arrival.Piece(at: $0.at, size: $0.size) })
    }

    /// The number of bytes due at each of these times, and the time of the next ones.
    private func transcript(_ schedule: ReplaySchedule?, _ times: [Double]) -> [String] {
        guard var schedule else { return [] }
        return times.map { time in
            let count = schedule.count(by: time)
            return "\(count.map(String.init) ?? "all"), then \(schedule.nextDue.map { "\($0)" } ?? "none")"
        }
    }

    @Test func withoutLatencyThereIsNoSchedule() {
        #expect(ReplaySchedule(.none, times: self.times, arrival: nil) == nil)
    }

    @Test func piecesAreDueAfterTheHeadAsRecorded() throws {
        let schedule = try #require(
            ReplaySchedule(.scaled(1), times: self.times, arrival: self.arrival((0, 5), (150, 10), (300, 1))))
        #expect(schedule.isFromStart)
        #expect(schedule.head == 100)
        #expect(schedule.end == 500)
        #expect(
            self.transcript(schedule, [99, 100, 249.9, 250, 399, 400]) == [
                "0, then 100.0", "5, then 250.0", "5, then 250.0", "15, then 400.0", "15, then 400.0", "all, then none",
            ])
    }

    @Test func aFactorStretchesAll() throws {
        let schedule = try #require(ReplaySchedule(.scaled(0.5), times: self.times, arrival: self.arrival((0, 5), (150, 10))))
        #expect(schedule.head == 50)
        #expect(schedule.end == 250)
        #expect(schedule.interim(at: 60) == 30)
        #expect(self.transcript(schedule, [50, 125]) == ["5, then 125.0", "all, then none"])
    }

    @Test func aBodyInOnePieceComesWithItsEnd() {
        let schedule = ReplaySchedule(.scaled(1), times: self.times, arrival: nil)
        #expect(self.transcript(schedule, [499, 500]) == ["0, then 500.0", "all, then none"])
    }

    @Test func aBodyThatWasGivenUpBeginsWithItsHead() {
        let schedule = ReplaySchedule(.scaled(1), times: self.times, arrival: nil, isWhole: false)
        #expect(self.transcript(schedule, [99, 100]) == ["0, then 100.0", "all, then none"])
    }

    /// `curl URL | head -1` leaves when it writes again.
    @Test func whatTheClientGotBeforeItLeftComesLast() {
        func leaving(_ arrival: Arrival?, size: Int, end: Double = 500) -> [String] {
            self.transcript(ReplaySchedule(leaving: RecordedTimes(head: 100, end: end), arrival: arrival, size: size), [0, 60, 250])
        }
        let pieces = self.arrival((0, 5), (300, 10), (399, 2))
        #expect(leaving(pieces, size: 17) == ["15, then 99.0", "15, then 99.0", "all, then none"])
        #expect(leaving(self.arrival((0, 5), (399, 2)), size: 7) == ["5, then 250.0", "5, then 250.0", "all, then none"])
        // It left by a time of its own, or got one piece, on which it may act, or an edited body is shorter than the piece.
        let others: [(arrival: Arrival?, size: Int, end: Double)] = [
            (pieces, 17, 700), (self.arrival((399, 5)), 5, 500), (nil, 5, 101), (nil, 0, 101), (self.arrival((0, 5), (390, 20)), 3, 500),
        ]
        for (arrival, size, end) in others {
            #expect(ReplaySchedule(leaving: RecordedTimes(head: 100, end: end), arrival: arrival, size: size) == nil)
        }
    }

    @Test func aFixedTimeHoldsBackTheHeadAlone() throws {
        let schedule = try #require(ReplaySchedule(.fixed(250), times: self.times, arrival: self.arrival((0, 5), (150, 10))))
        #expect(!schedule.isFromStart)
        #expect(schedule.head == 250)
        #expect(schedule.end == 250)
        #expect(schedule.interim(at: 5) == 250)
        #expect(self.transcript(schedule, [0]) == ["all, then none"])
    }

    @Test func interimResponsesNeverFollowTheFinalOne() throws {
        let schedule = try #require(ReplaySchedule(.scaled(1), times: self.times, arrival: nil))
        #expect(schedule.interim(at: 20) == 20)
        #expect(schedule.interim(at: 5_000) == 100)
    }

    @Test func timesThatCannotBeAreTamed() throws {
        let wild = RecordedTimes(head: -.infinity, end: .nan)
        let schedule = try #require(
            ReplaySchedule(.scaled(2), times: wild, arrival: self.arrival((1e300, 5), (3, 5), (.nan, 5), (-9, .max), (0, 7))))
        #expect(schedule.head == 0)
        #expect(schedule.end == Latency.longest)
        #expect(self.transcript(schedule, [Latency.longest - 1, Latency.longest]) == ["0, then \(Latency.longest)", "all, then none"])
    }
}
