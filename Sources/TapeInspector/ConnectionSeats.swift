/// Decides which connections an inspector keeps open.
///
/// Connections that have not shown the token have a small limit of their own, and the oldest of them makes room for a new one. Any web page
/// can open such connections (`<link rel=preconnect>`), so they never take room from those that have shown it.
struct ConnectionSeats<ID: Hashable> {
    /// A browser opens six connections to a server, and loads the page before it sends the token.
    static var strangerLimit: Int { 16 }
    /// Connections that have shown the token: a few open pages.
    static var knownLimit: Int { 64 }

    /// In order of arrival.
    private var strangers: [ID] = []
    private var known: Set<ID> = []

    /// - Returns: the connection to close; nil if there is room.
    mutating func arrived(_ id: ID) -> ID? {
        self.strangers.append(id)
        return self.strangers.count > Self.strangerLimit ? self.strangers.removeFirst() : nil
    }

    /// The connection has shown the token.
    ///
    /// - Returns: whether there is room for it.
    mutating func admitted(_ id: ID) -> Bool {
        self.strangers.removeAll { $0 == id }
        guard self.known.contains(id) || self.known.count < Self.knownLimit else { return false }
        self.known.insert(id)
        return true
    }

    mutating func left(_ id: ID) {
        self.strangers.removeAll { $0 == id }
        self.known.remove(id)
    }
}
