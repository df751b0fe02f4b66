internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteTools
internal import TapeBytes
internal import TapeProxy

struct SuggestCommand: ParsableCommand, ReadsCassettes {
    static let configuration = CommandConfiguration(
        commandName: "suggest",
        abstract: "Suggest match rules from two recordings of the same run.",
        discussion: """
            Record the same run twice. Each place in which the requests differ gets the narrowest rule that makes them equal: a pattern, \
            a replacement, a sorted array, an optional value, or a place to ignore. Nothing is written without --write. A rule that \
            would also make different requests of the recording equal is marked, and --write leaves it out unless --only names it.

            With one cassette, prints the presets that fit its requests, and what each of their rules would make equal.

            Exit codes: 0 nothing to suggest, 1 something suggested, 2 a cassette could not be read.

            Examples:
              wiretape suggest pets.json other-run.json
              wiretape suggest pets.json other-run.json --write --only 1,3
              wiretape suggest pets.json
            """)

    @Argument(help: "The cassette that the rules are for.", completion: .file())
    var file: String

    @Argument(help: "A recording of the same run.", completion: .file())
    var other: String?

    @Flag(help: "Write the rules into the head of the first cassette.")
    var write = false

    @Option(
        help: ArgumentHelp("With --write: only the rules with these numbers, comma-separated.", valueName: "numbers"),
        transform: { try SuggestCommand.numbers($0) })
    var only: [Int]?

    @OptionGroup var fetching: FetchOptions

    static let failure = ExitStatus.trouble

    mutating func forEachCassette(_ change: (inout String) throws -> Void) rethrows {
        try change(&self.file)
        if var file = self.other {
            try change(&file)
            self.other = file
        }
    }

    func validate() throws {
        guard self.other != nil || !self.write else {
            throw ValidationError("--write needs two recordings: pass another one of the same run.")
        }
        guard self.write || self.only == nil else { throw ValidationError("--only goes with --write: pass both.") }
    }

    private static func numbers(_ text: String) throws -> [Int] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            guard let number = Int(word), number > 0 else {
                throw ValidationError("\"\(text.prefix(40))\" is not a list of numbers; write for example 1,3")
            }
            return number
        }
    }

    func run() throws {
        SignalThread.end(saying: CareCommand.ended(self.file, done: "with its rules"))
        guard try !self.suggest() else { throw ExitCode(ExitStatus.different) }
    }

    /// - Returns: whether anything was suggested.
    private func suggest() throws -> Bool {
        CareCommand.mentionRecordings(beside: self.file, other: self.other)
        return try CareCommand.run {
            let cassette = try CareCommand.cassette(self.file)
            guard let other else { return try Self.presets(cassette) }
            let new = try CareCommand.cassette(other)
            let (pairs, left) = try RunPairing.pairs(old: cassette, new: new)
            let found = try RuleSuggestions(old: cassette, new: new, pairs: pairs)
            for (index, suggestion) in found.suggestions.enumerated() { Self.show(suggestion, number: index + 1) }
            for evidence in found.unexplained {
                Self.line("no rule: exchange \(evidence.old + 1), now \(evidence.new + 1): \(evidence.text)")
            }
            Self.line(
                "\(Quantity.count(pairs.count, "pair")) of exchanges: \(found.equal.before) equal now, \(found.equal.after) with all of these rules; \(left) without a partner."
            )
            if self.write { try self.write(found.suggestions) }
            return !found.suggestions.isEmpty
        }
    }

    private func write(_ suggestions: [RuleSuggestions.Suggestion]) throws {
        for number in self.only ?? [] where number > suggestions.count {
            throw SettingError("there is no rule \(number); there are \(suggestions.count)")
        }
        let accepted = suggestions.enumerated().filter { index, suggestion in
            self.only?.contains(index + 1) ?? suggestion.merged.isEmpty
        }.map(\.element)
        guard !accepted.isEmpty else { return Self.line("nothing was written.") }
        try HeadRules.add(
            accepted.reduce(MatchRuleTexts()) { $0.adding($1.texts) }, to: self.file, recorder: "wiretape \(Version.current)")
        Self.line("wrote \(Quantity.count(accepted.count, "rule")) into \"\(self.file)\".")
    }

    /// How many differences are shown for one rule.
    private static let evidenceLimit = 3

    private static func show(_ suggestion: RuleSuggestions.Suggestion, number: Int) {
        self.line("\(number)  \(suggestion.texts.options.joined(separator: " "))")
        for evidence in suggestion.evidence.prefix(self.evidenceLimit) {
            self.line("     exchange \(evidence.old + 1), now \(evidence.new + 1): \(evidence.text)")
        }
        let more = suggestion.evidence.count - self.evidenceLimit
        if more > 0 { self.line("     and \(more) more") }
        self.warn(suggestion.merged)
    }

    private static func warn(_ merged: [[Int]]) {
        for group in merged.prefix(self.evidenceLimit) {
            self.line("     also makes these exchanges equal: \(group.prefix(8).map { "\($0 + 1)" }.joined(separator: ", "))")
        }
    }

    private static func line(_ text: String) { Terminal.output.line(VisibleText.line(text)) }

    private static func presets(_ cassette: RecordedCassette) throws -> Bool {
        let fits = try PresetFinder.fits(cassette)
        for fit in fits {
            self.line("--preset \(fit.preset.rawValue)  for \(Quantity.count(fit.requests.count, "request")); \(fit.preset.summary)")
            for rule in fit.rules where !rule.merged.isEmpty {
                self.line("   \(rule.texts.options.joined(separator: " "))")
                self.warn(rule.merged)
            }
        }
        if fits.isEmpty {
            self.line("no preset fits the requests of this recording: record the same run once more, and pass both recordings.")
        }
        return !fits.isEmpty
    }
}
