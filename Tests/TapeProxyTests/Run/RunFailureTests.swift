import CassettePlayback
import CassetteRedaction
@testable import TapeProxy
import TapeRecorder
import Testing

@Suite struct RunFailureTests {
    private func all(
        _ names: [String] = ["miss", "unused", "order"], _ verdict: Verdict = Verdict(), unreadable: Int = 0,
        _ change: (inout RecorderStatus) -> Void = { _ in }
    ) throws -> [Int32] {
        var counts = ProxyCounts()
        counts.unreadable = unreadable
        var recorder = RecorderStatus()
        change(&recorder)
        return RunFailure.all(failOn: try FailureRule(names: names), verdict: verdict, counts: counts, recorder: recorder).sorted()
            .map(\.rawValue)
    }

    /// A client that gave up after the fault of a rule asked for no exchange, and its findings count.
    @Test func requestsThatRulesAnsweredDoNotHideWhatTheClientDid() throws {
        func all(answeredByRules: Int) throws -> [RunFailure] {
            var verdict = Verdict(unused: [0])
            verdict.answeredByRules = answeredByRules
            return RunFailure.all(
                failOn: try FailureRule(names: ["client"]), verdict: verdict, counts: ProxyCounts(), recorder: nil, findings: 1
            ).sorted()
        }
        #expect(try all(answeredByRules: 1) == [.client])
        #expect(try all(answeredByRules: 0) == [.unused, .client])
    }

    @Test func namedFlawsFail() throws {
        let verdict = Verdict(misses: 1, unused: [0], orderViolations: 1)
        #expect(try self.all() == [])
        #expect(try self.all(["miss", "unused", "order"], verdict) == [3, 4, 5])
        #expect(try self.all(["unused"], verdict) == [4])
        #expect(try self.all(["none"], verdict) == [])
    }

    @Test func lossesFailInAnyCase() throws {
        let leak = CassetteLeak(
            exchange: 1, place: "line 1", placeholder: Placeholder(kind: "cookie", number: 1), spelling: .plain)
        #expect(try self.all(["none"], unreadable: 1) == [1])
        #expect(try self.all(["none"]) { $0.lost = 1 } == [1])
        #expect(try self.all(["none"]) { $0.firstProblem = RecorderProblem(.diskFull, "x") } == [1])
        #expect(try self.all(["none"]) { $0.leaks = [leak] } == [6])
        #expect(try self.all(["miss"], Verdict(misses: 1)) { $0.leaks = [leak] } == [3, 6])
    }
}

@Suite struct FailureRuleTests {
    @Test func namesAreFlaws() throws {
        #expect(try FailureRule(names: ["miss", "unused", "order"]).flaws == [.miss, .unused, .order])
        #expect(try FailureRule(names: ["none"]).flaws == [])
    }

    @Test(arguments: [["damage"], ["miss", "none"], ["miss", ""], ["Miss"]])
    func anythingElseIsReported(_ names: [String]) {
        #expect(throws: SettingError.self) { try FailureRule(names: names) }
    }

    @Test func escapesFailOnlyIfTheyAreNamed() throws {
        for (names, failures) in [(["miss"], []), (["escapes"], [RunFailure.escapes]), (["none"], [])] as [([String], Set<RunFailure>)] {
            let rule = try FailureRule(names: names)
            #expect(RunFailure.all(failOn: rule, verdict: Verdict(), counts: ProxyCounts(), recorder: nil, escapes: 2) == failures)
            #expect(RunFailure.all(failOn: rule, verdict: Verdict(), counts: ProxyCounts(), recorder: nil, escapes: 0).isEmpty)
        }
        #expect(RunFailure.escapes.rawValue == 10 && FailureRule([], others: [.escapes]).description == "escapes")
    }

    @Test func unsearchedExchangesFailOnlyIfTheyAreNamed() throws {
        var unsearched = UnsearchedExchanges()
        unsearched.add(3, notes: [nil, "not searched for secrets behind the content coding \"x\""])
        var status = RecorderStatus()
        status.unsearchedExchanges = unsearched
        for (names, failures) in [(["miss"], []), (["none"], []), (["unsearched"], [RunFailure.leak]), (["miss", "unsearched"], [.leak])] {
            let rule = try FailureRule(names: names)
            #expect(RunFailure.all(failOn: rule, verdict: Verdict(), counts: ProxyCounts(), recorder: status) == Set(failures))
            #expect(RunFailure.all(failOn: rule, verdict: Verdict(), counts: ProxyCounts(), recorder: RecorderStatus()) == [])
        }
        #expect(try FailureRule(names: ["miss", "unsearched"]).under(.strict).others == [.unsearched])
    }

    @Test func strictOrderMakesARefusalForItsOrderAMiss() {
        #expect(FailureRule.standard.under(.strict).flaws == [.miss, .order])
        #expect(FailureRule.standard.under(.any).flaws == [.miss])
        #expect(FailureRule([]).under(.strict).flaws == [])
        #expect(FailureRule([.unused]).under(.strict).flaws == [.unused])
    }

    @Test func itIsShownAsItIsWritten() throws {
        for text in ["miss", "miss,unused,order", "none", "unused", "unsearched", "miss,unsearched"] {
            #expect(try FailureRule(names: text.split(separator: ",").map(String.init)).description == text)
        }
    }

    @Test(arguments: [(FailureRule.standard, [RunFailure.unused]), (FailureRule([.order]), [.unused]), (FailureRule([]), [])])
    func replayWithoutRequestsFailsUnlessAllowed(rule: FailureRule, failures: [RunFailure]) {
        let unasked = Verdict(unused: [0])
        #expect(RunFailure.all(failOn: rule, verdict: unasked, counts: ProxyCounts(), recorder: nil) == Set(failures))
        let asked = Verdict(hits: 1, unused: [1])
        #expect(RunFailure.all(failOn: rule, verdict: asked, counts: ProxyCounts(), recorder: nil).isEmpty)
    }

    @Test(arguments: [(FailureRule.standard, [RunFailure.failed]), (FailureRule([]), [])])
    func damagedCassetteFailsUnlessTold(rule: FailureRule, failures: [RunFailure]) {
        let torn = Verdict(hits: 1, damage: "the end is missing")
        #expect(RunFailure.all(failOn: rule, verdict: torn, counts: ProxyCounts(), recorder: nil) == Set(failures))
    }
}
