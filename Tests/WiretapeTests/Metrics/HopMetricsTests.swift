import CassetteModel
import Foundation
import Testing

@testable import Wiretape

@Suite struct HopMetricsTests {
    private func hop() throws -> HopMetrics {
        HopMetrics(method: "GET", url: try #require(URL(string: "http://a/x")), sentAt: .milliseconds(10))
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

    @Test func whatDidNotHappenIsNotMeasured() throws {
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

    @Test func whatTheTransportSaysIsBetter() throws {
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
