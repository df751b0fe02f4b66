public import ArgumentParser
public import TapeProxy

/// What the commands that may record share.
struct RecordOptions: ParsableArguments {
    @Option(help: "\"normal\" syncs to disk at least every second, \"full\" before each answer ends. Default: normal.")
    var durability: ProxyConfiguration.Durability?

    @Option(help: "While the disk is full: \"pass\" lets traffic go on unrecorded, \"refuse\" answers 507. Default: pass.")
    var onDiskFull: ProxyConfiguration.DiskFullPolicy?

    @OptionGroup var redaction: RedactionOptions

    @Flag(help: "Keep secrets in the cassette. They are in everybody's hands who gets it.")
    var noRedaction = false

    @Flag(
        inversion: .prefixedNo,
        help: "Keep the old cassette when the command failed; the recording stays beside it. Default: --keep-on-failure.")
    var keepOnFailure: Bool?

    @Flag(inversion: .prefixedNo, help: "Show what a recording changes, and ask before it takes the old cassette's place.")
    var review: Bool?

    @Flag(help: "With --review: take it without asking.")
    var yes = false

    func validate() throws {
        guard !self.noRedaction || self.redaction.isEmpty else {
            throw ValidationError("--no-redaction does not go together with --redact, --keep and --secret-env.")
        }
        guard self.review != false || !self.yes else { throw ValidationError("--yes answers --review: leave --no-review out.") }
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

extension ProxyConfiguration.Durability: ExpressibleByArgument {}
extension ProxyConfiguration.DiskFullPolicy: ExpressibleByArgument {}
