internal import ArgumentParser
internal import CassetteTools
internal import TapeProxy
internal import TrafficRules

/// Rules that change the traffic, for the commands that forward or replay.
struct ModifyOptions: ParsableArguments {
    @Option(
        name: .customLong("modify"),
        help: ArgumentHelp(
            "Change the traffic by the rules in this YAML or JSON file: block, map, edit, slow down or break what matches. Repeatable. See docs/traffic-rules.md.",
            valueName: "file"), completion: .file())
    var files: [String] = []

    @Option(
        help: ArgumentHelp(
            "Judge what the client does with answers that failed: its retries, backoff and timeouts. The value is client.",
            valueName: "whom"))
    var verdict: VerdictSubject?

    func lay(over settings: RunSettings) throws -> RunSettings {
        var own = RunSettings()
        own[Settings.modify] = try self.files.map { Setting(value: try RulesFile.read($0), source: .commandLine) }
        return settings.adding(own)
    }
}

extension ModifyOptions {
    /// Over the settings of all sources: limits of a configuration file stay.
    func judging(_ settings: RunSettings) -> RunSettings {
        guard self.verdict != nil, settings[Settings.verdict] == nil else { return settings }
        var settings = settings
        settings[Settings.verdict] = Setting(value: ClientVerdict.Limits(), source: .commandLine)
        return settings
    }
}

/// Who is judged.
enum VerdictSubject: String, ExpressibleByArgument, CaseIterable { case client }

/// A file of traffic rules: a list, or a mapping with `modify`.
enum RulesFile {
    static func read(_ path: String) throws(SettingError) -> RuleList {
        let bytes: [UInt8]
        do {
            bytes = try WholeFile.read(path)
        } catch {
            throw SettingError(error.message)
        }
        guard bytes.count <= ConfigFile.sizeLimit else {
            throw SettingError("\"\(path)\" has more than \(Quantity.bytes(ConfigFile.sizeLimit)): is it the right file?")
        }
        var root = path.hasSuffix(".json") ? try ConfigNode.json(bytes, file: path) : try ConfigNode.yaml(bytes, file: path)
        if case .members(let members) = root.content, let modify = members.first(where: { $0.name == "modify" }) {
            if let other = members.first(where: { $0.name != "modify" }) {
                throw SettingError(
                    "\"\(path)\" line \(other.line): \"\(VisibleText.line(other.name))\" is not a rule: a file of --modify has \"modify\" alone; pass the other settings with --config."
                )
            }
            root = modify.value
        }
        let rules = root.ruleNode
        // Whoever passes a file means its rules, which may all be commented out.
        if case .nothing = rules.content {
            throw SettingError("\"\(path)\" has no rules: write each after \"- \", for example - block: 403, or [] for none.")
        }
        let folder = CassetteGlob.folder(of: CassetteGlob.absolute(path, in: ConfigSearch.workingFolder))
        let list = RuleList(node: rules, file: path, folder: folder)
        do {
            _ = try TrafficRules([list])
        } catch {
            throw SettingError(error.message)
        }
        return list
    }
}
