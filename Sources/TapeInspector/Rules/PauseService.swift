internal import CassetteModel
internal import CassettePlayback
internal import LocalHTTP
internal import TapeBytes
internal import TrafficRules

/// Answers a page's requests about messages that rules have paused.
struct PauseService {
    /// The most bytes of a body that a page edits.
    private static let bodyLimit = 4 << 20

    let rules: InspectedRules

    private var desk: PauseDesk { self.rules.desk }

    // MARK: The list

    /// The messages without their content, the longest waiting first.
    func list() -> [UInt8] {
        let now = self.rules.clock()
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("paused")
        writer.beginArray(.inline)
        for item in self.desk.items(at: now) {
            writer.element()
            writer.beginObject(.inline)
            Self.write(item, now: now, &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [10]
    }

    private static func write(_ item: PauseDesk.Item, now: Duration, _ writer: inout JSONWriter) {
        let texts = [("stage", item.stage.rawValue), ("rule", item.rule), ("method", item.method), ("url", item.url)]
        writer.member("id")
        writer.integer(item.id)
        for (name, text) in texts {
            writer.member(named: name)
            writer.string(text)
        }
        if item.stage == .response {
            writer.member("status")
            writer.integer(item.content.status)
        }
        // How long the client has been waiting, how long the message has been here, and how long until it goes on.
        for (name, time) in [("waits", now - item.began), ("paused", now - item.paused), ("left", item.ends - now)] {
            writer.member(named: name)
            writer.milliseconds(max(0, Double(time.components.seconds) * 1e3 + Double(time.components.attoseconds) / 1e15))
        }
        writer.member("gone")
        writer.bool(item.clientHasLeft)
    }

    /// One message with its content.
    func item(_ number: String) throws(LocalHTTP.LocalAnswer) -> [UInt8] {
        guard let item = Int(number).flatMap({ self.desk.item($0) }) else { throw Self.gone }
        var writer = JSONWriter()
        writer.beginObject(.inline)
        Self.write(item, now: self.rules.clock(), &writer)
        let content = item.content
        writer.member("content")
        writer.beginObject(.inline)
        for (name, text) in [("method", content.method), ("url", content.url), ("reason", content.reason)] {
            writer.member(named: name)
            writer.string(text)
        }
        writer.member("status")
        writer.integer(content.status)
        writer.member("headers")
        writer.beginArray(.inline)
        for line in Self.lines(content.headers) {
            writer.element()
            writer.string(line)
        }
        writer.endArray()
        var note = item.bodyNote
        if let body = content.body {
            writer.member("size")
            writer.integer(body.count)
            if body.count > Self.bodyLimit {
                note = "it has more than 4 MiB"
            } else if let text = String(validating: body, as: UTF8.self), !text.utf8.contains(0) {
                writer.member("body")
                writer.string(text)
            } else {
                writer.member("base64")
                var coded: [UInt8] = []
                body.withUnsafeBytes { Base64.encode($0, into: &coded) }
                coded.withUnsafeBytes { writer.string(utf8: $0) }
            }
        }
        if let note {
            writer.member("note")
            writer.string(note)
        }
        writer.endObject()
        writer.endObject()
        return writer.bytes + [10]
    }

    /// Field lines as text: bytes that are not UTF-8 are shown as characters of their own values.
    private static func lines(_ fields: HeaderFields) -> [String] {
        (0..<fields.count).map { index in
            let line = fields.line(at: index)
            return String(validating: line, as: UTF8.self)
                ?? String(String.UnicodeScalarView(line.map { UnicodeScalar($0) }))
        }
    }

    // MARK: Decisions

    private enum Verb: String, CaseIterable { case pass, change, answer, drop }

    /// Lets a message go on, and with `always` answers such requests with the same from now on.
    func decide(_ number: String, _ body: [UInt8]) throws -> [UInt8] {
        guard let id = Int(number), let item = self.desk.item(id) else { throw Self.gone }
        let order = try InspectorOrder(body)
        guard let verb = try order.text("decision").flatMap(Verb.init(rawValue:)) else {
            throw InspectorService.bad("decision", "\"decision\" takes \(Verb.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        let isAlways = order.values["always"]?.bool ?? false
        let decision: PauseDesk.Decision =
            switch verb {
            case .pass: .pass
            case .drop: .drop
            case .change: .change(try Self.content(order, item, isNew: false))
            case .answer: .answer(try Self.content(order, item, isNew: item.stage == .request))
            }
        if let problem = decision.problem(for: item) {
            throw LocalHTTP.LocalAnswer(
                status: 422, reason: "Unprocessable Content", code: "content", message: "nothing was decided: \(problem).")
        }
        let decide = { guard self.desk.decide(id, decision) else { throw Self.gone } }
        if isAlways {
            let node = try self.rule(for: decision, item)
            try RuleService(rules: self.rules).putFirst(node, check: decide)
        } else {
            try decide()
        }
        return self.list()
    }

    /// A rule that answers as this decision does.
    private func rule(for decision: PauseDesk.Decision, _ item: PauseDesk.Item) throws -> RuleNode {
        let content: PauseDesk.Content
        switch decision {
        case .answer(let answer): content = answer
        case .change(let changed) where item.stage == .response: content = changed
        case .pass where item.stage == .response: content = item.content
        case .pass, .change, .drop:
            throw InspectorService.bad("always", "\"always\" is for answers: send the decision \"answer\"")
        }
        guard item.bodyNote == nil || content.body != nil else {
            throw LocalHTTP.LocalAnswer(
                status: 422, reason: "Unprocessable Content", code: "content",
                message: "nothing was decided: the body is not here as a whole (\(item.bodyNote ?? "")), so no rule can answer with it.")
        }
        let answer = ExchangeRule.Answer(status: content.status, reason: content.reason, headers: content.headers, body: content.body)
        let names = Set(self.rules.engine.rules.rules.map(\.name))
        return try ExchangeRule(method: item.method, url: item.url).respond(answer, besides: names)
    }

    /// The content in a request. Members that it does not have stay as they are.
    ///
    /// - Parameter isNew: for an answer to a request, of which nothing is there yet.
    private static func content(_ order: InspectorOrder, _ item: PauseDesk.Item, isNew: Bool) throws(LocalHTTP.LocalAnswer)
        -> PauseDesk.Content
    {
        guard let values = order.values["content"], values.kind == .object else {
            throw InspectorService.bad("content", "\"content\" takes an object with what the message shall have")
        }
        let given = InspectorOrder(values: values)
        var content = isNew ? PauseDesk.Content() : item.content
        if isNew { content.body = [] }
        if let method = try given.text("method"), !isNew { content.method = method }
        if let url = try given.text("url"), !isNew { content.url = url }
        if let status = values["status"] {
            guard let status = status.int else { throw InspectorService.bad("status", "\"status\" takes a number") }
            content.status = status
        }
        if let reason = try given.text("reason") { content.reason = reason }
        if isNew, content.reason.isEmpty { content.reason = StatusText.reason(content.status) }
        if values["headers"] != nil { content.headers = self.fields(try given.texts("headers"), besides: content.headers) }
        if let text = try given.text("body") { content.body = Array(text.utf8) }
        if let text = try given.text("base64") {
            guard let bytes = Base64.decode(Array(text.utf8)) else {
                throw InspectorService.bad("base64", "\"base64\" is not base64 (RFC 4648, 4)")
            }
            content.body = bytes
        }
        return content
    }

    /// Lines that are shown as they are now keep their bytes.
    private static func fields(_ lines: [String], besides old: HeaderFields) -> HeaderFields {
        var known: [String: Int] = [:]
        for (index, line) in self.lines(old).enumerated() { known[line] = index }
        var fields = HeaderFields()
        for line in lines {
            if let index = known[line] { fields.append(line: old.line(at: index)) } else { fields.append(line: Array(line.utf8)) }
        }
        return fields
    }

    private static let gone = LocalHTTP.LocalAnswer(
        status: 409, reason: "Conflict", code: "gone",
        message: "this message no longer waits: it was decided elsewhere, its time was over, or its client has left.")
}
