public import NIOCore
internal import NIOPosix
internal import TapeIsolation

/// The event loops of a server, with each loop's own state and the state that they share, from its start to its stop.
///
/// `init` and `stop` block the calling thread, which must not be an event loop's.
final class ServerLoops: Sendable {
    let shared: SharedServer
    let loops: PerLoop<ProxyLoop>
    let loopGates: [LoopGate]
    /// The group that serves the connections.
    let group: any EventLoopGroup
    private let resolver: NameResolver
    private let disk: WorkPool
    private let computing: WorkPool
    /// nil if the loops are not the server's own.
    private let ownGroup: MultiThreadedEventLoopGroup?

    /// - Throws: `CertificateError`, or an error from NIO.
    ///
    /// - Parameter resolver: owned by the server and stopped with it.
    init(
        _ provider: EventLoopProvider, limits: ProxyLimits, tls: TLSSettings?, chain: UpstreamChain, isTransparent: Bool = false,
        isolation: Isolation? = nil, log: ProxyLog,
        resolver: NameResolver = NameResolver()
    ) throws {
        let shared = try SharedServer(tls: tls, log: log, chain: chain, isTransparent: isTransparent, isolation: isolation)
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
        let (disk, computing) = (WorkPool(), WorkPool())
        self.resolver = resolver
        self.disk = disk
        self.computing = computing
        self.loopGates = loopGates
        // All loops together keep as many unused connections as one loop would.
        var limits = limits
        limits.idlePerOrigin = max(1, limits.idlePerOrigin / loopGates.count)
        limits.idleInAll = max(1, limits.idleInAll / loopGates.count)
        let share = limits
        do {
            self.loops = try PerLoop(through: loopGates) { index, loop in
                let made = ProxyLoop(
                    loop: loop, limits: share, server: shared, resolver: resolver, disk: disk, computing: computing,
                    loopGate: loopGates[index])
                made.begin()
                return made
            }
        } catch {
            disk.stop()
            computing.stop()
            try? self.ownGroup?.syncShutdownGracefully()
            throw error
        }
    }

    /// The loop that accepts connections.
    var first: any EventLoop { self.loopGates[0].loop }

    /// Called when nothing is in flight any more. Stops repeated work and the server's own threads.
    func stop() {
        _ = try? self.loops.map { $0.end() }
        for loopGate in self.loopGates { loopGate.shut() }
        // Stopped before the loops, because their running work ends with a call to a loop.
        self.resolver.stop()
        self.disk.stop()
        self.computing.stop()
        // Waits until the loops have run those calls.
        _ = try? self.loops.map { _ in }
        try? self.ownGroup?.syncShutdownGracefully()
    }
}

/// The event loops that a server runs on, and whether they end with it.
public enum EventLoopProvider: Sendable {
    /// This many threads of its own, which end when the server stops.
    case own(Int)
    /// All loops of a group that the caller owns. The group has to run until the server has stopped, and keeps running after that. Both
    /// `MultiThreadedEventLoopGroup.singleton` and a single event loop are such groups.
    case shared(any EventLoopGroup)

    /// A thread for each core, up to four: a single recorder writes for all of them, and more threads would only wait for it.
    public static var standard: EventLoopProvider { .own(min(4, max(1, System.coreCount))) }
}
