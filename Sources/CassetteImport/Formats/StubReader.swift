internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Derives a recordable request from a stub: keeps the values that the stub requires exactly, and notes patterns as losses.
struct StubRequest {
    private let context: ImportContext
    private let stub: SourceValue
    /// True once the stub requires something that no recorded request can contain.
    private(set) var isRefused = false

    init(_ stub: SourceValue, _ context: ImportContext) {
        self.context = context
        self.stub = stub
    }

    /// The value that a matcher requires; nil, and a loss, if it requires a pattern.
    mutating func equal(_ matcher: SourceValue?) -> String? {
        guard let matcher else { return nil }
        if let text = matcher.string { return text }
        if let list = matcher.list {
            guard list.count == 1 else {
                if !list.isEmpty { self.context.lose(.matcher, at: self.stub) }
                return nil
            }
            return self.equal(list[0])
        }
        if let value = matcher["equalTo"] ?? matcher["exactMatch"], let text = value.string {
            // Other matchers next to it, and options that make it match more than this text.
            let others = matcher.members?.contains { !["equalTo", "exactMatch"].contains($0.name) && $0.value.bool != false } == true
            if others { self.context.lose(.matcher, at: self.stub) }
            return text
        }
        if let value = matcher["value"] { return self.equal(value, by: matcher["matcher"]?.string ?? "exact", matcher) }
        // A pattern without special characters.
        if let pattern = matcher["matches"]?.string, Self.isPlain(pattern) { return pattern }
        self.context.lose(.matcher, at: self.stub)
        return nil
    }

    /// The value of one of Hoverfly's matchers. A matcher for a part of a value, or for a derived value, has no value that could be
    /// recorded.
    private mutating func equal(_ value: SourceValue, by kind: String, _ matcher: SourceValue) -> String? {
        switch kind.lowercased() {
        case "exact", "", "json", "xml":
            if matcher["doMatch"] == nil, let text = value.string { return text }
        case "glob", "regex":
            if matcher["doMatch"] == nil, let pattern = value.string, Self.isPlain(pattern) {
                // A regular expression matches whatever contains it.
                if kind.lowercased() == "regex" { self.context.lose(.matcher, at: self.stub) }
                return pattern
            }
            self.context.lose(.matcher, at: self.stub)
            return nil
        default: break
        }
        self.context.lose(.matcher, at: self.stub)
        self.isRefused = true
        return nil
    }

    /// The values that a matcher requires of a name that can occur more than once; nil, and a loss, if it requires a pattern.
    mutating func equals(_ matcher: SourceValue?) -> [String]? {
        guard let array = Self.only(matcher, "array") else { return self.equal(matcher).map { [$0] } }
        guard let values = array["value"]?.list, values.allSatisfy({ $0.string != nil }), array["doMatch"] == nil else {
            self.context.lose(.matcher, at: self.stub)
            self.isRefused = true
            return nil
        }
        // Options that make it match other values, or another order.
        let isLoose = array["config"]?.members?.contains { $0.value.bool != false } == true
        if isLoose { self.context.lose(.matcher, at: self.stub) }
        return values.compactMap(\.string)
    }

    /// The fields of a form; nil, and a loss, if the matcher requires a pattern.
    mutating func fields(of form: SourceValue) -> [(name: String, value: String)]? {
        guard let members = form["value"]?.members, form["doMatch"] == nil else {
            self.context.lose(.matcher, at: self.stub)
            self.isRefused = true
            return nil
        }
        // The form may have further fields.
        self.context.lose(.matcher, at: self.stub)
        var fields: [(name: String, value: String)] = []
        for member in members {
            guard let values = self.equals(member.value) else { return nil }
            fields += values.map { (member.name, $0) }
        }
        return fields
    }

    /// The matcher of a kind of Hoverfly, if it is the only one.
    static func only(_ matcher: SourceValue?, _ kind: String) -> SourceValue? {
        let one = matcher?.list.map { $0.count == 1 ? $0[0] : nil } ?? matcher
        return one?["matcher"]?.string?.lowercased() == kind ? one : nil
    }

    /// Like `equal`, for a value without which there is no request.
    mutating func needed(_ matcher: SourceValue?) -> String? {
        let value = self.equal(matcher)
        if let matcher, value == nil, matcher.list?.isEmpty != true { self.isRefused = true }
        return value.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The base URL with the scheme and port that a stub requires. A port of the base belongs to its own scheme.
    static func base(_ base: String, scheme: String?, port: Int?) -> String {
        guard scheme != nil || port != nil, let mark = base.firstRange(of: "://") else { return base }
        let rest = base[mark.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let own = String(base[..<mark.lowerBound])
        let colon = authority.hasSuffix("]") ? nil : authority.lastIndex(of: ":")
        let host = colon.map { authority[..<$0] } ?? authority
        let ownPort = scheme == nil || scheme == own ? colon.map { String(authority[$0...]) } : nil
        return "\(scheme ?? own)://\(host)\(port.map { ":\($0)" } ?? ownPort ?? "")\(rest.dropFirst(authority.count))"
    }

    /// The scheme that a stub requires, or else that of the base.
    func scheme(_ scheme: String?) -> String {
        if let scheme { return scheme.lowercased() }
        self.context.lose(.scheme, at: self.stub)
        return self.context.options.base.firstRange(of: "://").map { String(self.context.options.base[..<$0.lowerBound]) } ?? "http"
    }

    mutating func refuse() { self.isRefused = true }

    /// The only text that a regular expression matches; nil if it matches others. Dots and question marks count as literal, because most
    /// people who write URLs mean them literally.
    static func literal(_ pattern: String) -> String? {
        var text = ""
        var isEscaped = false
        for character in pattern {
            if isEscaped {
                // `\d` and similar escapes are classes.
                guard !character.isLetter, !character.isNumber else { return nil }
                text.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                guard character == "." || character == "?" || Self.isPlain(String(character)) else { return nil }
                text.append(character)
            }
        }
        return isEscaped ? nil : text
    }

    static func isPlain(_ pattern: String) -> Bool { !pattern.contains { "\\^$.|?*+()[]{}".contains($0) } }

    static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(UnicodeScalar(byte))
            default: encoded += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
            }
        }
        return encoded
    }
}

/// A way in which clients encode a decoded query value. A stub matches all of them; a recorded request matches only its own.
struct QuerySpelling {
    /// The characters that stay as they are, in addition to unreserved ones (RFC 3986, 2.3).
    private let plain: Set<UInt8>
    private let space: String

    private init(_ plain: String, space: String = "%20") {
        self.plain = Set(plain.utf8)
        self.space = space
    }

    /// What a query may contain (RFC 3986, 3.4), without the characters that separate items or stand for a space.
    private static let allowed = "/:@?,;!'()*$"

    /// Of the URL libraries and form encoders that are in use.
    private static let all: [QuerySpelling] = [
        // Most libraries, and most encoders of forms, such as those of Python, Go, PHP and Dart.
        QuerySpelling(""), QuerySpelling("", space: "+"),
        // Those that escape nothing that a query may contain, such as URLComponents, with and without the semicolon.
        QuerySpelling(Self.allowed), QuerySpelling(Self.allowed, space: "+"), QuerySpelling("/:@?,!'()*$"),
        // encodeURIComponent, OkHttp, and quote of Python.
        QuerySpelling("!'()*"), QuerySpelling("*"), QuerySpelling("/"),
        // URLSearchParams, URLEncoder of Java and URI.encode_www_form of Ruby; HttpUtility of .NET; Perl; quote_plus of Python with a slash.
        QuerySpelling("*", space: "+"), QuerySpelling("!()*", space: "+"), QuerySpelling("!'()*", space: "+"),
        QuerySpelling("/", space: "+"),
        // The URL of browsers and Node for a query that is already in one text (WHATWG URL, "query percent-encode set").
        QuerySpelling("/:@?,;!()*$[]{}|^`\\="), QuerySpelling("/:@?,;!'()*$[]{}|^`\\="),
    ]

    /// `?name=value&…`; empty if there are no pairs.
    func query(_ pairs: [(name: String, value: String)], after path: String) -> String {
        var text = ""
        for pair in pairs {
            text += text.isEmpty && !path.contains("?") ? "?" : "&"
            // In a name, `=` would end it.
            text += "\(self.text(pair.name, isName: true))=\(self.text(pair.value))"
        }
        return text
    }

    private func text(_ text: String, isName: Bool = false) -> String {
        var spelled = ""
        for byte in text.utf8 {
            if byte == 32 {
                spelled += self.space
            } else if self.plain.contains(byte), !isName || byte != UInt8(ascii: "=") {
                spelled.unicodeScalars.append(UnicodeScalar(byte))
            } else if byte < 128 {
                spelled += StubRequest.encoded(String(UnicodeScalar(byte)))
            } else {
                spelled += "%\(String(byte, radix: 16, uppercase: true))"
            }
        }
        return spelled
    }

    typealias Pairs = [(name: String, value: String)]

    /// The exchange with each encoding of each of its queries, without duplicate URLs.
    static func all(
        of exchange: ImportedExchange, queries: [Pairs], _ url: (QuerySpelling, Pairs) -> String?
    ) -> [ImportedExchange] {
        var urls: [String] = []
        for query in queries {
            for spelling in self.all { if let url = url(spelling, query), !urls.contains(url) { urls.append(url) } }
        }
        return urls.map { url in
            var exchange = exchange
            exchange.request.url = url
            return exchange
        }
    }
}

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

/// Reads simulations of Hoverfly, which are pairs of matchers and responses.
struct HoverflyReader {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    func read(_ stream: some ValueStream, _ deliver: (ImportedExchange) throws -> Void) throws {
        let simulation = self.context.placeholders.filled(try stream.value())
        try stream.end()
        let data = try self.context.required(simulation, "data")
        let list = try self.context.required(data, "pairs", in: "data")
        guard let pairs = list.list else { throw self.context.error(list, "data.pairs", "expected a list, found \(list.kind)") }
        let delays = data["globalActions"]?["delays"]?.list ?? []
        for pair in pairs {
            self.context.entry += 1
            let exchanges = try self.exchanges(pair, delays)
            if exchanges.isEmpty { self.context.lose(.refused, at: pair) }
            for exchange in exchanges { try deliver(exchange) }
        }
    }

    /// The members of a request that a recorded request can represent; any other member is a matcher that is lost.
    private static let known = [
        "path", "method", "destination", "scheme", "query", "deprecatedQuery", "headers", "body", "requiresState", "requestType",
    ]

    /// One exchange for each encoding of the query; none if no recorded request can match the pair.
    private func exchanges(_ pair: SourceValue, _ delays: [SourceValue]) throws(CassetteError) -> [ImportedExchange] {
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
        let wantedScheme = words.needed(value["scheme"])
        guard !words.isRefused else { return [] }
        // Without them, the pair answers any method and any path.
        if wantedMethod == nil || wantedPath == nil { self.context.lose(.matcher, at: pair) }
        let said = value.first("query", "deprecatedQuery")
        var query: [(name: String, value: String)] = []
        // Hoverfly joins the values of a repeated name by semicolons before it compares them with a text.
        var repeated: [(name: String, value: String)] = []
        if let members = said?.members, members.first(where: { $0.name == "exactMatch" || $0.name == "matcher" }) == nil {
            for member in members {
                guard let values = words.equals(member.value) else { continue }
                query += values.map { (member.name, $0) }
                let parts = values.count == 1 ? values[0].split(separator: ";", omittingEmptySubsequences: false).map(String.init) : values
                repeated += parts.map { (member.name, $0) }
            }
        } else if let text = words.equal(said), !text.isEmpty {
            // Pairs of decoded names and values.
            query = text.split(separator: "&").map { pair in
                let name = pair.prefix { $0 != "=" }
                return (Self.decoded(name), Self.decoded(pair.dropFirst(name.count).dropFirst()))
            }
        }
        if destination == nil { self.context.lose(.host, at: pair) }
        let base =
            destination.map { "\(words.scheme(wantedScheme))://\($0)" }
            ?? StubRequest.base(self.context.options.base, scheme: wantedScheme?.lowercased(), port: nil)
        let address = base + Self.encoded(path: path.hasPrefix("/") ? path : "/\(path)")
        guard let url = SourceWords.url(address) else { return [] }
        var exchange = ImportedExchange(request: RecordedRequest(method: method, url: url))
        var fields = FieldBuilder(self.context)
        for header in value["headers"]?.members ?? [] {
            for text in words.equals(header.value) ?? [] { fields.append(header.name, Array(text.utf8), at: header.value) }
        }
        if let form = StubRequest.only(value["body"], "form") {
            if let pairs = words.fields(of: form) {
                let text = pairs.map { "\(StubRequest.encoded($0.name))=\(StubRequest.encoded($0.value))" }.joined(separator: "&")
                exchange.requestBody = ImportedBody(Array(text.utf8), .decoded)
                // The matcher reads only bodies of this type.
                if !fields.fields.contains("content-type") {
                    fields.append("Content-Type", Array("application/x-www-form-urlencoded".utf8), at: form)
                }
            }
        } else if let body = words.equal(value["body"]), !body.isEmpty {
            exchange.requestBody = ImportedBody(Array(body.utf8), .decoded)
        }
        exchange.request.headers = fields.fields
        guard !words.isRefused else { return [] }
        for member in value.members ?? [] where !Self.known.contains(member.name) && !member.value.isNothing {
            self.context.lose(.matcher, at: member.value)
        }
        if value["requiresState"]?.members?.isEmpty == false { self.context.lose(.scenario, at: pair) }
        try self.respond(response, &exchange)
        exchange.cutIncompleteAnswer(self.context, at: pair)
        self.delay(&exchange, response, delays, at: pair)
        self.context.lose(.order, at: pair)
        self.context.lose(.repeated, at: pair)
        return QuerySpelling.all(of: exchange, queries: repeated.count > query.count ? [query, repeated] : [query]) { spelling, query in
            SourceWords.url(address + spelling.query(query, after: address))
        }
    }

    /// Simulations before version 5 contain queries as they were sent.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let decoded = Hex.decode(Array(rest.prefix(2))) {
                bytes += decoded
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
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
