public import TapeBytes

/// What works on a platform and what does not, before anything is tried: each call that ends the process is named.
///
/// Reads nothing: whoever asks brings the facts. On Linux each sentence was seen with Swift 6.3.1; what holds for other releases is by their
/// source. Of Apple's platforms it tells what their documentation and their users do.
public struct CapabilityReport: Sendable, Hashable {
    public let facts: PlatformFacts
    /// In the order of the table, what concerns recording first.
    public let capabilities: [Capability]

    public init(_ facts: PlatformFacts) {
        self.facts = facts
        var seen: Set<Capability.Subject> = []
        self.capabilities = CapabilityTable.rules.compactMap { rule in
            guard rule.fits(facts), seen.insert(rule.capability.subject).inserted else { return nil }
            return rule.capability
        }
    }

    /// Nil where nothing is to be said of it on this platform.
    public subscript(_ subject: Capability.Subject) -> Capability? { self.capabilities.first { $0.subject == subject } }

    /// What ends or hangs the process.
    public var fatal: [Capability] { self.capabilities.filter(\.isFatal) }

    /// Writes a JSON array of objects with `subject`, `title`, `state`, `fatal`, `sentence`, `remedy` and `releases`.
    public func write(into writer: inout JSONWriter) {
        writer.beginArray(.lines)
        for capability in self.capabilities {
            writer.element()
            writer.beginObject(.inline)
            writer.member("subject")
            writer.string(capability.subject.rawValue)
            writer.member("title")
            writer.string(capability.title)
            writer.member("state")
            writer.string(capability.state.rawValue)
            writer.member("fatal")
            writer.bool(capability.isFatal)
            writer.member("sentence")
            writer.string(capability.sentence)
            if let remedy = capability.remedy {
                writer.member("remedy")
                writer.string(remedy)
            }
            writer.member("releases")
            writer.string(capability.releases.description)
            writer.endObject()
        }
        writer.endArray()
    }
}
