@testable import CassettePlayback
import Testing

@Suite struct ConversationChoiceTests {
    typealias Step = ConversationScript.Step

    /// - Parameter messages: the texts of the client's messages.
    private func conversation(
        _ index: Int, _ messages: [String], head: Int? = nil, answers: [Int?] = [], isWhole: Bool = true
    ) -> RecordedConversation {
        RecordedConversation(
            index: index, requests: messages.map { ListedRequests.facets($0) },
            recording: ConversationScript.Recording(
                requests: messages.count, requestsAreWhole: isWhole, head: Step(after: head), messages: answers.map { Step(after: $0) }))
    }

    private func choice(_ conversations: RecordedConversation..., order: ConversationOrder = .strict) -> ConversationChoice {
        ConversationChoice(conversations, order: order, latency: .none)
    }

    private func step(
        _ choice: ConversationChoice, isPatient: Bool = true, repeats: Bool = false, mayForward: Bool = false, used: Set<Int> = []
    ) -> ConversationChoice.Step {
        choice.step(isPatient: isPatient, repeats: repeats, mayForward: mayForward) { !used.contains($0) }
    }

    @Test func thoseThatDifferDropOutUntilOneIsLeft() {
        var choice = self.choice(self.conversation(3, ["a", "b"]), self.conversation(5, ["a", "c"]))
        #expect(self.step(choice) == .wait)
        choice.messageCame(ListedRequests.facets("a"))
        #expect(self.step(choice) == .wait)
        choice.messageCame(ListedRequests.facets("c"))
        #expect(self.step(choice) == .take([5]))
        #expect(choice.dropped.map(\.conversation.index) == [3] && choice.dropped.map(\.message) == [1])
    }

    @Test func theEarliestThatOwesAnAnswerIsTaken() {
        var choice = self.choice(
            self.conversation(3, ["a", "b"], head: 1, answers: [1]), self.conversation(5, ["a", "c"], head: 1, answers: [1]))
        #expect(self.step(choice) == .wait)
        choice.messageCame(ListedRequests.facets("a"))
        #expect(self.step(choice) == .take([3, 5]))
        #expect(self.step(choice, used: [3]) == .take([5]))
    }

    @Test func aHeadAloneIsWorthAShortWait() {
        let choice = self.choice(self.conversation(0, ["a"], head: 0), self.conversation(1, ["b"], head: 0))
        #expect(self.step(choice) == .hesitate)
        #expect(self.step(choice, isPatient: false) == .take([0, 1]))
        // No message could decide between equal conversations.
        #expect(self.step(self.choice(self.conversation(0, ["a"], head: 0), self.conversation(1, ["a"], head: 0))) == .take([0, 1]))
        // The origin may answer a message that differs from the only recorded one.
        let single = self.choice(self.conversation(0, ["a"], head: 0))
        #expect(self.step(single) == .take([0]) && self.step(single, mayForward: true) == .hesitate)
    }

    @Test func choiceWaitsUntilOnlyEqualConversationsRemain() {
        var choice = self.choice(self.conversation(0, ["a", "c", "d"]), self.conversation(1, ["a", "c", "d"], isWhole: false))
        #expect(self.step(choice) == .wait)
        choice = self.choice(self.conversation(0, ["a", "c"]), self.conversation(1, ["a", "c", "d"]))
        #expect(self.step(choice) == .wait)
        choice = self.choice(self.conversation(0, ["a", "c", "d"]), self.conversation(1, ["a", "c", "d"]))
        #expect(self.step(choice) == .take([0, 1]))
    }

    @Test func theEndDecidesBetweenThoseThatAreLeft() {
        var choice = self.choice(self.conversation(0, ["a", "b"]), self.conversation(1, ["a"]), self.conversation(2, ["a"]))
        choice.messageCame(ListedRequests.facets("a"))
        choice.clientEnded()
        #expect(self.step(choice) == .take([1, 2]))
        #expect(choice.dropped.map(\.conversation.index) == [0] && choice.dropped.map(\.message) == [nil])
    }

    @Test func aRecordingThatWasCutFitsAnyRest() {
        var choice = self.choice(self.conversation(0, ["a"], isWhole: false), self.conversation(1, ["a", "b", "c"]))
        for text in ["a", "x"] { choice.messageCame(ListedRequests.facets(text)) }
        #expect(self.step(choice) == .take([0]))
        choice.clientEnded()
        #expect(self.step(choice) == .take([0]))
    }

    @Test func usedUpAndDifferentAreNotTheSame() {
        var choice = self.choice(self.conversation(0, ["a"]))
        #expect(self.step(choice, used: [0]) == .nothing(fitting: 1))
        #expect(self.step(choice, repeats: true, used: [0]) == .take([0]))
        choice.messageCame(ListedRequests.facets("b"))
        #expect(self.step(choice, used: [0]) == .nothing(fitting: 0))
    }

    @Test func inAnyOrderNoMessageIsTooEarly() {
        var choice = self.choice(self.conversation(0, ["a", "b"]), self.conversation(1, ["c", "b"]), order: .any)
        choice.messageCame(ListedRequests.facets("b"))
        #expect(self.step(choice) == .wait)
        choice.messageCame(ListedRequests.facets("c"))
        #expect(self.step(choice) == .take([1]))
    }
}
