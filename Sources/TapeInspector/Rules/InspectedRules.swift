package import TrafficRules

/// The traffic rules of a run, which a page shows and changes, and the messages that they have paused.
package struct InspectedRules: Sendable {
    /// Reads a rule, or rules, from YAML or JSON. Throws `SettingSyntaxError` with the name and the line.
    package typealias Reader = @Sendable (_ text: [UInt8], _ name: String) throws -> RuleNode

    package var engine: RuleEngine
    package var desk: PauseDesk
    /// The time since the run began, as the desk's messages have it.
    package var clock: @Sendable () -> Duration
    package var read: Reader
    /// Where the rules can be saved; nil if the run reads no such file.
    package var settings: RuleSettings?
    /// What the clients did with answers that failed; nil if nobody asked for a verdict.
    package var verdict: (@Sendable () -> [ClientVerdict.Finding]?)?
    /// The rules that the run began with.
    let loaded: TrafficRules

    package init(
        engine: RuleEngine, desk: PauseDesk, clock: @escaping @Sendable () -> Duration, read: @escaping Reader,
        settings: RuleSettings? = nil,
        verdict: (@Sendable () -> [ClientVerdict.Finding]?)? = nil
    ) {
        self.engine = engine
        self.desk = desk
        self.clock = clock
        self.read = read
        self.settings = settings
        self.verdict = verdict
        self.loaded = engine.rules
    }

    /// The file that rules of a page are reported with.
    static let pageName = "the page"
    /// The most bytes of the text of one change.
    static let textLimit = 4 << 20
    /// The most bytes of all rules together, so that pages cannot fill the memory.
    static let totalLimit = 64 << 20
}
