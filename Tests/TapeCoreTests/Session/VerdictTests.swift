import Testing

@testable import TapeCore

@Test func missesBeyondTheListOfReportsAreCounted() {
    let report = MissReport(request: "GET http://a.test/", mode: .none, reason: .notRecorded)
    #expect(Verdict(misses: 3, reports: [report]).unreportedMisses == 2)
    #expect(Verdict().unreportedMisses == 0)
}
