@testable import CassettePlayback
@testable import CassetteStore

/// A replay in which everything has failed once.
enum SampleReport {
    static var whole: ReplayReport {
        let requests = ["GET http://a.test/1", "GET http://a.test/2", "POST http://a.test/3", "CONNECT", "GET http://a.test/5?ts=1"]
        let exchanges = requests.enumerated().map { index, request in
            ReplayReport.Exchange(id: index + 1, request: request, answers: [1, 1, 0, nil, 2][index])
        }
        let near = NearRequest(
            index: 4, request: requests[4], isUsedUp: false, differences: [.queryItemChanged(here: "ts=2", recorded: "ts=1")])
        let verdict = Verdict(
            hits: 3, repeatedHits: 1, forwarded: 0, misses: 2,
            reports: [
                MissReport(request: "GET http://a.test/5?ts=2", mode: .none, reason: .notRecorded, nearest: [near]),
                MissReport(request: "GET http://a.test/1", mode: .none, reason: .usedUp(count: 1)),
            ], unused: [2], orderViolations: 1,
            violations: [OrderViolation(index: 0, request: requests[0], other: 1, otherRequest: requests[1], isRefused: false)],
            unserved: 1,
            unservedAnswers: [UnservedAnswer(index: 1, problem: "the body's file \\\"x\\\" is missing; record the exchange again")],
            damage: "the end is missing")
        return ReplayReport(cassette: "pets.json", mode: .none, repetition: .last, verdict: verdict, exchanges: exchanges)
    }

    static var clean: ReplayReport {
        ReplayReport(
            cassette: "pets.json", mode: .once, verdict: Verdict(hits: 1),
            exchanges: [.init(id: 4, request: "GET http://a.test/", answers: 1)])
    }
}
