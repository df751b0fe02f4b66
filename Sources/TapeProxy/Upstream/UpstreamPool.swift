internal import NIOCore

/// Keeps upstream connections between exchanges, newest first, since the newest is the least likely to be closed already.
///
/// An origin may close an unused connection at any moment, also while a request is on its way. A request that can be sent again takes any
/// connection, and is sent again if that one was closed. Any other takes only one that its own client has used before: a connection of
/// another client is never the reason why it fails (docs/decisions/0029-whose-connection.md). Dials nothing. Not Sendable: lives on its
/// event loop.
final class UpstreamPool {
    /// The unused connections of one route; a connection knows its list, so that putting it back needs no lookup.
    final class IdleList {
        fileprivate struct Entry {
            let stream: HTTP1UpstreamStream
            let until: NIODeadline
            /// The client connection that used it last.
            let client: Int
        }

        fileprivate var entries: [Entry] = []
        /// Whether it was removed from the pool.
        fileprivate var isRemoved = false
    }

    private let limits: ProxyLimits
    private let clock: EventClock
    private let log: ProxyLog
    private var lists: [UpstreamRoute: IdleList] = [:]
    /// One for each route, shared by its exchanges.
    private var shared: [UpstreamRoute: HTTP2UpstreamConnection] = [:]
    private(set) var count = 0
    /// Shared with the session's other event loops.
    let substitutes: RouteSubstitutes

    init(limits: ProxyLimits, clock: EventClock, substitutes: RouteSubstitutes = RouteSubstitutes(), log: ProxyLog = ProxyLog()) {
        self.limits = limits
        self.substitutes = substitutes
        self.clock = clock
        self.log = log
    }

    /// Takes a connection that is still open.
    ///
    /// - Parameters:
    ///   - client: the number of the client connection that the request came on.
    ///   - isRepeatable: the request may be sent again on another connection.
    func take(_ route: UpstreamRoute, client: Int, isRepeatable: Bool) -> (any UpstreamStream)? {
        let route = self.substitutes.route(for: route)
        if let stream = self.share(route) { return stream }
        guard let list = self.lists[route] else { return nil }
        while let index = isRepeatable ? list.entries.indices.last : list.entries.lastIndex(where: { $0.client == client }) {
            let stream = list.entries.remove(at: index).stream
            self.count -= 1
            guard stream.isOpen else { continue }
            self.log.poolTook(stream.connection.id)
            return stream
        }
        return nil
    }

    /// A stream of the route's shared connection; nil if there is none that takes new requests.
    func share(_ route: UpstreamRoute) -> HTTP2UpstreamStream? {
        guard let connection = self.shared[route], connection.isUsable else { return nil }
        return connection.makeStream()
    }

    /// All exchanges of its route share the connection from now on.
    func put(_ connection: HTTP2UpstreamConnection) {
        self.shared.updateValue(connection, forKey: connection.route)?.endSoon()
    }

    func put(_ stream: HTTP1UpstreamStream, client: Int) {
        let list = self.list(of: stream)
        guard stream.isOpen, self.count < self.limits.idleInAll, list.entries.count < self.limits.idlePerOrigin else {
            self.log.upstreamClosed(stream.connection.id, reason: "pool full")
            return stream.cancel()
        }
        self.log.poolPut(stream.connection.id)
        // Reading continues, so that the origin's close is noticed.
        stream.setReading(true)
        list.entries.append(
            IdleList.Entry(stream: stream, until: self.clock.now + .seconds(Int64(self.limits.upstreamIdle)), client: client))
        self.count += 1
    }

    private func list(of stream: HTTP1UpstreamStream) -> IdleList {
        if let list = stream.idleList, !list.isRemoved { return list }
        let list = self.lists[stream.route] ?? IdleList()
        self.lists[stream.route] = list
        stream.idleList = list
        return list
    }

    /// Closes connections that were unused for too long, and removes routes without any.
    func sweep(now: NIODeadline) {
        for (route, connection) in self.shared {
            if let since = connection.idleSince, since + .seconds(Int64(self.limits.upstreamIdle)) <= now { connection.endSoon() }
            if !connection.isUsable { self.shared[route] = nil }
        }
        for (route, list) in self.lists {
            let late = list.entries.prefix { $0.until <= now }
            self.count -= late.count
            list.entries.removeFirst(late.count)
            for entry in late {
                self.log.upstreamClosed(entry.stream.connection.id, reason: "idle too long")
                entry.stream.cancel()
            }
            guard list.entries.isEmpty else { continue }
            list.isRemoved = true
            self.lists[route] = nil
        }
    }

    func closeAll() {
        for connection in self.shared.values { connection.endSoon() }
        self.shared = [:]
        let all = self.lists.values
        self.lists = [:]
        self.count = 0
        for list in all {
            list.isRemoved = true
            let entries = list.entries
            list.entries = []
            for entry in entries { entry.stream.cancel() }
        }
    }

    /// An unused connection ended.
    func ended(_ stream: HTTP1UpstreamStream) {
        guard let list = stream.idleList, let index = list.entries.firstIndex(where: { $0.stream === stream }) else { return }
        list.entries.remove(at: index)
        self.count -= 1
        self.log.upstreamClosed(stream.connection.id, reason: "ended by the origin, or sent unexpected bytes")
    }
}
