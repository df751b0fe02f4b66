import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct FilterTermTests {
    @Test func theLettersAreMitmproxys() {
        #expect(FilterTerm.known == "~a ~all ~b ~bq ~bs ~c ~d ~dst ~e ~h ~hq ~hs ~http ~m ~q ~s ~t ~tq ~ts ~u")
    }

    @Test func whatComesBehindDependsOnTheCondition() {
        #expect(FilterTerm.status.argument == .number)
        #expect(FilterTerm.unanswered.argument == .none)
        #expect(FilterTerm.url.argument == .pattern)
    }
}
