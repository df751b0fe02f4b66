internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import CassetteTools
internal import LocalHTTP
internal import TapeBytes

/// Answers the page's requests.
///
/// Reads and decodes files, so it must not be used on an event loop.
final class InspectorService: Sendable {
    enum Answer {
        case whole(LocalAnswer)
        case stream(LocalStream)
    }

    let cassette: InspectedCassette
    let open: OpenRows
    /// The other tabs of the page, for the state.
    let others = Guarded<InspectorState.Others?>(nil)
    /// The name that the page shows in place of the path; nil for the path.
    private let name: String?
    /// Whether the cassette only stands for "none": the page was opened without one.
    private let isBlank: Bool
    private let list: ListService
    /// nil if no run is shown.
    private let run: InspectedRun?
    /// The path of an older cassette to compare with; nil if there is none.
    private let older: String?
    private let tools: InspectorTools
    /// Whether a long operation is running. If a page could start several at once, it would get no other answers.
    private let isBusy = Guarded(false)

    init(
        cassette: InspectedCassette, run: InspectedRun? = nil, older: String? = nil, tools: InspectorTools = InspectorTools(),
        name: String? = nil, isBlank: Bool = false
    ) {
        self.isBlank = isBlank
        self.cassette = cassette
        self.run = run
        self.older = older
        self.name = name
        self.list = ListService(cassette, name: name ?? run?.name ?? cassette.path)
        self.open = OpenRows(path: cassette.path, run: run?.open, digest: tools.digest)
        self.tools = tools
    }

    /// Long work ends early if it is cancelled (`WorkCancellation`).
    func answer(_ request: LocalRequest) -> Answer { self.answering { try self.route(request) } }

    /// Turns the errors of an answer into refusals.
    func answering(_ work: () throws -> Answer) -> Answer {
        do {
            // It may have been cancelled while it waited for a thread.
            try CassetteError.checkCancellation()
            return try work()
        } catch let refusal as LocalAnswer {
            return .whole(refusal)
        } catch let error as CassetteError where error.code == .cancelled {
            return .whole(
                LocalAnswer(
                    status: 503, reason: "Service Unavailable", code: "cancelled",
                    message: "the answer was cancelled: the inspector is stopping."))
        } catch let error as CassetteError {
            let isBusy = error.code == .inUse
            return .whole(
                LocalAnswer(
                    status: isBusy ? 409 : 422, reason: isBusy ? "Conflict" : "Unprocessable Content",
                    code: isBusy ? "cassette-in-use" : "cassette",
                    message: error.message))
        } catch let error as MatchRuleError {
            return .whole(Self.refusal("rules", error.message))
        } catch let error as SettingSyntaxError {
            return .whole(Self.refusal("rules", error.message))
        } catch {
            return .whole(LocalAnswer(status: 500, reason: "Internal Server Error", code: "failed", message: "this failed: \(error)."))
        }
    }

    // MARK: Routes

    private func route(_ request: LocalRequest) throws -> Answer {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        if parts.first == "d", parts.count == 3 {
            try Self.allow(request, "GET")
            return .stream(try self.list.download(parts[1]))
        }
        guard parts.first == "api", parts.count >= 2 else { throw Self.unknown }
        guard let arguments = request.arguments else { throw Self.bad("query", "the query is not percent-encoded UTF-8") }
        switch (parts[1], parts.count) {
        case ("state", 2):
            try Self.allow(request, "GET")
            return .whole(Self.json(try self.state(arguments)))
        case ("rows", 2):
            try Self.allow(request, "GET")
            return .whole(try self.list.rows(arguments))
        case ("marks", 2):
            try Self.allow(request, "GET")
            return .whole(try self.list.marks(arguments))
        case ("views", 2):
            try Self.allow(request, "POST")
            return .stream(try self.list.makeView(request.body))
        case ("views", 3):
            try Self.allow(request, "GET")
            return .whole(try self.list.view(parts[2]))
        case ("groups", 2):
            try Self.allow(request, "GET")
            return .whole(try self.list.groups(arguments))
        case ("searches", 2):
            try Self.allow(request, "POST")
            return .stream(try self.list.search(request.body))
        case ("diffs", 2):
            try Self.allow(request, "POST")
            return try self.diff(request.body)
        case ("tickets", 2):
            try Self.allow(request, "POST")
            return .whole(try self.list.ticket(request.body))
        case ("redactions", 2):
            try Self.allow(request, "GET")
            return .stream(RedactionService(cassette: self.cassette).placeholders())
        case ("open", 2):
            try Self.allow(request, "GET")
            return .whole(Self.json(self.open.bytes()))
        case ("open", 3...5):
            try Self.allow(request, "GET")
            if parts.count == 3, let key = Int(parts[2]).flatMap({ self.key(ofEnded: $0) }) {
                return .whole(Self.json(Array("{ \"ended\": \(key) }\n".utf8)))
            }
            return try self.open.answer(Array(parts.dropFirst(2)), arguments, range: request.range)
        case ("replay", 2):
            try Self.allow(request, "GET")
            guard let report = self.run?.report else { throw Self.unknown }
            return .whole(Self.json(ReplayService(report: report(), path: self.cassette.path).bytes()))
        case ("replay", 3) where parts[2] == "try":
            try Self.allow(request, "POST")
            let rules = try Self.rules(request.body)
            return .whole(Self.json(try ReplayService.trial(rules, report: self.run?.report?(), path: self.cassette.path)))
        case ("rules", 2):
            try Self.allow(request, "POST")
            try Self.check(request, self.cassette.moment)
            return .whole(Self.json(try self.match(by: Self.rules(request.body))))
        case ("recording", 2):
            try Self.allow(request, "POST")
            guard let pause = self.run?.pause else { throw Self.unknown }
            let isPaused = pause(try InspectorOrder(request.body).values["paused"]?.bool ?? false)
            return .whole(Self.json(Array("{ \"paused\": \(isPaused) }\n".utf8)))
        case ("redactions", 3) where parts[2] == "try":
            try Self.allow(request, "POST")
            guard let tryRedaction = self.tools.tryRedaction else { throw Self.unknown }
            let redactions = RedactionService(cassette: self.cassette)
            return .whole(Self.json(try self.alone { try redactions.trial(request.body, by: tryRedaction) }))
        case ("edits", 2):
            try Self.allow(request, "POST")
            let (edit, text) = try self.edit(request.body)
            try Self.check(request, edit.moment)
            let written = try self.alone {
                if let obstacle = try edit.check(text).obstacle {
                    throw LocalAnswer(
                        status: 422, reason: "Unprocessable Content", code: "edit", message: "nothing was written: \(obstacle.text).")
                }
                return try edit.write(text)
            }
            var writer = JSONWriter()
            writer.beginObject(.inline)
            writer.member("written")
            writer.bool(true)
            if let epoch = written.epoch {
                writer.member("epoch")
                writer.integer(epoch)
            }
            if let problem = written.problem {
                writer.member("problem")
                writer.string(problem)
            }
            writer.endObject()
            return .whole(Self.json(writer.bytes + [10]))
        case ("comments", 2), ("deletions", 2):
            try Self.allow(request, "POST")
            let moment = self.cassette.moment
            try Self.check(request, moment)
            let order = try InspectorOrder(request.body)
            let chosen = ChosenExchanges(cassette: self.cassette, moment: moment, keys: try order.keys("keys", of: moment.rows.count))
            let text = try order.text("text") ?? ""
            try self.alone { try parts[1] == "comments" ? chosen.comment(text) : chosen.delete() }
            return .whole(Self.json(Array("{ \"written\": true }\n".utf8)))
        case ("edits", 3) where parts[2] == "try":
            try Self.allow(request, "POST")
            let (edit, text) = try self.edit(request.body)
            return .whole(Self.json(EditService.bytes(try self.alone { try edit.check(text) })))
        case ("edits", 3) where parts[2] == "correct":
            try Self.allow(request, "POST")
            let (edit, text) = try self.edit(request.body)
            let corrected = try self.alone { try edit.corrected(text) }
            var writer = JSONWriter()
            writer.beginObject(.inline)
            writer.member("text")
            corrected.withUnsafeBytes { writer.string(utf8: $0) }
            writer.endObject()
            return .whole(Self.json(writer.bytes + [10]))
        case ("send", 2):
            try Self.allow(request, "POST")
            return .whole(try self.alone { try self.send(request) })
        case ("review", 2):
            try Self.allow(request, "POST")
            return .whole(try self.review(request.body))
        case ("modify", 2...3), ("paused", 2...3):
            guard let rules = self.run?.rules else { throw Self.unknown }
            return .whole(Self.json(try self.traffic(Array(parts.dropFirst()), request, arguments, rules)))
        case ("x", 3...5):
            try Self.allow(request, "GET")
            let moment = self.cassette.moment
            let exchange = ExchangeService(cassette: self.cassette, moment: moment, number: self.list.number(moment.rows))
            return try exchange.answer(Array(parts.dropFirst(2)), arguments, range: request.range)
        default: throw Self.unknown
        }
    }

    static func allow(_ request: LocalRequest, _ method: String) throws(LocalAnswer) {
        guard request.method == method || request.method == "HEAD" && method == "GET" else {
            throw LocalAnswer(
                status: 405, reason: "Method Not Allowed", fields: ["Allow: \(method)"], code: "method",
                message: "that method is not allowed for this path: use \(method).")
        }
    }

    // MARK: State

    /// The cassette's state, on one line.
    func tick() -> [UInt8] { self.state().dropLast().map { $0 } }

    func state() -> [UInt8] { self.stateNow.bytes() }

    /// Includes the first rows of the list if requested, so that a page can show both at once.
    private func state(_ arguments: [String: String]) throws -> [UInt8] {
        guard arguments["rows"] != nil else { return self.state() }
        let rows = try self.list.rows(["count": arguments["rows"] ?? ""]).body
        return self.state().dropLast(3) + Array(", \"list\": ".utf8) + rows.dropLast() + Array(" }\n".utf8)
    }

    private var stateNow: InspectorState {
        InspectorState(
            moment: self.cassette.moment, path: self.cassette.path, run: self.run, open: self.open.counts, older: self.older,
            sends: self.tools.send != nil, name: self.name, isBlank: self.isBlank,
            others: self.others.withLock { $0 })
    }

    /// Whether a download with this ticket is one of this cassette.
    func holds(ticket: String) -> Bool { self.list.holds(ticket: ticket) }

    // MARK: Review

    /// Answers whether the new recording replaces the old one, and waits until that is done.
    private func review(_ body: [UInt8]) throws -> LocalAnswer {
        guard let question = self.run?.review else { throw Self.unknown }
        guard let answer = try InspectorOrder(body).text("answer").flatMap(ReviewQuestion.Answer.init(rawValue:)) else {
            throw Self.bad("answer", "\"answer\" takes \(ReviewQuestion.Answer.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard question.answer(answer, by: .page) else {
            let message =
                switch question.phase {
                case .closed, .open: "the recording has not ended yet: accept or refuse it when it has."
                case .answered(let answer, let side): "this was already answered, on the \(side.rawValue): \(answer.rawValue)."
                case .done(let words, let side): "this was already answered, on the \(side.rawValue): \(words)."
                case .failed(let message): message
                }
            throw LocalAnswer(status: 409, reason: "Conflict", code: "answered", message: message)
        }
        if case .failed(let message) = question.outcome() {
            throw LocalAnswer(status: 422, reason: "Unprocessable Content", code: "review", message: message)
        }
        return Self.json(self.state())
    }

    /// Exchanges that have been read are no longer open.
    ///
    /// - Parameter count: the number of rows before.
    func settle(after count: Int) {
        guard let run else { return }
        let rows = self.cassette.moment.rows
        run.open.recorded((min(count, rows.count)..<rows.count).map { rows[$0].id })
    }

    /// The key of an exchange that was open; nil if it still is, or if it is not in the cassette.
    private func key(ofEnded id: Int) -> Int? {
        guard !self.open.contains(id) else { return nil }
        let rows = self.cassette.moment.rows
        return (0..<rows.count).last { rows[$0].id == id }.map { $0 + 1 }
    }

    // MARK: Rules

    private static func rules(_ body: [UInt8]) throws -> MatchRuleTexts {
        do {
            let texts = try MatchRuleTexts(try InspectorOrder(body).values)
            guard !texts.isEmpty else { throw Self.bad("rules", "there are no rules") }
            return texts
        } catch let error as MatchRuleError {
            throw Self.bad("rules", error.message)
        }
    }

    /// Puts match rules in force in the running replay, and writes them into the cassette's head.
    private func match(by texts: MatchRuleTexts) throws -> [UInt8] {
        var problem: String?
        if let match = self.run?.match {
            try match(texts)
            // A recorder may have the cassette, as with new episodes. The rules apply all the same.
            do {
                try ReplayService.write(texts, path: self.cassette.path)
            } catch let error as CassetteError {
                problem = error.message
            }
        } else {
            try ReplayService.write(texts, path: self.cassette.path)
        }
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("written")
        writer.bool(problem == nil)
        writer.member("inForce")
        writer.bool(self.run?.match != nil)
        if let problem {
            writer.member("problem")
            writer.string(problem)
        }
        writer.endObject()
        return writer.bytes + [10]
    }

    /// A page may change only what it has shown, so its request must name the file that it read.
    private static func check(_ request: LocalRequest, _ moment: InspectedCassette.Moment) throws(LocalAnswer) {
        guard let wanted = request.ifMatch else {
            throw LocalAnswer(
                status: 428, reason: "Precondition Required", code: "epoch", message: "name the file that you have seen: send If-Match.")
        }
        guard wanted == "\"\(moment.rows.epoch)\"" else { throw Self.stale }
    }

    // MARK: Traffic rules

    /// - Parameter parts: the parts of the path after `api`.
    private func traffic(
        _ parts: [String], _ request: LocalRequest, _ arguments: [String: String], _ rules: InspectedRules
    ) throws -> [UInt8] {
        let service = RuleService(rules: rules)
        if parts[0] == "paused" {
            let paused = PauseService(rules: rules)
            guard parts.count == 2 else {
                try Self.allow(request, "GET")
                return paused.list()
            }
            guard request.method == "POST" else {
                try Self.allow(request, "GET")
                return try paused.item(parts[1])
            }
            return try paused.decide(parts[1], request.body)
        }
        guard parts.count == 2 else {
            try Self.allow(request, "GET")
            return service.list()
        }
        if let change = RuleService.Change(rawValue: parts[1]) {
            try Self.allow(request, "POST")
            return try service.change(change, request.body)
        }
        switch parts[1] {
        case "yaml":
            try Self.allow(request, "GET")
            return service.yaml()
        case "verdict":
            try Self.allow(request, "GET")
            return try service.verdict()
        case "save":
            try Self.allow(request, "POST")
            return try self.alone { try service.save(request.body) }
        case "try":
            try Self.allow(request, "POST")
            return try self.alone { try self.tryRules(InspectorOrder(request.body), rules) }
        case "from":
            try Self.allow(request, "POST")
            let order = try InspectorOrder(request.body)
            guard let action = try order.text("action").flatMap(ExchangeRule.Action.init(rawValue:)) else {
                throw Self.bad("action", "\"action\" takes \(ExchangeRule.Action.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return try self.trial(order, rules).proposal(action)
        default:
            try Self.allow(request, "GET")
            return try service.rule(parts[1], arguments)
        }
    }

    /// Tries the rules on an exchange: those in use, or with a new text for one of them or for one more.
    private func tryRules(_ order: InspectorOrder, _ rules: InspectedRules) throws -> [UInt8] {
        var tried = rules.engine.rules
        if order.values["text"] != nil {
            let service = RuleService(rules: rules)
            if let number = order.values["rule"]?.int, tried.rules.indices.contains(number - 1) {
                try tried.replace(number - 1, with: try service.text(of: order, of: tried.rules[number - 1]))
            } else {
                try tried.insert(try service.text(of: order, of: nil), at: order.values["at"]?.int.map { $0 - 1 } ?? tried.rules.count)
            }
        }
        return try self.trial(order, rules).trial(tried)
    }

    private func trial(_ order: InspectorOrder, _ rules: InspectedRules) throws -> RuleTrialService {
        let (moment, ordinal) = try self.chosen(order)
        return RuleTrialService(
            rules: rules, interaction: try moment.interaction(ordinal, of: self.cassette),
            reader: BodyReader(cassettePath: self.cassette.path))
    }

    // MARK: Edits and sending

    private func edit(_ body: [UInt8]) throws -> (EditService, text: [UInt8]) {
        let order = try InspectorOrder(body)
        guard let text = try order.text("text") else { throw Self.bad("text", "\"text\" is missing: send the exchange's text") }
        let (moment, ordinal) = try self.chosen(order)
        return (EditService(cassette: self.cassette, moment: moment, tools: self.tools, ordinal: ordinal), Array(text.utf8))
    }

    private func chosen(_ order: InspectorOrder) throws(LocalAnswer) -> (InspectedCassette.Moment, ordinal: Int) {
        let moment = self.cassette.moment
        guard let key = order.values["key"]?.int, key >= 1, key <= moment.rows.count else {
            throw Self.bad("key", "\"key\" takes the key of an exchange")
        }
        return (moment, key - 1)
    }

    /// Runs one operation at a time, so that the other thread can keep answering.
    private func alone<Result>(_ work: () throws -> Result) throws -> Result {
        let isFirst = self.isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFirst else {
            throw LocalAnswer(
                status: 409, reason: "Conflict", code: "busy",
                message: "a request is being sent, or rules or a text are being tried: wait until that has ended, then repeat this.")
        }
        defer { self.isBusy.withLock { $0 = false } }
        return try work()
    }

    /// Sends an exchange's request, or the request of its edited text.
    private func send(_ request: LocalRequest) throws -> LocalAnswer {
        guard let send = self.tools.send else {
            throw LocalAnswer(
                status: 403, reason: "Forbidden", code: "sends-nothing",
                message: "this run sends no requests of its own: open the cassette with \"wiretape inspect --web\", and send from there.")
        }
        let order = try InspectorOrder(request.body)
        let (moment, ordinal) = try self.chosen(order)
        try Self.check(request, moment)
        let recorded = try moment.interaction(ordinal, of: self.cassette)
        var interaction = recorded
        if let text = try order.text("text") {
            let edit = EditService(cassette: self.cassette, moment: moment, tools: self.tools, ordinal: ordinal)
            interaction = try edit.sendable(Array(text.utf8))
        }
        return try SendService(send: send).answer(
            SendService.Order(
                interaction: interaction, recorded: recorded, path: self.cassette.path,
                allowsUnsafe: order.values["unsafe"]?.bool ?? false))
    }

    // MARK: Comparisons

    /// Compares two exchanges by their keys, or the cassette with the older one.
    private func diff(_ body: [UInt8]) throws -> Answer {
        let order = try InspectorOrder(body)
        guard let left = order.values["left"]?.int, let right = order.values["right"]?.int else {
            guard let older, order.values["left"] == nil, order.values["right"] == nil else {
                throw Self.bad("diff", "\"left\" and \"right\" take keys of exchanges")
            }
            let (new, digest) = (self.cassette.path, self.tools.digest)
            var isDone = false
            return .stream(
                Self.lines {
                    guard !isDone else { return nil }
                    isDone = true
                    return try DiffService.lines(old: older, new: new, digest: digest)
                })
        }
        let moment = self.cassette.moment
        guard [left, right].allSatisfy({ $0 >= 1 && $0 <= moment.rows.count }) else {
            throw Self.bad("diff", "there are no such exchanges")
        }
        let (one, other) = (try moment.interaction(left - 1, of: self.cassette), try moment.interaction(right - 1, of: self.cassette))
        let path = self.cassette.path
        return .whole(Self.json(try DiffService.bytes(one, other, old: path, new: path, digest: self.tools.digest)))
    }

    static func lines(_ next: @escaping () throws -> [UInt8]?) -> LocalStream {
        LocalStream(
            head: LocalAnswer(status: 200, reason: "OK", type: "application/x-ndjson", body: []), framing: .chunked, next: next)
    }
}
