import CassetteModel
import Testing

@testable import Wiretape

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
