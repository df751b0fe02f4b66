import CassetteModel
import CassettePlayback
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct ReadyAnswerTests {
    @Test func headAndTimesAreThoseOfTheRecording() {
        var interaction = CassetteFixture.interaction(url: "http://a.test/", headers: ["A: 1"])
        interaction.response?.bodyWasDecoded(size: 1)
        let answer = ReadyAnswer(
            interaction, url: URL(fileURLWithPath: "/"), source: .stub, content: .pieces([Data("abc".utf8)]), arrival: nil, failure: nil)
        #expect(answer.head?.reason == "OK")
        #expect(answer.metrics?.timing == interaction.timing)
        #expect(answer.times == RecordedTimes(head: 40, end: 140))
        #expect(answer.weight > 1000)
        #expect(!answer.isStreamed)
        guard case .end = answer.ending else {
            Issue.record("no end")
            return
        }
    }
}

@Suite struct PieceMapTests {
    private func sizes(_ sizes: [Int], to size: Int) -> [Int] {
        PieceMap.mapped(Arrival(isChunked: true, pieces: sizes.map { Arrival.Piece(at: 0, size: $0) }), to: size).pieces.map(\.size)
    }

    @Test func contentWithoutCodingsIsCutWhereItsBytesWere() {
        #expect(self.sizes([3, 1, 4], to: 8) == [3, 1, 4])
    }

    @Test func decodedContentIsCutAtTheSameShares() {
        #expect(self.sizes([1, 1, 2], to: 100) == [25, 25, 50])
        #expect(self.sizes([10, 0, 10], to: 3) == [1, 0, 2])
        #expect(self.sizes([0, 0], to: 5) == [0, 5])
        #expect(self.sizes([], to: 5) == [])
    }

    @Test func absurdSizesDoNoHarm() {
        #expect(self.sizes([.max, .max, .max], to: 9) == [3, 3, 3])
        #expect(self.sizes([-5, 2], to: 9) == [0, 9])
    }

    @Test func allBytesAreGivenDespiteTheRecordedPieces() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let pieces = (0..<Int.random(in: 1...9, using: &random)).map { _ in Int.random(in: 0...5000, using: &random) }
            let size = Int.random(in: 0...100_000, using: &random)
            let mapped = self.sizes(pieces, to: size)
            #expect(mapped.reduce(0, +) == size)
            #expect(mapped.allSatisfy { $0 >= 0 })
        }
    }
}
