import Foundation
import Testing
import Wiretape

@Suite struct TimelineTests {
    private let whole = Timeline(
        startTime: Date(timeIntervalSince1970: 1_800_000_000), latency: .milliseconds(412), requestDuration: .milliseconds(1500),
        serializationCompleted: .milliseconds(1502))

    @Test func durationsAndTimesFollowFromEachOther() {
        #expect(self.whole.serializationDuration == .milliseconds(2))
        #expect(self.whole.totalDuration == .milliseconds(1502))
        let times = [self.whole.initialResponseTime, self.whole.requestCompletedTime, self.whole.serializationCompletedTime]
        #expect(times.map { $0.map { ($0.timeIntervalSince(self.whole.startTime) * 1000).rounded() } } == [412, 1500, 1502])
    }

    @Test func whatHasNotHappenedHasNoTime() {
        var timeline = Timeline(startTime: Date(timeIntervalSince1970: 0))
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
