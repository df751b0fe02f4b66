import Testing

@testable import CassettePlayback
@testable import CassetteStore

@Test func missesBeyondTheListOfReportsAreCounted() {
    let report = MissReport(request: "GET http://a.test/", mode: .none, reason: .notRecorded)
    #expect(Verdict(misses: 3, reports: [report]).unreportedMisses == 2)
    #expect(Verdict().unreportedMisses == 0)
}

@Test func eachFlawKeepsAReplayFromBeingClean() {
    #expect(Verdict(hits: 2, repeatedHits: 1, forwarded: 1).flaws.isEmpty)
    let table: [(Verdict, VerdictFlaw)] = [
        (Verdict(misses: 1), .miss), (Verdict(unused: [0]), .unused), (Verdict(orderViolations: 1), .order),
        (Verdict(unserved: 1), .unserved),
        (Verdict(damage: "the end is missing"), .damage),
    ]
    #expect(table.map(\.1) == VerdictFlaw.allCases)
    for (verdict, flaw) in table {
        #expect(verdict.flaws == [flaw])
        #expect(VerdictFlaw.allCases.map { verdict.count(of: $0) }.reduce(0, +) == 1)
    }
}
