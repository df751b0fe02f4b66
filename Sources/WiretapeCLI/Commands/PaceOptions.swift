internal import ArgumentParser
internal import CassettePlayback
internal import TapeProxy

/// When recorded answers come and which day they are of, for the commands that replay.
struct PaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long answers take: none, recorded, ×2 or x0.5 times as long as recorded, or 250ms. Default: none.", valueName: "pace"))
    var latency: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Move Date, Expires, Last-Modified, Retry-After and the expiry of cookies by the time since the recording.")
    var refreshDates: Bool?

    @Option(
        help: ArgumentHelp(
            "With --refresh-dates: move the date in a place of JSON bodies as well, json:/POINTER. Repeatable.", valueName: "place"))
    var refreshField: [String] = []

    func validate() throws {
        do {
            _ = try self.latency.map { try Latency($0) }
            _ = try RefreshRules(self.refreshField)
        } catch let error as LatencyError {
            throw ValidationError(error.message)
        } catch let error as MatchRuleError {
            throw ValidationError(error.message + ".")
        }
    }

    func lay(over settings: RunSettings) -> RunSettings {
        var own = RunSettings()
        own.latency = self.latency.map { Setting(value: $0, source: .commandLine) }
        own.refreshDates = self.refreshDates.map { Setting(value: $0, source: .commandLine) }
        own.refreshFields = self.refreshField.map { Setting(value: $0, source: .commandLine) }
        return settings.adding(own)
    }
}
