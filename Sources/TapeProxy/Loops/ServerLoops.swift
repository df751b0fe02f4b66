public import NIOCore
internal import NIOPosix

/// The event loops that a server runs on, with what each of them has and what they share, from its start to its stop.
///
/// Making it and `stop` block the calling thread, which must not be an event loop's.
final class ServerLoops: Sendable {
    let shared: SharedServer
    let loops: PerLoop<ProxyLoop>
    let loopGates: [LoopGate]
    /// Where connections are spread over.
    let group: any EventLoopGroup
    private let resolver: NameResolver
    private let disk: DiskPool
    /// Nil if the loops are somebody else's.
    private let ownGroup: MultiThreadedEventLoopGroup?

    /// - Throws: `CertificateError`, and what NIO says.
    ///
    /// - Parameter resolver: owned by the server and stopped with it.
    init(
        _ provider: EventLoopProvider, limits: ProxyLimits, tls: TLSSettings?, chain: UpstreamChain, isTransparent: Bool = false,
        log: ProxyLog,
        resolver: NameResolver = NameResolver()
    ) throws {
        let shared = try SharedServer(tls: tls, log: log, chain: chain, isTransparent: isTransparent)
        self.shared = shared
        switch provider {
        case .own(let count):
            let own = MultiThreadedEventLoopGroup(numberOfThreads: max(1, count))
            self.ownGroup = own
            self.group = own
        case .shared(let group):
            self.ownGroup = nil
            self.group = group
        }
        let loopGates = self.group.makeIterator().map { LoopGate($0) }
        guard !loopGates.isEmpty, ServerBootstrap(validatingGroup: self.group, childGroup: self.group) != nil else {
            throw ProxyError(
                .invalidEventLoops,
                "this event loop group cannot listen: pass a MultiThreadedEventLoopGroup, or leave the loops to the server.")
        }
        let disk = DiskPool()
        self.resolver = resolver
        self.disk = disk
        self.loopGates = loopGates
        // All loops together keep as many unused connections as one would.
        var limits = limits
        limits.idlePerOrigin = max(1, limits.idlePerOrigin / loopGates.count)
        limits.idleInAll = max(1, limits.idleInAll / loopGates.count)
        let share = limits
        do {
            self.loops = try PerLoop(through: loopGates) { index, loop in
                let made = ProxyLoop(loop: loop, limits: share, server: shared, resolver: resolver, disk: disk, loopGate: loopGates[index])
                made.begin()
                return made
            }
        } catch {
            disk.stop()
            try? self.ownGroup?.syncShutdownGracefully()
            throw error
        }
    }

    /// Where connections are accepted.
    var first: any EventLoop { self.loopGates[0].loop }

    /// Nothing is in flight any more: ends what runs by itself, and the threads that are ours.
    func stop() {
        _ = try? self.loops.map { $0.end() }
        for loopGate in self.loopGates { loopGate.shut() }
        // Before the loops: what either has begun ends with a call to one.
        self.resolver.stop()
        self.disk.stop()
        // What they called back with is through.
        _ = try? self.loops.map { _ in }
        try? self.ownGroup?.syncShutdownGracefully()
    }
}

/// The event loops that a server runs on, and whether they end with it.
public enum EventLoopProvider: Sendable {
    /// So many threads of its own, which end when it is stopped.
    case own(Int)
    /// All loops of a group that is somebody else's, which has to run until the server has stopped, and goes on then.
    /// `MultiThreadedEventLoopGroup.singleton` is one; one event loop is one, too.
    case shared(any EventLoopGroup)

    /// A thread for each core, at most four: one recorder writes for all of them, and more would only wait for it.
    public static var standard: EventLoopProvider { .own(min(4, max(1, System.coreCount))) }
}
