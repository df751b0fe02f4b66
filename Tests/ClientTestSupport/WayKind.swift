/// The ways there are.
package enum WayKind: String, Sendable, CaseIterable {
    /// A transport to the network, one that records it, one that replays that recording, and one that is told what to answer.
    case live, recording, replay, stub
    /// A session of Wiretape that is recorded, one that is replayed, and one whose transport is told what to answer.
    case facade
    case facadeReplay = "facade-replay"
    case facadeStub = "facade-stub"
    /// A URLSession of others that is recorded, and one that is replayed.
    case adapter
    case adapterReplay = "adapter-replay"
    /// The system's URLSession with the proxy in between, recording, and replaying what it recorded.
    case proxy
    case proxyReplay = "proxy-replay"
    /// A cassette of the one in the hands of the other: the transport that replays has the proxy's, the proxy has that of the transport.
    case replayOfProxy = "replay-of-proxy"
    case proxyReplayOfClient = "proxy-replay-of-client"

    /// Whether the client waits for the end of an exchange that the recorded client cancelled, since the proxy is in between: it neither
    /// records nor replays why a client left. All other clients cancel the exchange again.
    package var waitsForTheEnd: Bool {
        switch self {
        case .live, .recording, .stub, .facade, .facadeStub, .adapter, .proxy, .replay, .facadeReplay, .adapterReplay: false
        case .proxyReplay, .replayOfProxy, .proxyReplayOfClient: true
        }
    }
}
