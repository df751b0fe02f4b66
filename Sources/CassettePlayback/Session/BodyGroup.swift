/// The recorded requests with one head, sorted by their bodies as far as these have been looked at.
///
/// Bodies are looked at in recorded order and no further than needed: the first of a hundred thousand requests to one URL is answered
/// without reading the others. Keeps no bodies.
struct BodyGroup: Sendable {
    /// Requests whose bodies are the same.
    private struct Equals: Sendable {
        /// Ascending.
        var members: [UInt32] = []
        var turn = AssignmentRule.Turn()
    }

    private var equals: [Equals] = []
    private var numbers: [BodyFacets: Int] = [:]
    private var othersTurn = AssignmentRule.Turn()
    /// Those that can answer a request with another body: cut before their end, or with marks in them. Ascending.
    private(set) var inexact: [Int] = []
    /// What each request's body looks like, in recorded order; one for each that has been looked at.
    private(set) var sketches: [BodySketch] = []

    /// How many of the key's requests have been looked at.
    var seen: Int { self.sketches.count }

    /// Takes the next of the key's requests.
    mutating func append(_ recorded: ComparedRequest, index: Int) {
        self.sketches.append(BodySketch(recorded.facets))
        if !recorded.isComplete || recorded.facets.hasMarks { self.inexact.append(index) }
        guard recorded.isComplete else { return }
        let number = self.numbers[recorded.facets] ?? self.equals.count
        if number == self.equals.count {
            self.numbers[recorded.facets.digestOnly] = number
            self.equals.append(Equals())
        }
        self.equals[number].members.append(UInt32(index))
    }

    /// The exchanges seen so far whose bodies are the same, ascending.
    func members(_ body: BodyFacets) -> [UInt32] { self.numbers[body].map { self.equals[$0].members } ?? [] }

    /// Whether an exchange with this body is left, and its turn has come.
    func isReady(_ body: BodyFacets, _ rule: AssignmentRule) -> Bool {
        guard let number = self.numbers[body] else { return false }
        let equals = self.equals[number]
        return rule.canAssign(equals.members[...], turn: equals.turn)
    }

    /// Assigns an exchange with this body.
    mutating func assign(_ body: BodyFacets, _ rule: inout AssignmentRule, others: [Int] = []) -> AssignmentRule.Assignment {
        guard let number = self.numbers[body] else { return rule.assign([], turn: &self.othersTurn, others: others) }
        return rule.assign(self.equals[number].members[...], turn: &self.equals[number].turn, others: others)
    }

    /// Assigns one of these exchanges and no other.
    mutating func assign(among others: [Int], _ rule: inout AssignmentRule) -> AssignmentRule.Assignment {
        rule.assign([], turn: &self.othersTurn, others: others)
    }
}
