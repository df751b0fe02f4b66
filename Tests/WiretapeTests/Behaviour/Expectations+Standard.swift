import ClientTestSupport

extension Expectations {
    /// As run with Swift 6.3.1 on Linux; rows for Apple's platforms are as documented there, and were not run.
    static let standard = Expectations(rows: deaths + limits + recordings + throughTheProxy + failuresThroughTheProxy)

    /// URLSession of Linux by itself, with the proxy in between.
    private static let plain: Set<WayKind> = [.proxy, .proxyReplay, .proxyReplayOfClient]
    /// What a URLSession of Linux says of a body that ends before its end.
    private static let ended = "failed NSURLErrorDomain -1"

    private static let deaths: [Row] = [
        Row(
            behaviour: "trailers", ways: [.live, .recording, .facade, .adapter, .proxy, .proxyReplay], platforms: [.linux],
            outcome: .dies("Transfer completed, but there's no response"))
    ]

    /// What URLSession does not tell, or an adapter cannot give it.
    private static let limits: [Row] = [
        Row(
            behaviour: "trailers", ways: [.live, .recording, .facade, .adapter], platforms: [.apple],
            outcome: .lines(["status 200", "body", "end"])),
        // One field of a name is left of several; it means the same (RFC 9110, 5.3).
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
        // libcurl takes no coding that it does not know; it has told the head by then.
        Row(
            behaviour: "a coding that nobody knows", ways: [.live, .recording, .replay, .facade, .facadeReplay, .adapter, .adapterReplay],
            platforms: [.linux],
            outcome: .lines(["status 200", "Content-Encoding: odd", "failed truncated"])),
    ]

    /// What a cassette gives in another way than the network did.
    private static let recordings: [Row] = [
        // The proxy does not record why its client left.
        Row(behaviour: "cancelled", ways: [.replayOfProxy], outcome: .lines(["status 200", "half", "failed truncated"])),
        // The URLSession that was recorded asked for one.
        Row(behaviour: "post a stream", ways: [.replayOfProxy], outcome: .lines(["interim 100", "status 200", "streamed", "end"])),
        // The proxy keeps bytes, of which the transport makes what it can.
        Row(behaviour: "a field in Latin-1", ways: [.replayOfProxy], outcome: .lines(["status 200", "ok", "end"])),
        Row(
            behaviour: "a coding that nobody knows", ways: [.replayOfProxy],
            outcome: .lines(["status 200", "Content-Encoding: odd", "failed malformed"])),
        // What a URLSession has decoded is recorded decoded.
        Row(
            behaviour: "gzip", ways: [.proxyReplayOfClient],
            outcome: .lines(["status 200", "Content-Length: 7", "decoded", "end"])),
    ]

    private static let throughTheProxy: [Row] = [
        Row(behaviour: "fields of one name", ways: plain, outcome: .lines(["status 200", "X-List: a, b", "end"])),
        Row(
            behaviour: "two cookies", ways: plain,
            outcome: .lines(["status 200", "Set-Cookie: a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT, b=2", "end"])),
        // Its delegate has to give up what it was told whole.
        Row(
            behaviour: "401 basic", ways: plain,
            outcome: .lines(["status 401", "WWW-Authenticate: Basic realm=\"x\"", "denied", "failed cancelled"])),
        // It waits for leave to send.
        Row(behaviour: "post a stream", ways: plain, outcome: .lines(["interim 100", "status 200", "streamed", "end"])),
        Row(behaviour: "a field in Latin-1", ways: [.proxy, .proxyReplay], outcome: .lines([ended])),
        Row(behaviour: "a coding that nobody knows", ways: plain, outcome: .lines(["status 200", "Content-Encoding: odd", ended])),
    ]

    /// The proxy has an answer for what has none, the same for what a client recorded.
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
