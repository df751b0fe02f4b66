/// Decides which connections a server on a loopback address keeps open.
///
/// Connections that have not presented the token have a small limit of their own, and the oldest of them makes room for a new one. Any web
/// page can open such connections (`<link rel=preconnect>`), so they never take room from connections that have presented it.
package struct ConnectionSeats<ID: Hashable> {
    /// A browser opens six connections to a server and loads a page before it sends the token.
    package static var strangerLimit: Int { 16 }

    private let knownLimit: Int
    /// In order of arrival.
    private var strangers: [ID] = []
    private var known: Set<ID> = []

    /// - Parameter knownLimit: limit for connections that have presented the token.
    package init(knownLimit: Int) { self.knownLimit = knownLimit }

    /// - Returns: the connection to close; nil if there is room.
    package mutating func arrived(_ id: ID) -> ID? {
        self.strangers.append(id)
        return self.strangers.count > Self.strangerLimit ? self.strangers.removeFirst() : nil
    }

    /// The connection has presented the token.
    ///
    /// - Returns: whether there is room for it.
    package mutating func admitted(_ id: ID) -> Bool {
        self.strangers.removeAll { $0 == id }
        guard self.known.contains(id) || self.known.count < self.knownLimit else { return false }
        self.known.insert(id)
        return true
    }

    package mutating func left(_ id: ID) {
        self.strangers.removeAll { $0 == id }
        self.known.remove(id)
    }
}
