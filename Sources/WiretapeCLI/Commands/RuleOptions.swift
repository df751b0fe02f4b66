internal import ArgumentParser
internal import CassettePlayback
internal import TapeProxy

/// How requests are compared, for the commands that record or replay.
struct RuleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What requests are compared by, in place of method,url,body: also scheme, host, port, path, query, query-order, header:NAME, body:json and others, graphql. Comma-separated.",
            valueName: "rules"), transform: { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) })
    var match: [String]?

    @Option(
        help: ArgumentHelp(
            "Leave a place out of the comparison: query:NAME, header:NAME, json:/POINTER, form:NAME, part:NAME, body, … Repeatable.",
            valueName: "place"))
    var ignore: [String] = []

    @Option(
        help: ArgumentHelp(
            "Values of a place that match the expression as a whole count as equal: query:ts=[0-9]+. Repeatable.", valueName: "place=regex")
    )
    var pattern: [String] = []

    func validate() throws {
        do {
            _ = try MatchRules(MatchRuleTexts(match: self.match, ignore: self.ignore, patterns: self.pattern))
        } catch {
            throw ValidationError(error.message + ".")
        }
    }

    func lay(over settings: RunSettings) -> RunSettings {
        var own = RunSettings()
        own.match = self.match.map { Setting(value: $0, source: .commandLine) }
        own.ignore = self.ignore.map { Setting(value: $0, source: .commandLine) }
        own.patterns = self.pattern.map { Setting(value: $0, source: .commandLine) }
        return settings.adding(own)
    }
}
