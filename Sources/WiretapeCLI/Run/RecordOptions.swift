internal import ArgumentParser
internal import CassetteRedaction
internal import TapeBytes
internal import TapeProxy

/// The options that the recording commands share.
struct RecordOptions: ParsableArguments {
    @OptionGroup var redaction: SettingOptions<RedactionGroup>
    @OptionGroup var reviewing: SettingOptions<ReviewGroup>
    @OptionGroup(title: "How the recording is kept") var kept: SettingOptions<KeepingGroup>
    @OptionGroup(title: "How the recording is kept") var keeping: KeepingOptions

    var yes: Bool { self.keeping.yes }
    var push: Bool { self.keeping.push }
    var shard: String? { self.keeping.shard }

    func validate() throws {
        guard self.kept.settings.value(Settings.redaction) || self.redaction.isEmpty else {
            throw ValidationError("--no-redaction cannot be used together with --redact, --keep or --secret-env.")
        }
        guard self.push || self.shard == nil else { throw ValidationError("--shard adds what --push stores: pass --push, too.") }
        try PushCommand.check(shard: self.shard)
        guard self.reviewing.settings[Settings.review]?.value != false || !self.yes else {
            throw ValidationError("--yes answers --review: omit --no-review.")
        }
    }

    func lay(over settings: RunSettings) -> RunSettings {
        self.redaction.lay(over: self.reviewing.lay(over: self.kept.lay(over: settings)))
    }
}

/// What happens to a recording after it was closed.
struct KeepingOptions: ParsableArguments {
    @Flag(help: "With --review: accept without asking.")
    var yes = false

    @Flag(help: "After a clean close, store the cassette as \"wiretape push\" does.")
    var push = false

    @Option(help: ArgumentHelp("With --push: also add the cassette to the run of this name, for a merge.", valueName: "run"))
    var shard: String?
}

/// Which secrets are removed from a recording, for the commands that write one.
extension SettingOptions where Group == RedactionGroup {
    /// The variables of `--secret-env` that the environment does not have.
    func missing(from environment: (String) -> [UInt8]? = EnvironmentSecret.value) -> [String] {
        self.settings.missingSecrets(secret: environment)
    }

    func redactionRules(environment: (String) -> [UInt8]? = EnvironmentSecret.value) throws(SettingSyntaxError) -> RedactionRules {
        try self.settings.redactionRules(secret: environment) ?? .standard
    }
}
