/// One thing that a test of HTTP may want, and whether it works on a platform.
public struct Capability: Sendable, Hashable {
    public enum State: String, Sendable, CaseIterable {
        case yes, no
        /// In part, or not as documented: the sentence says what is missing.
        case limited
    }

    /// What it is about, by a name for programs.
    public enum Subject: String, Sendable, CaseIterable {
        case recordHTTPS, trustVariables, proxyEnvironment, proxyDictionary, http2, webSocket
        case adapterDataTasks, adapterUploadBodies, adapterDownloads, adapterAsync, adapterRedirects, adapterThreads, adapterNestedTasks
        case adapterCancellation, adapterWebSocket, adapterBackground
        case basicChallenge, streamedUploads, nilUploads, streamErrors, trailers, redirectBodies, invalidatedSessions, timeouts
        case asyncBytes, asyncDelegates, metrics, serverTrust, cache, headerFields
    }

    public var subject: Subject
    /// For people: `download tasks that a URLProtocol answers`.
    public var title: String
    public var state: State
    /// Whether trying it ends the process, or hangs it.
    public var isFatal: Bool
    /// What happens, in one sentence.
    public var sentence: String
    /// What to do in its place; nil where there is nothing to be done.
    public var remedy: String?
    /// The releases of Swift that this holds for.
    public var releases: SwiftReleaseRange
}
