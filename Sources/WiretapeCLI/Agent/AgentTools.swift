internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes
internal import TapeInspector
internal import TapeProxy

/// The tools of `wiretape mcp`: each takes the arguments of a call and returns one JSON object.
///
/// Everything that was recorded is in members named `untrusted`. Answers are bounded: what is left out is counted, and can be asked for.
struct AgentTools {
    /// What an agent may do besides reading.
    enum Permission: String, CaseIterable { case rules, edit, record, send }

    private struct Tool {
        var name: StaticString
        var description: StaticString
        /// The members of its JSON Schema's `properties`.
        var properties: StaticString
        var required: StaticString = ""
        var permission: Permission?
        /// Whether it starts or stops a run, which only `--live` does.
        var isLive = false
        /// Whether it changes something, a file or a run. Tools without a permission that only read do not.
        var changes = false
        /// Whether it may replace or remove something.
        var isDestructive = false
        /// Whether calling it again changes nothing more.
        var isIdempotent = true
        /// Whether it reaches servers.
        var isOpenWorld = false
        /// Whether it takes `file` as most tools do: a cassette that may be left out.
        var takesFile = true
    }

    private static let file: StaticString =
        #""file": {"type": "string", "description": "a cassette, as status lists them; may be left out if there is one"}"#

    private static let all: [Tool] = [
        Tool(
            name: "status",
            description:
                "The cassettes that can be read, with their sizes, what is allowed, and the recording or replay that is going on, with its misses.",
            properties: "", takesFile: false),
        Tool(
            name: "list", description: "The exchanges of a cassette, a page at a time.",
            properties:
                #""filter": {"type": "string", "description": "an expression of wiretape inspect --filter, such as ~c 500 & ~u /pets"}, "offset": {"type": "integer", "minimum": 0}, "limit": {"type": "integer", "minimum": 1, "maximum": 200}"#
        ),
        Tool(
            name: "show",
            description:
                "The request or response of one exchange: header fields, and a piece of the body, or the value at a JSON pointer in it. The side exchange is the exchange as its JSON in the cassette.",
            properties:
                #""number": {"type": "integer", "minimum": 1}, "side": {"enum": ["request", "response", "exchange"]}, "pointer": {"type": "string", "description": "a JSON Pointer (RFC 6901)"}, "offset": {"type": "integer", "minimum": 0}, "limit": {"type": "integer", "minimum": 1, "maximum": 65536}"#,
            required: #""number""#),
        Tool(
            name: "search", description: "The exchanges that contain a text in their URL, header fields or bodies.",
            properties: #""text": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 100}"#, required: #""text""#),
        Tool(
            name: "diff", description: "What differs between two cassettes, exchange by exchange.",
            properties: #""old": {"type": "string"}, "new": {"type": "string"}"#, required: #""old", "new""#, takesFile: false),
        Tool(
            name: "explain_miss",
            description: "Whether a replay would answer a request; if not, why, and what differs from the nearest recorded requests.",
            properties:
                #""method": {"type": "string"}, "url": {"type": "string"}, "headers": {"type": "array", "items": {"type": "string"}, "description": "lines Name: value"}, "body": {"type": "string"}"#,
            required: #""method", "url""#),
        Tool(
            name: "try_rule",
            description:
                "What match rules would do, without writing them: the recorded requests that they make equal, and whether a replay would then answer a request.",
            properties:
                #""ignore": {"type": "array", "items": {"type": "string"}}, "patterns": {"type": "array", "items": {"type": "string"}}, "replace": {"type": "array", "items": {"type": "string"}}, "sort": {"type": "array", "items": {"type": "string"}}, "optional": {"type": "array", "items": {"type": "string"}}, "method": {"type": "string"}, "url": {"type": "string"}, "headers": {"type": "array", "items": {"type": "string"}, "description": "lines Name: value"}, "body": {"type": "string"}"#
        ),
        Tool(
            name: "suggest_rules", description: "Match rules from two recordings of the same run, with what each would make equal besides.",
            properties: #""other": {"type": "string", "description": "the other cassette"}"#, required: #""other""#),
        Tool(
            name: "lint_multipart", description: "The defects of an upload: a multipart body, or a body that its Content-Type contradicts.",
            properties: #""number": {"type": "integer", "minimum": 1}, "side": {"enum": ["request", "response"]}"#, required: #""number""#),
        Tool(name: "verify", description: "Checks a cassette and the files next to it.", properties: ""),
        Tool(
            name: "curl", description: "The curl command that sends a recorded request again.",
            properties: #""number": {"type": "integer", "minimum": 1}"#, required: #""number""#),
        Tool(
            name: "add_rules", description: "Writes match rules into the head of a cassette.",
            properties:
                #""ignore": {"type": "array", "items": {"type": "string"}}, "patterns": {"type": "array", "items": {"type": "string"}}, "replace": {"type": "array", "items": {"type": "string"}}, "sort": {"type": "array", "items": {"type": "string"}}, "optional": {"type": "array", "items": {"type": "string"}}"#,
            permission: .rules, changes: true),
        Tool(
            name: "edit_exchange",
            description:
                "Replaces a value in an exchange's JSON, as show with the side exchange has it, or adds a member. Lengths and digests are corrected; a secret is refused.",
            properties:
                #""number": {"type": "integer", "minimum": 1}, "pointer": {"type": "string", "description": "a JSON Pointer into the exchange, such as /response/body/json/pets/0/price"}, "value": {"description": "the new value, any JSON"}"#,
            required: #""number", "pointer", "value""#, permission: .edit, changes: true, isDestructive: true),
        Tool(
            name: "send",
            description:
                "Sends a recorded request to its server again, and compares the answer with the recorded one. Nothing is written. Methods other than GET, HEAD and OPTIONS need unsafe.",
            properties:
                #""number": {"type": "integer", "minimum": 1}, "unsafe": {"type": "boolean", "description": "whether a method that may change something is sent"}, "limit": {"type": "integer", "minimum": 1, "maximum": 65536}"#,
            required: #""number""#, permission: .send, changes: true, isDestructive: true, isIdempotent: false, isOpenWorld: true),
        Tool(
            name: "start_recording",
            description:
                "Starts a proxy on this machine that records into a new cassette. Run clients with the variables of the answer, then call stop.",
            properties:
                #""file": {"type": "string", "description": "the name of the cassette, which ends in .json"}, "replace": {"type": "boolean", "description": "whether a cassette of that name is replaced at the end"}"#,
            required: #""file""#, permission: .record, isLive: true, changes: true, isDestructive: true, isIdempotent: false,
            isOpenWorld: true, takesFile: false),
        Tool(
            name: "start_replay",
            description:
                "Starts a proxy on this machine that answers from a cassette and reaches no server. Run clients with the variables of the answer, then call stop.",
            properties: "", isLive: true, changes: true, isIdempotent: false),
        Tool(
            name: "stop", description: "Stops the recording or replay, and returns what was recorded or missed.", properties: "",
            isLive: true,
            changes: true, takesFile: false),
    ]

    /// The most misses in one answer, each with its nearest requests.
    private static let missLimit = 10
    /// The most rows, findings or changes in one answer.
    private static let rowLimit = 100
    /// Of a body that is searched or read by a pointer.
    private static let bodyLimit = 16 << 20
    /// Of all bodies that one search reads.
    private static let searchLimit = 256 << 20
    /// Of one text in an answer, in bytes.
    private static let textLimit = 4_096

    private let files: AgentFiles
    private let permissions: Set<Permission>
    private let untrusted: UntrustedText
    /// Nil without `--live`.
    private let runs: AgentRuns?
    private let sender: LiveResend?

    init(
        files: AgentFiles, permissions: Set<Permission>, untrusted: UntrustedText, runs: AgentRuns? = nil, sender: LiveResend? = nil
    ) {
        self.files = files
        self.permissions = permissions
        self.untrusted = untrusted
        self.runs = runs
        self.sender = sender
    }

    private var allowed: [Tool] {
        Self.all.filter { tool in
            (tool.permission.map(self.permissions.contains) ?? true) && (!tool.isLive || self.runs != nil)
        }
    }

    func has(_ name: String) -> Bool { self.allowed.contains { "\($0.name)" == name } }

    /// The tools as `tools/list` returns them, a JSON array.
    var list: [UInt8] {
        var writer = JSONWriter()
        writer.beginArray(.inline)
        for tool in self.allowed {
            writer.element()
            writer.beginObject(.inline)
            writer.member("name")
            writer.string("\(tool.name)")
            writer.member("description")
            writer.string("\(tool.description)")
            writer.member("inputSchema")
            let properties = [tool.takesFile ? "\(Self.file)" : "", "\(tool.properties)"].filter { !$0.isEmpty }.joined(separator: ", ")
            writer.raw(
                Array(
                    "{\"type\": \"object\", \"properties\": {\(properties)}, \"required\": [\(tool.required)], \"additionalProperties\": false}"
                        .utf8))
            writer.member("annotations")
            let hints = [
                ("readOnlyHint", !tool.changes), ("destructiveHint", tool.isDestructive), ("idempotentHint", tool.isIdempotent),
                ("openWorldHint", tool.isOpenWorld),
            ]
            writer.raw(Array("{\(hints.map { "\"\($0)\": \($1)" }.joined(separator: ", "))}".utf8))
            writer.endObject()
        }
        writer.endArray()
        return writer.bytes
    }

    /// Why a call failed, for a model. Messages may quote what was recorded.
    func problem(_ error: any Error) -> String {
        if let error = error as? ExchangeEdit.Refused {
            return "nothing was written. untrusted: " + self.untrusted.framed(error.problems.joined(separator: "\n"))
        }
        if let error = error as? SendService.NotSent {
            let next = error.isUnsafe ? " Pass \"unsafe\": true if the user wants that." : ""
            return "nothing was sent.\(next) untrusted: " + self.untrusted.framed(error.reason)
        }
        if let problem = error as? SettingSyntaxError { return problem.message }
        return "the call failed. untrusted: " + self.untrusted.framed(CommandEnd.message(of: error) ?? "\(error)")
    }

    func call(_ name: String, _ arguments: AgentArguments) throws -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        // Also a tool that is not allowed, or that only --live has.
        guard self.has(name) else { throw SettingSyntaxError("there is no tool of that name") }
        switch name {
        case "status": try self.status(&writer)
        case "list": try self.listed(arguments, &writer)
        case "show": try self.show(arguments, &writer)
        case "search": try self.search(arguments, &writer)
        case "diff": try self.diff(arguments, &writer)
        case "explain_miss": try self.explain(arguments, &writer)
        case "try_rule": try self.tryRule(arguments, &writer)
        case "suggest_rules": try self.suggest(arguments, &writer)
        case "lint_multipart": try self.lint(arguments, &writer)
        case "verify": try self.verify(arguments, &writer)
        case "curl": try self.curl(arguments, &writer)
        case "add_rules": try self.addRules(arguments, &writer)
        case "edit_exchange": try self.edit(arguments, &writer)
        case "send": try self.send(arguments, &writer)
        case "start_recording": try self.startRecording(arguments, &writer)
        case "start_replay": try self.startReplay(arguments, &writer)
        case "stop": try self.stop(&writer)
        default: throw SettingSyntaxError("there is no tool of that name")
        }
        writer.endObject()
        return writer.bytes
    }

    // MARK: Writing

    private func untrusted(_ text: some Collection<UInt8>, _ writer: inout JSONWriter) {
        writer.member("untrusted")
        writer.string(self.untrusted.framed(text))
    }

    private func untrusted(_ text: String, _ writer: inout JSONWriter) {
        self.untrusted(Array(text.utf8.prefix(Self.textLimit)), &writer)
    }

    private func rows<Row>(
        _ name: StaticString, _ rows: some Collection<Row>, _ writer: inout JSONWriter, _ write: (Row, inout JSONWriter) throws -> Void
    ) rethrows {
        writer.member(name)
        writer.beginArray(.inline)
        for row in rows {
            writer.element()
            writer.beginObject(.inline)
            try write(row, &writer)
            writer.endObject()
        }
        writer.endArray()
    }

    private func number(_ name: StaticString, _ value: Int, _ writer: inout JSONWriter) {
        writer.member(name)
        writer.integer(value)
    }

    // MARK: Reading

    private func exchange(_ arguments: AgentArguments) throws -> (RecordedCassette, Interaction, number: Int) {
        let cassette = try self.files.cassette(try arguments.string("file"))
        guard cassette.count > 0 else { throw SettingSyntaxError("the cassette has no exchanges") }
        let number = try arguments.integer("number", in: 1...cassette.count)
        return (cassette, try cassette.interaction(at: number - 1), number)
    }

    /// The side that a call asks for; nil for a response that there is none of.
    private func side(_ arguments: AgentArguments, _ interaction: Interaction) throws -> (head: String, headers: HeaderFields, body: Body?)?
    {
        switch try arguments.string("side") ?? "response" {
        case "request":
            let request = interaction.request
            return ("\(request.method) \(request.url) \(request.version)", request.headers, request.body)
        case "response":
            return interaction.response.map {
                ("\($0.version) \($0.status) \(String(decoding: $0.reason, as: UTF8.self))", $0.headers, $0.body)
            }
        default: throw SettingSyntaxError("\"side\" is neither request nor response, nor exchange of show")
        }
    }

    private func status(_ writer: inout JSONWriter) throws {
        writer.member("version")
        writer.string(Version.current)
        writer.member("allowed")
        writer.beginArray(.inline)
        for permission in Permission.allCases where self.permissions.contains(permission) {
            writer.element()
            writer.string(permission.rawValue)
        }
        writer.endArray()
        if self.runs != nil {
            writer.member("isLive")
            writer.bool(true)
        }
        if let run = self.runs?.run {
            writer.member("run")
            writer.beginObject(.inline)
            self.describe(run, &writer)
            self.write(run.outcome, &writer)
            writer.endObject()
        }
        self.rows("cassettes", self.files.names, &writer) { name, writer in
            writer.member("file")
            writer.string(VisibleText.line(name))
            guard let cassette = try? self.files.cassette(name) else {
                writer.member("problem")
                return writer.string("it is not a cassette, or cannot be read")
            }
            self.number("exchanges", cassette.count, &writer)
            if cassette.damage != nil {
                writer.member("problem")
                writer.string("it is torn; the exchanges before the damage can be read")
            }
        }
    }

    private func listed(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let cassette = try self.files.cassette(try arguments.string("file"))
        let filter = try arguments.string("filter").map {
            ExchangeFilter(try FilterParser.parse($0, setting: "filter"), reader: BodyReader(cassettePath: cassette.path))
        }
        let offset = try arguments.integer("offset", in: 0...Int.max, default: 0)
        let limit = try arguments.integer("limit", in: 1...200, default: 50)
        var (found, matching): ([ExchangeRow], Int) = ([], 0)
        for index in 0..<cassette.count {
            let interaction = try cassette.interaction(at: index)
            guard try filter?.matches(interaction) ?? true else { continue }
            if matching >= offset, found.count < limit { found.append(ExchangeRow(number: index + 1, interaction)) }
            matching += 1
        }
        self.number("total", matching, &writer)
        self.rows("exchanges", found, &writer) { row, writer in
            self.number("number", row.number, &writer)
            if let status = row.status { self.number("status", status, &writer) }
            if let size = row.size { self.number("size", size, &writer) }
            writer.member("outcome")
            writer.string(row.outcomeWords)
            self.untrusted("\(row.method) \(row.url) \(row.type ?? "")", &writer)
        }
        if matching > offset + found.count { self.number("next", offset + found.count, &writer) }
    }

    private func show(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let (cassette, interaction, number) = try self.exchange(arguments)
        self.number("number", number, &writer)
        if try arguments.string("side") == "exchange" {
            let text = try ExchangeEdit(path: cassette.path, number: number, tools: InspectorTools()).text
            writer.member("exchange")
            writer.beginObject(.inline)
            try self.piece(
                of: try arguments.string("pointer").map { try JSONPointer.value(at: $0, in: text) } ?? text, arguments, &writer)
            return writer.endObject()
        }
        guard let side = try self.side(arguments, interaction) else {
            writer.member("outcome")
            return writer.string(ExchangeRow(number: number, interaction).outcomeWords)
        }
        writer.member("head")
        writer.beginObject(.inline)
        let lines = (0..<side.headers.count).map { String(decoding: side.headers.line(at: $0), as: UTF8.self) }
        self.untrusted(([side.head] + lines).joined(separator: "\n"), &writer)
        writer.endObject()
        guard let body = side.body else { return }
        let contents = try BodyContents(body, headers: side.headers, reader: BodyReader(cassettePath: cassette.path), readsBroken: true)
        writer.member("body")
        writer.beginObject(.inline)
        self.number("size", contents.size, &writer)
        let offset = try arguments.integer("offset", in: 0...Int.max, default: 0)
        let limit = try arguments.integer("limit", in: 1...65_536, default: 8_192)
        var bytes: [UInt8]
        if let pointer = try arguments.string("pointer") {
            bytes = try JSONPointer.value(at: pointer, in: try contents.prefix(Self.bodyLimit))
            self.number("valueSize", bytes.count, &writer)
        } else {
            bytes = try contents.prefix(min(contents.size, offset.addingReportingOverflow(limit).partialValue))
        }
        let total = try arguments.string("pointer") == nil ? contents.size : bytes.count
        bytes = Array(bytes.dropFirst(offset).prefix(limit))
        if offset + bytes.count < total { self.number("next", offset + bytes.count, &writer) }
        if bytes.withUnsafeBytes({ ReadableText.isReadable($0) }) {
            self.untrusted(bytes, &writer)
        } else {
            self.untrusted(HexDump.rows(Array(bytes.prefix(512)), from: offset).joined(separator: "\n"), &writer)
        }
        writer.endObject()
    }

    /// A piece of a text that is in memory, by the arguments `offset` and `limit`.
    private func piece(of text: [UInt8], _ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let offset = try arguments.integer("offset", in: 0...Int.max, default: 0)
        let limit = try arguments.integer("limit", in: 1...65_536, default: 8_192)
        let piece = Array(text.dropFirst(offset).prefix(limit))
        self.number("size", text.count, &writer)
        if text.count - offset > piece.count { self.number("next", offset + piece.count, &writer) }
        self.untrusted(piece, &writer)
    }

    private func search(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let cassette = try self.files.cassette(try arguments.string("file"))
        let text = try arguments.required("text")
        guard !text.isEmpty, text.utf8.count <= 1_000 else { throw SettingSyntaxError("\"text\" has none or more than 1,000 bytes") }
        let limit = try arguments.integer("limit", in: 1...100, default: 20)
        let literal = text.unicodeScalars.map { scalar in
            scalar.isASCII && !FieldNames.isToken(String(scalar)) && scalar.value > 32 || "\\.*+?^$|".unicodeScalars.contains(scalar)
                ? "\\\(scalar)" : "\(scalar)"
        }.joined()
        let pattern = try Pattern(literal)
        let reader = BodyReader(cassettePath: cassette.path)
        var (found, read): ([(number: Int, place: StaticString, excerpt: [UInt8])], Int) = ([], 0)
        func look(_ bytes: [UInt8], _ number: Int, _ place: StaticString) {
            guard found.count < limit, let range = bytes.withUnsafeBytes({ pattern.firstRange(in: $0) }) else { return }
            found.append((number, place, Array(bytes[max(0, range.lowerBound - 80)..<min(bytes.count, range.upperBound + 160)])))
        }
        var index = 0
        while index < cassette.count, found.count < limit, read < Self.searchLimit {
            let interaction = try cassette.interaction(at: index)
            look(Array("\(interaction.request.method) \(interaction.request.url)".utf8), index + 1, "url")
            let sides: [(StaticString, StaticString, HeaderFields?, Body?)] = [
                ("request headers", "request body", interaction.request.headers, interaction.request.body),
                ("response headers", "response body", interaction.response?.headers, interaction.response?.body),
            ]
            for (headName, bodyName, headers, body) in sides {
                guard let headers else { continue }
                look((0..<headers.count).flatMap { Array(headers.line(at: $0)) + [10] }, index + 1, headName)
                guard let body, let contents = try? BodyContents(body, headers: headers, reader: reader, readsBroken: true) else {
                    continue
                }
                let bytes = try contents.prefix(min(contents.size, Self.bodyLimit))
                read += bytes.count
                look(bytes, index + 1, bodyName)
            }
            index += 1
        }
        self.rows("found", found, &writer) { row, writer in
            self.number("number", row.number, &writer)
            writer.member("place")
            writer.string("\(row.place)")
            self.untrusted(row.excerpt, &writer)
        }
        self.number("searched", index, &writer)
        self.number("total", cassette.count, &writer)
    }

    private func diff(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let (old, new) = (try self.files.cassette(try arguments.required("old")), try self.files.cassette(try arguments.required("new")))
        var (entries, more): ([CassetteDiff.Entry], Int) = ([], 0)
        let same = try CassetteDiff(old: old, new: new, showsAll: false, digest: CareCommand.digest).run { entry in
            if entries.count < Self.rowLimit { entries.append(entry) } else { more += 1 }
        }
        self.number("same", same, &writer)
        self.rows("differences", entries, &writer) { entry, writer in
            func line(_ exchange: CassetteDiff.Exchange) -> String { "\(exchange.method) \(exchange.url)" }
            writer.member("kind")
            switch entry {
            case .added(let exchange):
                writer.string("added")
                self.number("new", exchange.number, &writer)
                self.untrusted(line(exchange), &writer)
            case .removed(let exchange):
                writer.string("removed")
                self.number("old", exchange.number, &writer)
                self.untrusted(line(exchange), &writer)
            case .changed(let old, let new, let changes):
                writer.string("changed")
                self.number("old", old.number, &writer)
                self.number("new", new.number, &writer)
                let lines = changes.prefix(Self.rowLimit).map { "\($0.place): \($0.old ?? "(none)") → \($0.new ?? "(none)")" }
                self.untrusted(([line(new)] + lines).joined(separator: "\n"), &writer)
            }
        }
        if more > 0 { self.number("leftOut", more, &writer) }
    }

    private func explain(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        try self.decide(arguments, in: try self.files.cassette(try arguments.string("file")), rules: nil, &writer)
    }

    private func tryRule(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let cassette = try self.files.cassette(try arguments.string("file"))
        let before = try cassette.matchRules()
        let rules = try before.adding(try Self.ruleTexts(arguments))
        self.number("compared", min(cassette.count, RuleTrial.limit), &writer)
        self.groups(RuleTrial.merged(in: cassette, from: before, to: rules), &writer)
        guard try arguments.string("url") != nil else { return }
        writer.member("request")
        writer.beginObject(.inline)
        try self.decide(arguments, in: cassette, rules: rules, &writer)
        writer.endObject()
    }

    /// Recorded requests that rules make equal, by number.
    private func groups(_ merged: [[Int]], _ writer: inout JSONWriter) {
        self.rows("alsoEqual", merged.prefix(10), &writer) { group, writer in
            writer.member("exchanges")
            writer.beginArray(.inline)
            for index in group.prefix(20) {
                writer.element()
                writer.integer(index + 1)
            }
            writer.endArray()
            if group.count > 20 { self.number("leftOut", group.count - 20, &writer) }
        }
        if merged.count > 10 { self.number("groupsLeftOut", merged.count - 10, &writer) }
    }

    /// - Parameter rules: nil for the cassette's own.
    private func decide(
        _ arguments: AgentArguments, in cassette: RecordedCassette, rules: MatchRules?, _ writer: inout JSONWriter
    ) throws {
        let redaction = try cassette.redactionRules().map { LiveRedactor(Redactor(rules: $0)) }
        let session = try CassetteSession(mode: .none, cassette: cassette, rules: rules, redaction: redaction)
        let body = Array((try arguments.string("body") ?? "").utf8)
        let opening = session.begin(
            method: try arguments.required("method"), url: try arguments.required("url"),
            headers: HeaderFields(try arguments.strings("headers")), hasBody: !body.isEmpty)
        let decision: Decision
        switch opening {
        case .decided(let decided): decision = decided
        case .needsBody(let pending):
            var facets = pending.body()
            body.withUnsafeBytes { facets.push($0) }
            decision = try session.resolve(pending, body: facets.finish())
        }
        writer.member("answered")
        switch decision {
        case .replay(let index, _):
            writer.bool(true)
            self.number("exchange", index + 1, &writer)
        case .allowPreflight, .forward: writer.bool(true)
        case .refuse(let miss):
            writer.bool(false)
            self.write(miss, &writer)
        }
    }

    private func write(_ miss: MissReport, _ writer: inout JSONWriter) {
        writer.member("reason")
        writer.string(miss.reasonName)
        self.rows("nearest", miss.nearest, &writer) { near, writer in
            self.number("exchange", near.index + 1, &writer)
            writer.member("usedUp")
            writer.bool(near.isUsedUp)
            self.untrusted(([near.request] + near.differences.map(\.description)).joined(separator: "\n"), &writer)
        }
        writer.member("next")
        writer.beginObject(.inline)
        self.untrusted(miss.nextStep, &writer)
        writer.endObject()
    }

    private func suggest(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let (old, new) = (try self.files.cassette(try arguments.string("file")), try self.files.cassette(try arguments.required("other")))
        let (pairs, left) = try RunPairing.pairs(old: old, new: new)
        let found = try RuleSuggestions(old: old, new: new, pairs: pairs)
        self.number("pairs", pairs.count, &writer)
        self.number("withoutPartner", left, &writer)
        self.number("equalNow", found.equal.before, &writer)
        self.number("equalThen", found.equal.after, &writer)
        self.rows("rules", found.suggestions.prefix(Self.rowLimit), &writer) { suggestion, writer in
            writer.member("kind")
            writer.string(suggestion.kind.rawValue)
            self.number("differences", suggestion.evidence.count, &writer)
            self.groups(suggestion.merged, &writer)
            self.untrusted(([suggestion.text] + suggestion.evidence.prefix(3).map(\.text)).joined(separator: "\n"), &writer)
        }
        self.rows("withoutRule", found.unexplained.prefix(Self.rowLimit), &writer) { evidence, writer in
            self.number("old", evidence.old + 1, &writer)
            self.number("new", evidence.new + 1, &writer)
            self.untrusted(evidence.text, &writer)
        }
    }

    private func lint(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let (cassette, interaction, number) = try self.exchange(arguments)
        let asked = try arguments.string("side") == nil ? nil : try self.side(arguments, interaction)
        let side = asked ?? ("", interaction.request.headers, interaction.request.body)
        self.number("number", number, &writer)
        let contents = try side.body.map {
            try BodyContents($0, headers: side.headers, reader: BodyReader(cassettePath: cassette.path), readsBroken: true)
        }
        guard let contents,
            let lint = try BodyLint(
                contents, headers: side.headers,
                .init(side: try arguments.string("side") == "response" ? .response : .request, body: side.body))
        else {
            writer.member("isMultipart")
            return writer.bool(false)
        }
        writer.member("isMultipart")
        writer.bool(true)
        self.rows("findings", lint.findings.prefix(Self.rowLimit), &writer) { finding, writer in
            self.untrusted(([finding.description] + (finding.excerpt?.lines ?? [])).joined(separator: "\n"), &writer)
        }
    }

    private func verify(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let verifier = try CassetteVerifier(
            path: try self.files.path(try arguments.string("file")), digest: CareCommand.digest,
            unanswerable: { ReplayCheck.problem(of: $0) })
        var (findings, problems): ([CareFinding], Int) = ([], 0)
        try verifier.run { finding in
            if finding.isProblem { problems += 1 }
            if findings.count < Self.rowLimit { findings.append(finding) }
        }
        self.number("exchanges", verifier.count, &writer)
        self.number("problems", problems, &writer)
        self.rows("findings", findings, &writer) { finding, writer in
            writer.member("kind")
            writer.string(finding.kind.rawValue)
            writer.member("isProblem")
            writer.bool(finding.isProblem)
            if let exchange = finding.exchange { self.number("exchange", exchange, &writer) }
            self.untrusted(finding.text, &writer)
        }
    }

    private func curl(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let (cassette, interaction, number) = try self.exchange(arguments)
        let command = try CurlCommand(
            interaction, number: number, folder: "wiretape-\(number)", reader: BodyReader(cassettePath: cassette.path))
        self.number("number", number, &writer)
        self.number("files", command.files.count, &writer)
        self.untrusted(Array(command.text.utf8), &writer)
    }

    private static func ruleTexts(_ arguments: AgentArguments) throws -> MatchRuleTexts {
        let texts = MatchRuleTexts(
            ignore: try arguments.strings("ignore"), patterns: try arguments.strings("patterns"), replace: try arguments.strings("replace"),
            sort: try arguments.strings("sort"), optional: try arguments.strings("optional"))
        guard !texts.isEmpty else { throw SettingSyntaxError("there are no rules") }
        return texts
    }

    private func addRules(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let texts = try Self.ruleTexts(arguments)
        try HeadRules.add(texts, to: try self.files.path(try arguments.string("file")), recorder: "wiretape \(Version.current)")
        self.number("written", texts.count, &writer)
    }

    // MARK: Changing

    private func edit(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let (cassette, _, number) = try self.exchange(arguments)
        let (pointer, value) = (try arguments.required("pointer"), try arguments.json("value"))
        let tools = InspectorTools.ofCommands(upstreamTLS: nil, ports: ClosedPorts())
        let edit = try ExchangeEdit(path: cassette.path, number: number, tools: tools)
        let (changes, notes) = try edit.write(JSONPointer.replacing(value, at: pointer, in: try edit.text))
        self.number("number", number, &writer)
        self.number("changes", changes.count, &writer)
        self.untrusted((changes.prefix(Self.rowLimit).map(Self.line) + notes).joined(separator: "\n"), &writer)
    }

    private static func line(_ change: FieldChange) -> String {
        "\(change.place): \(change.old ?? "(none)") → \(change.new ?? "(none)")"
    }

    private func send(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        guard let sender else { throw SettingSyntaxError("this server sends nothing") }
        let (cassette, interaction, number) = try self.exchange(arguments)
        let limit = try arguments.integer("limit", in: 1...65_536, default: 8_192)
        let order = SendService.Order(
            interaction: interaction, recorded: interaction, path: cassette.path, allowsUnsafe: try arguments.flag("unsafe"))
        self.number("number", number, &writer)
        // The closure may write only once, and never fails half-way: what it writes is added afterwards.
        var answered = JSONWriter()
        answered.beginObject(.inline)
        try sender.send(order) { answer in try self.write(answer, limit: limit, &answered) }
        answered.endObject()
        writer.member("answer")
        writer.raw(answered.bytes)
    }

    private func write(_ answer: SendService.Answer, limit: Int, _ writer: inout JSONWriter) throws {
        if !answer.notes.isEmpty {
            writer.member("notes")
            writer.beginObject(.inline)
            self.untrusted(answer.notes.joined(separator: "\n"), &writer)
            writer.endObject()
        }
        guard let interaction = answer.interaction, let response = interaction.response else { return }
        self.number("status", response.status, &writer)
        self.number("differences", answer.changes.count, &writer)
        writer.member("compared")
        writer.beginObject(.inline)
        self.untrusted(answer.changes.prefix(Self.rowLimit).map(Self.line).joined(separator: "\n"), &writer)
        writer.endObject()
        writer.member("head")
        writer.beginObject(.inline)
        let lines = (0..<response.headers.count).map { String(decoding: response.headers.line(at: $0), as: UTF8.self) }
        self.untrusted(lines.joined(separator: "\n"), &writer)
        writer.endObject()
        guard let body = response.body else { return }
        let contents = try BodyContents(body, headers: response.headers, reader: BodyReader(cassettePath: answer.path), readsBroken: true)
        let bytes = try contents.prefix(min(contents.size, limit))
        writer.member("body")
        writer.beginObject(.inline)
        self.number("size", contents.size, &writer)
        if bytes.withUnsafeBytes({ ReadableText.isReadable($0) }) {
            self.untrusted(bytes, &writer)
        } else {
            self.untrusted(HexDump.rows(Array(bytes.prefix(512)), from: 0).joined(separator: "\n"), &writer)
        }
        writer.endObject()
    }

    // MARK: Runs

    private func startRecording(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let file = try arguments.required("file")
        let path = try self.files.newPath(file, replaces: try arguments.flag("replace"))
        try self.start(.recording, file: file, path: path, &writer)
    }

    private func startReplay(_ arguments: AgentArguments, _ writer: inout JSONWriter) throws {
        let path = try self.files.path(try arguments.string("file"))
        try self.start(.replay, file: try arguments.string("file") ?? self.files.names[0], path: path, &writer)
    }

    private func start(_ kind: AgentRun.Kind, file: String, path: String, _ writer: inout JSONWriter) throws {
        guard let runs else { throw SettingSyntaxError("this server starts no runs") }
        let run = try runs.start(kind, file: file, path: path)
        self.describe(run, &writer)
        writer.member("environment")
        writer.beginObject(.inline)
        for (name, value) in run.environment {
            writer.member(named: name)
            writer.string(value)
        }
        writer.endObject()
    }

    private func describe(_ run: AgentRun, _ writer: inout JSONWriter) {
        writer.member("kind")
        writer.string(run.kind.rawValue)
        writer.member("file")
        writer.string(VisibleText.line(run.file))
        writer.member("proxy")
        writer.string(run.proxy)
    }

    private func stop(_ writer: inout JSONWriter) throws {
        guard let (run, outcome) = try self.runs?.stop() else { throw SettingSyntaxError("no run is going on") }
        self.describe(run, &writer)
        if run.kind == .recording {
            // Without an exchange there is no cassette.
            writer.member("isWritten")
            writer.bool(outcome.path != nil)
        }
        self.write(outcome, &writer)
    }

    private func write(_ outcome: AgentRun.Outcome, _ writer: inout JSONWriter) {
        if let recorded = outcome.recorded {
            self.number("recorded", recorded.recorded, &writer)
            if recorded.lost > 0 { self.number("lost", recorded.lost, &writer) }
            if !recorded.leaks.isEmpty { self.number("secretsLeft", recorded.leaks.count, &writer) }
            return
        }
        let verdict = outcome.verdict
        self.number("answered", verdict.hits, &writer)
        self.number("misses", verdict.misses, &writer)
        self.number("unused", verdict.unused.count, &writer)
        self.number("outOfOrder", verdict.orderViolations, &writer)
        self.rows("missed", verdict.reports.prefix(Self.missLimit), &writer) { miss, writer in
            writer.member("request")
            writer.beginObject(.inline)
            self.untrusted(miss.request, &writer)
            writer.endObject()
            self.write(miss, &writer)
        }
        let left = verdict.misses - min(verdict.reports.count, Self.missLimit)
        if left > 0 { self.number("missesLeftOut", left, &writer) }
    }
}
