public import ArgumentParser
internal import CassetteRedaction
internal import Platform
public import TapeProxy

/// The options that the recording commands share.
struct RecordOptions: ParsableArguments {
    @OptionGroup var redaction: RedactionOptions

    @Flag(inversion: .prefixedNo, help: "Show what a recording changes, and ask before it replaces the old cassette.")
    var review: Bool?

    @OptionGroup(title: "How the recording is kept") var keeping: KeepingOptions

    var durability: ProxyConfiguration.Durability? { self.keeping.durability }
    var onDiskFull: ProxyConfiguration.DiskFullPolicy? { self.keeping.onDiskFull }
    var noRedaction: Bool { self.keeping.noRedaction }
    var keepOnFailure: Bool? { self.keeping.keepOnFailure }
    var yes: Bool { self.keeping.yes }
    var push: Bool { self.keeping.push }
    var shard: String? { self.keeping.shard }

    func validate() throws {
        guard !self.noRedaction || self.redaction.isEmpty else {
            throw ValidationError("--no-redaction cannot be used together with --redact, --keep or --secret-env.")
        }
        guard self.push || self.shard == nil else { throw ValidationError("--shard adds what --push stores: pass --push, too.") }
        try PushCommand.check(shard: self.shard)
        guard self.review != false || !self.yes else { throw ValidationError("--yes answers --review: omit --no-review.") }
    }

    func lay(over settings: RunSettings) -> RunSettings {
        var own = RunSettings()
        own.durability = self.durability.map { Setting(value: $0, source: .commandLine) }
        own.onDiskFull = self.onDiskFull.map { Setting(value: $0, source: .commandLine) }
        own.keepOnFailure = self.keepOnFailure.map { Setting(value: $0, source: .commandLine) }
        own.review = self.review.map { Setting(value: $0, source: .commandLine) }
        own.redaction = self.noRedaction ? Setting(value: false, source: .commandLine) : nil
        return self.redaction.lay(over: settings.adding(own))
    }
}

/// How a recording is kept on the disk, beyond the options that most runs need.
struct KeepingOptions: ParsableArguments {
    @Option(help: "\"normal\" syncs to disk at least every second, \"full\" before each answer ends. Default: normal.")
    var durability: ProxyConfiguration.Durability?

    @Option(help: "While the disk is full: \"pass\" lets traffic go on unrecorded, \"refuse\" answers 507. Default: pass.")
    var onDiskFull: ProxyConfiguration.DiskFullPolicy?

    @Flag(help: "Keep secrets in the cassette: anyone who can read it can read them.")
    var noRedaction = false

    @Flag(
        inversion: .prefixedNo,
        help: "Keep the old cassette if the command fails, with the recording beside it. Default: --keep-on-failure.")
    var keepOnFailure: Bool?

    @Flag(help: "With --review: accept without asking.")
    var yes = false

    @Flag(help: "After a clean close, store the cassette as \"wiretape push\" does.")
    var push = false

    @Option(help: ArgumentHelp("With --push: also add the cassette to the run of this name, for a merge.", valueName: "run"))
    var shard: String?
}

extension ProxyConfiguration.Durability: ExpressibleByArgument {}
extension ProxyConfiguration.DiskFullPolicy: ExpressibleByArgument {}

/// Which secrets are removed from a recording, for the commands that write one.
struct RedactionOptions: ParsableArguments {
    @Option(
        name: .customLong("redact"),
        help: ArgumentHelp(
            "Also remove: header:NAME, query:NAME, json:/POINTER, xml:/a/b, xml:/a/@c, grpc:/FIELD/FIELD, form:NAME, part:NAME, or one of them or text with =REGEX.",
            valueName: "rule"))
    var rules: [String] = []

    @Option(
        help: ArgumentHelp(
            "Keep what would be removed: a place as above, a kind such as jwt, jwt:CLAIM, in placeholders shape:uuid or shape:length, or one body by body:sha256:HEX.",
            valueName: "place|kind"))
    var keep: [String] = []

    @Option(help: ArgumentHelp("Remove the value of an environment variable wherever it appears.", valueName: "name"))
    var secretEnv: [String] = []

    /// The variables of `--secret-env` that the environment does not have.
    func missing(from environment: (String) -> [UInt8]? = Self.variable) -> [String] {
        self.lay(over: RunSettings()).missingSecrets(secret: environment)
    }

    func redactionRules(environment: (String) -> [UInt8]? = Self.variable) throws(SettingSyntaxError) -> RedactionRules {
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

    /// The bytes of a variable's value: a secret need not be UTF-8.
    static func variable(_ name: String) -> [UInt8]? {
        guard let value = getenv(name) else { return nil }
        // SAFETY: each value in the environment ends with a NUL, and nothing changes it while the command line is parsed.
        return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }
}
