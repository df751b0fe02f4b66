@testable import CassettePlayback
import TapeBytes
import Testing

@Suite struct ConversationScriptTests {
    typealias Step = ConversationScript.Step

    private func script(
        _ requests: Int, head: Int? = nil, _ messages: [Int?] = [], end: Int? = nil, ending: ConversationScript.Ending = .complete,
        isWhole: Bool = true, order: ConversationOrder = .strict
    ) -> ConversationScript {
        ConversationScript(
            ConversationScript.Recording(
                requests: requests, requestsAreWhole: isWhole, head: Step(after: head), messages: messages.map { Step(after: $0) },
                end: Step(after: end), ending: ending), order: order)
    }

    @Test func eachAnswerGoesWhenTheMessagesBeforeItHaveCome() {
        var script = self.script(2, head: 0, [1, 2])
        #expect(script.next(at: 0) == .sendHead)
        #expect(script.next(at: 0) == .listen)
        #expect(script.messageCame { $0 == 0 } == .matched(0))
        #expect(script.next(at: 0) == .send(0))
        #expect(script.next(at: 0) == .listen)
        #expect(script.messageCame { $0 == 1 } == .matched(1))
        #expect(script.next(at: 0) == .send(1))
        #expect(script.next(at: 0) == .listen)
        script.clientEnded()
        #expect(script.next(at: 0) == .end)
        #expect(script.next(at: 0) == .listen)
    }

    @Test func messagesRecordedAfterTheClientsEndWaitForIt() {
        var script = self.script(1, [nil, nil])
        #expect(script.messageCame { _ in true } == .matched(0))
        #expect(script.next(at: 0) == .listen)
        script.clientEnded()
        #expect([script.next(at: 0), script.next(at: 0), script.next(at: 0), script.next(at: 0)] == [.sendHead, .send(0), .send(1), .end])
    }

    @Test func anAnswerMayEndBeforeItsClient() {
        var script = self.script(1, head: 1, [1], end: 1, isWhole: false)
        #expect(script.next(at: 0) == .listen)
        #expect(script.messageCame { _ in true } == .matched(0))
        #expect([script.next(at: 0), script.next(at: 0), script.next(at: 0)] == [.sendHead, .send(0), .end])
        #expect(script.messageCame { _ in false } == .unknown)
    }

    @Test func anotherMessageDiffersAndOneTooManyIsSurplus() {
        var script = self.script(1, head: 0)
        #expect(script.messageCame { _ in false } == .differs(from: 0))
        #expect(script.came == 0 && script.unsent == 1)
        #expect(script.messageCame { _ in true } == .matched(0))
        #expect(script.messageCame { _ in true } == .surplus)
        #expect(script.came == 1 && script.unsent == 0)
    }

    @Test func inAnyOrderEachRecordedMessageCountsOnce() {
        var script = self.script(3, head: 2, order: .any)
        #expect(script.messageCame { $0 == 2 } == .matched(2))
        #expect(script.messageCame { $0 == 2 } == .differs(from: 0))
        #expect(script.next(at: 0) == .listen)
        #expect(script.messageCame { $0 == 0 } == .matched(0))
        #expect(script.next(at: 0) == .sendHead)
        #expect(script.messageCame { $0 == 1 } == .matched(1))
        #expect(script.messageCame { _ in true } == .surplus)
    }

    @Test func inAnyOrderTheLastMayComeFirstAndTheFirstLast() {
        for order in [[3, 2, 1, 0], [1, 3, 0, 2], [0, 1, 2, 3], [2, 0, 3, 1]] {
            var script = self.script(4, head: 4, order: .any)
            for (came, number) in order.enumerated() {
                #expect(script.unsent == 4 - came)
                #expect(script.messageCame { $0 == number } == .matched(number))
                if came < 3 { #expect(script.messageCame { $0 == number } == .differs(from: order[(came + 1)...].min() ?? 0)) }
            }
            #expect(script.messageCame { _ in true } == .surplus)
        }
    }

    @Test func cutOfTheOriginIsRepeatedAndCutOfTheClientIsHeld() {
        var cut = self.script(1, head: 0, [0], end: 1, ending: .cut)
        #expect([cut.next(at: 0), cut.next(at: 0), cut.next(at: 0)] == [.sendHead, .send(0), .listen])
        #expect(cut.messageCame { _ in true } == .matched(0))
        #expect(cut.next(at: 0) == .cut)
        var left = self.script(1, head: 0, [1], ending: .left, isWhole: false)
        #expect(left.next(at: 0) == .sendHead)
        #expect(left.messageCame { _ in true } == .matched(0))
        #expect([left.next(at: 0), left.next(at: 0)] == [.send(0), .hold])
        left.clientEnded()
        #expect(left.next(at: 0) == .hold)
    }

    @Test func anExchangeWithoutAnAnswerFailsWhenItDid() {
        var script = ConversationScript(
            ConversationScript.Recording(requests: 1, requestsAreWhole: false, head: nil, end: Step(after: 1), ending: .cut))
        #expect(script.next(at: 0) == .listen)
        #expect(script.messageCame { _ in true } == .matched(0))
        #expect(script.next(at: 0) == .cut)
    }

    private func timed(_ latency: Latency) -> ConversationScript {
        ConversationScript(
            ConversationScript.Recording(
                requests: 1, head: Step(after: 0, gap: 10), messages: [Step(after: 1, gap: 20), Step(after: 1, gap: 5)],
                end: Step(after: 1, gap: 0)), latency: latency)
    }

    @Test func recordedGapsCountFromTheirTrigger() {
        var script = self.timed(.scaled(2))
        #expect(script.next(at: 100) == .wait(until: 120))
        #expect(script.next(at: 119) == .wait(until: 120))
        #expect(script.next(at: 120) == .sendHead)
        #expect(script.next(at: 120) == .listen)
        #expect(script.messageCame { _ in true } == .matched(0))
        #expect(script.next(at: 500) == .wait(until: 540))
        #expect(script.next(at: 541) == .send(0))
        #expect(script.next(at: 541) == .wait(until: 551))
        #expect(script.next(at: 551) == .send(1))
        #expect(script.next(at: 551) == .end)
    }

    @Test func aFixedDelayIsBeforeTheHeadAlone() {
        var script = self.timed(.fixed(50))
        #expect(script.next(at: 0) == .wait(until: 50))
        #expect(script.next(at: 50) == .sendHead)
        #expect(script.messageCame { _ in true } == .matched(0))
        #expect([script.next(at: 50), script.next(at: 50), script.next(at: 50)] == [.send(0), .send(1), .end])
    }

    /// After an edit by hand: a mark that no client reaches is reached with the last of its messages.
    @Test func aMarkAboveTheMessagesIsReachedWithTheLast() {
        var script = self.script(1, head: 9)
        #expect(script.next(at: 0) == .listen)
        #expect(script.messageCame { _ in true } == .matched(0))
        #expect(script.next(at: 0) == .sendHead)
    }

    /// A client that waits for the same messages as the recorded one before it sends more receives all of them, and none earlier.
    @Test func clientThatWaitsLikeTheRecordedOneGetsEverythingInTime() {
        var random = SplitMix64(seed: 44)
        for _ in 0..<500 {
            let requests = Int.random(in: 0...5, using: &random)
            // The head, the messages and the end; one more than the number of the client's messages means its end.
            let marks = (0..<Int.random(in: 2...8, using: &random)).map { _ in Int.random(in: 0...requests + 1, using: &random) }.sorted()
            let steps = marks.map { Step(after: $0 > requests ? nil : $0) }
            var script = ConversationScript(
                ConversationScript.Recording(
                    requests: requests, head: steps[0], messages: Array(steps[1..<(steps.count - 1)]), end: steps[steps.count - 1]))
            var received: [ConversationScript.Action] = []
            for came in 0...requests + 1 {
                while true {
                    let action = script.next(at: 0)
                    if action == .listen { break }
                    received.append(action)
                }
                #expect(received.count == marks.count { $0 <= came })
                if came < requests {
                    #expect(script.messageCame { $0 == came } == .matched(came))
                } else if came == requests {
                    script.clientEnded()
                }
            }
            #expect(received == [.sendHead] + (0..<marks.count - 2).map { .send($0) } + [.end])
        }
    }
}
