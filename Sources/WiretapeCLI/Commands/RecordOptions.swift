public import ArgumentParser
internal import TapeCore
public import TapeProxy

/// What the commands that may record share.
struct RecordOptions: ParsableArguments {
    @Option(help: "\"normal\" syncs to disk at least every second, \"full\" before each answer ends.")
    var durability = ProxyConfiguration.Durability.normal

    @Option(help: "While the disk is full: \"pass\" lets traffic go on unrecorded, \"refuse\" answers 507.")
    var onDiskFull = ProxyConfiguration.DiskFullPolicy.pass

    @OptionGroup var redaction: RedactionOptions

    @Flag(help: "Keep secrets in the cassette. They are in everybody's hands who gets it.")
    var noRedaction = false

    @Flag(help: "Let the recording take the old cassette's place though the command failed; else it stays beside it.")
    var keepOnFailure = false

    @Flag(help: "Show what a recording changes, and ask before it takes the old cassette's place.")
    var review = false

    @Flag(help: "With --review: take it without asking.")
    var yes = false

    /// Nil where secrets are kept.
    func redactionRules() throws(RedactionRuleError) -> RedactionRules? {
        self.noRedaction ? nil : try self.redaction.redactionRules()
    }

    func validate() throws {
        guard !self.noRedaction || (self.redaction.rules + self.redaction.keep + self.redaction.secretEnv).isEmpty else {
            throw ValidationError("--no-redaction does not go together with --redact, --keep and --secret-env.")
        }
        guard self.review || !self.yes else { throw ValidationError("--yes answers --review: give both.") }
    }
}

extension ProxyConfiguration.Durability: ExpressibleByArgument {}
extension ProxyConfiguration.DiskFullPolicy: ExpressibleByArgument {}
