import CassettePlayback
import Testing

@Suite struct UnservedAnswerTests {
    @Test func namesTheExchangeAndTheProblem() {
        #expect(UnservedAnswer(index: 0, problem: "no file").description == "exchange 1 could not be replayed: no file")
    }

    @Test func saysThatNoneCouldBeChosen() {
        #expect(UnservedAnswer(index: nil, problem: "no file").description == "no exchange could be chosen: no file")
    }
}
