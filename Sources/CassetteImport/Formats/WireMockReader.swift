internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Reads stub mappings of WireMock: a file with one or many, or a folder with `mappings` and `__files`.
struct WireMockReader {
    /// How deep the folders in a folder of stubs are read.
    static let folderDepth = 8

    private let context: ImportContext
    /// The folder that contains `__files`.
    private let folder: String

    private struct Stub {
        var value: SourceValue
        var scenario: String?
        var required: String?
        var next: String?
        /// 5 if the stub names none, as in WireMock.
        var priority: Int
    }

    init(_ context: ImportContext, isFolder: Bool) {
        self.context = context
        let location = FileLocation(context.file)
        // For a file in `mappings`, the folder with the bodies is next to `mappings`.
        let isInMappings = FileLocation(location.folder).name == "mappings"
        self.folder = isFolder ? context.file : isInMappings ? FileLocation(location.folder).folder : location.folder
    }

    func read(isFolder: Bool, _ deliver: (ImportedExchange) throws -> Void) throws {
        var stubs: [Stub] = []
        if isFolder {
            for parts in try Self.mappings(in: self.context.file) {
                stubs += try self.stubs(of: NamedFile.open(parts, below: self.context.file))
            }
        } else {
            stubs = try self.stubs(of: SourceInput.open(self.context.file))
        }
        var choice = StubChoice(self.context)
        for stub in Self.inOrder(Self.sorted(stubs)) {
            self.context.entry += 1
            let losses = self.context.losses.tally.counts[.matcher]
            let exchanges = try self.exchanges(stub.value)
            let isExact = stub.scenario == nil && losses == self.context.losses.tally.counts[.matcher]
            for exchange in choice.left(of: exchanges, priority: stub.priority, isExact: isExact, at: stub.value) { try deliver(exchange) }
        }
    }

    /// Those of the highest priority first, which is the lowest number.
    private static func sorted(_ stubs: [Stub]) -> [Stub] {
        stubs.enumerated().sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }.map(\.element)
    }

    private func stubs(of file: any SourceBytes) throws(CassetteError) -> [Stub] {
        let stream = try JSONStream(file, self.context)
        let value = self.context.placeholders.filled(try stream.value())
        try stream.end()
        return (value["mappings"]?.list ?? [value]).map { stub in
            Stub(
                value: stub, scenario: stub["scenarioName"]?.string, required: stub["requiredScenarioState"]?.string,
                next: stub["newScenarioState"]?.string, priority: stub["priority"]?.int ?? 5)
        }
    }

    /// For each file, the names of its folders and its own name.
    private static func mappings(in folder: String) throws(CassetteError) -> [[String]] {
        var files: [[String]] = []
        func add(_ folder: borrowing OpenFolder, _ parts: [String]) throws(CassetteError) {
            var names: [String] = []
            try folder.forEachName { names.append($0) }
            for name in names.sorted() {
                if name.hasSuffix(".json") {
                    files.append(parts + [name])
                } else if parts.count <= Self.folderDepth, !name.contains("."), let inner = try? OpenFolder(name, in: folder) {
                    try add(inner, parts + [name])
                }
            }
        }
        try add(OpenFolder("mappings", in: OpenFolder(folder)), ["mappings"])
        return files
    }

    /// Puts the stubs of a scenario in the order of its states, at the position of the first of them.
    private static func inOrder(_ stubs: [Stub]) -> [Stub] {
        var ordered: [Stub] = []
        var seen: Set<String> = []
        for stub in stubs {
            guard let name = stub.scenario else {
                ordered.append(stub)
                continue
            }
            guard seen.insert(name).inserted else { continue }
            var rest = stubs.filter { $0.scenario == name }
            var state = "Started"
            while !rest.isEmpty {
                let index = rest.firstIndex { ($0.required ?? "Started") == state && $0.next != nil && $0.next != state }
                // Stubs that keep the state come before the one that changes it.
                let staying = rest.indices.filter { (rest[$0].required ?? "Started") == state && $0 != index }
                ordered += staying.map { rest[$0] }
                if let index { ordered.append(rest[index]) }
                let next = index.flatMap { rest[$0].next }
                let taken = Set(staying + [index].compactMap { $0 })
                rest = rest.indices.filter { !taken.contains($0) }.map { rest[$0] }
                guard let next else { break }
                state = next
            }
            ordered += rest
        }
        return ordered
    }

    // MARK: A stub

    /// One exchange for each encoding of the query.
    private func exchanges(_ stub: SourceValue) throws -> [ImportedExchange] {
        let response = try self.context.required(stub, "response")
        guard response["proxyBaseUrl"] == nil else {
            self.context.lose(.forwarded, at: stub)
            return []
        }
        guard let value = stub["request"], let (request, base, query) = try self.request(value, stub) else {
            self.context.lose(.refused, at: stub)
            return []
        }
        var exchange = request
        if stub["scenarioName"] != nil { self.context.lose(.scenario, at: stub) }
        self.context.lose(.order, at: stub)
        self.context.lose(.repeated, at: stub)
        try self.respond(response, &exchange)
        exchange.cutIncompleteAnswer(self.context, at: stub)
        return QuerySpelling.all(of: exchange, queries: [query]) { SourceWords.url(base + $0.query($1, after: base)) }
    }

    /// The members of a stub's request that a recorded request can represent; any other member is a matcher that is lost.
    private static let known = [
        "url", "urlPath", "urlPattern", "urlPathPattern", "urlPathTemplate", "method", "host", "port", "scheme", "headers",
        "queryParameters",
        "basicAuth", "basicAuthCredentials", "bodyPatterns",
    ]

    /// The request, its URL without the stub's query, and the pairs of that query; nil if no recorded request can match the stub.
    private func request(_ value: SourceValue, _ stub: SourceValue) throws(CassetteError)
        -> (exchange: ImportedExchange, base: String, query: [(name: String, value: String)])?
    {
        var words = StubRequest(stub, self.context)
        var method = value["method"]?.string ?? "ANY"
        if method == "ANY" {
            self.context.lose(.matcher, at: stub)
            method = "GET"
        }
        guard FieldBuilder.isToken(method) else {
            throw self.context.error(value, "request.method", "\"\(method.prefix(40))\" is not a method")
        }
        var path = value.first("url", "urlPath")?.string
        if path == nil, let pattern = value.first("urlPattern", "urlPathPattern", "urlPathTemplate")?.string {
            path = StubRequest.literal(pattern)
            if path == nil { self.context.lose(.matcher, at: stub) }
        }
        guard var path else { return nil }
        if !path.hasPrefix("/") { path = "/\(path)" }
        var query: [(name: String, value: String)] = []
        for parameter in (value["queryParameters"]?.members ?? []) {
            // If a parameter must be absent, a request without it matches.
            guard parameter.value["absent"]?.bool != true, let text = words.equal(parameter.value) else { continue }
            query.append((parameter.name, text))
        }
        let base = self.base(value, &words) + path
        guard let url = SourceWords.url(base) else { return nil }
        var exchange = ImportedExchange(request: RecordedRequest(method: method, url: url))
        var fields = FieldBuilder(self.context)
        for header in value["headers"]?.members ?? [] {
            if let text = words.equal(header.value) { fields.append(header.name, Array(text.utf8), at: header.value) }
        }
        if let user = value.first("basicAuth", "basicAuthCredentials"), let name = user["username"]?.string,
            let password = user["password"]?.string
        {
            var text: [UInt8] = []
            Array("\(name):\(password)".utf8).withUnsafeBytes { Base64.encode($0, into: &text) }
            fields.append("Authorization", Array("Basic ".utf8) + text, at: user)
        }
        exchange.request.headers = fields.fields
        exchange.requestBody = try self.body(value["bodyPatterns"]?.list ?? [], &words)
        for member in value.members ?? [] where !Self.known.contains(member.name) && !member.value.isNothing {
            self.context.lose(.matcher, at: member.value)
        }
        return (exchange, base, query)
    }

    private func base(_ value: SourceValue, _ words: inout StubRequest) -> String {
        guard let host = words.equal(value["host"]) else {
            self.context.lose(.host, at: value)
            return StubRequest.base(self.context.options.base, scheme: value["scheme"]?.string, port: value["port"]?.int)
        }
        let port = value["port"]?.int.map { ":\($0)" } ?? ""
        return "\(words.scheme(value["scheme"]?.string))://\(host)\(port)"
    }

    private func body(_ patterns: [SourceValue], _ words: inout StubRequest) throws(CassetteError) -> ImportedBody? {
        var body: ImportedBody?
        for pattern in patterns {
            // `ignoreExtraElements` and similar options match more than this text.
            let isLoose = pattern.members?.contains { !$0.name.hasPrefix("equal") && $0.name != "binaryEqualTo" && $0.value.bool != false }
            if body != nil || isLoose != false { self.context.lose(.matcher, at: pattern) }
            guard body == nil else { continue }
            if Self.hasPlaceholders(pattern) {
                if isLoose == false { self.context.lose(.matcher, at: pattern) }
            } else if let text = pattern["equalTo"]?.data {
                body = ImportedBody(text, .decoded)
            } else if let json = pattern["equalToJson"] {
                body = ImportedBody(json.list == nil && json.members == nil ? json.data ?? [] : json.json(), .decoded)
            } else if let xml = pattern["equalToXml"]?.data {
                body = ImportedBody(xml, .decoded)
            } else if let base64 = pattern["binaryEqualTo"]?.data, let bytes = LooseBase64.decode(base64[...]) {
                body = ImportedBody(bytes, .decoded)
            } else if isLoose == false {
                self.context.lose(.matcher, at: pattern)
            }
        }
        return body
    }

    /// Whether a text in the expected JSON or XML stands for any value, or for those of a kind (JsonUnit, XMLUnit).
    private static func hasPlaceholders(_ pattern: SourceValue) -> Bool {
        for (name, marks) in [("equalToJson", ["${json-unit.", "#{json-unit."]), ("equalToXml", ["${xmlunit.", "#{xmlunit."])] {
            guard let value = pattern[name] else { continue }
            // XMLUnit reads them only if it is told to.
            guard name == "equalToJson" || pattern["enablePlaceholders"]?.bool == true else { continue }
            let text = String(decoding: value.data ?? value.json(), as: UTF8.self)
            if marks.contains(where: text.contains) || pattern["placeholderOpeningDelimiterRegex"] != nil { return true }
        }
        return false
    }

    // MARK: Its answer

    private func respond(_ value: SourceValue, _ exchange: inout ImportedExchange) throws(CassetteError) {
        if let delay = value["fixedDelayMilliseconds"]?.double, delay >= 0 {
            exchange.timing = Timing(send: 0, wait: delay, receive: 0, total: delay)
        } else {
            self.context.lose(.timing, at: value)
        }
        if let fault = value["fault"]?.string {
            let kind: Failure.Kind = ["EMPTY_RESPONSE", "CONNECTION_RESET_BY_PEER"].contains(fault) ? .reset : .malformed
            exchange.outcome = .failed(Failure(kind: kind, message: "WireMock's fault \(fault)"))
            return
        }
        let status = value["status"]?.int ?? 200
        guard (100...999).contains(status) else { throw self.context.error(value, "response.status", "\(status) is not a status") }
        var fields = FieldBuilder(self.context)
        try fields.append(value["headers"], in: "response.headers")
        exchange.response = RecordedResponse(status: status, reason: SourceWords.reason(value["statusMessage"]), headers: fields.fields)
        if value["transformers"]?.list?.contains(where: { $0.string == "response-template" }) == true {
            self.context.lose(.template, at: value)
        }
        if let name = value["bodyFileName"] {
            let bytes = try self.context.file(name, "response.bodyFileName", below: self.folder, in: "__files")
            exchange.responseBody = ImportedBody(bytes, .either)
        } else if let json = value["jsonBody"] {
            exchange.responseBody = ImportedBody(json.json(), .decoded)
        } else if let base64 = value["base64Body"] {
            guard let bytes = base64.data.flatMap({ LooseBase64.decode($0[...]) }) else {
                throw self.context.error(base64, "response.base64Body", "this is not base64")
            }
            exchange.responseBody = ImportedBody(bytes, .either)
        } else {
            exchange.responseBody = ImportedBody(text: value["body"]?.data ?? [], .decoded, fields.fields)
        }
    }
}

/// Leaves out the stubs that WireMock never chooses: it takes one of the highest priority of all that match.
///
/// Gets the stubs in the order of their priorities.
private struct StubChoice {
    private struct Earlier {
        var priority: Int
        var fields: Set<[UInt8]>
        var body: [UInt8]?
        /// Whether it answers each request that has these fields and this body.
        var isExact: Bool

        /// Whether it answers each request that the other one answers.
        func answersAll(of other: Earlier) -> Bool {
            self.isExact && self.fields.isSubset(of: other.fields) && (self.body == nil || self.body == other.body)
        }
    }

    private let context: ImportContext
    /// By method and URL.
    private var earlier: [String: [Earlier]] = [:]

    init(_ context: ImportContext) { self.context = context }

    /// The exchanges of a stub that can answer a request.
    mutating func left(
        of exchanges: [ImportedExchange], priority: Int, isExact: Bool, at place: SourceValue
    ) -> [ImportedExchange] {
        var losses: Set<ImportLoss> = []
        let left = exchanges.filter { exchange in
            let name = "\(exchange.request.method) \(exchange.request.url)"
            let stub = Earlier(
                priority: priority, fields: Set(exchange.request.headers.lines.map { Array($0.utf8) }),
                body: exchange.requestBody?.bytes, isExact: isExact)
            let others = self.earlier[name] ?? []
            self.earlier[name, default: []].append(stub)
            if others.contains(where: { $0.priority < priority && $0.answersAll(of: stub) }) {
                losses.insert(.shadowed)
                return false
            }
            if others.contains(where: { $0.priority < priority }) { losses.insert(.priority) }
            let isRival = others.contains { $0.priority == priority && $0.answersAll(of: stub) && stub.answersAll(of: $0) }
            if isRival { losses.insert(.rival) }
            return true
        }
        for loss in losses { self.context.lose(loss, at: place) }
        return left
    }
}
