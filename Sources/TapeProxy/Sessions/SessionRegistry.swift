/// The sessions of a server, their states and the cassettes they use. Each cassette has one writer, or any number of readers.
///
/// Does not open or close anything itself. A session is first reserved, then open, then closing, and then gone.
struct SessionRegistry<Session: Sendable>: Sendable {
    private enum State: Sendable {
        case reserved
        case open(Session)
        case closing
    }

    private struct Entry: Sendable {
        var state: State
        var cassette: String
        var writes: Bool
    }

    private let limit: Int
    private var entries: [SessionName: Entry] = [:]
    /// In the order of their start.
    private var names: [SessionName] = []
    private var lastNumber = 0
    private var isStopping = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Reserves a name and a cassette for a session that is about to be opened.
    ///
    /// - Parameter name: nil picks a free one.
    mutating func reserve(_ name: SessionName?, cassette: String, writes: Bool) throws(SessionError) -> SessionName {
        guard !self.isStopping else { throw Self.stopping }
        guard self.entries.count < self.limit else {
            throw SessionError(.tooMany, "\(self.limit) sessions are open, which is the limit: end one with DELETE /sessions/ID.")
        }
        if let name, self.entries[name] != nil {
            throw SessionError(.nameTaken, "there is already a session \"\(name)\": end it, or choose another name.")
        }
        try self.check(cassette, writes: writes)
        let name = name ?? self.freeName()
        self.entries[name] = Entry(state: .reserved, cassette: cassette, writes: writes)
        self.names.append(name)
        return name
    }

    /// Turns a session that was reserved as a reader into a writer, because its expired cassette is recorded again.
    mutating func willWrite(_ name: SessionName) throws(SessionError) {
        guard let entry = self.entries[name], !entry.writes else { return }
        try self.check(entry.cassette, writes: true, but: name)
        self.entries[name]?.writes = true
    }

    private func check(_ cassette: String, writes: Bool, but own: SessionName? = nil) throws(SessionError) {
        guard let other = self.names.first(where: { $0 != own && self.conflicts($0, cassette: cassette, writes: writes) }) else { return }
        let does = self.entries[other]?.writes == true ? "records into" : "replays"
        throw SessionError(
            .cassetteInUse, "session \"\(other)\" \(does) \"\(cassette)\": end it first, or name another cassette.")
    }

    private func conflicts(_ name: SessionName, cassette: String, writes: Bool) -> Bool {
        guard let entry = self.entries[name], entry.cassette == cassette else { return false }
        return entry.writes || writes
    }

    private mutating func freeName() -> SessionName {
        repeat { self.lastNumber += 1 } while self.entries[SessionName(number: self.lastNumber)] != nil
        return SessionName(number: self.lastNumber)
    }

    /// - Throws: `stopping` if the server is stopping. The caller must then close the session.
    mutating func opened(_ name: SessionName, _ session: Session) throws(SessionError) {
        guard !self.isStopping else { throw Self.stopping }
        self.entries[name]?.state = .open(session)
    }

    func session(_ name: SessionName) throws(SessionError) -> Session {
        guard case .open(let session)? = self.entries[name]?.state else { throw self.missing(name) }
        return session
    }

    /// All open sessions, in the order of their start.
    var open: [Session] {
        self.names.compactMap { name in
            guard case .open(let session)? = self.entries[name]?.state else { return nil }
            return session
        }
    }

    /// Prevents other calls from ending the session or reporting on it. Its name and cassette stay reserved.
    mutating func beginClosing(_ name: SessionName) throws(SessionError) -> Session {
        let session = try self.session(name)
        self.entries[name]?.state = .closing
        return session
    }

    /// The session has closed, or could not be opened.
    mutating func closed(_ name: SessionName) {
        self.entries[name] = nil
        self.names.removeAll { $0 == name }
    }

    /// Refuses new sessions from now on.
    ///
    /// - Returns: the sessions that the caller must close.
    mutating func stop() -> [Session] {
        self.isStopping = true
        let open = self.open
        for name in self.names {
            if case .open? = self.entries[name]?.state { self.entries[name]?.state = .closing }
        }
        return open
    }

    private func missing(_ name: SessionName) -> SessionError {
        switch self.entries[name]?.state {
        case .reserved: SessionError(.notFound, "session \"\(name)\" is being opened: try again after the answer to its POST.")
        case .closing: SessionError(.notFound, "session \"\(name)\" is being closed: the answer to its DELETE has the verdict.")
        case .open, nil: SessionError(.notFound, "there is no session \"\(name)\": GET /sessions lists the open ones.")
        }
    }

    private static var stopping: SessionError {
        SessionError(.stopping, "wiretape is stopping: open sessions after it has been restarted.")
    }
}
