/// A row of the table: what is to be said of a capability, and where it is to be said.
struct CapabilityRule: Sendable {
    var systems: Set<PlatformFacts.System>
    /// What else has to be so, as which libcurl there is.
    var condition: @Sendable (PlatformFacts) -> Bool
    var capability: Capability

    init(
        _ subject: Capability.Subject, _ title: String, _ state: Capability.State, isFatal: Bool = false, _ sentence: String,
        instead remedy: String? = nil, releases: SwiftReleaseRange = .all, systems: Set<PlatformFacts.System> = [.linux],
        where condition: @escaping @Sendable (PlatformFacts) -> Bool = { _ in true }
    ) {
        self.systems = systems
        self.condition = condition
        self.capability = Capability(
            subject: subject, title: title, state: state, isFatal: isFatal, sentence: sentence, remedy: remedy, releases: releases)
    }

    func fits(_ facts: PlatformFacts) -> Bool {
        self.systems.contains(facts.system) && self.capability.releases.contains(facts.swift) && self.condition(facts)
    }
}
