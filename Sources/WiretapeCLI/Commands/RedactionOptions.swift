internal import ArgumentParser
internal import CassetteRedaction
internal import Platform
internal import TapeProxy

/// What is taken out of a recording, for the commands that write one.
struct RedactionOptions: ParsableArguments {
    @Option(
        name: .customLong("redact"),
        help: ArgumentHelp(
            "Takes out more: header:NAME, query:NAME, json:/POINTER, form:NAME, part:NAME, or one of them or text with =REGEX.",
            valueName: "rule"))
    var rules: [String] = []

    @Option(help: ArgumentHelp("Leaves in what would be taken out: a place as above, or a kind like jwt.", valueName: "place|kind"))
    var keep: [String] = []

    @Option(help: ArgumentHelp("Takes out the value of an environment variable, wherever it stands.", valueName: "name"))
    var secretEnv: [String] = []

    /// Those of `--secret-env` that the environment does not hold.
    func missing(from environment: (String) -> [UInt8]? = Self.variable) -> [String] {
        self.lay(over: RunSettings()).missingSecrets(secret: environment)
    }

    func redactionRules(environment: (String) -> [UInt8]? = Self.variable) throws(RedactionRuleError) -> RedactionRules {
        try self.lay(over: RunSettings()).redactionRules(secret: environment) ?? .standard
    }

    var isEmpty: Bool { self.rules.isEmpty && self.keep.isEmpty && self.secretEnv.isEmpty }

    func lay(over settings: RunSettings) -> RunSettings {
        var own = RunSettings()
        own.redact = self.rules.map { Setting(value: $0, source: .commandLine) }
        own.keep = self.keep.map { Setting(value: $0, source: .commandLine) }
        own.secretEnv = self.secretEnv.map { Setting(value: $0, source: .commandLine) }
        return settings.adding(own)
    }

    func validate() throws {
        do {
            _ = try self.redactionRules()
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// A variable's octets: nobody says that a secret is UTF-8.
    static func variable(_ name: String) -> [UInt8]? {
        guard let value = getenv(name) else { return nil }
        // SAFETY: the environment ends each value with a NUL, and nothing changes it while the command line is read.
        return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }
}
