/// The rule for order and repetition: chooses which of the recorded exchanges that match a request answers it.
///
/// Each exchange answers once, the earliest recorded first. Knows exchanges only by their index in order of request start, not their
/// requests or answers. The reasons are in docs/decisions/0001-replay-order.md.
struct AssignmentRule: Sendable {
    enum Assignment: Sendable, Hashable {
        /// An exchange that has not answered before. `after` is the latest exchange that has answered, if it was recorded later.
        case first(index: Int, after: Int?)
        /// All have answered, and this one answers again.
        case again(index: Int)
        /// This one answers in place of one that its client left. It uses up the other exchange and keeps its own turn.
        case instead(index: Int, of: Int)
        /// This one would answer, but strict order requires another first.
        case outOfTurn(index: Int, due: Int)
        /// All have answered.
        case usedUp
    }

    /// The progress of a group of equal exchanges.
    struct Turn: Sendable, Hashable {
        /// All before this position have answered.
        var position = 0
        var repetitions = 0
        /// How many exchanges had been given back at that time. `position` is stale once that number has changed.
        fileprivate var returns = 0
    }

    private(set) var repetition: Repetition
    let order: ReplayOrder
    /// How often each exchange has answered.
    private(set) var answered: [UInt32]
    /// The earliest exchange that has not answered; the count of exchanges if all have.
    private(set) var due = 0
    /// The latest exchange that has answered.
    private(set) var latest: Int?
    /// When each exchange was last sent, as a counter from 1; 0 if it was not.
    private var sent: [UInt32]
    private var sendings: UInt32 = 0
    /// How many exchanges have been given back.
    private var returns = 0
    /// How often an exchange has answered in place of one that its client left.
    private var substitutions: [Int: Int] = [:]
    /// Exchanges whose answers a traffic rule broke and that have not answered since.
    private var broken: Set<Int> = []

    /// Marks an exchange that cannot answer a request.
    static let unanswerable = UInt32.max

    /// Exchanges that may answer any number of times, whatever the repetition.
    private let repeating: Set<Int>
    /// Whether an exchange that its client left answers in its turn, even if a complete one could.
    let keepsLeft: Bool

    /// - Parameters:
    ///   - isAnswerable: for each exchange, whether it can answer a request.
    ///   - repeating: the exchanges that may answer any number of times.
    ///   - keepsLeft: whether an exchange that its client left answers in its turn.
    init(
        isAnswerable: some Sequence<Bool>, repetition: Repetition = .never, order: ReplayOrder = .any, repeating: Set<Int> = [],
        keepsLeft: Bool = false
    ) {
        self.repeating = repeating
        self.keepsLeft = keepsLeft
        self.repetition = repetition
        self.order = order
        self.answered = isAnswerable.map { $0 ? 0 : Self.unanswerable }
        self.sent = Array(repeating: 0, count: self.answered.count)
        self.advance()
    }

    /// - Parameters:
    ///   - equals: the exchanges with an equal request, ascending.
    ///   - turn: the turn of this group; it is updated.
    ///   - others: further exchanges that answer once the equal ones are used up, ascending.
    mutating func assign(_ equals: ArraySlice<UInt32>, turn: inout Turn, others: [Int] = []) -> Assignment {
        let next = self.next(of: equals, turn: &turn)
        if self.order == .strict, self.due < self.answered.count, next != self.due, others.contains(self.due) {
            return self.take(self.due)
        }
        if let next = next ?? others.first(where: { self.answered[$0] == 0 }) { return self.take(next) }
        if let index = self.brokenOne(of: equals, others) ?? self.repeatingOne(of: equals, others) { return self.again(index) }
        let repeated =
            equals.isEmpty
            ? self.repeated(others.count, turn: &turn).map { others[$0] }
            : self.repeated(equals.count, turn: &turn).map { Int(equals[equals.startIndex + $0]) }
        guard let index = repeated else { return .usedUp }
        return self.again(index)
    }

    /// A traffic rule broke the exchange's answer: it answers once more after its equals.
    mutating func brokenByRule(_ index: Int) { if self.answered[index] > 0 { self.broken.insert(index) } }

    private mutating func brokenOne(of equals: ArraySlice<UInt32>, _ others: [Int]) -> Int? {
        guard !self.broken.isEmpty else { return nil }
        let index = equals.last { self.broken.contains(Int($0)) }.map(Int.init) ?? others.last { self.broken.contains($0) }
        return index.flatMap { self.broken.remove($0) }
    }

    /// The last of some exchanges that may answer any number of times.
    private func repeatingOne(of equals: ArraySlice<UInt32>, _ others: [Int]) -> Int? {
        guard !self.repeating.isEmpty else { return nil }
        return equals.last { self.repeating.contains(Int($0)) }.map(Int.init) ?? others.last { self.repeating.contains($0) }
    }

    /// Whether an exchange can still answer: it has not, or it may do so any number of times.
    func isAvailable(_ index: Int) -> Bool { self.answered[index] == 0 || self.repeating.contains(index) }

    /// Lets an exchange answer once more, outside of the rule of repetition.
    mutating func again(_ index: Int) -> Assignment {
        self.answered[index] += 1
        self.noteSent(index)
        return .again(index: index)
    }

    /// Marks an exchange as the last one that was sent, or from which an answer was computed.
    mutating func noteSent(_ index: Int) {
        self.sendings &+= 1
        self.sent[index] = self.sendings
    }

    /// A counter that grows with the time of sending; 0 for an exchange that was not sent.
    func sent(_ index: Int) -> UInt32 { self.sent[index] }

    /// The earliest of the equal exchanges that has not answered; nil if all have.
    func next(of equals: ArraySlice<UInt32>, turn: inout Turn) -> Int? {
        if turn.returns != self.returns {
            turn.returns = self.returns
            turn.position = 0
        }
        while turn.position < equals.count, self.answered[Int(equals[equals.startIndex + turn.position])] > 0 { turn.position += 1 }
        return turn.position < equals.count ? Int(equals[equals.startIndex + turn.position]) : nil
    }

    /// Whether one of the equal exchanges has not answered and may answer now.
    func canAssign(_ equals: ArraySlice<UInt32>, turn: Turn) -> Bool {
        let left = equals.dropFirst(turn.returns == self.returns ? turn.position : 0).first { self.answered[Int($0)] == 0 }
        guard let left else { return false }
        return self.order == .any || Int(left) == self.due
    }

    /// Marks an exchange as having answered.
    mutating func use(_ index: Int) {
        self.answered[index] += 1
        self.noteSent(index)
        self.latest = max(self.latest ?? index, index)
        self.advance()
    }

    /// Uses up an exchange whose answer a client has got as a part of another one.
    mutating func pass(_ index: Int) {
        self.answered[index] += 1
        self.advance()
    }

    /// Uses up an exchange, which keeps its place in the order, and lets another one answer in its place.
    mutating func answer(with index: Int, insteadOf left: Int) -> Assignment {
        self.answered[left] += 1
        self.noteSent(index)
        self.substitutions[index, default: 0] += 1
        self.advance()
        return .instead(index: index, of: left)
    }

    private mutating func take(_ index: Int) -> Assignment {
        if self.order == .strict, index != self.due { return .outOfTurn(index: index, due: self.due) }
        self.answered[index] += 1
        self.noteSent(index)
        let latest = self.latest.flatMap { $0 > index ? $0 : nil }
        self.latest = max(self.latest ?? index, index)
        self.advance()
        return .first(index: index, after: latest)
    }

    /// The state of an exchange after it was given back.
    enum Return {
        /// Available again, as the first of its equals.
        case free
        /// It had answered before; this was a repetition.
        case answered
        /// It remains used up.
        case usedUp
    }

    /// Takes an answer back, unless strict order would then have to restart before exchanges that were served since.
    mutating func giveBack(_ index: Int) -> Return {
        // If two clients got this exchange, the one that leaves is treated as the recorded one that left.
        if let count = self.substitutions[index], count > 0 {
            self.substitutions[index] = count - 1
            return .usedUp
        }
        guard self.answered[index] > 0, self.answered[index] != Self.unanswerable else { return .usedUp }
        if self.order == .strict, self.answered[index] == 1, let latest = self.latest, latest > index { return .usedUp }
        self.answered[index] -= 1
        guard self.answered[index] == 0 else { return .answered }
        self.returns += 1
        self.due = min(self.due, index)
        if self.latest == index {
            self.latest = self.answered.indices.last { self.answered[$0] > 0 && self.answered[$0] != Self.unanswerable }
        }
        return .free
    }

    private mutating func advance() {
        while self.due < self.answered.count, self.answered[self.due] > 0 { self.due += 1 }
    }

    /// A position among `count` used-up exchanges; nil if none may answer again.
    private func repeated(_ count: Int, turn: inout Turn) -> Int? {
        guard count > 0 else { return nil }
        switch self.repetition {
        case .never: return nil
        case .last: return count - 1
        case .cycle:
            turn.repetitions += 1
            return (turn.repetitions - 1) % count
        }
    }

    /// The exchanges that have answered nothing, ascending.
    var unused: [Int] { self.answered.indices.filter { self.answered[$0] == 0 } }
}

/// How to answer a request whose recorded exchanges are all used up.
public enum Repetition: String, Sendable, Hashable, CaseIterable {
    /// It is a miss.
    case never
    /// The last recorded exchange answers from then on.
    case last
    /// The recorded exchanges start again from the first.
    case cycle
}

/// Whether requests must come in the recorded order.
public enum ReplayOrder: String, Sendable, Hashable, CaseIterable {
    /// In any order; an out-of-order request is noted in the verdict.
    case any
    /// Only the earliest recorded exchange that has not answered may answer.
    case strict
}
