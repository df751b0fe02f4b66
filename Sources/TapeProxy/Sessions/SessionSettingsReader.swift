internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteRun
internal import TapeBytes
internal import TrafficRules

/// Reads the settings of an order: those that `record`, `run` and `replay` take as options, under the names of the configuration file.
struct SessionSettingsReader {
    static let members = [
        "rules", "repeat", "repeatMatching", "order", "conversation", "ranges", "failOn", "latency", "originErrors", "refreshDates",
        "maxAge", "onExpired",
        "redaction",
        "redact",
        "keep", "secretEnv", "modify", "seed", "verdict",
    ]

    let members: OrderMembers

    func settings() throws(SessionError) -> RunSettings {
        var settings = RunSettings()
        try self.readRules(into: &settings)
        settings.repetition = try self.members.choice("repeat", Repetition.allCases).map(self.setting)
        if let text = try self.members.string("repeatMatching") {
            try self.members.made("repeatMatching") { try RunSettings.checkRepeatMatching(text) }
            settings.repeatMatching = self.setting(text)
        }
        settings.order = try self.members.choice("order", ReplayOrder.allCases).map(self.setting)
        settings.conversation = try self.members.choice("conversation", ConversationOrder.allCases).map(self.setting)
        settings.ranges = try self.members.choice("ranges", RangeReplay.allCases).map(self.setting)
        settings.failOn = try self.failOn()
        if let text = try self.members.string("latency") {
            _ = try self.members.made("latency") { try Latency(text) }
            settings.latency = self.setting(text)
        }
        settings.originErrors = try self.members.choice("originErrors", Failure.Answer.allCases).map(self.setting)
        try self.readDates(into: &settings)
        if let text = try self.members.string("maxAge") {
            settings.maxAge = self.setting(try self.members.made("maxAge") { try Age(text) })
        }
        settings.onExpired = try self.members.choice("onExpired", ExpiryPolicy.allCases).map(self.setting)
        try self.readRedaction(into: &settings)
        try self.readModify(into: &settings)
        return settings
    }

    private func setting<Value>(_ value: Value) -> Setting<Value> { Setting(value: value, source: .session) }

    /// A list of traffic rules, which name no files: the client of a session may be on another machine.
    private func readModify(into settings: inout RunSettings) throws(SessionError) {
        if let value = self.members.value("modify") {
            let list = RuleList(node: RuleNode(value), file: "modify", folder: nil)
            _ = try self.members.made("modify") { try TrafficRules([list]) }
            settings.modify = [Setting(value: list, source: .session)]
        }
        if let value = self.members.value("verdict") {
            settings.verdict = self.setting(
                try self.members.made("verdict") {
                    value.string == "client" ? ClientVerdict.Limits() : try ClientVerdict.Limits(RuleNode(value), file: "verdict")
                })
        }
        guard let value = self.members.value("seed") else { return }
        guard let seed = UInt64(String(decoding: value.raw, as: UTF8.self)) else {
            throw self.members.error("seed", "is not a whole number from 0 to \(UInt64.max): correct it.")
        }
        settings.seed = self.setting(seed)
    }

    private func readRules(into settings: inout RunSettings) throws(SessionError) {
        guard let value = self.members.value("rules") else { return }
        guard value.kind == .object else {
            throw self.members.error(
                "rules",
                "is not an object: use one with match, ignore, patterns, replace, sort, optional or presets, each a list of strings.")
        }
        let rules = try OrderMembers(value, known: MatchRuleTexts.names + ["presets"], prefix: "rules.")
        if let names = try rules.texts("match") {
            _ = try rules.made("match") { try MatchRules(match: names) }
            settings.match = self.setting(names)
        }
        var presets: [Setting<RulePreset>] = []
        for name in try rules.texts("presets") ?? [] {
            presets.append(self.setting(try rules.made("presets") { try RulePreset(name) }))
        }
        settings.add(presets: presets)
        settings.ignore += (try rules.texts("ignore") { _ = try MatchPlace(reaching: $0) } ?? []).map(self.setting)
        settings.patterns += (try rules.texts("patterns") { _ = try PlacePattern($0) } ?? []).map(self.setting)
        settings.replace += (try rules.texts("replace") { _ = try PlaceReplacement($0) } ?? []).map(self.setting)
        settings.sort += (try rules.texts("sort") { _ = try MatchRules.sorted($0) } ?? []).map(self.setting)
        settings.optional += (try rules.texts("optional") { _ = try MatchRules.optional($0) } ?? []).map(self.setting)
    }

    /// A string, or a list of strings.
    private func failOn() throws(SessionError) -> Setting<FailureRule>? {
        guard let value = self.members.value("failOn") else { return nil }
        let names = if let name = value.string { [name] } else { try self.members.texts("failOn") ?? [] }
        let rule = try self.members.made("failOn") { try FailureRule(names: names) }
        // Nothing in a session reads uploads, so that it could not fail.
        guard !rule.others.contains(.lint) else {
            throw self.members.error("failOn", "names lint, which sessions do not have: check the cassette with \"wiretape lint\".")
        }
        return self.setting(rule)
    }

    /// True for header fields only, or a list of places of dates in JSON bodies.
    private func readDates(into settings: inout RunSettings) throws(SessionError) {
        guard let value = self.members.value("refreshDates") else { return }
        if let refreshes = value.bool {
            settings.refreshDates = self.setting(refreshes)
            return
        }
        guard value.kind == .array else {
            throw self.members.error(
                "refreshDates", "is neither true, false nor a list of places: use true, [\"json:/POINTER\"], or omit it.")
        }
        let places = try self.members.texts("refreshDates") ?? []
        _ = try self.members.made("refreshDates") { try RefreshRules(places) }
        settings.refreshDates = self.setting(true)
        settings.refreshFields = places.map(self.setting)
    }

    private func readRedaction(into settings: inout RunSettings) throws(SessionError) {
        settings.redaction = try self.members.bool("redaction").map(self.setting)
        settings.redact = (try self.members.texts("redact") { _ = try RedactionRule($0) } ?? []).map(self.setting)
        settings.keep = (try self.members.texts("keep") { _ = try RedactionException($0) } ?? []).map(self.setting)
        settings.secretEnv = (try self.members.texts("secretEnv") { try Self.checkVariable($0) } ?? []).map(self.setting)
        guard settings.redaction?.value == false else { return }
        guard (settings.redact + settings.keep + settings.secretEnv).isEmpty else {
            throw self.members.error("redaction", "is false, which conflicts with redact, keep and secretEnv: leave out one or the other.")
        }
    }

    private static func checkVariable(_ name: String) throws(SettingError) {
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "=") }) else {
            throw SettingError(
                "\"\(name.prefix(40))\" cannot be the name of a variable; write only the name, such as API_KEY")
        }
    }
}
