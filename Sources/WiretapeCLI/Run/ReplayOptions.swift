public import ArgumentParser
internal import CassetteModel
public import CassettePlayback
internal import CassetteStore
internal import CassetteTools
public import TapeProxy

/// How requests are compared, for the commands that record or replay.
struct RuleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Ignore a place in the comparison: query:NAME, header:NAME, json:/POINTER, xml:/a/b, xml:/a/@c, grpc:/FIELD/FIELD, form:NAME, part:NAME, filename:NAME, body, … Repeatable.",
            valueName: "place"))
    var ignore: [String] = []

    @Option(
        help: ArgumentHelp(
            "Values of a place that match the expression as a whole count as equal: query:ts=[0-9]+. Repeatable.", valueName: "place=regex")
    )
    var pattern: [String] = []

    @Option(
        help: ArgumentHelp(
            "Add the rules for a kind of API: \(RulePreset.names.joined(separator: ", ")). \"wiretape config --preset NAME\" prints them. Repeatable.",
            valueName: "name"))
    var preset: [String] = []

    func validate() throws {
        do {
            for name in self.preset { _ = try RulePreset(name) }
            _ = try MatchRules(self.lay(over: RunSettings()).matchTexts)
        } catch {
            throw ValidationError(error.message + ".")
        }
    }

    func lay(over settings: RunSettings) -> RunSettings {
        var own = RunSettings()
        own.add(presets: self.preset.compactMap { RulePreset(rawValue: $0) }.map { Setting(value: $0, source: .commandLine) })
        own.ignore += self.ignore.map { Setting(value: $0, source: .commandLine) }
        own.patterns += self.pattern.map { Setting(value: $0, source: .commandLine) }
        return settings.adding(own)
    }
}

/// The rules that fewer users need.
///
/// A group of its own beside `RuleOptions`, not within it: in debug builds the parser checks groups within groups again and again.
struct MoreRuleOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Rewrite a value on both sides before it is compared: json:/messages/*/content=/REGEX/TEXT/. $1 is a group of the expression. Repeatable.",
            valueName: "place=/regex/text/"))
    var replace: [String] = []

    @Option(
        help: ArgumentHelp("Compare an array in JSON without the order of its elements: json:/tools. Repeatable.", valueName: "place"))
    var sort: [String] = []

    @Option(
        help: ArgumentHelp(
            "A value that may be missing on either side, json:/POINTER or form:NAME. If both have it, it is compared. Repeatable.",
            valueName: "place"))
    var optional: [String] = []

    @Option(
        help: ArgumentHelp(
            "What requests are compared by, instead of method,url,body: also scheme, host, port, path, query, query-order, header:NAME, body:json and others, graphql. Comma-separated.",
            valueName: "rules"), transform: { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) })
    var match: [String]?

    @Option(help: DescriptorOptions.help, completion: .file())
    var descriptors: [String] = []

    func validate() throws {
        do {
            _ = try MatchRules(self.lay(over: RunSettings()).matchTexts)
        } catch {
            throw ValidationError(error.message + ".")
        }
    }

    func lay(over settings: RunSettings) -> RunSettings {
        var own = RunSettings()
        own.match = self.match.map { Setting(value: $0, source: .commandLine) }
        own.replace += self.replace.map { Setting(value: $0, source: .commandLine) }
        own.sort += self.sort.map { Setting(value: $0, source: .commandLine) }
        own.optional += self.optional.map { Setting(value: $0, source: .commandLine) }
        own.descriptors = self.descriptors.map { Setting(value: $0, source: .commandLine) }
        return settings.adding(own)
    }
}

/// The descriptors that name the fields of gRPC messages, for every command that compares or shows them.
struct DescriptorOptions: ParsableArguments {
    static let help = ArgumentHelp(
        "Name the fields of gRPC messages by this file of \"protoc --include_imports --descriptor_set_out\", or a folder of such files. Repeatable.",
        valueName: "file")

    @Option(help: Self.help, completion: .file())
    var descriptors: [String] = []

    /// Nil without the option.
    func schema() throws(CassetteError) -> ProtoSchema? { try DescriptorFiles.schema(self.descriptors) }
}

/// What counts as a failure of a run.
struct FailureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What fails the run: miss (exit code 3), unused (4), order (5), unsearched (6: a recorded body could not be searched for secrets), rules (8: a traffic rule matched nothing, or could not be carried out), client (9: --verdict client found something), escapes (10: with --isolate, the program tried to get past the proxy), lint (11: an upload in the cassette is broken), comma-separated; or none. Default: miss, and with strict order also order. A replay without any request (4) and a damaged cassette (1) fail it, too, except with none.",
            valueName: "flaws"),
        transform: { try FailureRule(names: $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)) })
    var failOn: FailureRule?

    func lay(over settings: RunSettings) -> RunSettings {
        var own = RunSettings()
        own.failOn = self.failOn.map { Setting(value: $0, source: .commandLine) }
        return settings.adding(own)
    }
}

/// The reports of a replay, for the commands that replay one cassette.
struct ReportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Write a report of the replay: FILE.json, or FILE.xml for JUnit. Repeatable.", valueName: "file"),
        completion: .file(), transform: { try ReportFile($0) })
    var report: [ReportFile] = []
}

/// How the recorded exchanges answer, beyond the options that most replays need.
struct AnswerOptions: ParsableArguments {
    @Option(
        name: .customLong("repeat"),
        help: "What answers once all equal exchanges are used up: nothing (never), the last one, or all again (cycle). Default: never.")
    var repetition: Repetition?

    @Option(
        help: ArgumentHelp(
            "Exchanges that match this filter, such as '~u /login', may answer any number of times, whatever --repeat says.",
            valueName: "expression"),
        transform: { text in
            try RunSettings.checkRepeatMatching(text)
            return text
        })
    var repeatMatching: String?

    @Option(help: "With strict, requests must come in the recorded order. Default: any.")
    var order: ReplayOrder?

    @Option(
        help:
            "With strict, a client's messages in a WebSocket or gRPC stream must come in the recorded order; with any, the order does not matter. Default: strict."
    )
    var conversation: ConversationOrder?

    @Option(
        help:
            "With exact, only recorded ranges are answered; with computed, others are made of a whole recorded body or of its recorded parts. Default: computed."
    )
    var ranges: RangeReplay?

    @Option(
        help: ArgumentHelp(
            "Maximum age of the oldest exchange in the cassette: a number followed by s, m, h, d or w.", valueName: "duration"),
        transform: { try Age($0) })
    var maxAge: Age?

    @Option(help: "What happens to an older cassette: warn, fail (exit code 7), or rerecord. Default: warn.")
    var onExpired: ExpiryPolicy?

    func lay(over settings: RunSettings) -> RunSettings {
        var own = RunSettings()
        own.repetition = self.repetition.map { Setting(value: $0, source: .commandLine) }
        own.repeatMatching = self.repeatMatching.map { Setting(value: $0, source: .commandLine) }
        own.order = self.order.map { Setting(value: $0, source: .commandLine) }
        own.conversation = self.conversation.map { Setting(value: $0, source: .commandLine) }
        own.ranges = self.ranges.map { Setting(value: $0, source: .commandLine) }
        own.maxAge = self.maxAge.map { Setting(value: $0, source: .commandLine) }
        own.onExpired = self.onExpired.map { Setting(value: $0, source: .commandLine) }
        return settings.adding(own)
    }
}

extension Repetition: ExpressibleByArgument {}
extension ReplayOrder: ExpressibleByArgument {}
extension ConversationOrder: ExpressibleByArgument {}
extension RangeReplay: ExpressibleByArgument {}
extension ExpiryPolicy: ExpressibleByArgument {}

/// A file for a replay's report: JSON or JUnit XML, by its extension.
struct ReportFile: Sendable, Hashable {
    enum Form: Sendable, Hashable { case json, junit }

    let path: String
    let form: Form

    init(_ path: String) throws(SettingError) {
        if path.hasSuffix(".json") {
            self.form = .json
        } else if path.hasSuffix(".xml") {
            self.form = .junit
        } else {
            throw SettingError("\"\(path)\" is not the name of a report; write one that ends with .json, or with .xml for JUnit")
        }
        self.path = path
    }

    /// - Parameter isolation: nil if the program was not isolated.
    func bytes(_ report: ReplayReport, failOn: FailureRule, isolation: IsolationLines? = nil) -> [UInt8] {
        switch self.form {
        case .json: return Array(VisibleText.whole(isolation?.added(toJSON: report.json) ?? report.json, .json).utf8)
        case .junit:
            var report = report
            if let isolation { report.checks.append(isolation.check(isFailure: failOn.others.contains(.escapes))) }
            return Array(
                VisibleText.whole(report.junit(failOn: failOn.failing.union([.unserved]), failingChecks: failOn.failingChecks), .xml).utf8)
        }
    }
}

/// When recorded answers arrive, and how their dates move, for the commands that replay.
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
            "With --refresh-dates: also move the date at a place in JSON bodies, json:/POINTER. Repeatable.", valueName: "place"))
    var refreshField: [String] = []

    func validate() throws {
        do {
            _ = try self.latency.map { try Latency($0) }
            _ = try RefreshRules(self.refreshField)
        } catch let error as SettingSyntaxError {
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
