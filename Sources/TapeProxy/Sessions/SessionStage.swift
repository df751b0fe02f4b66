internal import NIOConcurrencyHelpers
internal import NIOCore
internal import TapeCore
internal import TapeRecorder

/// The sessions of a server as its event loop knows them.
///
/// Touches no file. Not Sendable: lives on its event loop.
final class SessionStage {
    let shared: ProxyLoop
    let directory = SessionDirectory()
    /// Where a client of the shared port is until it has named a session. Nothing is replayed, dialled or recorded there.
    let lobby: ProxyContext
    private let settings: ProxyConfiguration
    init(loop: any EventLoop, settings: ProxyConfiguration, resolver: NameResolver, disk: DiskPool) throws {
        self.settings = settings
        self.shared = try ProxyLoop(
            loop: loop, limits: settings.limits, tls: settings.tls,
            dialer: UpstreamDialer(loop: loop, limits: settings.limits, resolver: resolver), disk: disk)
        self.lobby = ProxyContext(
            shared: self.shared, configuration: settings, session: try CassetteSession(mode: .none),
            recorder: nil, library: nil, counts: NIOLockedValueBox(ProxyCounts()))
        self.shared.begin()
    }

    /// The event loop's side of a session; nobody finds it yet.
    func makeContext(
        _ session: CassetteSession, cassette: RecordedCassette?, recorder: Recorder?, cassetteName: String,
        latency: Latency = .none, refresh: DateRefresh? = nil, counts: NIOLockedValueBox<ProxyCounts>,
        notice: @escaping @Sendable (String) -> Void
    ) -> ProxyContext {
        var settings = self.settings
        settings.cassetteName = cassetteName
        settings.latency = latency
        settings.refresh = refresh
        let library = cassette.map {
            ReplayLibrary(
                loop: self.shared.loop, cassette: $0, disk: self.shared.disk, cacheLimit: ReplayLibrary.sharedCacheLimit, refresh: refresh)
        }
        let context = ProxyContext(
            shared: self.shared, configuration: settings, session: session, recorder: recorder, library: library, counts: counts,
            notice: notice)
        context.listens(at: self.lobby.address)
        return context
    }
}
