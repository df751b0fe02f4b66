@testable import TapeInspector
import Testing

@Suite struct ReviewQuestionTests {
    private let question = ReviewQuestion(old: "pets.json", new: "pets.new.json")

    @Test func theFirstAnswerCounts() {
        self.question.open()
        #expect(self.question.answer(.reject, by: .page))
        #expect(!self.question.answer(.accept, by: .terminal))
        #expect(self.question.wait()?.answer == .reject && self.question.wait(milliseconds: 0)?.side == .page)
        self.question.end("rejected")
        #expect(self.question.phase == .done("rejected", by: .page))
    }

    @Test func nobodyAnswersBeforeTheQuestionIsAsked() {
        #expect(!self.question.answer(.accept, by: .page) && self.question.phase == .closed)
        #expect(self.question.wait(milliseconds: 0) == nil)
        self.question.open()
        #expect(self.question.phase == .open && self.question.wait(milliseconds: 0) == nil)
    }

    @Test func failureIsReportedToAllCallers() {
        self.question.open()
        _ = self.question.answer(.accept, by: .page)
        self.question.fail("no room")
        #expect(self.question.outcome() == .failed("no room") && self.question.outcome() == .failed("no room"))
        #expect(!self.question.answer(.accept, by: .page))
    }

    @Test func reviewWithoutDifferencesAsksNobody() {
        self.question.end("same")
        #expect(self.question.phase == .done("same", by: .terminal))
        self.question.open()
        #expect(!self.question.answer(.accept, by: .page))
    }
}
