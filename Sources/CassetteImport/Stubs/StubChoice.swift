internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// A stub of a file.
enum StubEntry {
    case exchange(ImportedStub)
    case hidden(HiddenStub)
}

/// The stubs of all files of an import. Their tools choose among all of them, whichever file they are in.
///
/// A file adds its stubs at once, so that one that cannot be read adds none.
final class StubShelf {
    private var stubs: [(kind: ImportKind, stubs: [ImportedStub], hidden: [HiddenStub], count: Int)] = []

    /// Leaves out stubs whose destination is unknown.
    ///
    /// - Parameter entries: in the order in which they were added to the tool.
    func add(_ entries: [StubEntry], of kind: ImportKind) {
        let index = self.stubs.firstIndex { $0.kind == kind } ?? self.stubs.endIndex
        if index == self.stubs.endIndex { self.stubs.append((kind, [], [], 0)) }
        for entry in entries {
            let added = self.stubs[index].count
            self.stubs[index].count += 1
            switch entry {
            case .hidden(var stub):
                stub.added = added
                self.stubs[index].hidden.append(stub)
            case .exchange(var stub):
                stub.context.entry = stub.entry
                guard !AddressCheck.isHidden(stub.exchange.request.url, stub.context, at: stub.place) else { continue }
                stub.added = added
                self.stubs[index].stubs.append(stub)
            }
        }
    }

    /// Those that a replay can choose. Counts the others as losses.
    ///
    /// The stubs of one method and URL without query are in the order in which their tool prefers them, at the place of the first of them.
    func chosen() -> [ImportedStub] {
        self.stubs.flatMap { kind, stubs, hidden, _ in
            let isHoverfly = kind == .hoverfly
            let ordered = isHoverfly ? HoverflyReader.inOrder(stubs) : WireMockReader.inOrder(stubs)
            var choice = StubChoice(ordered, hidden: hidden, prefersStates: isHoverfly)
            choice.choose()
            return choice.kept(inOrderOf: stubs)
        }
    }
}

/// Leaves out the stubs that a replay would never choose, and those in whose place it could choose a wrong one. Decides which ones answer any
/// number of times.
///
/// Gets the stubs in the order in which their tool prefers them, which is that in which a replay does. Where the tool's choice depends on
/// something that a replay does not compare, none of the stubs that it may choose is imported: a miss is better than a wrong answer.
private struct StubChoice {
    private struct Candidate {
        var stub: ImportedStub
        var request: ComparedStub
        /// A replay answers more requests with it than the tool does.
        var isBroad: Bool { self.stub.isBroad || !self.request.secrets.isEmpty }
    }

    /// Whether a stub for a state comes before an equal one without a state, wherever that is.
    private let prefersStates: Bool
    private let candidates: [Candidate]
    private var hidden: HiddenStubs
    /// Paths that occur with several servers.
    private let sharedPaths: Set<String>
    private var scenarios = ScenarioOrder()
    private var kept: [Candidate] = []
    /// The positions in `kept` of those that answer more or fewer requests than in their tool, by path.
    private var inexact: [String: [Int]] = [:]
    /// The positions in `kept` of those that answer any number of times.
    private var repeating = ComparedStubs()
    /// Stubs that the tool may choose and the replay cannot, by path.
    private var absent: [String: [Candidate]] = [:]

    init(_ stubs: [ImportedStub], hidden: [HiddenStub], prefersStates: Bool) {
        self.prefersStates = prefersStates
        self.hidden = HiddenStubs(hidden)
        let candidates = stubs.map { Candidate(stub: $0, request: ComparedStub($0.exchange, $0.context.options.redaction)) }
        self.candidates = candidates
        let byPath = Dictionary(grouping: candidates, by: \.request.path)
        self.sharedPaths = Set(byPath.filter { Set($0.value.map(\.request.url)).count > 1 }.keys)
        let byName = Dictionary(grouping: self.candidates.filter { $0.stub.state?.required != nil || $0.stub.state?.next != nil }) {
            $0.stub.state?.scenario
        }
        let hiddenByName = Dictionary(grouping: hidden.filter { $0.scenario != nil }, by: \.scenario)
        for (name, members) in byName {
            guard let name else { continue }
            let keys = members.map { ($0.stub.rank, -$0.stub.added) }
            guard let first = keys.min(by: <), let last = keys.max(by: <) else { continue }
            let numbers = Set(members.map(\.stub.added))
            // Between two steps, the tool chooses another stub in some states only.
            let hasOthersBetween = Set(members.map(\.request.path)).flatMap { byPath[$0] ?? [] }.contains { other in
                let key = (other.stub.rank, -other.stub.added)
                return !numbers.contains(other.stub.added) && first < key && key < last
                    && members.contains { other.request.overlaps($0.request, other.stub) || $0.request.overlaps(other.request, $0.stub) }
            }
            let others = hiddenByName[name] ?? []
            self.scenarios.add(
                members.map { ($0.stub, $0.request) }, alsoReached: others.compactMap(\.next),
                mayBeOrder: !hasOthersBetween && others.isEmpty)
        }
    }

    mutating func choose() {
        for candidate in self.candidates where !candidate.request.secrets.isEmpty {
            let (stub, secrets) = (candidate.stub, candidate.request.secrets)
            self.lose(.secretCondition, stub, "\(stub.name): \(secrets.joined(separator: ", "))")
        }
        // Hoverfly may prefer them to equal pairs wherever those are.
        if self.prefersStates {
            for candidate in self.candidates where self.scenarios.role(of: candidate.stub) == .unknown { self.note(candidate) }
        }
        for candidate in self.candidates { self.add(candidate) }
    }

    private mutating func note(_ candidate: Candidate) { self.absent[candidate.request.path, default: []].append(candidate) }

    private mutating func add(_ candidate: Candidate) {
        var candidate = candidate
        let (stub, request) = (candidate.stub, candidate.request)
        var beginsAgain = false
        switch self.scenarios.role(of: stub) {
        case .none: candidate.stub.exchange.repeats = true
        case .step(let isLast, let leadsBack):
            beginsAgain = leadsBack
            self.lose(.scenario, stub, stub.name)
            // The state stays after the last one, unless its answer leaves it.
            candidate.stub.exchange.repeats = isLast
        case .unreachable: return self.lose(.state, stub, stub.name)
        case .unknown:
            self.lose(.state, stub, stub.name)
            if !self.prefersStates { self.note(candidate) }
            return
        }
        if let other = self.hidden.first(before: stub, path: request.path) { return self.leaveOut(candidate, after: other.name) }
        for other in self.absent[request.path] ?? []
        where self.comes(other, before: candidate) && other.request.overlaps(request, other.stub) {
            return self.leaveOut(candidate, after: other.stub.name)
        }
        let covering = self.repeating.first(covering: request)
        for position in self.inexact[request.path] ?? [] where covering.map({ position <= $0 }) ?? true {
            let earlier = self.kept[position]
            // Two spellings of one pair are no rivals.
            guard earlier.isBroad || earlier.stub.isNarrow || earlier.request.url != request.url,
                earlier.stub.name != stub.name || earlier.stub.entry != stub.entry,
                !self.scenarios.areSteps(earlier.stub, stub), earlier.request.overlaps(request, earlier.stub)
            else { continue }
            if earlier.isBroad {
                // Which of the two the tool chooses depends on what is not compared.
                self.kept[position].stub.isLeftOut = true
                self.note(earlier)
                self.lose(.rival, earlier.stub, "\(earlier.stub.name) before \(stub.name)")
                self.inexact[request.path]?.removeAll { $0 == position }
                self.repeating.remove(earlier.request)
            }
            return self.leaveOut(candidate, after: earlier.stub.name)
        }
        if let covering {
            return self.lose(.shadowed, stub, "\(stub.name) after \(self.kept[covering].stub.name)")
        }
        let position = self.kept.count
        if candidate.isBroad || stub.isNarrow || self.sharedPaths.contains(request.path) {
            self.inexact[request.path, default: []].append(position)
        }
        if candidate.stub.exchange.repeats { self.repeating.add(request, at: position) }
        self.kept.append(candidate)
        // The tool begins again with the first step, where the replay would go on to a less preferred stub.
        if beginsAgain { self.note(candidate) }
    }

    /// Whether the tool prefers a stub that the replay lacks.
    private func comes(_ absent: Candidate, before candidate: Candidate) -> Bool {
        !self.prefersStates || absent.stub.rank <= candidate.stub.rank
    }

    private mutating func leaveOut(_ candidate: Candidate, after other: String) {
        self.lose(.rival, candidate.stub, "\(candidate.stub.name) after \(other)")
        self.note(candidate)
    }

    func kept(inOrderOf stubs: [ImportedStub]) -> [ImportedStub] {
        let kept = self.kept.filter { !$0.stub.isLeftOut }.map(\.stub)
        var groups = Dictionary(grouping: kept) { ComparedStub.base(of: $0.exchange.request) }
        return stubs.flatMap { groups.removeValue(forKey: ComparedStub.base(of: $0.exchange.request)) ?? [] }
    }

    private func lose(_ loss: ImportLoss, _ stub: ImportedStub, _ name: String) {
        stub.context.entry = stub.entry
        stub.context.lose(loss, at: stub.place, names: [name])
    }
}
