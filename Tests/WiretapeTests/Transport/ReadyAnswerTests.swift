import CassetteModel
import CassettePlayback
import Foundation
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
