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

    init(_ context: ImportContext, isFolder: Bool) {
        self.context = context
        let location = FileLocation(context.file)
        // For a file in `mappings`, the folder with the bodies is next to `mappings`.
        let isInMappings = FileLocation(location.folder).name == "mappings"
        self.folder = isFolder ? context.file : isInMappings ? FileLocation(location.folder).folder : location.folder
    }

    func read(isFolder: Bool) throws {
        var stubs: [StubEntry] = []
        if isFolder {
            for parts in try Self.mappings(in: self.context.file) {
                stubs += try self.stubs(
                    of: NamedFile.open(parts, below: self.context.file), named: parts.dropFirst().joined(separator: "/"))
            }
        } else {
            stubs = try self.stubs(of: SourceInput.open(self.context.file), named: FileLocation(self.context.file).name)
        }
        self.context.losses.stubs.add(stubs, of: .wiremock)
    }

    /// - Parameter name: the file's name, for messages.
    /// - Returns: the stubs in the order in which WireMock adds them.
    private func stubs(of file: any SourceBytes, named name: String) throws -> [StubEntry] {
        let stream = try JSONStream(file, self.context)
        let value = self.context.placeholders.filled(try stream.value())
        try stream.end()
        let list = value["mappings"]?.list ?? [value]
        if let total = value["meta"]?["total"]?.int, total > list.count {
            // The others may be preferred to these.
            throw self.context.error(
                line: value.line, "meta.total", "the list has \(list.count) of \(total) mappings", .damaged,
                "save all of them, without \"limit\" and \"offset\"")
        }
        let stubs = try list.enumerated().flatMap { index, stub in
            self.context.entry += 1
            return try self.stub(stub, named: stub.first("name", "id", "uuid")?.string ?? "stub \(index + 1)", in: name)
        }
        // A list of its interface (`GET /__admin/mappings`) begins with the one that was added last, and says how many there are.
        return value["meta"]?["total"] != nil ? stubs.reversed() : stubs
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
                } else if parts.count <= Self.folderDepth, let inner = try? OpenFolder(name, in: folder) {
                    try add(inner, parts + [name])
                }
            }
        }
        try add(OpenFolder("mappings", in: OpenFolder(folder)), ["mappings"])
        return files
    }

    /// In the order in which WireMock prefers them: those of the highest priority first, which is the lowest number, and of these the one
    /// that was added last. The stubs of a scenario are in the order of its states, at the position of the first of them.
    static func inOrder(_ stubs: [ImportedStub]) -> [ImportedStub] {
        let sorted = stubs.enumerated().sorted { ($0.element.rank, -$0.offset) < ($1.element.rank, -$1.offset) }.map(\.element)
        var ordered: [ImportedStub] = []
        var seen: Set<String> = []
        for stub in sorted {
            guard let name = self.scenario(of: stub) else {
                ordered.append(stub)
                continue
            }
            if seen.insert(name).inserted { ordered += self.inOrder(ofStates: sorted.filter { self.scenario(of: $0) == name }) }
        }
        return ordered
    }

    /// The scenario of a stub that depends on a state or changes it; the name alone does neither.
    private static func scenario(of stub: ImportedStub) -> String? {
        stub.state?.required != nil || stub.state?.next != nil ? stub.state?.scenario : nil
    }

    private static func inOrder(ofStates stubs: [ImportedStub]) -> [ImportedStub] {
        var ordered: [ImportedStub] = []
        var rest = stubs
        var state = "Started"
        while !rest.isEmpty {
            func isIn(_ stub: ImportedStub) -> Bool { (stub.state?.required ?? "Started") == state }
            let index = rest.firstIndex { isIn($0) && $0.state?.next != nil && $0.state?.next != state }
            // Stubs that keep the state come before the one that changes it.
            let staying = rest.indices.filter { isIn(rest[$0]) && $0 != index }
            ordered += staying.map { rest[$0] }
            if let index { ordered.append(rest[index]) }
            let next = index.flatMap { rest[$0].state?.next }
            let taken = Set(staying + [index].compactMap { $0 })
            rest = rest.indices.filter { !taken.contains($0) }.map { rest[$0] }
            guard let next else { break }
            state = next
        }
        return ordered + rest
    }

    // MARK: A stub

    /// The stub. If its URL has a dot, which is any character, a hidden stub for the other URLs comes before it.
    private func stub(_ stub: SourceValue, named name: String, in file: String) throws -> [StubEntry] {
        let response = try self.context.required(stub, "response")
        let name = "\"\(name.prefix(60))\" of \(file)"
        guard response["proxyBaseUrl"] == nil else {
            self.context.lose(.forwarded, at: stub)
            return [.hidden(self.hidden(stub, name, file))]
        }
        var words = StubRequest(stub, self.context)
        guard let value = stub["request"], var exchange = try self.request(value, &words) else {
            self.context.lose(words.isUnused ? .unused : .refused, at: stub, names: words.isUnused ? [name] : [])
            return words.isUnused ? [] : [.hidden(self.hidden(stub, name, file))]
        }
        let scenario = stub["scenarioName"]?.string
        self.context.lose(.order, at: stub)
        try self.respond(response, &exchange)
        exchange.cutIncompleteAnswer(self.context, at: stub)
        exchange.stub = words.conditions
        let imported = ImportedStub(
            exchange: exchange, name: name, place: stub, file: "\(self.context.file)/\(file)", entry: self.context.entry,
            context: self.context,
            isBroad: words.isBroad, isNarrow: words.isNarrow, takesAnyMethod: words.takesAnyMethod,
            server: .init(scheme: value["scheme"]?.string, host: words.host, port: value["port"]?.int), rank: stub["priority"]?.int ?? 5,
            state: scenario.map {
                .init(
                    scenario: $0, required: stub["requiredScenarioState"]?.string, next: stub["newScenarioState"]?.string,
                    initial: "Started")
            })
        let hasDot = value.first("urlPattern", "urlPathPattern")?.string?.replacing("\\.", with: "").contains(".") == true
        return (hasDot ? [.hidden(self.hidden(stub, name, file))] : []) + [.exchange(imported)]
    }

    /// No recorded request can match the stub, or it has no answer.
    private func hidden(_ stub: SourceValue, _ name: String, _ file: String) -> HiddenStub {
        let request = stub["request"]
        let method = request?["method"]?.string ?? "ANY"
        var paths = HiddenStub.Paths.all
        if let path = request?.first("url", "urlPath")?.string?.prefix(while: { $0 != "?" }) {
            paths = HiddenStub.Paths(path)
        } else if let pattern = request?["urlPathPattern"]?.string {
            paths = HiddenStub.Paths(matching: pattern)
        } else if let pattern = request?["urlPattern"]?.string {
            paths = HiddenStub.Paths(matchingURLs: pattern)
        } else if let template = request?["urlPathTemplate"]?.string {
            let segments = template.split(separator: "/", omittingEmptySubsequences: false)
            paths = HiddenStub.Paths(prefix: template.prefix { $0 != "{" }) { path in
                let others = path.split(separator: "/", omittingEmptySubsequences: false)
                return segments.count == others.count && zip(segments, others).allSatisfy { $0.contains("{") || $0 == $1 }
            }
        }
        let next = stub["newScenarioState"]?.string
        let dependsOnState = next != nil || stub["requiredScenarioState"]?.string != nil
        return HiddenStub(
            name: name, file: "\(self.context.file)/\(file)", method: ["ANY", Self.getOrHead].contains(method) ? nil : method,
            rank: stub["priority"]?.int ?? 5, paths: paths,
            scenario: dependsOnState ? stub["scenarioName"]?.string : nil, next: next)
    }

    /// The members of a stub's request that a recorded request can represent; any other member is a matcher that is lost.
    private static let known = [
        "url", "urlPath", "urlPattern", "urlPathPattern", "urlPathTemplate", "method", "host", "port", "scheme", "headers", "cookies",
        "queryParameters", "pathParameters", "formParameters", "basicAuth", "basicAuthCredentials", "bodyPatterns",
    ]

    private func request(_ value: SourceValue, _ words: inout StubRequest) throws(CassetteError) -> ImportedExchange? {
        // `{"oneOf": […]}`, `{"noneOf": […]}`, and a name for two methods.
        if let several = value["method"], !several.isNothing, several.string == nil || several.string == Self.getOrHead {
            words.leaveOut(several)
            return nil
        }
        var method = value["method"]?.string ?? "ANY"
        if method == "ANY" {
            words.narrowMethod()
            method = "GET"
        }
        guard FieldBuilder.isToken(method) else {
            throw self.context.error(value, "request.method", "\"\(method.prefix(40))\" is not a method")
        }
        guard let path = self.path(value, &words) else { return nil }
        let query = self.query(value, path, &words)
        guard !words.isUnused else { return nil }
        let base = self.base(value, &words) + path
        guard let url = SourceWords.url(base + StubRequest.query(query, after: base)) else { return nil }
        var exchange = ImportedExchange(request: RecordedRequest(method: method, url: url))
        var fields = FieldBuilder(self.context)
        for header in value["headers"]?.members ?? [] {
            if header.value["absent"]?.bool == true {
                words.require(field: header.name, [], .exact, in: &fields, at: header.value)
            } else if let values = words.included(header.value) {
                words.require(field: header.name, values, .includes, in: &fields, at: header.value)
            }
        }
        self.addCookies(value, to: &fields, &words)
        if let user = value.first("basicAuth", "basicAuthCredentials"), let name = user["username"]?.string,
            let password = user["password"]?.string
        {
            var text: [UInt8] = []
            Array("\(name):\(password)".utf8).withUnsafeBytes { Base64.encode($0, into: &text) }
            words.require(field: "Authorization", ["Basic \(String(decoding: text, as: UTF8.self))"], .includes, in: &fields, at: user)
        }
        let form = self.form(value, &words)
        if form != nil { words.require(.body) }
        exchange.requestBody = try self.body(value["bodyPatterns"]?.list ?? [], &words, besides: form)
        guard !words.isUnused else { return nil }
        exchange.request.headers = fields.fields
        for member in value.members ?? [] where !Self.known.contains(member.name) && !member.value.isNothing {
            words.leaveOut(member.value)
        }
        return exchange
    }

    private static let getOrHead = "GET_OR_HEAD"

    /// Adds the items that the stub requires to those of its URL.
    private func query(_ value: SourceValue, _ path: String, _ words: inout StubRequest) -> [(name: String, value: String)] {
        let ofURL: [(name: String, value: String)]? =
            value.first("url", "urlPattern") == nil
            ? nil
            : path.drop { $0 != "?" }.dropFirst().split(separator: "&").map { item in
                let name = item.prefix { $0 != "=" }
                return (StubRequest.decoded(name), StubRequest.decoded(item.dropFirst(name.count + 1)))
            }
        var query: [(name: String, value: String)] = []
        for parameter in value["queryParameters"]?.members ?? [] {
            let place = StubConditions.Place.queryItem(parameter.name)
            let isAbsent = parameter.value["absent"]?.bool == true
            guard let values = isAbsent ? [] : words.included(parameter.value) else { continue }
            if let ofURL {
                // The text of the URL decides whether any request meets the condition.
                let own = ofURL.filter { $0.name == parameter.name }.map { $0.value.lowercased() }
                if isAbsent ? !own.isEmpty : !values.allSatisfy({ own.contains($0.lowercased()) }) { words.neverUse() }
            } else if isAbsent {
                words.require(place)
            } else {
                query += values.map { (parameter.name, $0) }
                words.include(place)
            }
        }
        return query
    }

    /// Nil if only a pattern names it, or no request can have it.
    private func path(_ value: SourceValue, _ words: inout StubRequest) -> String? {
        if let url = value["url"]?.string {
            words.require(.url)
            return self.target(url, &words)
        }
        if let path = value["urlPath"]?.string {
            words.require(.path)
            // In a path, a question mark does not begin a query.
            return self.target(path.contains("?") ? "" : path, &words)
        }
        let parameters = value["pathParameters"]?.members ?? []
        if var template = value["urlPathTemplate"]?.string {
            for parameter in parameters {
                guard let text = words.equal(parameter.value), let place = template.firstRange(of: "{\(parameter.name)}") else { continue }
                template.replaceSubrange(place, with: StubRequest.encoded(text))
            }
            if StubRequest.isPlain(template.filter { $0 != "." && $0 != "+" && $0 != "$" }) { return template }
            words.leaveOut()
            return nil
        }
        guard let pattern = value.first("urlPattern", "urlPathPattern")?.string else { return nil }
        guard let text = StubRequest.literal(pattern) else {
            words.leaveOut()
            return nil
        }
        let isURL = value["urlPattern"] != nil
        words.require(isURL ? .url : .path)
        return self.target(isURL || !text.contains("?") ? text : "", &words)
    }

    /// WireMock compares the text of a request as it was sent.
    private func target(_ text: String, _ words: inout StubRequest) -> String? {
        if !StubRequest.isTarget(text) { words.neverUse() }
        return words.isUnused ? nil : text
    }

    private func base(_ value: SourceValue, _ words: inout StubRequest) -> String {
        let condition = words.equal(value["host"])
        words.host = condition
        guard let host = condition else {
            self.context.lose(.host, at: value)
            return StubRequest.base(self.context.options.base, scheme: value["scheme"]?.string, port: value["port"]?.int)
        }
        let port = value["port"]?.int.map { ":\($0)" } ?? ""
        return "\(words.scheme(value["scheme"]?.string))://\(host)\(port)"
    }

    private func addCookies(_ value: SourceValue, to fields: inout FieldBuilder, _ words: inout StubRequest) {
        var pairs: [String] = []
        for cookie in value["cookies"]?.members ?? [] {
            if cookie.value["absent"]?.bool == true {
                words.require(.cookie(cookie.name))
            } else if let text = words.equal(cookie.value) {
                // What would end the pair.
                guard !text.contains(where: { $0 == ";" || $0.isNewline }) else {
                    words.leaveOut(cookie.value)
                    continue
                }
                pairs.append("\(cookie.name)=\(text)")
                words.include(.cookie(cookie.name))
            }
        }
        if !pairs.isEmpty { fields.append("Cookie", Array(pairs.joined(separator: "; ").utf8), at: value) }
    }

    /// The body that the fields of a form make; nil, and a loss, if one of them is a pattern.
    private func form(_ value: SourceValue, _ words: inout StubRequest) -> ImportedBody? {
        guard let members = value["formParameters"]?.members, !members.isEmpty else { return nil }
        var fields: [(name: String, value: String)] = []
        for member in members where member.value["absent"]?.bool != true {
            guard let text = words.equal(member.value) else { return nil }
            fields.append((member.name, text))
        }
        // The form may have further fields.
        words.narrow(value["formParameters"])
        return fields.isEmpty ? nil : StubRequest.form(fields)
    }

    /// - Parameter form: the body that the fields of a form make.
    private func body(
        _ patterns: [SourceValue], _ words: inout StubRequest, besides form: ImportedBody?
    ) throws(CassetteError) -> ImportedBody? {
        var body = form
        for pattern in patterns {
            guard body == nil else {
                words.leaveOut(pattern)
                continue
            }
            guard !Self.hasPlaceholders(pattern) else {
                words.leaveOut(pattern)
                continue
            }
            if pattern["absent"]?.bool == true {
                words.require(.body)
                continue
            }
            if let text = pattern["equalTo"]?.data {
                // WireMock compares no text with an empty body.
                if text.isEmpty { words.neverUse() }
                words.require(.bodyAs(.text))
                body = ImportedBody(text, .decoded)
            } else if let json = pattern["equalToJson"] {
                words.require(.bodyAs(.json))
                body = ImportedBody(json.list == nil && json.members == nil ? json.data ?? [] : json.json(), .decoded)
            } else if let xml = pattern["equalToXml"]?.data {
                words.require(.bodyAs(.xml))
                body = ImportedBody(xml, .decoded)
            } else if let base64 = pattern["binaryEqualTo"]?.data, let bytes = LooseBase64.decode(base64[...]) {
                words.require(.bodyAs(.bytes))
                body = ImportedBody(bytes, .decoded)
            } else {
                words.leaveOut(pattern)
                continue
            }
            // `ignoreExtraElements` and similar options match more than this text.
            let isLoose = pattern.members?.contains { !$0.name.hasPrefix("equal") && $0.name != "binaryEqualTo" && $0.value.bool != false }
            if isLoose == true { words.narrow(pattern) }
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
