import ClientTestSupport

extension Expectations {
    /// Measured with Swift 6.3.1 on Linux; the rows for Apple's platforms follow the documentation and have not been run.
    static let standard = Expectations(rows: deaths + limits + recordings + throughTheProxy + failuresThroughTheProxy)

    /// Linux's own URLSession, with the proxy in between.
    private static let plain: Set<WayKind> = [.proxy, .proxyReplay, .proxyReplayOfClient]
    /// The error of Linux's URLSession for a body that ends early.
    private static let ended = "failed NSURLErrorDomain -1"

    private static let deaths: [Row] = [
        Row(
            behaviour: "trailers", ways: [.live, .recording, .facade, .adapter, .proxy, .proxyReplay], platforms: [.linux],
            outcome: .dies("Transfer completed, but there's no response"))
    ]

    /// Details that URLSession does not report, or that an adapter cannot pass to it.
    private static let limits: [Row] = [
        Row(
            behaviour: "trailers", ways: [.live, .recording, .facade, .adapter], platforms: [.apple],
            outcome: .lines(["status 200", "body", "end"])),
        // Several fields of one name become one; the meaning is the same (RFC 9110, 5.3).
        Row(
            behaviour: "fields of one name", ways: [.live, .recording, .replay, .facade, .facadeReplay, .adapter, .adapterReplay],
            outcome: .lines(["status 200", "X-List: a, b", "end"])),
        Row(
            behaviour: "early hints", ways: [.facade, .facadeReplay, .facadeStub, .adapter, .adapterReplay],
            outcome: .lines(["status 200", "hello", "end"])),
        Row(
            behaviour: "a download", ways: [.adapter], platforms: [.linux],
            outcome: .lines([
                #"failed "GET http://ORIGIN/a-download" cannot be answered: a download task crashes on Linux if anything but URLSession answers it: use a data task, a DownloadRequest of Wiretape, or the proxy ("wiretape record")"#
            ]), isRecorded: false),
        // libcurl refuses an unknown coding, but has passed on the head by then.
        Row(
            behaviour: "a coding that nobody knows", ways: [.live, .recording, .replay, .facade, .facadeReplay, .adapter, .adapterReplay],
            platforms: [.linux],
            outcome: .lines(["status 200", "Content-Encoding: odd", "failed truncated"])),
    ]

    /// Differences between a cassette and the network.
    private static let recordings: [Row] = [
        // The proxy does not record why its client disconnected.
        Row(behaviour: "cancelled", ways: [.replayOfProxy], outcome: .lines(["status 200", "half", "failed truncated"])),
        // The recorded URLSession asked for one.
        Row(behaviour: "post a stream", ways: [.replayOfProxy], outcome: .lines(["interim 100", "status 200", "streamed", "end"])),
        // The proxy keeps the bytes, and the transport decodes what it can.
        Row(behaviour: "a field in Latin-1", ways: [.replayOfProxy], outcome: .lines(["status 200", "ok", "end"])),
        Row(
            behaviour: "a coding that nobody knows", ways: [.replayOfProxy],
            outcome: .lines(["status 200", "Content-Encoding: odd", "failed malformed"])),
        // A body that URLSession has decoded is recorded decoded.
        Row(
            behaviour: "gzip", ways: [.proxyReplayOfClient],
            outcome: .lines(["status 200", "Content-Length: 7", "decoded", "end"])),
    ]

    private static let throughTheProxy: [Row] = [
        Row(behaviour: "fields of one name", ways: plain, outcome: .lines(["status 200", "X-List: a, b", "end"])),
        Row(
            behaviour: "two cookies", ways: plain,
            outcome: .lines(["status 200", "Set-Cookie: a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT, b=2", "end"])),
        // Its delegate has to cancel after the complete answer.
        Row(
            behaviour: "401 basic", ways: plain,
            outcome: .lines(["status 401", "WWW-Authenticate: Basic realm=\"x\"", "denied", "failed cancelled"])),
        // It waits for a 100 before it sends.
        Row(behaviour: "post a stream", ways: plain, outcome: .lines(["interim 100", "status 200", "streamed", "end"])),
        Row(behaviour: "a field in Latin-1", ways: [.proxy, .proxyReplay], outcome: .lines([ended])),
        Row(behaviour: "a coding that nobody knows", ways: plain, outcome: .lines(["status 200", "Content-Encoding: odd", ended])),
    ]

    /// The proxy answers a failure with a response of its own, and does the same for a client's recording.
    private static let failuresThroughTheProxy: [Row] = [
        Row(behaviour: "truncated", ways: plain, outcome: .lines(["status 200", "half", ended])),
        Row(behaviour: "truncated chunks", ways: plain, outcome: .lines(["status 200", "one", ended])),
        Row(behaviour: "cancelled", ways: [.proxyReplay, .proxyReplayOfClient], outcome: .lines(["status 200", "half", ended])),
        Row(behaviour: "reset", ways: plain, outcome: .lines(["status 502", "Wiretape-Error: reset", "end"])),
        Row(behaviour: "no HTTP", ways: plain, outcome: .lines(["status 502", "Wiretape-Error: malformed", "end"])),
        Row(behaviour: "refused", ways: plain, outcome: .lines(["status 502", "Wiretape-Error: refused", "end"])),
        Row(
            behaviour: "a field in Latin-1", ways: [.proxyReplayOfClient],
            outcome: .lines(["status 502", "Wiretape-Error: malformed", "end"])),
    ]
}
