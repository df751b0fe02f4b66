import Testing
@testable import CassetteModel
@testable import CassettePlayback

@Suite struct ReplayScheduleTests {
    private let times = RecordedTimes(head: 100, end: 500)

    private func arrival(_ pieces: (at: Double, size: Int)...) -> Arrival {
        Arrival(isChunked: true, pieces: pieces.map { Arrival.Piece(at: $0.at, size: $0.size) })
    }

    /// How many bytes are due at each of these times, and when more are.
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

    @Test func piecesAreDueBehindTheHeadAsTheyCame() throws {
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

    @Test func aFixedTimeHoldsBackTheHeadAlone() throws {
        let schedule = try #require(ReplaySchedule(.fixed(250), times: self.times, arrival: self.arrival((0, 5), (150, 10))))
        #expect(!schedule.isFromStart)
        #expect(schedule.head == 250)
        #expect(schedule.end == 250)
        #expect(schedule.interim(at: 5) == 250)
        #expect(self.transcript(schedule, [0]) == ["all, then none"])
    }

    @Test func interimResponsesNeverComeBehindTheFinalOne() throws {
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
