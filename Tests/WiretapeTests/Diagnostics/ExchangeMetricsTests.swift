import CassetteModel
import Foundation
import Testing
@testable import Wiretape

@Suite struct ExchangeMetricsTests {
    @Test func piecesBecomeTheArrivalOfACassette() {
        var metrics = ExchangeMetrics(source: .session, timing: Timing(), pieces: [.init(at: 0, size: 3), .init(at: 1.5, size: 4)])
        #expect(metrics.arrival() == Arrival(isChunked: false, pieces: [.init(at: 0, size: 3), .init(at: 1.5, size: 4)]))
        #expect(metrics.arrival(isChunked: true)?.isChunked == true)
        metrics.pieces = []
        #expect(metrics.arrival() == nil)
    }
}

@Suite struct ArrivalPiecesTests {
    @Test func behindTheLimitTheLastPieceGrows() {
        var arrival = Arrival(isChunked: false)
        for index in 0..<Arrival.pieceLimit { arrival.take(.init(at: Double(index), size: 1)) }
        #expect(!arrival.isThinned && arrival.pieces.count == Arrival.pieceLimit)
        arrival.take(.init(at: 9999, size: 5))
        #expect(arrival.isThinned && arrival.pieces.count == Arrival.pieceLimit)
        #expect(arrival.pieces.last == .init(at: Double(Arrival.pieceLimit - 1), size: 6))
    }
}

@Suite struct TransactionTimesTests {
    private func at(_ milliseconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: 700_000_000 + milliseconds / 1000) }

    @Test func aNewConnection() {
        let times = TransactionTimes(
            fetchStart: self.at(0), domainLookupStart: self.at(1), domainLookupEnd: self.at(3), connectStart: self.at(3),
            secureConnectionStart: self.at(7), secureConnectionEnd: self.at(15), connectEnd: self.at(15), requestStart: self.at(16),
            requestEnd: self.at(17), responseStart: self.at(49), responseEnd: self.at(113))
        #expect(times.timing == Timing(blocked: 1, dns: 2, connect: 4, tls: 8, send: 1, wait: 32, receive: 64, total: 113))
    }

    @Test func aReusedConnectionHasNoneOfItsOwn() {
        let times = TransactionTimes(
            fetchStart: self.at(0), requestStart: self.at(2), requestEnd: self.at(2), responseStart: self.at(4), responseEnd: self.at(8))
        #expect(times.timing == Timing(blocked: 2, send: 0, wait: 2, receive: 4, total: 8))
    }

    @Test func withoutTLSTheConnectionEndsWithConnectEnd() {
        #expect(TransactionTimes(connectStart: self.at(1), connectEnd: self.at(4)).timing == Timing(connect: 3))
    }

    @Test func anEarlyAnswerWaitedForNothing() {
        #expect(TransactionTimes(requestEnd: self.at(9), responseStart: self.at(4)).timing.wait == 0)
        #expect(TransactionTimes().timing == Timing())
    }
}
