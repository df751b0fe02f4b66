internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// One stub as an exchange.
struct ImportedStub {
    /// When the stub answers, in a tool with states.
    struct State {
        /// Nil if the states have no name together, as in Hoverfly.
        var scenario: String?
        var required: String?
        /// Nil if the answer keeps the state.
        var next: String?
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
    /// The tool prefers stubs of a lower rank.
    var rank: Int
    var state: State?
}

/// The stubs of all files of an import. Their tools choose among all of them, whichever file they are in.
///
/// A file adds its stubs at once, so that one that cannot be read adds none.
final class StubShelf {
    private var stubs: [(kind: ImportKind, stubs: [ImportedStub])] = []

    /// Leaves out stubs whose destination is unknown.
    ///
    /// - Parameter stubs: in the order in which they were added to the tool.
    func add(_ stubs: [ImportedStub], of kind: ImportKind) {
        let stubs = stubs.filter { stub in
            stub.context.entry = stub.entry
            return !AddressCheck.isHidden(stub.exchange.request.url, stub.context, at: stub.place)
        }
        if let index = self.stubs.firstIndex(where: { $0.kind == kind }) {
            self.stubs[index].stubs += stubs
        } else {
            self.stubs.append((kind, stubs))
        }
    }

    /// Those that a replay can choose. Counts the others as losses.
    ///
    /// The stubs of one method and URL without query are in the order in which their tool prefers them, at the place of the first of them.
    func chosen() -> [ImportedStub] {
        self.stubs.flatMap { kind, stubs in
            let isHoverfly = kind == .hoverfly
            var choice = StubChoice(prefersStates: isHoverfly)
            for stub in isHoverfly ? HoverflyReader.inOrder(stubs) : WireMockReader.inOrder(stubs) { choice.add(stub) }
            return choice.kept(inOrderOf: stubs)
        }
    }
}

/// Leaves out the stubs that a replay would never choose, and decides which ones answer any number of times.
///
/// Gets the stubs in the order in which their tool prefers them, which is that in which a replay does.
private struct StubChoice {
    struct Kept {
        var stub: ImportedStub
        var request: ComparedStub
    }

    /// Whether a stub for a state comes before an equal one without a state, wherever that is.
    private let prefersStates: Bool
    private var kept: [Kept] = []
    /// The positions in `kept` by method and URL.
    private var positions: [String: [Int]] = [:]

    init(prefersStates: Bool) {
        self.prefersStates = prefersStates
    }

    mutating func add(_ stub: ImportedStub) {
        var stub = stub
        let request = ComparedStub(stub.exchange, stub.context.options.redaction)
        if !request.secrets.isEmpty {
            self.lose(.secretCondition, stub, "\(stub.name): \(request.secrets.joined(separator: ", "))")
        }
        for position in self.positions[request.base] ?? [] {
            let earlier = self.kept[position]
            guard earlier.request.covers(request) else { continue }
            if request.covers(earlier.request), earlier.stub.state != nil || self.prefersStates && stub.state != nil {
                // The states of a scenario become an order, in which each answers once.
                if earlier.stub.exchange.repeats { self.lose(.repeated, earlier.stub, earlier.stub.name) }
                self.kept[position].stub.exchange.repeats = false
                self.kept[position].stub.state = earlier.stub.state ?? stub.state
                continue
            }
            guard earlier.stub.state == nil else { continue }
            let isUnused = !earlier.stub.isBroad && earlier.request.secrets.isEmpty
            return self.lose(isUnused ? .shadowed : .rival, stub, "\(stub.name) after \(earlier.stub.name)")
        }
        stub.exchange.repeats = true
        self.positions[request.base, default: []].append(self.kept.count)
        self.kept.append(Kept(stub: stub, request: request))
    }

    func kept(inOrderOf stubs: [ImportedStub]) -> [ImportedStub] {
        var groups = Dictionary(grouping: self.kept.map(\.stub)) { ComparedStub.base(of: $0.exchange.request) }
        return stubs.flatMap { groups.removeValue(forKey: ComparedStub.base(of: $0.exchange.request)) ?? [] }
    }

    private func lose(_ loss: ImportLoss, _ stub: ImportedStub, _ name: String) {
        stub.context.entry = stub.entry
        stub.context.lose(loss, at: stub.place, names: [name])
    }
}

/// What a replay compares of a stub's request: its values after redaction, without the numbers of placeholders.
private struct ComparedStub {
    /// Method and URL without the query.
    let base: String
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
            if before != after { self.secrets.append(place.text) }
            self.values[place] = after.map(Placeholder.withoutNumbers)
        }
    }

    static func base(of request: RecordedRequest) -> String { "\(request.method) \(request.url.prefix { $0 != "?" })" }

    /// Whether it answers each request that the other one answers.
    func covers(_ other: ComparedStub) -> Bool {
        guard self.base == other.base else { return false }
        return self.values.allSatisfy { place, values in
            switch place {
            case .query: other.items != nil && self.items == other.items
            case .queryItem(let name): other.items.map { ($0[name] ?? []) == values } ?? (other.values[place] == values)
            case .body, .header, .cookie: other.values[place] == values
            }
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
