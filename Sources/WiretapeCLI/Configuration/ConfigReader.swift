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
            guard let key = ConfigKey(rawValue: member.name) else { throw self.unknown(member) }
            if key == .cassettes {
                guard section == nil, case .members(let parts) = member.value.content else {
                    throw self.error(
                        member.line, "\"cassettes\" takes names of cassettes with settings below each, and only at the file's top level")
                }
                for part in parts { try sections(part) }
                continue
            }
            try self.read(key, member, section, into: &settings)
        }
        return settings
    }

    private func read(
        _ key: ConfigKey, _ member: ConfigNode.Member, _ section: String?, into settings: inout RunSettings
    ) throws(SettingError) {
        let reading = Reading(file: self.file, member: member, section: section)
        switch key {
        case .mode: settings.mode = try reading.choice(of: RecordMode.forRuns)
        case .match: settings.match = try reading.matchNames()
        case .presets: settings.add(presets: try reading.list { try RulePreset($0) })
        case .ignore: settings.ignore += try reading.texts { _ = try MatchPlace(reaching: $0) }
        case .patterns: settings.patterns += try reading.texts { _ = try PlacePattern($0) }
        case .replace: settings.replace += try reading.texts { _ = try PlaceReplacement($0) }
        case .sort: settings.sort += try reading.texts { _ = try MatchRules.sorted($0) }
        case .optional: settings.optional += try reading.texts { _ = try MatchRules.optional($0) }
        case .descriptors: settings.descriptors = try reading.list { try self.path($0) }
        case .redact: settings.redact = try reading.texts { _ = try RedactionRule($0) }
        case .keep: settings.keep = try reading.texts { _ = try RedactionException($0) }
        case .secretEnv: settings.secretEnv = try reading.texts { try Self.checkVariable($0) }
        case .repetition: settings.repetition = try reading.choice()
        case .repeatMatching:
            settings.repeatMatching = try reading.one { text in
                do {
                    try RunSettings.checkRepeatMatching(text)
                } catch let error as SettingSyntaxError {
                    throw SettingError(error.message)
                }
                return text
            }
        case .order: settings.order = try reading.choice()
        case .conversation: settings.conversation = try reading.choice()
        case .ranges: settings.ranges = try reading.choice()
        case .latency:
            settings.latency = try reading.one { text in
                do {
                    _ = try Latency(text)
                } catch let error as SettingSyntaxError {
                    throw SettingError(error.message)
                }
                return text
            }
        case .originErrors: settings.originErrors = try reading.choice()
        case .refreshDates: settings.refreshDates = try reading.flag()
        case .refreshFields: settings.refreshFields = try reading.texts { _ = try RefreshRules([$0]) }
        case .failOn: settings.failOn = try reading.failOn()
        case .maxAge: settings.maxAge = try reading.one { try Age($0) }
        case .onExpired: settings.onExpired = try reading.choice()
        case .keepOnFailure: settings.keepOnFailure = try reading.flag()
        case .review: settings.review = try reading.flag()
        case .durability: settings.durability = try reading.choice()
        case .onDiskFull: settings.onDiskFull = try reading.choice()
        case .modify: settings.modify = [try reading.rules()]
        case .verdict: settings.verdict = try reading.verdict()
        case .seed: settings.seed = try reading.one { try Self.seed($0) }
        case .listen: settings.listen = try reading.one { try Self.address($0) }
        case .grace: settings.grace = try reading.one { try Self.grace($0) }
        case .passthrough: settings.passthrough = try reading.list { try HostPattern($0) }
        case .refuse: settings.refuse = try reading.list { try HostPattern($0) }
        case .upstreamCA: settings.upstreamCA = try reading.list { try self.path($0) }
        case .insecureUpstream: settings.insecureUpstream = try reading.list { try HostPattern($0) }
        case .store: settings.store = try reading.one { try StoreSetting.address($0) }
        case .endpoint: settings.endpoint = try reading.one { try StoreSetting.endpoint($0) }
        case .region: settings.region = try reading.one { $0 }
        case .pathStyle: settings.pathStyle = try reading.flag()
        case .fetch: settings.fetch = try reading.flag()
        case .cassettes: break
        }
    }

    private static func checkVariable(_ name: String) throws {
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "=") }) else {
            throw SettingError("\"\(name)\" cannot be the name of a variable; write the name alone, for example API_KEY")
        }
    }

    static func seed(_ text: String) throws -> UInt64 {
        guard let seed = UInt64(text), text.utf8.allSatisfy({ 48...57 ~= $0 }) else {
            throw SettingError("\"\(text)\" is not a seed; write a whole number from 0 to \(UInt64.max)")
        }
        return seed
    }

    private static func address(_ text: String) throws -> ListenAddress {
        guard let address = ListenAddress(argument: text) else {
            throw SettingError("\"\(text)\" is not an address to listen on; write HOST:PORT, for example \"127.0.0.1:7070\"")
        }
        return address
    }

    private static func grace(_ text: String) throws -> Int {
        guard let seconds = Int(text), ProxyOptions.graces.contains(seconds), text.utf8.allSatisfy({ 48...57 ~= $0 }) else {
            throw SettingError("\"\(text)\" is not a number of seconds from 0 to \(ProxyOptions.graces.upperBound)")
        }
        return seconds
    }

    /// Paths are relative to the file's folder, because a run may start in any folder below it.
    private func path(_ text: String) throws -> String {
        guard !text.isEmpty else { throw SettingError("\"\" is not a path; write one, or omit the setting") }
        guard !text.hasPrefix("/"), let slash = self.file.lastIndex(of: "/") else { return text }
        return String(self.file[...slash]) + text
    }

    private func unknown(_ member: ConfigNode.Member) -> SettingError {
        let shown = VisibleText.line(String(member.name.prefix(60)))
        if let near = ConfigKey.nearest(to: member.name) {
            return self.error(member.line, "\"\(shown)\" is not a setting; did you mean \"\(near.rawValue)\"?")
        }
        return self.error(
            member.line, "\"\(shown)\" is not a setting; the settings are \(ConfigKey.allCases.map(\.rawValue).joined(separator: ", ")).")
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

        private func made<Value>(_ text: String, _ line: Int, _ make: (String) throws -> Value) throws(SettingError) -> Value {
            do {
                return try make(text)
            } catch {
                throw self.error(line, "\(error)")
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

        func list<Value>(_ make: (String) throws -> Value) throws(SettingError) -> [Setting<Value>] {
            var settings: [Setting<Value>] = []
            for (text, line) in try self.lines() { settings.append(self.setting(try self.made(text, line, make), line)) }
            return settings
        }

        func texts(_ check: (String) throws -> Void) throws(SettingError) -> [Setting<String>] {
            try self.list { text in
                try check(text)
                return text
            }
        }

        func one<Value>(_ make: (String) throws -> Value) throws(SettingError) -> Setting<Value> {
            let lines = try self.lines()
            guard let (text, line) = lines.first, lines.count == 1 else {
                throw self.error(self.member.value.line, "expected one value, not a list")
            }
            return self.setting(try self.made(text, line, make), line)
        }

        func choice<Value: RawRepresentable & CaseIterable & Equatable>() throws(SettingError) -> Setting<Value>
        where Value.RawValue == String {
            try self.choice(of: Array(Value.allCases))
        }

        func choice<Value: RawRepresentable & Equatable>(of values: [Value]) throws(SettingError) -> Setting<Value>
        where Value.RawValue == String {
            try self.one { text in
                guard let value = Value(rawValue: text), values.contains(value) else {
                    throw SettingError("\"\(text)\" is not known; write \(values.map(\.rawValue).joined(separator: ", "))")
                }
                return value
            }
        }

        /// Rejects YAML's other booleans: `no` is also the country code of Norway.
        func flag() throws(SettingError) -> Setting<Bool> {
            try self.one { text in
                switch text {
                case "true": return true
                case "false": return false
                default: throw SettingError("\"\(text)\" is neither true nor false; write one of them")
                }
            }
        }

        /// `a,b` is the same as a list of both.
        private func names() throws(SettingError) -> (names: [String], line: Int) {
            let names = try self.lines().flatMap { $0.text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
            return (names.map { String($0.drop { $0 == " " }) }, self.member.value.line)
        }

        func matchNames() throws(SettingError) -> Setting<[String]> {
            let (names, line) = try self.names()
            do {
                _ = try MatchRules(match: names)
            } catch {
                throw self.error(line, error.message)
            }
            return self.setting(names, line)
        }

        /// The rules that change the traffic.
        func rules() throws(SettingError) -> Setting<RuleList> {
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
        func verdict() throws(SettingError) -> Setting<ClientVerdict.Limits> {
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

        func failOn() throws(SettingError) -> Setting<FailureRule> {
            let (names, line) = try self.names()
            do {
                return self.setting(try FailureRule(names: names), line)
            } catch {
                throw self.error(line, error.message)
            }
        }
    }
}

/// A name of a setting in a configuration file.
enum ConfigKey: String, CaseIterable {
    case mode, presets, match, ignore, patterns, replace, sort, optional, descriptors, redact, keep, secretEnv
    case repetition = "repeat"
    case repeatMatching, order, conversation, ranges, latency, originErrors, refreshDates, refreshFields, failOn, maxAge, onExpired,
        keepOnFailure, review,
        durability,
        onDiskFull
    case modify, seed, verdict
    case listen, grace, passthrough, refuse, upstreamCA, insecureUpstream
    case store, endpoint, region, pathStyle, fetch
    /// Settings for cassettes by name.
    case cassettes

    /// The name that was probably meant by an unknown one; nil if none is close.
    ///
    /// Ignores case, hyphens and underscores, and allows two edits.
    static func nearest(to name: String) -> ConfigKey? {
        let wanted = self.folded(name)
        // Far longer than any name, so it is not a typing error.
        guard wanted.count <= 40 else { return nil }
        let near = self.allCases.map { (key: $0, distance: self.distance(wanted, self.folded($0.rawValue))) }
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
