internal import NIOCore

/// Keeps upstream connections between exchanges, newest first, since the newest is the least likely to be closed already.
///
/// Dials nothing. Not Sendable: lives on its event loop.
final class UpstreamPool {
    /// The unused connections of one route; a connection knows its shelf, so that putting it back looks nothing up.
    final class Shelf {
        fileprivate var idle: [(upstream: UpstreamHandler, until: NIODeadline)] = []
        /// Whether the pool has forgotten it.
        fileprivate var isForgotten = false
    }

    private let limits: ProxyLimits
    private var shelves: [UpstreamRoute: Shelf] = [:]
    private(set) var count = 0

    init(limits: ProxyLimits) {
        self.limits = limits
    }

    /// Takes a connection that still stands.
    func take(_ route: UpstreamRoute) -> UpstreamHandler? {
        guard let shelf = self.shelves[route] else { return nil }
        while let last = shelf.idle.popLast() {
            self.count -= 1
            last.upstream.shelf = nil
            if last.upstream.isOpen { return last.upstream }
        }
        return nil
    }

    func put(_ upstream: UpstreamHandler, now: NIODeadline) {
        let shelf = self.shelf(of: upstream)
        guard upstream.isOpen, self.count < self.limits.idleInAll, shelf.idle.count < self.limits.idlePerOrigin else {
            return upstream.close()
        }
        upstream.owner = nil
        upstream.shelf = shelf
        // Reading goes on, so that an origin's close is seen.
        upstream.setReading(true)
        shelf.idle.append((upstream, now + .seconds(Int64(self.limits.upstreamIdle))))
        self.count += 1
    }

    private func shelf(of upstream: UpstreamHandler) -> Shelf {
        if let shelf = upstream.homeShelf, !shelf.isForgotten { return shelf }
        let shelf = self.shelves[upstream.route] ?? Shelf()
        self.shelves[upstream.route] = shelf
        upstream.homeShelf = shelf
        upstream.pool = self
        return shelf
    }

    /// Closes what nobody has used in time, and forgets routes that were not asked for again.
    func sweep(now: NIODeadline) {
        for (route, shelf) in self.shelves {
            let late = shelf.idle.prefix { $0.until <= now }
            self.count -= late.count
            shelf.idle.removeFirst(late.count)
            for entry in late { entry.upstream.close() }
            guard shelf.idle.isEmpty else { continue }
            shelf.isForgotten = true
            self.shelves[route] = nil
        }
    }

    func closeAll() {
        let all = self.shelves.values
        self.shelves = [:]
        self.count = 0
        for shelf in all {
            shelf.isForgotten = true
            let idle = shelf.idle
            shelf.idle = []
            for entry in idle { entry.upstream.close() }
        }
    }

    /// An unused connection was closed by its origin.
    func ended(_ upstream: UpstreamHandler) {
        guard let shelf = upstream.shelf, let index = shelf.idle.firstIndex(where: { $0.upstream === upstream }) else { return }
        shelf.idle.remove(at: index)
        upstream.shelf = nil
        self.count -= 1
    }
}
