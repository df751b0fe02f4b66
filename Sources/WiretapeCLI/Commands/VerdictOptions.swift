public import ArgumentParser
public import CassettePlayback
public import TapeProxy

/// How the recorded exchanges answer, and what is a failure, for the commands that replay.
struct VerdictOptions: ParsableArguments {
    @Option(
        name: .customLong("repeat"),
        help: "What answers once all equal exchanges are used up: nothing (never), the last one, or all again (cycle). Default: never.")
    var repetition: Repetition?

    @Option(help: "With strict, requests have to come in the order of the recording. Default: any.")
    var order: ReplayOrder?

    @Option(
        help: ArgumentHelp(
            "What fails the run, out of miss (exit code 3), unused (4) and order (5), comma-separated; or none. Default: miss, and with strict order also order.",
            valueName: "flaws"),
        transform: { try FailureRule(names: $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)) })
    var failOn: FailureRule?

    @Option(
        help: ArgumentHelp("Write a report of the replay: FILE.json, or FILE.xml for JUnit. Repeatable.", valueName: "file"),
        transform: { try ReportFile($0) })
    var report: [ReportFile] = []

    @Option(
        help: ArgumentHelp(
            "How old the oldest exchange of the cassette may be: a number with s, m, h, d or w behind it.", valueName: "duration"),
        transform: { try Age($0) })
    var maxAge: Age?

    @Option(help: "What happens to an older cassette: warn, fail (exit code 7), or rerecord. Default: warn.")
    var onExpired: ExpiryPolicy?

    func lay(over settings: RunSettings) -> RunSettings {
        var own = RunSettings()
        own.repetition = self.repetition.map { Setting(value: $0, source: .commandLine) }
        own.order = self.order.map { Setting(value: $0, source: .commandLine) }
        own.failOn = self.failOn.map { Setting(value: $0, source: .commandLine) }
        own.maxAge = self.maxAge.map { Setting(value: $0, source: .commandLine) }
        own.onExpired = self.onExpired.map { Setting(value: $0, source: .commandLine) }
        return settings.adding(own)
    }
}

extension Repetition: ExpressibleByArgument {}
extension ReplayOrder: ExpressibleByArgument {}
extension ExpiryPolicy: ExpressibleByArgument {}
