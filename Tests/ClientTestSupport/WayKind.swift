/// All ways.
package enum WayKind: String, Sendable, CaseIterable {
    /// A transport to the network, one that records it, one that replays that recording, and a stub.
    case live, recording, replay, stub
    /// A session of Wiretape that is recorded, one that is replayed, and one with a stub.
    case facade
    case facadeReplay = "facade-replay"
    case facadeStub = "facade-stub"
    /// A foreign URLSession that is recorded, and one that is replayed.
    case adapter
    case adapterReplay = "adapter-replay"
    /// The system's URLSession with the proxy in between, which records, and replays its recording.
    case proxy
    case proxyReplay = "proxy-replay"
    /// Each replays the other's cassette: the transport replays the proxy's, and the proxy replays the transport's.
    case replayOfProxy = "replay-of-proxy"
    case proxyReplayOfClient = "proxy-replay-of-client"

    /// Whether the client waits for the end of an exchange that the recorded client cancelled. This is so with the proxy in between, which
    /// neither records nor replays why a client left. All other clients cancel the exchange again.
    package var waitsForTheEnd: Bool {
        switch self {
        case .live, .recording, .stub, .facade, .facadeStub, .adapter, .proxy, .replay, .facadeReplay, .adapterReplay: false
        case .proxyReplay, .replayOfProxy, .proxyReplayOfClient: true
        }
    }
}
