package import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// What a list of rules would make of one exchange, without sending anything.
package struct ExchangeTrial: Sendable {
    /// A message before and after the rules, as lines of text.
    package struct Change: Sendable, Hashable {
        package var before: [String]
        package var after: [String]

        /// The lines of both, each with `-` if it goes, `+` if it comes, and a space if it stays.
        package var diff: [String] {
            let difference = self.after.difference(from: self.before)
            var gone: Set<Int> = []
            var come: Set<Int> = []
            for change in difference {
                switch change {
                case .remove(let offset, _, _): gone.insert(offset)
                case .insert(let offset, _, _): come.insert(offset)
                }
            }
            var lines: [String] = []
            var (old, new) = (0, 0)
            while old < self.before.count || new < self.after.count {
                if gone.contains(old) {
                    lines.append("- \(self.before[old])")
                    old += 1
                } else if come.contains(new) {
                    lines.append("+ \(self.after[new])")
                    new += 1
                } else {
                    lines.append("  \(self.before[old])")
                    old += 1
                    new += 1
                }
            }
            return lines
        }
    }

    /// An answer to a request: of a cassette, or made by hand.
    package struct Answer: Sendable {
        package var head: ResponseHeadFacts
        /// As sent, with its content codings.
        package var body: [UInt8]

        package init(head: ResponseHeadFacts, body: [UInt8]) {
            self.head = head
            self.body = body
        }
    }

    /// In the order of the list.
    package let trials: [TrafficRuleTrial]
    /// Nil if the request goes on as it is.
    package let request: Change?
    /// Nil if the answer stays as it is, or is not known.
    package let answer: Change?
    /// What else happens, one sentence each: a block, a pause, a pace, a fault.
    package let effects: [String]
    /// What was met on the way.
    package let notes: [String]

    /// Lines of a body that are shown.
    private static let lineLimit = 2000
    private static let widthLimit = 4000

    /// - Parameters:
    ///   - answer: the recorded answer; nil if there is none.
    ///   - seed: for rules whose list has none.
    package init(_ rules: TrafficRules, _ facts: RequestFacts, answer: Answer?, seed: UInt64 = 0) {
        self.init(RuleEngine(rules, seed: seed), facts, answer: answer)
    }

    /// - Parameter engine: one that is used for nothing else, since it counts the request.
    package init(_ engine: RuleEngine, _ facts: RequestFacts, answer: Answer?) {
        let rules = engine.rules
        let (trials, plan) = engine.trial(of: facts)
        self.trials = trials
        var notes = Self.notes(rules, facts)
        var effects: [String] = []
        guard let plan else {
            (self.request, self.answer, self.effects, self.notes) = (nil, nil, [], engine.report().flatMap(\.notes) + notes)
            return
        }
        func name(_ rule: Int) -> String { rules.rules.indices.contains(rule) ? "\"\(rules.rules[rule].name)\"" : "a rule" }
        if let block = plan.block {
            let effect =
                switch block {
                case .status(let status): "The request is answered with \(status)."
                case .close: "The connection is closed."
                case .reset: "The connection is reset."
                }
            effects.append(effect)
        }
        self.request = Self.request(plan, facts, &notes)
        var shown: Change?
        if plan.block == nil {
            if let pause = plan.pausesRequest {
                effects.append("The request waits for up to \(Self.text(pause.wait)) (\(name(pause.rule))).")
            }
            shown = Self.answer(plan, answer, &notes)
            if let pause = plan.pausesResponse {
                effects.append("The answer waits for up to \(Self.text(pause.wait)) (\(name(pause.rule))).")
            }
            if let pause = plan.pausesEvents {
                effects.append("Each event waits for up to \(Self.text(pause.wait)) (\(name(pause.rule))).")
            }
            if let pause = plan.pausesMessages {
                effects.append("Each message waits for up to \(Self.text(pause.wait)) (\(name(pause.rule))).")
            }
            if let pace = plan.pace { effects += Self.effects(of: pace) }
            if let fault = plan.fault { effects.append("\(fault.sentence) (\(name(fault.rule))).") }
        }
        self.answer = shown
        self.effects = effects
        self.notes = engine.report().flatMap(\.notes) + notes
    }

    /// Rules may do something else in a run, whose bodies have secrets where this one has placeholders.
    private static func notes(_ rules: TrafficRules, _ facts: RequestFacts) -> [String] {
        guard rules.needsBody, let body = facts.body, !body.isEmpty else { return [] }
        var hasPlaceholder = false
        PlaceholderTally.forEach(in: CodedBody.decoded(body, facts.headers) ?? body) { _ in hasPlaceholder = true }
        return hasPlaceholder
            ? ["the body of the request has placeholders: conditions on it and draws may differ in a run, which sees the values"] : []
    }

    private static func request(_ plan: ExchangePlan, _ facts: RequestFacts, _ notes: inout [String]) -> Change? {
        guard plan.block == nil else { return nil }
        var head = RequestHeadFacts(method: facts.method, url: plan.target?.url ?? facts.url, headers: facts.headers)
        var body = facts.body ?? []
        if let target = plan.target, head.headers.contains("host") {
            head.headers = head.headers.replacing("host", with: target.authority)
        }
        if let edit = plan.requestEdit {
            let (edited, own) = edit.apply(to: &head, body: body)
            body = edited
            notes += own.map(\.text)
        }
        let change = Change(
            before: self.lines("\(facts.method) \(facts.url)", facts.headers, facts.body ?? []),
            after: self.lines("\(head.method) \(head.url)", head.headers, body))
        return change.before == change.after ? nil : change
    }

    private static func answer(_ plan: ExchangePlan, _ recorded: Answer?, _ notes: inout [String]) -> Change? {
        var answer: Answer
        if let made = plan.answer {
            answer = Answer(head: ResponseHeadFacts(status: made.status, reason: made.reason, headers: made.headers), body: made.body)
        } else if let recorded {
            answer = recorded
        } else {
            return nil
        }
        if let edit = plan.responseEdit {
            let (edited, own) = edit.apply(to: &answer.head, body: answer.body)
            answer.body = edited
            notes += own.map(\.text)
        }
        func lines(_ answer: Answer) -> [String] {
            self.lines("\(answer.head.status) \(answer.head.reason)", answer.head.headers, answer.body)
        }
        let change = Change(before: recorded.map(lines) ?? [], after: lines(answer))
        return change.before == change.after ? nil : change
    }

    private static func effects(of pace: Pace) -> [String] {
        var effects: [String] = []
        if pace.latency > .zero { effects.append("The first byte of the answer comes \(self.text(pace.latency)) late.") }
        for (name, rates) in [("answer", pace.down), ("request", pace.up)] {
            guard let rate = rates.map(\.bytesPerSecond).min() else { continue }
            effects.append("The \(name) passes with at most \(Int(rate)) bytes a second.")
        }
        return effects
    }

    /// A message as text, with control characters as they are. A body that is not text is shown by its size.
    private static func lines(_ first: String, _ headers: HeaderFields, _ body: [UInt8]) -> [String] {
        var lines = [first]
        for index in 0..<headers.count { lines.append(String(decoding: headers.line(at: index).prefix(self.widthLimit), as: UTF8.self)) }
        guard !body.isEmpty else { return lines }
        lines.append("")
        let content = CodedBody.decoded(body, headers) ?? body
        guard let text = String(validating: content, as: UTF8.self), !content.contains(0) else {
            return lines + ["(\(content.count) bytes)"]
        }
        let all = text.split(separator: "\n", omittingEmptySubsequences: false)
        lines += all.prefix(self.lineLimit).map { String($0.prefix(self.widthLimit)) }
        if all.count > self.lineLimit { lines.append("(\(all.count - self.lineLimit) more lines)") }
        return lines
    }

    private static func text(_ time: Duration) -> String {
        let seconds = Quantity.seconds(time)
        return seconds < 1 ? "\(Int((seconds * 1000).rounded())) ms" : seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }
}

extension Fault {
    /// What happens, without a full stop.
    fileprivate var sentence: String {
        switch self.kind {
        case .status(let status, _): "The request is answered with \(status)"
        case .grpc(let status, _): "The call ends with \(status)"
        case .close: "The connection is closed\(self.placeText)"
        case .webSocketClose(let code, _): "The WebSocket is closed with \(code.map { "code \($0)" } ?? "no code")\(self.placeText)"
        case .reset: "The connection is reset\(self.placeText)"
        case .refuse: "The origin seems to refuse the connection"
        case .dns: "The host seems to have no address"
        case .tls(let alert): "The TLS handshake fails with alert \(alert)"
        case .timeout: "Nothing more comes\(self.placeText)"
        case .stall: "The answer stalls\(self.placeText)"
        case .truncate: "The body ends early with its framing right\(self.placeText)"
        case .cut: "The body is cut\(self.placeText)"
        case .garbage: "Garbage breaks the answer\(self.placeText)"
        case .corrupt: "One bit of the body is inverted"
        case .slice(let bytes, _): "The body comes in pieces of \(bytes) bytes"
        case .reorder: "An event or message comes late\(self.placeText)"
        case .repeat: "An event or message comes twice\(self.placeText)"
        case .drop: "An event or message is left out\(self.placeText)"
        }
    }

    private var placeText: String {
        switch self.after {
        case .bytes(let count): " after \(count) bytes"
        case .share(let thousandths): " after \(Double(thousandths) / 10) % of the body"
        case .events(let count): " after \(count) events"
        case .messages(let count): " after \(count) messages"
        case nil: self.part.map { " in the \($0.rawValue)" } ?? ""
        }
    }
}
