internal import NIOCore

/// Keeps upstream connections between exchanges. The newest is used first, because it is the least likely to have been closed.
///
/// An origin may close an unused connection at any moment, even while a request is on its way. A repeatable request takes any connection
/// and is sent again if that one was closed. Any other request takes only a connection that its own client has used before, so that it
/// never fails because of another client's connection (docs/decisions/0029-whose-connection.md). A connection that is authenticated for a
/// client serves that client alone (docs/decisions/0079-authenticated-connections.md). Never dials. Not Sendable: lives on its event loop.
final class UpstreamPool {
    /// The unused connections of one route. Each connection knows its list, so putting it back needs no lookup.
    final class IdleList {
        fileprivate struct Entry {
            let stream: HTTP1UpstreamStream
            let until: NIODeadline
            /// The client connection that used it last.
            let client: Int
        }

        fileprivate var entries: [Entry] = []
        /// Whether the list was removed from the pool.
        fileprivate var isRemoved = false
    }

    private let limits: ProxyLimits
    private let clock: EventClock
    private let log: ProxyLog
    private var lists: [UpstreamRoute: IdleList] = [:]
    /// One connection for each route, shared by its exchanges.
    private var shared: [UpstreamRoute: HTTP2UpstreamConnection] = [:]
    private(set) var count = 0
    /// The client connections that have upstream connections of their own.
    private var owners: Set<Int> = []
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
    ///   - client: the number of the client connection on which the request arrived.
    ///   - isRepeatable: the request may be sent again on another connection.
    func take(_ route: UpstreamRoute, client: Int, isRepeatable: Bool) -> (any UpstreamStream)? {
        if self.owners.contains(client), let stream = self.takeOwn(route, client: client) { return stream }
        let route = self.substitutes.route(for: route)
        if let stream = self.share(route) { return stream }
        return self.take(from: self.lists[route]) { $0.stream.owner == nil && (isRepeatable || $0.client == client) }
    }

    /// Takes a connection that serves this client alone, whichever versions its route offered. One that was opened for a request with
    /// credentials comes first, as it may be the authenticated one.
    private func takeOwn(_ route: UpstreamRoute, client: Int) -> HTTP1UpstreamStream? {
        for route in [route.ofHTTP1] + self.lists.keys.filter({ $0.offersOtherVersions(than: route) }) {
            if let stream = self.take(from: self.lists[route], where: { $0.stream.owner == client }) { return stream }
        }
        return nil
    }

    /// Takes the newest connection in the list that is open and fits.
    private func take(from list: IdleList?, where fits: (IdleList.Entry) -> Bool) -> HTTP1UpstreamStream? {
        guard let list else { return nil }
        while let index = list.entries.lastIndex(where: fits) {
            let stream = list.entries.remove(at: index).stream
            self.count -= 1
            guard stream.isOpen else { continue }
            self.log.poolTook(stream.connection.id)
            return stream
        }
        return nil
    }

    /// From now on, the client has an upstream connection of its own.
    func bound(to client: Int) { self.owners.insert(client) }

    /// A client connection has closed, so the upstream connections of its own close too.
    func clientClosed(_ client: Int) {
        guard self.owners.remove(client) != nil else { return }
        for list in self.lists.values {
            let own = list.entries.filter { $0.stream.owner == client }
            guard !own.isEmpty else { continue }
            list.entries.removeAll { $0.stream.owner == client }
            self.count -= own.count
            for entry in own {
                self.log.upstreamClosed(entry.stream.connection.id, reason: "its client has left")
                entry.stream.cancel()
            }
        }
    }

    /// A stream of the route's shared connection; nil if none takes new requests.
    func share(_ route: UpstreamRoute) -> HTTP2UpstreamStream? {
        guard let connection = self.shared[route], connection.isUsable else { return nil }
        return connection.makeStream()
    }

    /// From now on, all exchanges of the connection's route share it.
    func put(_ connection: HTTP2UpstreamConnection) {
        self.shared.updateValue(connection, forKey: connection.route)?.endSoon()
    }

    func put(_ stream: HTTP1UpstreamStream, client: Int) {
        let list = self.list(of: stream)
        // The client left during the exchange.
        if let owner = stream.owner, !self.owners.contains(owner) { return stream.cancel() }
        guard stream.isOpen, self.count < self.limits.idleInAll, list.entries.count < self.limits.idlePerOrigin else {
            self.log.upstreamClosed(stream.connection.id, reason: "pool full")
            return stream.cancel()
        }
        self.log.poolPut(stream.connection.id)
        // Keep reading, so that a close by the origin is noticed.
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

    /// Closes connections that have been idle for too long, and removes routes without connections.
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

    /// The origin ended an unused connection.
    func ended(_ stream: HTTP1UpstreamStream) {
        guard let list = stream.idleList, let index = list.entries.firstIndex(where: { $0.stream === stream }) else { return }
        list.entries.remove(at: index)
        self.count -= 1
        self.log.upstreamClosed(stream.connection.id, reason: "ended by the origin, or sent unexpected bytes")
    }
}
