internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import CassetteTools
internal import TapeProxy
internal import TapeTrust
internal import TrafficRules

/// Reads settings from a configuration file's values and checks each of them.
struct ConfigReader {
    /// The name for errors.
    let file: String

    /// - Parameters:
    ///   - section: the cassettes that the settings are for; nil outside of sections.
    ///   - sections: receives the members of `cassettes`, which a section cannot have.
    func settings(
        _ node: ConfigNode, section: String? = nil, sections: (ConfigNode.Member) throws(SettingError) -> Void
    ) throws(SettingError) -> RunSettings {
        var settings = RunSettings()
        guard node.content != .nothing else { return settings }
        guard case .members(let members) = node.content else {
            throw self.error(node.line, "expected settings, each a name, a colon and a value")
        }
        for member in members {
            if member.name == ConfigKey.cassettes {
                guard section == nil, case .members(let parts) = member.value.content else {
                    throw self.error(
                        member.line, "\"cassettes\" takes names of cassettes with settings below each, and only at the file's top level")
                }
                for part in parts { try sections(part) }
                continue
            }
            // Read apart: see `prices`.
            if member.name == ConfigKey.prices, section == nil { continue }
            guard let row = Settings.rows.first(where: { $0.key == member.name && $0.isOfFiles }) else { throw self.unknown(member) }
            try self.read(row, member, section, into: &settings)
        }
        return settings
    }

    /// The prices of tokens, which are no setting of a run.
    func prices(_ node: ConfigNode) throws(SettingError) -> [TokenPrice] {
        guard case .members(let members) = node.content, let member = members.last(where: { $0.name == ConfigKey.prices }) else {
            return []
        }
        let nodes: [ConfigNode]
        switch member.value.content {
        case .list(let list): nodes = list
        case .text: nodes = [member.value]
        case .nothing, .members:
            throw self.error(member.line, "\"prices\" takes a list of strings such as gpt-5=1.25,10,0.125")
        }
        var prices: [TokenPrice] = []
        for node in nodes {
            guard case .text(let text) = node.content else {
                throw self.error(node.line, "\"prices\" takes a list of strings such as gpt-5=1.25,10,0.125")
            }
            do throws(TokenPrice.SyntaxError) {
                prices.append(try TokenPrice(text))
            } catch {
                throw self.error(node.line, "\"prices\": \(VisibleText.line("\(error)"))")
            }
        }
        return prices
    }

    private func read(
        _ row: SettingRow, _ member: ConfigNode.Member, _ section: String?, into settings: inout RunSettings
    ) throws(SettingError) {
        let reading = Reading(file: self.file, member: member, section: section)
        switch row.key {
        case Settings.modify.row.key: settings[Settings.modify] = [try reading.rules()]
        case Settings.verdict.row.key: settings[Settings.verdict] = try reading.verdict()
        default:
            for (text, line) in try reading.texts(of: row) {
                let source = SettingSource.file(self.file, line: line, section: section)
                try reading.made(line) {
                    try Self.checks[row.key]?(text)
                    try settings.read(row, row.isPath ? self.path(text) : text, source: source)
                }
            }
        }
    }

    /// Checks of values that only this program can make.
    private static let checks: [String: @Sendable (String) throws -> Void] = [
        Settings.store.row.key: { _ = try StoreSetting.address($0) }, Settings.endpoint.row.key: { _ = try StoreSetting.endpoint($0) },
    ]

    /// Paths are relative to the file's folder, because a run may start in any folder below it.
    private func path(_ text: String) throws -> String {
        guard !text.isEmpty else { throw SettingError("\"\" is not a path; write one, or omit the setting") }
        guard !text.hasPrefix("/"), let slash = self.file.lastIndex(of: "/") else { return text }
        return String(self.file[...slash]) + text
    }

    private func unknown(_ member: ConfigNode.Member) -> SettingError {
        let shown = VisibleText.line(String(member.name.prefix(60)))
        if let near = ConfigKey.nearest(to: member.name) {
            return self.error(member.line, "\"\(shown)\" is not a setting; did you mean \"\(near)\"?")
        }
        return self.error(
            member.line, "\"\(shown)\" is not a setting; the settings are \(ConfigKey.all.joined(separator: ", ")).")
    }

    private func error(_ line: Int, _ problem: String) -> SettingError { SettingError("\"\(self.file)\" line \(line): \(problem)") }

    /// One setting being read.
    private struct Reading {
        let file: String
        let member: ConfigNode.Member
        let section: String?

        private func setting<Value>(_ value: Value, _ line: Int) -> Setting<Value> {
            Setting(value: value, source: .file(self.file, line: line, section: self.section))
        }

        private func error(_ line: Int, _ problem: String) -> SettingError {
            SettingError("\"\(self.file)\" line \(line), \"\(self.member.name)\": \(VisibleText.line(problem))")
        }

        func made(_ line: Int, _ make: () throws -> Void) throws(SettingError) {
            do {
                try make()
            } catch {
                throw self.error(line, "\(error)")
            }
        }

        /// The texts of a setting's values, with their lines.
        func texts(of row: SettingRow) throws(SettingError) -> [(text: String, line: Int)] {
            let lines = try self.lines()
            switch row.form {
            case .list: return lines
            // `a,b` is the same as a list of both.
            case .names: return [(lines.map(\.text).joined(separator: ","), self.member.value.line)]
            case .text, .shaped, .choice, .flag, .number, .other:
                guard lines.count == 1 else { throw self.error(self.member.value.line, "expected one value, not a list") }
                return lines
            }
        }

        /// Each text with its line; a single one needs no list.
        private func lines() throws(SettingError) -> [(text: String, line: Int)] {
            let value = self.member.value
            switch value.content {
            case .text(let text): return [(text, value.line)]
            case .nothing: throw self.error(value.line, "there is no value; write one, or omit the setting")
            case .members:
                throw self.error(value.line, "expected a string or a list of strings; write \"PLACE:NAME\" without a space, in quotes")
            case .list(let nodes):
                var lines: [(text: String, line: Int)] = []
                for node in nodes {
                    guard case .text(let text) = node.content else {
                        throw self.error(node.line, "expected a list of strings; write \"PLACE:NAME\" without a space, in quotes")
                    }
                    lines.append((text, node.line))
                }
                return lines
            }
        }

        /// The rules that change the traffic.
        func rules() throws(SettingError) -> Setting<RuleList> {
            if case .nothing = self.member.value.content {
                throw self.error(self.member.line, "there are no rules; write some, or omit the setting")
            }
            let list = RuleList(
                node: self.member.value.ruleNode, file: self.file,
                folder: CassetteGlob.folder(of: CassetteGlob.absolute(self.file, in: ConfigSearch.workingFolder)))
            do {
                _ = try TrafficRules([list])
            } catch {
                throw SettingError(error.message)
            }
            return self.setting(list, self.member.line)
        }

        /// `client`, or the limits of the verdict on the client.
        func verdict() throws(SettingError) -> Setting<ClientVerdict.Limits?> {
            if case .text("client") = self.member.value.content { return self.setting(ClientVerdict.Limits(), self.member.line) }
            guard case .members = self.member.value.content else {
                throw self.error(self.member.line, "write client, or members such as stormCount: 20")
            }
            do {
                return self.setting(try ClientVerdict.Limits(self.member.value.ruleNode, file: self.file), self.member.line)
            } catch {
                throw SettingError(error.message)
            }
        }
    }
}

/// The names of settings in a configuration file.
enum ConfigKey {
    /// Settings for cassettes by name.
    static let cassettes = "cassettes"
    /// What tokens cost, for `inspect --usage`.
    static let prices = "prices"
    static let all = Settings.rows.filter(\.isOfFiles).map(\.key) + [cassettes, prices]

    /// The name that was probably meant by an unknown one; nil if none is close.
    ///
    /// Ignores case, hyphens and underscores, and allows two edits.
    static func nearest(to name: String) -> String? {
        let wanted = self.folded(name)
        // Far longer than any name, so it is not a typing error.
        guard wanted.count <= 40 else { return nil }
        let near = self.all.map { (key: $0, distance: self.distance(wanted, self.folded($0))) }
        guard let best = near.min(by: { $0.distance < $1.distance }), best.distance <= 2, best.distance < wanted.count else { return nil }
        return best.key
    }

    private static func folded(_ name: String) -> [UInt8] {
        name.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
    }

    /// Insertions, deletions, replacements and transpositions of letters.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var next = [index + 1]
            for (column, other) in right.enumerated() {
                var best = min(row[column] + (byte == other ? 0 : 1), row[column + 1] + 1, next[column] + 1)
                if index > 0, column > 0, byte == right[column - 1], left[index - 1] == other { best = min(best, before[column - 1] + 1) }
                next.append(best)
            }
            (before, row) = (row, next)
        }
        return row[right.count]
    }
}
