@testable import CassettePlayback
@testable import CassetteStore
import Testing

@Test func missesBeyondTheListOfReportsAreCounted() {
    let report = MissReport(request: "GET http://a.test/", mode: .none, reason: .notRecorded)
    #expect(Verdict(misses: 3, reports: [report]).unreportedMisses == 2)
    #expect(Verdict().unreportedMisses == 0)
}

@Test func eachFlawKeepsAReplayFromBeingClean() {
    #expect(Verdict(hits: 2, repeatedHits: 1, forwarded: 1).flaws.isEmpty)
    let table: [(Verdict, VerdictFlaw)] = [
        (Verdict(misses: 1), .miss), (Verdict(hits: 1, unused: [0]), .unused), (Verdict(orderViolations: 1), .order),
        (Verdict(unserved: 1), .unserved),
        (Verdict(damage: "the end is missing"), .damage),
    ]
    #expect(table.map(\.1) + [.unasked] == VerdictFlaw.allCases)
    #expect(Verdict(unused: [0]).flaws == [.unused, .unasked])
    for (verdict, flaw) in table {
        #expect(verdict.flaws == [flaw])
        #expect(VerdictFlaw.allCases.map { verdict.count(of: $0) }.reduce(0, +) == 1)
    }
}

@Suite struct OrderViolationTests {
    @Test func namesBothExchanges() {
        var violation = OrderViolation(index: 1, request: "GET /b", other: 4, otherRequest: "GET /e", isRefused: false)
        #expect(violation.description == "exchange 2, \"GET /b\", answered after exchange 5, \"GET /e\"")
        violation.isRefused = true
        #expect(violation.description == "exchange 2, \"GET /b\", was requested while exchange 5, \"GET /e\", was due")
    }
}

@Suite struct UnservedAnswerTests {
    @Test func namesTheExchangeAndTheProblem() {
        #expect(UnservedAnswer(index: 0, problem: "no file").description == "exchange 1 could not be replayed: no file")
    }

    @Test func saysThatNoneCouldBeChosen() {
        #expect(UnservedAnswer(index: nil, problem: "no file").description == "no exchange could be chosen: no file")
    }
}
