internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// One stub as an exchange.
struct ImportedStub {
    /// When the stub answers, in a tool with states.
    struct State {
        /// The name of the scenario, or of the state in Hoverfly; nil if the stub depends on several.
        var scenario: String?
        /// Nil if the stub answers in each state.
        var required: String?
        /// Nil if the answer keeps the state.
        var next: String?
        /// The state at the beginning; nil if it is unknown.
        var initial: String?
    }

    /// The servers whose requests the stub answers. Nil for any scheme, host or port.
    struct Server {
        var scheme: String?
        var host: String?
        var port: Int?

        /// Whether the stub answers a request for a server.
        fileprivate func includes(_ other: Server) -> Bool {
            (self.scheme == nil || self.scheme == other.scheme) && (self.host == nil || self.host == other.host)
                && (self.port == nil || self.port == other.port)
        }
    }

    /// With the conditions of the stub.
    var exchange: ImportedExchange
    /// Names the stub in messages.
    var name: String
    var place: SourceValue
    /// The entry in its file.
    var entry: Int
    let context: ImportContext
    /// Whether a condition was left out, so that the exchange answers more requests than the stub.
    var isBroad: Bool
    /// Whether a condition was reduced to one value, so that the exchange answers fewer requests than the stub.
    var isNarrow: Bool
    /// Whether the stub answers requests with any method.
    var takesAnyMethod: Bool
    var server: Server
    /// The tool prefers stubs of a lower rank.
    var rank: Int
    var state: State?
    /// The position among the stubs, in the order in which they were added to the tool.
    var added = 0
    /// Whether it is not imported, because it cannot be told from another one.
    var isLeftOut = false
}

/// A stub that has no exchange: its URL is a pattern, or it forwards its requests. Its tool may still prefer it to others.
struct HiddenStub {
    /// Names the stub in messages.
    let name: String
    /// Nil if it answers requests with any method.
    let method: String?
    let rank: Int
    let paths: Paths
    /// The scenario that it depends on or changes; nil if it does neither.
    var scenario: String?
    /// The state that its answer leads to; nil if it keeps the state.
    var next: String?
    /// The position among the stubs.
    var added = 0

    /// The paths, without the query, of requests that it may answer.
    struct Paths {
        /// All of them begin with this.
        let prefix: String
        private let takes: (_ path: String) -> Bool

        static var all: Paths { Paths(prefix: "") { _ in true } }

        fileprivate static let prefixLimit = 64

        /// - Parameter check: for paths with the prefix.
        init(prefix: some StringProtocol, _ check: @escaping (String) -> Bool) {
            self.prefix = String(prefix.prefix(Self.prefixLimit))
            self.takes = check
        }

        init(_ path: some StringProtocol) {
            let path = String(path)
            self.init(prefix: path) { $0 == path }
        }

        /// Those that a regular expression matches as a whole. One that cannot be read, or whose classes Java reads in another way, may match
        /// each path with its prefix.
        init(matching pattern: String) {
            let classes = pattern.split(separator: "[", omittingEmptySubsequences: false).dropFirst()
            let hasClassInClass = classes.dropLast().contains { !$0.contains("]") } || pattern.contains("&&")
            let prefix = Self.literalPrefix(pattern)
            let read = hasClassInClass ? nil : try? Pattern(pattern)
            self.init(prefix: prefix) { path in read.map { $0.matches(path) } ?? true }
        }

        /// Those of URLs that a regular expression may match with their query, which may be any.
        init(matchingURLs pattern: String) {
            let prefix = Self.literalPrefix(pattern)
            // The prefix may go on into the query.
            let rest = pattern.dropFirst(prefix.count)
            if let mark = prefix.firstIndex(of: "?") {
                self.init(prefix[..<mark])
            } else if pattern.hasPrefix(prefix), ["(\\?", "(?:\\?"].contains(where: rest.hasPrefix), pattern.hasSuffix(")?") {
                // `/pets(\?.*)?`
                self.init(prefix)
            } else {
                self.init(prefix: prefix) { _ in true }
            }
        }

        /// The text with which all matches of a regular expression begin.
        private static func literalPrefix(_ pattern: String) -> String {
            var prefix: [Character] = []
            var rest = Array(pattern)[...]
            if rest.first == "^" { rest = rest.dropFirst() }
            // Alternatives may begin in any way.
            guard !rest.contains("|") else { return "" }
            while let character = rest.popFirst() {
                if character == "\\", let next = rest.first, !next.isLetter, !next.isNumber {
                    prefix.append(rest.removeFirst())
                } else if "\\.[](){}*+?^$".contains(character) {
                    // The character before a quantifier may be missing.
                    if "*?{".contains(character) { _ = prefix.popLast() }
                    break
                } else {
                    prefix.append(character)
                }
            }
            return String(prefix)
        }

        fileprivate func contain(_ path: String) -> Bool { path.hasPrefix(self.prefix) && self.takes(path) }
    }
}

/// Finds the stubs without an exchange that may answer a path.
private struct HiddenStubs {
    private let byPrefix: [String: [HiddenStub]]
    private var byPath: [String: [HiddenStub]] = [:]

    init(_ stubs: [HiddenStub]) { self.byPrefix = Dictionary(grouping: stubs, by: \.paths.prefix) }

    /// One that its tool prefers to another stub, and that may answer some of its requests.
    mutating func first(before stub: ImportedStub, path: String) -> HiddenStub? {
        guard !self.byPrefix.isEmpty else { return nil }
        if self.byPath[path] == nil {
            let prefixes = [""] + path.prefix(HiddenStub.Paths.prefixLimit).indices.map { String(path[...$0]) }
            self.byPath[path] = prefixes.flatMap { self.byPrefix[$0] ?? [] }.filter { $0.paths.contain(path) }
        }
        return self.byPath[path]?.first { hidden in
            (hidden.rank, -hidden.added) < (stub.rank, -stub.added)
                && (hidden.method == nil || stub.takesAnyMethod || hidden.method == stub.exchange.request.method)
        }
    }
}

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

/// Which stubs of scenarios become an order of exchanges.
///
/// A scenario does if all of its stubs have the same request and each of them leads to the state of the next one: "503, then 200". A replay
/// knows no states, so it cannot tell when another request changes them.
private struct ScenarioOrder {
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

/// The positions of stubs, found by what a request must have.
private struct ComparedStubs {
    private typealias Values = [StubConditions.Place: [[UInt8]]]

    /// By method and URL without query, by the places that are compared, and by their values.
    private var positions: [String: [Set<StubConditions.Place>: [Values: Int]]] = [:]

    mutating func add(_ stub: ComparedStub, at position: Int) {
        let places = stub.places
        guard let values = stub.values(at: places) else { return }
        self.positions[stub.base, default: [:]][places, default: [:]][values] = position
    }

    mutating func remove(_ stub: ComparedStub) {
        let places = stub.places
        if let values = stub.values(at: places) { self.positions[stub.base]?[places]?[values] = nil }
    }

    /// The position of the first stub that answers each request that another one answers.
    func first(covering stub: ComparedStub) -> Int? {
        (self.positions[stub.base] ?? [:]).compactMap { places, positions in stub.values(at: places).flatMap { positions[$0] } }.min()
    }
}

/// What a replay compares of a stub's request: its values after redaction, without the numbers of placeholders.
private struct ComparedStub {
    /// Method and URL without the query.
    let base: String
    /// The URL without the query.
    let url: String
    let path: String
    /// That of the URL.
    private let server: ImportedStub.Server
    /// The body as JSON; nil if it is something else, or is not compared.
    private var json: JSONDocument?
    private var values: [StubConditions.Place: [[UInt8]]] = [:]
    /// All items of the query by their decoded names, if the whole query is compared.
    private var items: [String: [[UInt8]]]?
    /// The places with a value that is redacted, so that any other value is equal.
    private(set) var secrets: [String] = []

    init(_ exchange: ImportedExchange, _ rules: RedactionRules?) {
        let (url, headers) = (exchange.request.url, exchange.request.headers)
        // A redactor of its own for each stub, so that equal texts get equal numbers.
        let redactor = rules.map { LiveRedactor(Redactor(rules: $0)) }
        let redacted: (url: String, headers: HeaderFields) = redactor?.redacted(url: url, headers: headers) ?? (url, headers)
        self.base = Self.base(of: RecordedRequest(method: exchange.request.method, url: redacted.url))
        self.url = String(redacted.url.prefix { $0 != "?" })
        let whole = self.url
        let rest = whole.firstRange(of: "://").map { whole[$0.upperBound...] } ?? whole[...]
        let path = rest.drop { $0 != "/" }
        self.path = path.isEmpty ? "/" : String(path)
        let scheme = whole.firstRange(of: "://").map { String(whole[..<$0.lowerBound]) } ?? ""
        let authority = rest.prefix { $0 != "/" }
        let colon = authority.hasSuffix("]") ? nil : authority.lastIndex(of: ":")
        self.server = ImportedStub.Server(
            scheme: scheme, host: String(colon.map { authority[..<$0] } ?? authority),
            port: colon.flatMap { Int(authority[authority.index(after: $0)...]) } ?? (scheme == "https" ? 443 : 80))
        if url.prefix(while: { $0 != "?" }) != redacted.url.prefix(while: { $0 != "?" }) { self.secrets.append("path") }
        let query = Self.items(of: url)
        let redactedQuery = Self.items(of: redacted.url)
        for place in exchange.stub?.exact ?? [] {
            let (before, after): ([[UInt8]], [[UInt8]])
            switch place {
            case .query:
                self.items = redactedQuery
                self.values[place] = []
                if query != redactedQuery { self.secrets.append("query") }
                continue
            case .queryItem(let name): (before, after) = (query[name] ?? [], redactedQuery[name] ?? [])
            case .header(let name): (before, after) = (Self.values(name, headers), Self.values(name, redacted.headers))
            case .cookie(let name): (before, after) = (Self.cookies(name, headers), Self.cookies(name, redacted.headers))
            case .body:
                let body = exchange.requestBody?.bytes ?? []
                (before, after) = ([body], [redactor?.redacted(body: body, headers: headers) ?? body])
            }
            if place == .body, let body = after.first { self.json = try? JSONDocument(body) }
            if before != after { self.secrets.append(place.text) }
            self.values[place] = after.map(Placeholder.withoutNumbers)
        }
    }

    static func base(of request: RecordedRequest) -> String { "\(request.method) \(request.url.prefix { $0 != "?" })" }

    /// The places that are compared.
    var places: Set<StubConditions.Place> { Set(self.values.keys) }

    /// The values that each request must have at some places; nil if it may have any at one of them.
    func values(at places: Set<StubConditions.Place>) -> [StubConditions.Place: [[UInt8]]]? {
        var values: [StubConditions.Place: [[UInt8]]] = [:]
        for place in places {
            guard let value = self.values(at: place) else { return nil }
            values[place] = value
        }
        return values
    }

    /// Whether it answers the same requests as another one.
    func equals(_ other: ComparedStub) -> Bool {
        self.base == other.base && self.places == other.places && self.values(at: self.places) == other.values(at: self.places)
    }

    /// Whether there may be a request for which the tool could choose either of them.
    ///
    /// - Parameter stub: the stub of this request. If it answers more requests than the value that it names, similar values count as equal.
    func overlaps(_ other: ComparedStub, _ stub: ImportedStub) -> Bool {
        guard self.url == other.url || self.path == other.path && stub.server.includes(other.server),
            stub.takesAnyMethod || self.method == other.method
        else { return false }
        for place in Set(self.values.keys).union(other.values.keys) {
            guard let mine = self.values(at: place), let theirs = other.values(at: place), mine != theirs else { continue }
            let mayShare =
                place == .body ? self.mayShareBody(mine.first ?? [], other, theirs.first ?? []) : Self.maySpell(mine, theirs)
            guard stub.isNarrow, mayShare else { return false }
        }
        return true
    }

    private var method: Substring { self.base.prefix { $0 != " " } }

    /// Whether a narrowed condition for a body may be met by the body of another stub: further members of JSON, further fields of a form, any
    /// other XML.
    private func mayShareBody(_ mine: [UInt8], _ other: ComparedStub, _ theirs: [UInt8]) -> Bool {
        if let mine = self.json?.root { return other.json.map { !Self.differ(mine, $0.root) } ?? false }
        if mine.first == UInt8(ascii: "<") { return theirs.first == UInt8(ascii: "<") }
        guard mine.contains(UInt8(ascii: "=")) else { return Self.maySpell([mine], [theirs]) }
        func fields(_ body: [UInt8]) -> Set<String> {
            Set(body.split(separator: UInt8(ascii: "&")).map { StubRequest.decoded(String(decoding: $0, as: UTF8.self)[...]).lowercased() })
        }
        return fields(mine).isSubset(of: fields(theirs))
    }

    /// Whether no document can have the members of both. Elements of arrays may be in any order, and there may be further ones.
    private static func differ(_ one: JSONValue, _ other: JSONValue) -> Bool {
        // `${json-unit.any-string}` and the like.
        if [one, other].contains(where: { $0.string?.hasPrefix("${json-unit.") == true }) { return false }
        switch (one.kind, other.kind) {
        case (.object, .object):
            return one.members.contains { member in
                member.name.string.flatMap { other[$0] }.map { self.differ(member.value, $0) } ?? false
            }
        case (.array, .array): return false
        case (.number, .number): return one.double != other.double
        case (.string, .string): return one.string != other.string
        default: return one.kind != other.kind
        }
    }

    /// The values that a request must have at a place; nil if it may have any.
    private func values(at place: StubConditions.Place) -> [[UInt8]]? {
        switch place {
        case .query: self.items.map { items in items.keys.sorted().flatMap { [Array($0.utf8)] + (items[$0] ?? []) } }
        case .queryItem(let name): self.items.map { $0[name] ?? [] } ?? self.values[place]
        case .body, .header, .cookie: self.values[place]
        }
    }

    /// Whether a narrowed condition for one list of values may be met by another one: lists of different lengths may be parts of each other,
    /// and others may differ in their letter case.
    private static func maySpell(_ one: [[UInt8]], _ other: [[UInt8]]) -> Bool {
        guard one.count == other.count else { return !one.isEmpty && !other.isEmpty }
        return zip(one, other).allSatisfy { one, other in
            let (one, other) = (String(decoding: one, as: UTF8.self).lowercased(), String(decoding: other, as: UTF8.self).lowercased())
            return one.contains(other) || other.contains(one)
        }
    }

    private static func values(_ name: String, _ headers: HeaderFields) -> [[UInt8]] {
        (0..<headers.count).filter { headers.name(at: $0).lowercased() == name }.map { Array(headers.value(at: $0).utf8) }
    }

    private static func cookies(_ name: String, _ headers: HeaderFields) -> [[UInt8]] {
        headers.values("cookie").flatMap { $0.split(separator: ";") }.map { $0.drop { $0 == " " } }
            .filter { pair in pair.prefix { $0 != "=" } == name }.map { Array($0.utf8) }
    }

    private static func items(of url: String) -> [String: [[UInt8]]] {
        var items: [String: [[UInt8]]] = [:]
        for item in url.drop(while: { $0 != "?" }).dropFirst().split(separator: "&") {
            let name = item.prefix { $0 != "=" }
            let value = StubRequest.decoded(item.dropFirst(name.count + 1))
            items[StubRequest.decoded(name), default: []].append(Placeholder.withoutNumbers(Array(value.utf8)))
        }
        return items
    }
}
