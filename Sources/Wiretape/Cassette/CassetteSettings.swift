internal import TapeBytes
internal import CassetteModel
public import CassettePlayback
internal import CassetteRedaction

/// How a cassette is compared with, replayed, and what is taken out of its recordings.
///
/// Laid over what the cassette says of itself: `match` replaces its list, the others add to it. The texts are those of the command line
/// and of `wiretape.json`; what is wrong with one is said when the cassette is opened.
public struct CassetteSettings: Sendable {
    /// Names of match rules, as `method`, `url`, `header:accept`, `body:json`; nil for the cassette's own, or else the standard ones.
    public var match: [String]?
    /// Places that are not compared, as `query:ts` or `json:/id`.
    public var ignore: [String] = []
    /// What a place has to look like, as `json:/id=[0-9]+`.
    public var patterns: [String] = []
    /// Asked last, of requests that all other rules find equal.
    public var customMatches: [CustomMatch] = []

    /// False keeps secrets in what is recorded; then the three lists that follow have to be empty.
    public var redaction = true
    /// Places of secrets beside those that are known, as `header:x-token` or `json:/pin`.
    public var redact: [String] = []
    /// Places and kinds that stay as they are.
    public var keep: [String] = []
    /// Values that are secrets wherever they stand, by a name for their placeholder.
    public var secrets: [String: String] = [:]

    /// What a request gets whose recorded exchanges are used up.
    public var repetition: Repetition = .never
    public var order: ReplayOrder = .any
    /// How long a replayed answer takes, on the clock of the transport.
    public var latency: Latency = .none
    /// Whether dates in replayed header fields are as old as they were when they were recorded.
    public var refreshDates = false
    /// Dates in JSON bodies that move with them, as `json:/expires`.
    public var refreshFields: [String] = []

    /// What `CassetteOutcome.failures` names. Answers that could not be given are named in any case.
    public var failOn: Set<VerdictFlaw> = [.miss]

    public init() {}
}

extension CassetteSettings {
    /// What is said of matching.
    var matchTexts: MatchRuleTexts { MatchRuleTexts(match: self.match, ignore: self.ignore, patterns: self.patterns) }
}

extension CassetteSettings {
    /// Nil where secrets are kept.
    ///
    /// - Parameter replaced: the rules of a cassette whose place the recording is to take: they go on to hold.
    func redactionRules(replacing replaced: RedactionRules?) throws(RedactionRuleError) -> RedactionRules? {
        guard self.redaction else {
            guard self.redact.isEmpty, self.keep.isEmpty, self.secrets.isEmpty else {
                throw RedactionRuleError(
                    "\"redaction\" is false, which does not go together with redact, keep and secrets: leave out either")
            }
            return nil
        }
        let values = self.secrets.sorted { $0.key < $1.key }.map { SecretValue(name: $0.key, octets: Array($0.value.utf8)) }
        let given = try RedactionRules(rules: self.redact, keep: self.keep, secrets: values.filter { !$0.octets.isEmpty })
        return replaced?.adding(given) ?? given
    }

    /// Nil where dates stay as they were recorded.
    func dateRefresh(of cassette: RecordedCassette?, now: Timestamp) throws -> DateRefresh? {
        guard self.refreshDates else { return nil }
        let shift = DateShift(from: cassette?.firstStart ?? now, to: now)
        return DateRefresh(try RefreshRules(self.refreshFields), shift: shift)
    }
}
