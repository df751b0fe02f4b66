/// What is known about URLSession, row by row. If several rows on a subject match, the first one counts.
///
/// Swift 6.4 is the first release whose source has the fixes for the rows with `before: 6.4`.
enum CapabilityTable {
    static let rules = Self.recording + Self.adapter + Self.session + Self.apple

    private static let recording: [CapabilityRule] = [
        CapabilityRule(
            .recordHTTPS, "recording HTTPS of URLSession", .yes, "the authority is among the system's roots, which libcurl reads.",
            where: { $0.trustsAuthority == true }),
        CapabilityRule(
            .recordHTTPS, "recording HTTPS of URLSession", .yes,
            "a program run by \"wiretape record --\" has the authority among the system's roots, in a mount namespace of its own.",
            where: { $0.permitsNamespace == true }),
        CapabilityRule(
            .recordHTTPS, "recording HTTPS of URLSession", .limited,
            "libcurl reads only the system's roots, the authority is not among them, and a mount namespace is not permitted here.",
            instead: "write WIRETAPE_REVERSE before URLs, or run \"wiretape ca install\"", where: { $0.permitsNamespace == false }),
        CapabilityRule(
            .recordHTTPS, "recording HTTPS of URLSession", .limited,
            "libcurl reads only the system's roots, and whether the authority is or can be among them is not known.",
            instead: "run \"wiretape doctor\", or write WIRETAPE_REVERSE before URLs"),
        CapabilityRule(
            .trustVariables, "roots from SSL_CERT_FILE and similar", .no, "URLSession reads none of these variables.",
            instead: "use \"wiretape record --trust namespace\" or \"wiretape ca install\""),
        CapabilityRule(
            .proxyEnvironment, "a proxy by http_proxy and https_proxy", .yes,
            "the variables are read at each request, also for loopback; http_proxy only in lower case."),
        CapabilityRule(
            .proxyDictionary, "a proxy by connectionProxyDictionary", .no, "the dictionary is ignored, and requests go to the network.",
            instead: "set http_proxy and https_proxy"),
        CapabilityRule(
            .http2, "HTTP/2", .yes, "it is agreed on inside TLS; the recorder uses HTTP/1.1.",
            where: { $0.libcurl?.hasHTTP2 == true }),
        CapabilityRule(.http2, "HTTP/2", .no, "this libcurl is built without it.", where: { $0.libcurl?.hasHTTP2 == false }),
        CapabilityRule(
            .webSocket, "URLSessionWebSocketTask", .yes, "this libcurl is built with WebSocket; a URLProtocol never sees the task.",
            where: { $0.libcurl?.protocols.contains("ws") == true }),
        CapabilityRule(
            .webSocket, "URLSessionWebSocketTask", .no,
            "it fails at once with \"WebSockets not supported by libcurl\" if libcurl is built without them, as in most distributions.",
            instead:
                "replay a cassette that the proxy recorded, stub the socket, or give the session AsyncHTTPClientTransport (trait AsyncHTTPClient)"
        ),
    ]

    private static let adapter: [CapabilityRule] = [
        CapabilityRule(
            .adapterDataTasks, "data tasks that a URLProtocol answers", .yes,
            "completion handlers, delegates and async calls work; of several pieces of a body only delegates get all.",
            instead: "deliver the body in one piece, as Wiretape's adapter does"),
        CapabilityRule(
            .adapterUploadBodies, "bodies of upload tasks in a URLProtocol", .limited,
            "the request has no body there, and what its httpBody holds is not what would be sent.",
            instead: "record uploads through the proxy or Wiretape's HTTPSession"),
        CapabilityRule(
            .adapterDownloads, "download tasks that a URLProtocol answers", .no, isFatal: true,
            "with a delegate or async the process ends; with a completion handler the file is nil.",
            instead: "download by Wiretape's Session, or through the proxy"),
        CapabilityRule(
            .adapterAsync, "async calls that a URLProtocol ends without a response", .no, isFatal: true,
            "the process ends if didFinishLoading is called without a response.", instead: "deliver a response or an error first"),
        CapabilityRule(
            .adapterRedirects, "wasRedirectedTo in a URLProtocol", .no, isFatal: true, "the call is a fatalError.",
            instead: "follow the redirect inside and answer with its end, as Wiretape's adapter does"),
        CapabilityRule(
            .adapterThreads, "answers of a URLProtocol from another thread or task", .no, isFatal: true,
            "with many requests at once about half of all processes end in a data race.",
            instead: "answer inside startLoading, or use Wiretape's adapter"),
        CapabilityRule(
            .adapterNestedTasks, "tasks made or resumed inside startLoading", .no, isFatal: true,
            "the process ends in a trap for deadlocks, and waiting for one stops every session.",
            instead: "start them from another queue"),
        CapabilityRule(
            .adapterCancellation, "calls of a URLProtocol to its client after a cancel", .no, isFatal: true,
            "the process ends with \"task not in the registry\".", instead: "call nothing after stopLoading"),
    ]

    private static let session: [CapabilityRule] = [
        CapabilityRule(
            .basicChallenge, "401 with WWW-Authenticate: Basic and no credentials", .no, isFatal: true,
            "the task never ends, whatever its timeout; with credentials a URLProtocol's task goes to the network.",
            instead: "send Authorization with the first request, or take Swift 6.3.2",
            releases: SwiftReleaseRange(before: SwiftRelease(6, 3, 2))),
        CapabilityRule(
            .basicChallenge, "401 with WWW-Authenticate: Basic and no credentials", .limited,
            "the answer is delivered; with credentials a URLProtocol's task goes to the network.",
            instead: "send Authorization with the first request", releases: SwiftReleaseRange(from: SwiftRelease(6, 3, 2))),
        CapabilityRule(
            .streamedUploads, "uploads of a stream", .limited, isFatal: true,
            "the delegate is called on another queue than its own, which ends programs that check it.",
            instead: "upload a file or Data, or use Wiretape's HTTPSession"),
        CapabilityRule(
            .nilUploads, "uploadTask(with:from: nil)", .no, isFatal: true, "the process ends.",
            instead: "pass empty Data, or use a data task"),
        CapabilityRule(
            .streamErrors, "streamError of a stream without an error", .no, isFatal: true,
            "reading the property ends the process, with input and output streams alike.", instead: "look at streamStatus first"),
        CapabilityRule(
            .trailers, "answers with trailers after their chunks", .no, isFatal: true,
            "the process ends with \"Transfer completed, but there's no response\".",
            instead: "use AsyncHTTPClientTransport (trait AsyncHTTPClient), or have the server send none, or take Swift 6.4",
            releases: SwiftReleaseRange(before: SwiftRelease(6, 4))),
        CapabilityRule(
            .trailers, "answers with trailers after their chunks", .limited, "the task fails instead of the process.",
            instead: "use AsyncHTTPClientTransport (trait AsyncHTTPClient), or have the server send none",
            releases: SwiftReleaseRange(from: SwiftRelease(6, 4))),
        CapabilityRule(
            .redirectBodies, "bodies of redirected requests", .limited, "after 307 or 308 the request is sent again without its body.",
            instead: "stop the redirect in the delegate and send the request yourself, or use Wiretape's HTTPSession"),
        CapabilityRule(
            .invalidatedSessions, "tasks of a session that was invalidated", .no, isFatal: true, "making one is a fatalError.",
            instead: "make a new session"),
        CapabilityRule(
            .timeouts, "timeouts", .limited,
            "they count whole seconds of silence: 0.5 s is 0 and fails at once, and timeoutIntervalForResource does nothing.",
            instead: "use 1 s or more, or use Wiretape's HTTPSession"),
        CapabilityRule(.asyncBytes, "bytes(for:)", .no, "there is no such method.", instead: "stream by Wiretape's HTTPSession"),
        CapabilityRule(
            .asyncDelegates, "async methods of delegates", .no, "they compile and are never called.",
            instead: "write those with a completion handler"),
        CapabilityRule(
            .metrics, "URLSessionTaskMetrics", .no, "didFinishCollecting is never called.",
            instead: "use the metrics of Wiretape's HTTPSession"
        ),
        CapabilityRule(
            .serverTrust, "server trust challenges", .no, "none is ever delivered: only libcurl checks the certificate.",
            instead: "pin through the proxy, with --pin"),
        CapabilityRule(.cache, "URLCache", .no, "answers over HTTP are never stored.", instead: "replay a cassette"),
        CapabilityRule(
            .headerFields, "header fields as they were sent", .limited,
            "names are respelled and equal ones joined with a comma; a value outside UTF-8, or a line without a space after its colon, fails.",
            instead: "look at the cassette"),
    ]

    private static let both: Set<PlatformFacts.System> = [.macOS, .iOS]

    private static let apple: [CapabilityRule] = [
        CapabilityRule(
            .recordHTTPS, "recording HTTPS of URLSession", .yes, "the authority is among the roots that the system trusts.",
            systems: Self.both,
            where: { $0.trustsAuthority == true }),
        CapabilityRule(
            .recordHTTPS, "recording HTTPS of URLSession", .limited,
            "the system has to trust the authority, and to have the proxy in its settings.",
            instead: "run \"wiretape ca install\", or write WIRETAPE_REVERSE before URLs", systems: Self.both),
        CapabilityRule(
            .trustVariables, "roots from SSL_CERT_FILE and similar", .no, "URLSession uses only the keychain.",
            instead: "run \"wiretape ca install\"", systems: Self.both),
        CapabilityRule(
            .proxyEnvironment, "a proxy by http_proxy and https_proxy", .no, "URLSession takes the system's settings.",
            instead: "set the session's connectionProxyDictionary", systems: Self.both),
        CapabilityRule(
            .proxyDictionary, "a proxy by connectionProxyDictionary", .yes, "it is honoured for each session.", systems: Self.both),
        CapabilityRule(
            .webSocket, "URLSessionWebSocketTask", .yes, "it is part of the system; a URLProtocol must not answer its handshake.",
            systems: Self.both),
        CapabilityRule(
            .adapterWebSocket, "WebSocket tasks and URLProtocol", .no,
            "the handshake reaches the protocol as HTTP, and answering it breaks the socket.",
            instead: "decline requests with Upgrade in canInit, as Wiretape's adapter does", systems: Self.both),
        CapabilityRule(
            .adapterBackground, "background sessions and URLProtocol", .no, "the system's daemon knows no protocols of an app.",
            instead: "test with another configuration", systems: Self.both),
    ]
}

/// A row of the table: a capability, and the platforms it applies to.
struct CapabilityRule: Sendable {
    var systems: Set<PlatformFacts.System>
    /// A further condition, such as the features of libcurl.
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
