internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes
internal import TapeProxy
internal import TrafficRules

/// A request that the traffic rules in force are tried on. Nothing is sent.
struct RuleTrialOptions: ParsableArguments {
    @Option(
        name: .customLong("try"),
        help: ArgumentHelp(
            "Show what the traffic rules in force do with this request: a method and a URL, such as 'POST https://example.com/pay'.",
            valueName: "request"))
    var request: String?

    @Option(
        name: [.customShort("d"), .customLong("data")],
        help: ArgumentHelp("With --try, the body of the request, or @FILE for the bytes of a file.", valueName: "body"))
    var body: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("With --try, a field of the request: 'NAME: VALUE'. Repeatable.", valueName: "field"))
    var fields: [String] = []

    @Option(help: ArgumentHelp("Try the rules on the exchange of the cassette with this number, with its recorded answer.", valueName: "n"))
    var exchange: Int?

    func validate() throws {
        guard self.request != nil || self.body == nil && self.fields.isEmpty else {
            throw ValidationError("--data and --header are for the request of --try: add --try 'METHOD URL'.")
        }
    }

    var isAsked: Bool { self.request != nil || self.exchange != nil }

    /// - Parameter cassette: where `--exchange` is.
    func trial(_ settings: RunSettings, cassette path: String?) throws -> ExchangeTrial {
        let match = try MatchRules.standard.adding(settings.matchTexts)
        guard let engine = try settings.ruleEngine(match: match), !engine.isEmpty else {
            throw SettingError(
                "there are no traffic rules to try: pass some with --modify, or write them under \"modify\" in wiretape.yaml.")
        }
        var facts: RequestFacts?
        var answer: ExchangeTrial.Answer?
        if let exchange {
            guard let path else { throw SettingError("--exchange needs the cassette that has it: name its file.") }
            (facts, answer) = try Self.recorded(exchange, path)
        }
        if let request { facts = try self.facts(request) }
        guard let facts else { throw SettingError("there is no request: pass --try 'METHOD URL' or --exchange.") }
        return ExchangeTrial(engine, facts, answer: answer)
    }

    private func facts(_ text: String) throws(SettingError) -> RequestFacts {
        let words = text.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
        let body = try self.body.map { (text) throws(SettingError) in try Self.bytes(text) }
        let method = words.count > 1 ? words[0] : body == nil ? "GET" : "POST"
        guard (1...2).contains(words.count), var facts = RequestFacts(method: method, writtenURL: words.last ?? "", body: body) else {
            throw SettingError(
                "--try \"\(VisibleText.line(text))\" is not a request: write a method and an absolute URL, for example 'POST https://example.com/pay'."
            )
        }
        for field in self.fields {
            guard let colon = field.firstIndex(of: ":"), colon != field.startIndex, field.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
                throw SettingError("--header \"\(VisibleText.line(field))\" is not a field: write 'NAME: VALUE'.")
            }
            let value = field[field.index(after: colon)...].drop { $0 == " " }
            facts.headers.append(name: String(field[..<colon]), value: String(value))
        }
        if let body {
            if !facts.headers.contains("content-type") {
                let isJSON = body.first == UInt8(ascii: "{") || body.first == UInt8(ascii: "[")
                facts.headers.append(name: "Content-Type", value: isJSON ? "application/json" : "application/x-www-form-urlencoded")
            }
            facts.headers.append(name: "Content-Length", value: "\(body.count)")
        }
        return facts
    }

    /// As curl reads `--data-binary`.
    private static func bytes(_ text: String) throws(SettingError) -> [UInt8] {
        guard text.first == "@" else { return Array(text.utf8) }
        let path = String(text.dropFirst())
        do {
            return try WholeFile.read(path)
        } catch {
            throw SettingError("--data \"\(VisibleText.line(text))\" names a file that cannot be read: \(error.message)")
        }
    }

    private static func recorded(_ number: Int, _ path: String) throws -> (RequestFacts, ExchangeTrial.Answer?) {
        let cassette = try CareCommand.cassette(path)
        guard (1...max(1, cassette.count)).contains(number), cassette.count > 0 else {
            throw SettingError("\"\(VisibleText.line(path))\" has no exchange \(number): it has \(cassette.count).")
        }
        let interaction = try cassette.interaction(at: number - 1)
        let reader = BodyReader(cassettePath: path)
        func wire(_ body: Body?) throws -> [UInt8]? { try body.map { try reader.wireBytes(of: $0, digest: CareCommand.digest).bytes } }
        let request = interaction.request
        let facts = RequestFacts(
            method: request.method, url: request.url, version: request.version, headers: request.headers, body: try wire(request.body),
            opensWebSocket: interaction.webSocket != nil, isGRPC: GRPCType(request.headers) != nil)
        guard let response = interaction.response else { return (facts, nil) }
        return (
            facts,
            ExchangeTrial.Answer(
                head: ResponseHeadFacts(
                    status: response.status, reason: String(decoding: response.reason, as: UTF8.self), headers: response.headers),
                body: try wire(response.body) ?? [])
        )
    }
}

extension ExchangeTrial {
    /// For people.
    var lines: [String] {
        var lines: [String] = []
        for trial in self.trials {
            let name = "\"\(VisibleText.line(trial.name))\" (\(trial.kind.rawValue), \(VisibleText.line(trial.place.description)))"
            let line =
                switch trial.outcome {
                case .applies: "\(name) applies"
                case .off: "\(name) is switched off"
                case .unmatched(let part): "\(name) does not match: \(VisibleText.line(part)) does not hold"
                case .preceded(let other): "\(name) matches, but \"\(VisibleText.line(other))\" comes first"
                case .notDrawn(let why): "\(name) matches, but does not apply: \(VisibleText.line(why))"
                }
            lines.append(line)
        }
        for (title, change) in [("The request:", self.request), ("The answer:", self.answer)] {
            guard let change else { continue }
            lines += ["", title] + change.diff.map { "  \(VisibleText.line($0))" }
        }
        if !self.effects.isEmpty { lines += [""] + self.effects.map(VisibleText.line) }
        if !self.notes.isEmpty { lines += [""] + self.notes.map { "Note: \(VisibleText.line($0))" } }
        return lines
    }

    /// An object of JSON.
    var json: [UInt8] {
        var writer = JSONWriter()
        func array(_ name: StaticString, _ texts: [String]) {
            writer.member(name)
            writer.beginArray(.lines)
            for text in texts {
                writer.element()
                writer.string(text)
            }
            writer.endArray()
        }
        writer.beginObject(.lines)
        writer.member("rules")
        writer.beginArray(.lines)
        for trial in self.trials {
            writer.element()
            writer.beginObject(.inline)
            func string(_ name: StaticString, _ value: String) {
                writer.member(name)
                writer.string(value)
            }
            string("name", trial.name)
            string("kind", trial.kind.rawValue)
            string("file", trial.place.file)
            writer.member("line")
            writer.integer(trial.place.line)
            switch trial.outcome {
            case .applies: string("outcome", "applies")
            case .off: string("outcome", "off")
            case .unmatched(let part):
                string("outcome", "unmatched")
                string("part", part)
            case .preceded(let other):
                string("outcome", "preceded")
                string("by", other)
            case .notDrawn(let why):
                string("outcome", "not-drawn")
                string("why", why)
            }
            writer.endObject()
        }
        writer.endArray()
        if let request { array("request", request.diff) }
        if let answer { array("answer", answer.diff) }
        array("effects", self.effects)
        array("notes", self.notes)
        writer.endObject()
        return writer.bytes + [10]
    }
}
