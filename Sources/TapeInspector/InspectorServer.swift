internal import Dispatch
package import LocalHTTP
internal import NIOCore
internal import NIOPosix
internal import Platform
package import TapeBytes

/// Serves a page that shows a cassette: HTTP on a loopback address, protected by a token.
///
/// Has its own event loop and threads, which no proxy uses.
package final class InspectorServer: Sendable {
    package typealias StartError = CodedError<StartErrorCode>

    package enum StartErrorCode: Sendable { case cannotListen }

    /// Number of random bytes in a token.
    private static let tokenBytes = 32
    /// Milliseconds between two checks of a file that another process may write.
    private static let lookInterval: Int64 = 500
    /// The same for a file that this process writes.
    private static let liveInterval: Int64 = 100

    package let port: Int
    /// The page's address, with the token in the fragment, which browsers do not send.
    package let address: String
    /// The inspector's own threads; nil if it shares them.
    private let ownThreads: InspectorThreads?
    private let listener: any Channel
    private let holder: NIOLoopBound<Holder>
    private let service: InspectorTabs
    private let feed: InspectorFeed

    /// Holds the context for the connections, once the server listens.
    private final class Holder {
        var context: InspectorContext?
        var looking: RepeatedTask?

        func close() {
            self.looking?.cancel()
            self.context?.close()
            self.context = nil
        }
    }

    /// For a thread that may block. Never call it on an event loop or in a task.
    ///
    /// - Parameters:
    ///   - run: the run that writes or replays the cassette; nil if there is none.
    ///   - older: the path of a cassette to compare with; nil if there is none.
    ///   - tools: functions from other parts of the program that a page uses.
    ///   - port: 0 picks a free port.
    ///   - name: the name that the page shows in place of the path.
    ///   - isBlank: whether the cassette only stands for "none".
    ///   - threads: threads shared by several inspectors, which the caller stops after them; nil creates own threads.
    ///   - token: a new one by default, so that an old address does not open a new page.
    package static func start(
        _ cassette: InspectedCassette, run: InspectedRun? = nil, older: String? = nil, tools: InspectorTools = InspectorTools(),
        port: Int = 0, name: String? = nil, isBlank: Bool = false,
        on threads: InspectorThreads? = nil,
        token: Secret = .random(byteCount: InspectorServer.tokenBytes)
    ) throws(StartError) -> InspectorServer {
        let used = threads ?? InspectorThreads()
        do {
            return try InspectorServer(
                InspectorTabs(
                    InspectorService(cassette: cassette, run: run, older: older, tools: tools, name: name, isBlank: isBlank),
                    tools: tools),
                isLive: run != nil, port: port, token: token, used, isOwn: threads == nil)
        } catch {
            if threads == nil { used.stop() }
            throw StartError(
                .cannotListen,
                "the inspector cannot listen on 127.0.0.1:\(port) (\((error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)")): choose another port with --web-port.",
                cause: error)
        }
    }

    private init(
        _ service: InspectorTabs, isLive: Bool, port: Int, token: Secret, _ shared: InspectorThreads, isOwn: Bool
    ) throws {
        let loop = shared.group.next()
        let threads = shared.pool
        let holder = try loop.submit { NIOLoopBound(Holder(), eventLoop: loop) }.wait()
        let feed = InspectorFeed()
        // Created here, so that the event loop does not create them while a page waits.
        _ = PageFiles.scripts
        self.listener = try ServerBootstrap(group: loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler()) }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let context = holder.value.context else { throw ChannelError.ioOnClosedChannel }
                    try channel.pipeline.syncOperations.addHandler(InspectorHandler(inspector: context))
                }
            }
            .bind(host: "127.0.0.1", port: port)
            .flatMapThrowing { channel in
                holder.value.context = InspectorContext(
                    gate: LocalGate(token: token, port: channel.localAddress?.port ?? port, server: .inspector), service: service,
                    feed: feed,
                    threads: threads)
                return channel
            }
            .wait()
        self.ownThreads = isOwn ? shared : nil
        self.holder = holder
        self.service = service
        self.feed = feed
        self.port = self.listener.localAddress?.port ?? port
        self.address = "http://127.0.0.1:\(self.port)/#token=\(token.revealed)"
        let interval = TimeAmount.milliseconds(isLive ? Self.liveInterval : Self.lookInterval)
        try loop.submit {
            holder.value.looking = loop.scheduleRepeatedAsyncTask(initialDelay: .zero, delay: interval) { _ in
                threads.runIfActive(eventLoop: loop) { Self.look(service, feed) }
            }
        }.wait()
    }

    /// Reads what is new and informs the pages.
    private static func look(_ tabs: InspectorTabs, _ feed: InspectorFeed) {
        let service = tabs.main
        let cassette = service.cassette
        var count = cassette.moment.rows.count
        while cassette.refresh() {
            service.settle(after: cassette.moment.rows.count < count ? 0 : count)
            count = cassette.moment.rows.count
            feed.publish(service.tick())
            if cassette.moment.isIndexed { break }
        }
        service.open.look(besides: cassette.moment.rows)
        tabs.look()
        feed.publish(service.tick())
    }

    /// Whether a page is open.
    package var isWatched: Bool { self.feed.hasListeners }

    /// Informs the pages about the end, and closes all connections once their answers have been sent. For a thread that may block.
    package func stop() {
        self.feed.publish(self.service.main.tick())
        try? self.listener.close().wait()
        try? self.holder.eventLoop.submit { self.holder.value.close() }.wait()
        self.ownThreads?.stop()
        self.service.close()
    }
}

/// The inspectors' event loop, and the threads that read and decode files for them.
package final class InspectorThreads: Sendable {
    private static let count = 2
    private static let patience = DispatchTimeInterval.seconds(3)

    fileprivate let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    fileprivate let pool = NIOThreadPool(numberOfThreads: InspectorThreads.count)

    package init() { self.pool.start() }

    /// Call it after stopping the inspectors, which have then cancelled their work. For a thread that may block.
    ///
    /// Waits a few seconds for work that does not end at once, such as the end of a rewrite. Work that takes longer is abandoned, so that
    /// it cannot keep the process alive; it leaves either the old file or the new one.
    package func stop() {
        let ended = DispatchSemaphore(value: 0)
        self.pool.shutdownGracefully(queue: DispatchQueue(label: "wiretape.inspector.stop")) { _ in ended.signal() }
        // The results of abandoned work would crash on an event loop that no longer exists, so it is kept.
        guard ended.wait(timeout: .now() + Self.patience) == .success else { return }
        try? self.group.syncShutdownGracefully()
    }
}

extension LocalGate.Server {
    static let inspector = LocalGate.Server(
        name: "inspector", example: "/api/state", tokenAdvice: "with the token after \"#token=\" in the printed address",
        isOpen: { PageFiles.contains($0) || $0.hasPrefix("/d/") })
}
