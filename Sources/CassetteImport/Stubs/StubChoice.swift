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
            if !isHoverfly { choice.reportFileOrder() }
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
    private var inexact: [String: StubsByShape] = [:]
    /// The positions in `kept` of those that answer any number of times.
    private var repeating = ComparedStubs()
    /// Stubs that the tool may choose and the replay cannot.
    private var absent: [Candidate] = []
    /// The positions in `absent`, by path.
    private var absentPositions: [String: StubsByShape] = [:]
    /// The numbers of stubs that are never used.
    private var shadowed: Set<Int> = []

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
        self.limitValues()
    }

    private mutating func note(_ candidate: Candidate) {
        self.absentPositions[candidate.request.path, default: StubsByShape()].add(self.absent.count, candidate.request)
        self.absent.append(candidate)
    }

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
        for position in self.absentPositions[request.path]?.numbers(near: request) ?? [] {
            let other = self.absent[position]
            guard self.comes(other, before: candidate), other.request.overlaps(request, other.stub) else { continue }
            return self.leaveOut(candidate, after: other.stub.name)
        }
        let covering = self.repeating.first(covering: request)
        for position in self.inexact[request.path]?.numbers(near: request) ?? [] where covering.map({ position <= $0 }) ?? true {
            let earlier = self.kept[position]
            guard !earlier.stub.isLeftOut else { continue }
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
                self.repeating.remove(earlier.request)
            }
            return self.leaveOut(candidate, after: earlier.stub.name)
        }
        if let covering {
            self.shadowed.insert(stub.added)
            self.noteFileOrder(self.kept[covering], candidate)
            return self.lose(.shadowed, stub, "\(stub.name) after \(self.kept[covering].stub.name)")
        }
        let position = self.kept.count
        if candidate.isBroad || stub.isNarrow || self.sharedPaths.contains(request.path) {
            self.inexact[request.path, default: StubsByShape()].add(position, request)
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

    // MARK: Several values

    /// Makes a request with several values of a place a miss if stubs choose by it that are not compared completely: one may be for the
    /// first value, and another for the second.
    private mutating func limitValues() {
        let numbers = Set(self.kept.filter { !$0.stub.isLeftOut }.map(\.stub.added))
        let byPath = Dictionary(grouping: self.kept.indices.filter { !self.kept[$0].stub.isLeftOut }) { self.kept[$0].request.path }
        for (path, candidates) in Dictionary(grouping: self.candidates, by: \.request.path) {
            guard let members = byPath[path] else { continue }
            let partial = candidates.filter { candidate in
                let isAbsent = !numbers.contains(candidate.stub.added) && !self.shadowed.contains(candidate.stub.added)
                return isAbsent || candidate.isBroad || candidate.stub.isNarrow
            }
            guard !partial.isEmpty else { continue }
            var values: [StubConditions.Place: Set<[[UInt8]]>] = [:]
            for member in members {
                for included in self.kept[member].request.included { values[included.place, default: []].insert(included.values) }
            }
            let places = Set(
                partial.flatMap(\.request.included).filter { included in
                    values[included.place]?.contains { $0 != included.values } == true
                }.map(\.place))
            guard !places.isEmpty else { continue }
            let sorted = places.sorted { $0.text < $1.text }
            for member in members { self.kept[member].stub.exchange.stub?.single = sorted }
        }
    }

    // MARK: The order of files

    /// The most kinds of conditions at one path among which stubs of different files are compared.
    private static let kindLimit = 32

    /// Reports stubs of one priority in different files that may answer the same request.
    mutating func reportFileOrder() {
        let stubs = self.kept.filter { !$0.stub.isLeftOut }
        for candidate in stubs {
            if let other = self.hidden.first(tiedWith: candidate.stub, path: candidate.request.path) {
                self.lose(.fileOrder, candidate.stub, "\(candidate.stub.name) and \(other.name)")
            }
        }
        for members in Dictionary(grouping: stubs, by: \.request.base).values where Set(members.map(\.stub.file)).count > 1 {
            let kinds = Dictionary(grouping: members, by: \.request.conditions).sorted { $0.value[0].stub.added < $1.value[0].stub.added }
            for (index, (conditions, some)) in kinds.prefix(Self.kindLimit).enumerated() {
                for (otherConditions, others) in kinds.prefix(Self.kindLimit).dropFirst(index + 1) {
                    // Which values a stub has depends on its conditions alone.
                    let common = conditions.union(otherConditions).filter { condition in
                        [some[0], others[0]].allSatisfy { $0.request.values(of: [condition]) != nil }
                    }
                    self.reportFileOrder(some, others, common)
                }
            }
        }
    }

    /// Reports the first pair whose values agree, for each stub.
    ///
    /// - Parameter common: the conditions under which both have values.
    private func reportFileOrder(_ some: [Candidate], _ others: [Candidate], _ common: Set<ComparedStub.Condition>) {
        var byValues: [[ComparedStub.Condition: [[UInt8]]]: [Candidate]] = [:]
        for candidate in some { if let values = candidate.request.values(of: common) { byValues[values, default: []].append(candidate) } }
        for other in others {
            guard let values = other.request.values(of: common) else { continue }
            if let rival = byValues[values]?.first(where: { Self.dependOnFiles($0, other) }) { self.noteFileOrder(rival, other) }
        }
    }

    private func noteFileOrder(_ one: Candidate, _ other: Candidate) {
        guard Self.dependOnFiles(one, other), !self.scenarios.areSteps(one.stub, other.stub) else { return }
        let (last, first) = one.stub.added > other.stub.added ? (one.stub, other.stub) : (other.stub, one.stub)
        self.lose(.fileOrder, last, "\(last.name) before \(first.name)")
    }

    /// Whether the order of their files decides which one the tool prefers, and their answers differ.
    private static func dependOnFiles(_ one: Candidate, _ other: Candidate) -> Bool {
        let (mine, theirs) = (one.stub.exchange, other.stub.exchange)
        return one.stub.rank == other.stub.rank && one.stub.file != other.stub.file
            && (mine.response != theirs.response || mine.responseBody?.bytes != theirs.responseBody?.bytes
                || mine.outcome != theirs.outcome)
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
