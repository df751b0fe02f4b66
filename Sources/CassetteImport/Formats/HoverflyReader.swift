internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Reads simulations of Hoverfly, which are pairs of matchers and responses.
struct HoverflyReader {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    func read(_ stream: some ValueStream) throws {
        let simulation = self.context.placeholders.filled(try stream.value())
        try stream.end()
        let data = try self.context.required(simulation, "data")
        let list = try self.context.required(data, "pairs", in: "data")
        guard let pairs = list.list else { throw self.context.error(list, "data.pairs", "expected a list, found \(list.kind)") }
        let delays = data["globalActions"]?["delays"]?.list ?? []
        var stubs: [StubEntry] = []
        for pair in pairs {
            self.context.entry += 1
            let (exchange, words) = try self.exchange(pair, delays)
            let name = "pair \(self.context.entry) of \(FileLocation(self.context.file).name)"
            let rank = -(pair["request"].map(Self.score) ?? 0)
            guard let exchange else {
                self.context.lose(.refused, at: pair)
                stubs.append(.hidden(self.hidden(pair, name, rank)))
                continue
            }
            // Without a path, the pair answers requests for all paths, and the exchange those for one.
            if pair["request"]?["path"].map({ $0.isNothing || $0.list?.isEmpty == true }) ?? true {
                stubs.append(.hidden(self.hidden(pair, name, rank)))
            }
            stubs.append(
                .exchange(
                    ImportedStub(
                        exchange: exchange, name: name, place: pair, file: self.context.file, entry: self.context.entry,
                        context: self.context,
                        isBroad: words.isBroad, isNarrow: words.isNarrow, takesAnyMethod: words.takesAnyMethod,
                        server: .init(host: words.host), rank: rank, state: Self.state(pair))))
        }
        self.context.losses.stubs.add(stubs, of: .hoverfly)
    }

    /// In the order in which Hoverfly prefers them: the one with the highest score, and of these the last one. Pairs that depend on its
    /// state are kept in the order of the file, together with those that ask for the same: it is the order of the states.
    static func inOrder(_ stubs: [ImportedStub]) -> [ImportedStub] {
        let asked = stubs.enumerated().map { (index: $0, stub: $1, request: self.requestText($1.place)) }
        let ofStates = Set(asked.filter { $0.stub.state != nil }.map(\.request))
        return asked.sorted { left, right in
            guard left.stub.rank == right.stub.rank else { return left.stub.rank < right.stub.rank }
            let areStates = (ofStates.contains(left.request), ofStates.contains(right.request))
            guard areStates.0 == areStates.1 else { return areStates.0 }
            return areStates.0 ? left.index < right.index : left.index > right.index
        }.map(\.stub)
    }

    /// No recorded request can match the pair.
    private func hidden(_ pair: SourceValue, _ name: String, _ rank: Int) -> HiddenStub {
        /// The only matcher; nil if there are none or several, of which a request must match all.
        func only(_ matcher: SourceValue?) -> (kind: String, value: String)? {
            let one = matcher?.list.map { $0.count == 1 ? $0[0] : nil } ?? matcher
            guard let value = one?["value"]?.string, one?["doMatch"] == nil else { return nil }
            return (one?["matcher"]?.string?.lowercased() ?? "exact", value)
        }
        let method = only(pair["request"]?["method"])
        let path = only(pair["request"]?["path"])
        let paths: HiddenStub.Paths =
            switch path?.kind {
            case "exact"?: HiddenStub.Paths(path?.value ?? "")
            // Any text in place of each star; a regular expression matches whatever contains it.
            case "glob"?:
                HiddenStub.Paths(
                    matching: (path?.value ?? "").map { $0 == "*" ? ".*" : $0.isLetter || $0.isNumber || $0 == "/" ? "\($0)" : "\\\($0)" }
                        .joined())
            case "regex"?: HiddenStub.Paths(matching: ".*(\(path?.value ?? "")).*")
            default: .all
            }
        let state = Self.state(pair)
        return HiddenStub(
            name: name, file: self.context.file, method: method?.kind == "exact" ? method?.value : nil, rank: rank, paths: paths,
            scenario: state?.scenario,
            next: state?.next)
    }

    /// When the pair answers, and what its answer changes; nil if no state is named.
    ///
    /// A capture of repeated requests names its states `sequence:N`, which begin with 1.
    private static func state(_ pair: SourceValue) -> ImportedStub.State? {
        let required = pair["request"]?["requiresState"]?.members ?? []
        let changed = pair["response"]?["transitionsState"]?.members ?? []
        let removed = pair["response"]?["removesState"]?.list ?? []
        guard !required.isEmpty || !changed.isEmpty || !removed.isEmpty else { return nil }
        let names = Set(required.map(\.name) + changed.map(\.name) + removed.compactMap(\.string))
        guard names.count == 1, let name = names.first, removed.isEmpty else { return .init(required: required.isEmpty ? nil : "") }
        return .init(
            scenario: name, required: required.first?.value.string, next: changed.first?.value.string,
            initial: name.hasPrefix("sequence:") ? "1" : nil)
    }

    /// What a pair asks for, without the state in which it does.
    private static func requestText(_ pair: SourceValue) -> [UInt8] {
        guard var request = pair["request"] else { return [] }
        if let members = request.members { request.content = .members(members.filter { $0.name != "requiresState" }) }
        return request.json()
    }

    /// How strongly a pair matches the requests that it matches: two for each exact matcher, and one for each other and for each state. A
    /// query of any items, or of none, counts one.
    private static func score(_ request: SourceValue) -> Int {
        func score(_ matchers: SourceValue?) -> Int {
            guard let matchers else { return 0 }
            return (matchers.list ?? [matchers]).reduce(0) { sum, matcher in
                if matcher["matcher"]?.string?.lowercased() == "form" {
                    return sum + (matcher["value"]?.members ?? []).reduce(0) { $0 + score($1.value) }
                }
                // Hoverfly finds a matcher by its name in any case, and counts it twice only in this one.
                let kind = matcher["matcher"]?.string ?? "exact"
                return sum + (kind == "exact" || kind == "array" && matcher["config"] == nil ? 2 : 1)
            }
        }
        var sum = ["path", "method", "destination", "body"].reduce(0) { $0 + score(request[$1]) }
        for header in request["headers"]?.members ?? [] { sum += score(header.value) }
        sum += request["requiresState"]?.members?.count ?? 0
        let query = request.first("query", "deprecatedQuery")
        guard let query, !query.isNothing, query.members?.isEmpty != true else { return sum + 1 }
        let isText = query.members?.contains { $0.name == "exactMatch" || $0.name == "matcher" } ?? true
        return sum + (isText ? score(query) : (query.members ?? []).reduce(0) { $0 + score($1.value) })
    }

    /// The members of a request that a recorded request can represent; any other member is a matcher that is lost.
    private static let known = [
        "path", "method", "destination", "scheme", "query", "deprecatedQuery", "headers", "body", "requiresState", "requestType",
    ]

    /// Without an exchange if no recorded request can match the pair.
    private func exchange(
        _ pair: SourceValue, _ delays: [SourceValue]
    ) throws(CassetteError) -> (exchange: ImportedExchange?, words: StubRequest) {
        let value = try self.context.required(pair, "request")
        let response = try self.context.required(pair, "response")
        var words = StubRequest(pair, self.context)
        let wantedMethod = words.needed(value["method"])
        let method = wantedMethod ?? "GET"
        guard FieldBuilder.isToken(method) else {
            throw self.context.error(value, "request.method", "\"\(method.prefix(40))\" is not a method")
        }
        let wantedPath = words.needed(value["path"])
        let path = wantedPath ?? "/"
        let destination = words.needed(value["destination"])
        // Hoverfly does not compare the scheme. A port is part of the destination.
        words.host = destination.map { String($0.prefix { $0 != ":" }) }
        let wantedScheme = words.needed(value["scheme"])
        guard !words.isRefused else { return (nil, words) }
        // Without them, the pair answers any method and any path.
        if wantedMethod == nil { words.narrowMethod() }
        if wantedPath == nil { words.narrow() }
        let said = value.first("query", "deprecatedQuery")
        var query: [(name: String, value: String)] = []
        if let members = said?.members, members.first(where: { $0.name == "exactMatch" || $0.name == "matcher" }) == nil {
            for member in members {
                guard let values = words.equals(member.value) else { continue }
                words.join(.queryItem(member.name))
                query += values.map { (member.name, $0) }
            }
            if members.isEmpty { words.require(.query) }
        } else if let text = words.equal(said), !text.isEmpty {
            words.require(.query)
            // Pairs of decoded names and values: simulations before version 5 contain queries as they were sent.
            query = text.split(separator: "&").map { pair in
                let name = pair.prefix { $0 != "=" }
                return (StubRequest.decoded(path: name), StubRequest.decoded(path: pair.dropFirst(name.count).dropFirst()))
            }
        }
        if destination == nil { self.context.lose(.host, at: pair) }
        let base =
            destination.map { "\(words.scheme(wantedScheme))://\($0)" }
            ?? StubRequest.base(self.context.options.base, scheme: wantedScheme?.lowercased(), port: nil)
        let address = base + Self.encoded(path: path.hasPrefix("/") ? path : "/\(path)")
        guard let url = SourceWords.url(address) else { return (nil, words) }
        var exchange = ImportedExchange(request: RecordedRequest(method: method, url: url))
        var fields = FieldBuilder(self.context)
        for header in value["headers"]?.members ?? [] {
            if let values = words.equals(header.value) {
                words.require(field: header.name, values, .joined, in: &fields, at: header.value)
            }
        }
        if let form = StubRequest.only(value["body"], "form") {
            if let pairs = words.fields(of: form) {
                exchange.requestBody = StubRequest.form(pairs)
                words.require(.body)
                // The matcher reads only bodies of this type.
                if !fields.fields.contains("content-type") {
                    fields.append("Content-Type", Array("application/x-www-form-urlencoded".utf8), at: form)
                }
            }
        } else if let body = words.equal(value["body"]) {
            if body.isEmpty {
                words.require(.body)
            } else if StubRequest.only(value["body"], "json") != nil {
                words.require(.bodyAs(.json))
            } else {
                words.require(.bodyAs(StubRequest.only(value["body"], "xml") == nil ? .text : .xml))
            }
            if !body.isEmpty { exchange.requestBody = ImportedBody(Array(body.utf8), .decoded) }
        }
        exchange.request.headers = fields.fields
        guard !words.isRefused else { return (nil, words) }
        for member in value.members ?? [] where !Self.known.contains(member.name) && !member.value.isNothing {
            words.leaveOut(member.value)
        }
        try self.respond(response, &exchange)
        exchange.cutIncompleteAnswer(self.context, at: pair)
        self.delay(&exchange, response, delays, at: pair)
        self.context.lose(.order, at: pair)
        exchange.stub = words.conditions
        guard let whole = SourceWords.url(address + StubRequest.query(query, after: address)) else { return (nil, words) }
        exchange.request.url = whole
        return (exchange, words)
    }

    /// A decoded path, with the characters escaped that would end it.
    private static func encoded(path: String) -> String {
        var encoded = ""
        for character in path.unicodeScalars {
            switch character {
            case "?", "#", "%": encoded += StubRequest.encoded(String(character))
            default: encoded.unicodeScalars.append(character)
            }
        }
        return encoded
    }

    private func respond(_ value: SourceValue, _ exchange: inout ImportedExchange) throws(CassetteError) {
        let status = try self.context.int(value, "status", in: "response")
        guard (100...999).contains(status) else { throw self.context.error(value, "response.status", "\(status) is not a status") }
        var fields = FieldBuilder(self.context)
        try fields.append(value["headers"], in: "response.headers")
        exchange.response = RecordedResponse(status: status, headers: fields.fields)
        if value["templated"]?.bool == true { self.context.lose(.template, at: value) }
        if let name = value["bodyFile"], name.data?.isEmpty == false {
            let bytes = try self.context.file(name, "response.bodyFile", below: FileLocation(self.context.file).folder)
            exchange.responseBody = ImportedBody(bytes, .either)
            return
        }
        let body = value["body"]?.data ?? []
        guard value["encodedBody"]?.bool == true else {
            exchange.responseBody = ImportedBody(text: body, .either, fields.fields)
            return
        }
        guard let bytes = LooseBase64.decode(body[...]) else { throw self.context.error(value, "response.body", "this is not base64") }
        exchange.responseBody = ImportedBody(bytes, .either)
    }

    /// Applies the delay for all responses, or for URLs that contain a plain pattern.
    private func delay(_ exchange: inout ImportedExchange, _ response: SourceValue, _ delays: [SourceValue], at pair: SourceValue) {
        let url = exchange.request.url
        let method = exchange.request.method
        let fitting = delays.first { delay in
            let pattern = delay["urlPattern"]?.string ?? ""
            let isForAll = [".", ".*", ""].contains(pattern)
            let methods = ["", method]
            return methods.contains(delay["httpMethod"]?.string ?? "")
                && (isForAll || StubRequest.isPlain(pattern.filter { $0 != "." }) && url.contains(pattern))
        }
        guard let time = response["fixedDelay"]?.double ?? fitting?["delay"]?.double, time >= 0 else {
            return self.context.lose(.timing, at: pair)
        }
        exchange.timing = Timing(send: 0, wait: time, receive: 0, total: time)
    }
}
