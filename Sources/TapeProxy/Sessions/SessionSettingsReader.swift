internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteRun
internal import TapeBytes
internal import TrafficRules

/// Reads the settings of an order: those that `record`, `run` and `replay` take as options, under the names of the configuration file.
struct SessionSettingsReader {
    /// The members that an order may have for its settings.
    static let members = ["rules"] + Settings.rows.filter { $0.session == .top || $0.session == .own }.map(\.key)

    let members: OrderMembers

    func settings() throws(SessionError) -> RunSettings {
        var settings = RunSettings()
        try self.readRules(into: &settings)
        for row in Settings.rows where row.session == .top {
            for text in try self.members.texts(of: row) {
                try self.members.made(row.key) { try settings.read(row, text, source: .session) }
            }
        }
        // Nothing in a session reads uploads, so that it could not fail.
        guard !settings.value(Settings.failOn).others.contains(.lint) else {
            throw self.members.error("failOn", "names lint, which sessions do not have: check the cassette with \"wiretape lint\".")
        }
        // The process that isolates the program sees what is refused, and the session does not.
        guard !settings.value(Settings.failOn).others.contains(.escapes) else {
            throw self.members.error(
                "failOn", "names escapes, which a session does not see: pass --fail-on escapes to \"wiretape isolate --session\".")
        }
        try self.readDates(into: &settings)
        try self.checkRedaction(settings)
        try self.readModify(into: &settings)
        return settings
    }

    private func setting<Value>(_ value: Value) -> Setting<Value> { Setting(value: value, source: .session) }

    /// A list of traffic rules, which name no files: the client of a session may be on another machine.
    private func readModify(into settings: inout RunSettings) throws(SessionError) {
        if let value = self.members.value("modify") {
            // Whoever sends it may mean rules that were not found.
            guard value.kind != .null else {
                throw self.members.error("modify", "is null: send a list of rules, or leave it out.")
            }
            let list = RuleList(node: RuleNode(value), file: "modify", folder: nil)
            _ = try self.members.made("modify") { try TrafficRules([list]) }
            settings[Settings.modify] = [Setting(value: list, source: .session)]
        }
        if let value = self.members.value("verdict") {
            settings[Settings.verdict] = self.setting(
                try self.members.made("verdict") {
                    value.string == "client" ? ClientVerdict.Limits() : try ClientVerdict.Limits(RuleNode(value), file: "verdict")
                })
        }
    }

    private func readRules(into settings: inout RunSettings) throws(SessionError) {
        guard let value = self.members.value("rules") else { return }
        guard value.kind == .object else {
            throw self.members.error(
                "rules",
                "is not an object: use one with match, ignore, patterns, replace, sort, optional or presets, each a list of strings.")
        }
        let rows = Settings.rows.filter { $0.session == .rules }
        let rules = try OrderMembers(value, known: rows.map(\.key), prefix: "rules.")
        for row in rows {
            for text in try rules.texts(of: row) { try rules.made(row.key) { try settings.read(row, text, source: .session) } }
        }
    }

    /// True for header fields only, or a list of places of dates in JSON bodies.
    private func readDates(into settings: inout RunSettings) throws(SessionError) {
        guard let value = self.members.value("refreshDates") else { return }
        if let refreshes = value.bool {
            settings[Settings.refreshDates] = self.setting(refreshes)
            return
        }
        guard value.kind == .array else {
            throw self.members.error(
                "refreshDates", "is neither true, false nor a list of places: use true, [\"json:/POINTER\"], or omit it.")
        }
        let places = try self.members.texts("refreshDates") ?? []
        _ = try self.members.made("refreshDates") { try RefreshRules(places) }
        settings[Settings.refreshDates] = self.setting(true)
        settings[Settings.refreshFields] = places.map(self.setting)
    }

    private func checkRedaction(_ settings: RunSettings) throws(SessionError) {
        guard !settings.value(Settings.redaction) else { return }
        guard settings[Settings.redact].isEmpty, settings[Settings.keep].isEmpty, settings[Settings.secretEnv].isEmpty else {
            throw self.members.error("redaction", "is false, which conflicts with redact, keep and secretEnv: leave out one or the other.")
        }
    }
}
