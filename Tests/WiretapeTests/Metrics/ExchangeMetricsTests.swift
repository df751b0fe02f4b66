import CassetteModel
import Testing
import Wiretape

@Suite struct ExchangeMetricsTests {
    @Test func piecesBecomeTheArrivalOfACassette() {
        var metrics = ExchangeMetrics(source: .session, timing: Timing(), pieces: [.init(at: 0, size: 3), .init(at: 1.5, size: 4)])
        #expect(metrics.arrival() == Arrival(isChunked: false, pieces: [.init(at: 0, size: 3), .init(at: 1.5, size: 4)]))
        #expect(metrics.arrival(isChunked: true)?.isChunked == true)
        metrics.pieces = []
        #expect(metrics.arrival() == nil)
    }
}
