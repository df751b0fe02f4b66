@testable import CassettePlayback
import Testing

@Suite struct AssignmentRuleTests {
    typealias Assignment = AssignmentRule.Assignment

    /// The recorded exchanges and the requests, as one letter each, and the answers.
    struct Row: Sendable, CustomTestStringConvertible {
        var recorded: String
        var asked: String
        var repetition = Repetition.never
        var order = ReplayOrder.any
        var answers: [Assignment]
        var unused: [Int] = []
        var testDescription: String { "\(self.recorded) asked \(self.asked), repeat \(self.repetition), order \(self.order)" }
    }

    private static func first(_ index: Int, after: Int? = nil) -> Assignment { .first(index: index, after: after) }

    static let table = [
        Row(recorded: "A", asked: "A", answers: [first(0)]),
        Row(recorded: "AA", asked: "AA", answers: [first(0), first(1)]),
        Row(recorded: "ABA", asked: "AAB", answers: [first(0), first(2), first(1, after: 2)]),
        Row(recorded: "AB", asked: "BA", answers: [first(1), first(0, after: 1)]),
        Row(recorded: "AB", asked: "A", answers: [first(0)], unused: [1]),
        Row(recorded: "A", asked: "AA", answers: [first(0), .usedUp]),
        Row(recorded: "A", asked: "B", answers: [.usedUp], unused: [0]),
        Row(recorded: "AA", asked: "AAAA", repetition: .last, answers: [first(0), first(1), .again(index: 1), .again(index: 1)]),
        Row(
            recorded: "ABA", asked: "AAAAAB", repetition: .cycle,
            answers: [first(0), first(2), .again(index: 0), .again(index: 2), .again(index: 0), first(1, after: 2)]),
        Row(recorded: "AB", asked: "C", repetition: .last, answers: [.usedUp], unused: [0, 1]),
        Row(recorded: "AB", asked: "C", repetition: .cycle, answers: [.usedUp], unused: [0, 1]),
        Row(recorded: "ABA", asked: "ABA", order: .strict, answers: [first(0), first(1), first(2)]),
        Row(
            recorded: "ABA", asked: "AAB", order: .strict, answers: [first(0), .outOfTurn(index: 2, due: 1), first(1)], unused: [2]),
        Row(
            recorded: "AB", asked: "BBAB", order: .strict,
            answers: [.outOfTurn(index: 1, due: 0), .outOfTurn(index: 1, due: 0), first(0), first(1)]),
        Row(recorded: "A", asked: "AA", order: .strict, answers: [first(0), .usedUp]),
        Row(
            recorded: "AAB", asked: "AAAB", repetition: .last, order: .strict, answers: [first(0), first(1), .again(index: 1), first(2)]),
        // A tunnel that failed takes no turn.
        Row(recorded: "A-B", asked: "AB", order: .strict, answers: [first(0), first(2)]),
        Row(recorded: "--A", asked: "A", answers: [first(2)]),
        Row(recorded: "", asked: "A", order: .strict, answers: [.usedUp]),
    ]

    private func rule(_ recorded: String, _ order: ReplayOrder) -> (
        rule: AssignmentRule, ask: (inout AssignmentRule, Character) -> Assignment
    ) {
        let letters = Array(recorded)
        return (
            AssignmentRule(isAnswerable: letters.map { _ in true }, repetition: .never, order: order),
            { rule, letter in
                var turn = AssignmentRule.Turn()
                return rule.assign(letters.indices.filter { letters[$0] == letter }.map { UInt32($0) }[...], turn: &turn)
            }
        )
    }

    @Test(arguments: [ReplayOrder.any, .strict]) func returnedExchangeAnswersTheNextRequest(order: ReplayOrder) {
        var (rule, ask) = self.rule("AB", order)
        #expect(ask(&rule, "A") == Self.first(0))
        #expect(rule.giveBack(0) == .free)
        #expect(rule.unused == [0, 1])
        #expect(ask(&rule, "A") == Self.first(0))
        #expect(ask(&rule, "B") == Self.first(1))
    }

    /// Otherwise a strict order would refuse all later requests.
    @Test func onceALaterOneWasAskedForAStrictOrderGoesOn() {
        var (rule, ask) = self.rule("ABC", .strict)
        #expect(ask(&rule, "A") == Self.first(0))
        #expect(ask(&rule, "B") == Self.first(1))
        #expect(rule.giveBack(0) == .usedUp)
        #expect(ask(&rule, "C") == Self.first(2))
        #expect(rule.unused == [])
    }

    @Test func inAnyOrderItIsFreeWhateverFollowedIt() {
        var (rule, ask) = self.rule("ABC", .any)
        #expect(ask(&rule, "A") == Self.first(0))
        #expect(ask(&rule, "B") == Self.first(1))
        #expect(rule.giveBack(0) == .free)
        #expect(ask(&rule, "A") == Self.first(0, after: 1))
    }

    @Test(arguments: Self.table)
    func exchangesAnswerByTheTable(row: Row) {
        let recorded = Array(row.recorded)
        var rule = AssignmentRule(isAnswerable: recorded.map { $0 != "-" }, repetition: row.repetition, order: row.order)
        var turns: [Character: AssignmentRule.Turn] = [:]
        let answers = row.asked.map { letter in
            let equals = recorded.indices.filter { recorded[$0] == letter }.map { UInt32($0) }
            return rule.assign(equals[...], turn: &turns[letter, default: .init()])
        }
        #expect(answers == row.answers)
        #expect(rule.unused == row.unused)
    }

    @Test func othersAnswerWhenTheEqualsAreUsedUp() {
        var rule = AssignmentRule(isAnswerable: [true, true, true, true])
        var turn = AssignmentRule.Turn()
        #expect(rule.assign([2], turn: &turn, others: [0, 3]) == .first(index: 2, after: nil))
        #expect(rule.assign([2], turn: &turn, others: [0, 3]) == .first(index: 0, after: 2))
        #expect(rule.assign([2], turn: &turn, others: [0, 3]) == .first(index: 3, after: nil))
        #expect(rule.assign([2], turn: &turn, others: [0, 3]) == .usedUp)
    }

    @Test func othersAreRepeatedOnlyWithoutEquals() {
        var rule = AssignmentRule(isAnswerable: [true, true, true], repetition: .cycle)
        var turn = AssignmentRule.Turn()
        let answers = (0..<5).map { _ in rule.assign([], turn: &turn, others: [0, 2]) }
        #expect(answers.dropFirst(2) == [.again(index: 0), .again(index: 2), .again(index: 0)])
    }

    @Test func strictOrderTakesTheOtherThatIsDue() {
        var rule = AssignmentRule(isAnswerable: [true, true, true], order: .strict)
        var turn = AssignmentRule.Turn()
        #expect(rule.assign([1], turn: &turn, others: [0]) == .first(index: 0, after: nil))
        #expect(rule.canAssign([1], turn: turn))
        #expect(!rule.canAssign([2], turn: turn))
    }

    @Test func nothingCanBeAssignedTwice() {
        var rule = AssignmentRule(isAnswerable: [true])
        var turn = AssignmentRule.Turn()
        #expect(rule.canAssign([0], turn: turn))
        _ = rule.assign([0], turn: &turn)
        #expect(!rule.canAssign([0], turn: turn))
        // Another turn is refused too: groups can overlap.
        #expect(!rule.canAssign([0], turn: .init()))
        var other = AssignmentRule.Turn()
        #expect(rule.assign([0], turn: &other) == .usedUp)
    }

    @Test func anExchangeThatRepeatsAnswersAgainAfterItsEquals() {
        var rule = AssignmentRule(isAnswerable: [true, true, true], repeating: [0])
        var (turn, other) = (AssignmentRule.Turn(), AssignmentRule.Turn())
        let assigned = (0..<4).map { _ in rule.assign([0, 1], turn: &turn) }
        #expect(assigned == [.first(index: 0, after: nil), .first(index: 1, after: nil), .again(index: 0), .again(index: 0)])
        #expect(rule.assign([2], turn: &other) == .first(index: 2, after: nil))
        #expect(rule.assign([2], turn: &other) == .usedUp)
    }
}

@Test func repetitionsHaveTheNamesOfTheCommandLine() {
    #expect(Repetition.allCases.map(\.rawValue) == ["never", "last", "cycle"])
}
