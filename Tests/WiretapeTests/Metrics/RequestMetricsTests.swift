import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestMetricsTests {
    @Test func aLineForEachExchangeBelowTheTimeline() throws {
        let url = try #require(URL(string: "http://a/x"))
        var metrics = RequestMetrics(timeline: Timeline(startTime: Date(timeIntervalSince1970: 0), latency: .milliseconds(3)))
        #expect(metrics.attempts == 0)
        metrics.hops = [
            HopMetrics(method: "GET", url: url, sentAt: .zero), HopMetrics(method: "GET", url: url, retryCount: 1, sentAt: .zero),
        ]
        #expect(metrics.attempts == 2)
        #expect(
            "\(metrics)" == """
                Timeline: { "Latency": 0.003 secs, "Total Duration": 0.003 secs }
                  GET http://a/x: no answer yet
                  GET http://a/x (retry 1): no answer yet
                """)
    }
}
