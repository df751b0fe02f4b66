/// Which stubs of scenarios become an order of exchanges.
///
/// A scenario does if all of its stubs have the same request and each of them leads to the state of the next one: "503, then 200". A replay
/// knows no states, so it cannot tell when another request changes them.
struct ScenarioOrder {
    enum Role: Equatable {
        /// It depends on no state.
        case none
        /// It answers once in its turn; the last one may answer again, or lead back to an earlier state.
        case step(isLast: Bool, beginsAgain: Bool)
        /// Nothing leads to its state.
        case unreachable
        /// Some other request leads to its state.
        case unknown
    }

    private var steps: [Int: (scenario: String, isLast: Bool, beginsAgain: Bool)] = [:]
    /// The states that some stub leads to, by scenario.
    private var reached: [String: Set<String>] = [:]

    /// Adds all stubs of one scenario that require a state or lead to one.
    ///
    /// - Parameters:
    ///   - others: the states that stubs without an exchange lead to.
    ///   - mayBeOrder: false if other stubs of the tool come between these.
    mutating func add(_ members: [(stub: ImportedStub, request: ComparedStub)], alsoReached others: [String], mayBeOrder: Bool) {
        guard let first = members.first, let name = first.stub.state?.scenario else { return }
        self.reached[name, default: []].formUnion(others + members.compactMap { $0.stub.state?.next })
        guard mayBeOrder, members.allSatisfy({ $0.request.equals(first.request) }),
            let chain = Self.chain(members.map(\.stub))
        else { return }
        for (position, stub) in chain.enumerated() {
            // One alone that answers in each state does so in the next one as well.
            let isAlone = chain.count == 1 && stub.state?.required == nil
            let staysThere = isAlone || stub.state?.next == nil || stub.state?.next == stub.state?.required
            let isEnd = position == chain.count - 1
            let leadsBack = chain.contains { $0.state?.required == nil || $0.state?.required == stub.state?.next }
            self.steps[stub.added] = (name, isEnd && staysThere, isEnd && !staysThere && leadsBack)
        }
    }

    /// The stubs in the order of their states; nil if they have none.
    private static func chain(_ stubs: [ImportedStub]) -> [ImportedStub]? {
        guard var state = stubs.first?.state?.initial else { return nil }
        var rest = stubs
        var chain: [ImportedStub] = []
        while !rest.isEmpty {
            var next = rest.indices.filter { rest[$0].state?.required == state }
            // One that answers in each state is the first, if the tool prefers the others.
            if next.isEmpty, chain.isEmpty { next = rest.indices.filter { rest[$0].state?.required == nil } }
            guard next.count == 1 else { return nil }
            let stub = rest.remove(at: next[0])
            if stub.state?.required == nil, rest.contains(where: { ($0.rank, -$0.added) > (stub.rank, -stub.added) }) { return nil }
            chain.append(stub)
            guard let following = stub.state?.next else { break }
            state = following
        }
        return rest.isEmpty ? chain : nil
    }

    func role(of stub: ImportedStub) -> Role {
        if let step = self.steps[stub.added] { return .step(isLast: step.isLast, beginsAgain: step.beginsAgain) }
        guard let state = stub.state, let required = state.required else { return .none }
        // Where the initial state is unknown, states are also set from outside (`hoverctl state set`), or together with others.
        guard let name = state.scenario, state.initial != nil else { return .unknown }
        return required == state.initial || self.reached[name]?.contains(required) == true ? .unknown : .unreachable
    }

    /// Whether two stubs are steps of one scenario.
    func areSteps(_ one: ImportedStub, _ other: ImportedStub) -> Bool {
        guard let first = self.steps[one.added], let second = self.steps[other.added] else { return false }
        return first.scenario == second.scenario
    }
}
