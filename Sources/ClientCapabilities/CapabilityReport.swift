public import TapeBytes

/// What works on a platform and what does not, including every call that ends the process.
///
/// Reads nothing itself: the caller passes the facts. On Linux, each sentence was observed with Swift 6.3.1; those for other releases are
/// based on their source. Those for Apple's platforms are based on documentation and user reports.
public struct CapabilityReport: Sendable, Hashable {
    public let facts: PlatformFacts
    /// In the order of the table: recording first.
    public let capabilities: [Capability]

    public init(_ facts: PlatformFacts) {
        self.facts = facts
        var seen: Set<Capability.Subject> = []
        self.capabilities = CapabilityTable.rules.compactMap { rule in
            guard rule.fits(facts), seen.insert(rule.capability.subject).inserted else { return nil }
            return rule.capability
        }
    }

    /// Nil if the table has no entry on the subject for this platform.
    public subscript(_ subject: Capability.Subject) -> Capability? { self.capabilities.first { $0.subject == subject } }

    /// The capabilities that end or hang the process.
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

/// One thing that an HTTP test may need, and whether it works on a platform.
public struct Capability: Sendable, Hashable {
    public enum State: String, Sendable, CaseIterable {
        case yes, no
        /// Works in part, or not as documented: `sentence` describes what is missing.
        case limited
    }

    /// The identifier for programs.
    public enum Subject: String, Sendable, CaseIterable {
        case recordHTTPS, trustVariables, proxyEnvironment, proxyDictionary, http2, webSocket
        case adapterDataTasks, adapterUploadBodies, adapterDownloads, adapterAsync, adapterRedirects, adapterThreads, adapterNestedTasks
        case adapterCancellation, adapterWebSocket, adapterBackground
        case basicChallenge, streamedUploads, nilUploads, streamErrors, trailers, redirectBodies, invalidatedSessions, timeouts
        case asyncBytes, asyncDelegates, metrics, serverTrust, cache, headerFields
    }

    public var subject: Subject
    /// For people, such as `download tasks that a URLProtocol answers`.
    public var title: String
    public var state: State
    /// Whether using it ends or hangs the process.
    public var isFatal: Bool
    /// What happens, in one sentence.
    public var sentence: String
    /// What to do instead; nil if there is nothing to do.
    public var remedy: String?
    /// The releases of Swift that this applies to.
    public var releases: SwiftReleaseRange
}
