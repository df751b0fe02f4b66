/// Which sessions there are, how far they have come, and who has which cassette: one writer, or any number of readers.
///
/// Opens and closes nothing: a session is reserved, open, closing, and gone.
struct SessionBook<Session: Sendable>: Sendable {
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

    /// Takes a name and a cassette for a session that is about to be opened.
    ///
    /// - Parameter name: nil takes a free one.
    mutating func reserve(_ name: SessionName?, cassette: String, writes: Bool) throws(SessionError) -> SessionName {
        guard !self.isStopping else { throw Self.stopping }
        guard self.entries.count < self.limit else {
            throw SessionError(.tooMany, "\(self.limit) sessions are open, which is the most: end one with DELETE /sessions/ID.")
        }
        if let name, self.entries[name] != nil {
            throw SessionError(.nameTaken, "there is a session \"\(name)\" already: end it, or choose another name.")
        }
        try self.check(cassette, writes: writes)
        let name = name ?? self.freeName()
        self.entries[name] = Entry(state: .reserved, cassette: cassette, writes: writes)
        self.names.append(name)
        return name
    }

    /// A session that was reserved as a reader records, since its cassette is too old.
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

    /// - Throws: `stopping` where everything ends meanwhile: the caller has to close it.
    mutating func opened(_ name: SessionName, _ session: Session) throws(SessionError) {
        guard !self.isStopping else { throw Self.stopping }
        self.entries[name]?.state = .open(session)
    }

    func session(_ name: SessionName) throws(SessionError) -> Session {
        guard case .open(let session)? = self.entries[name]?.state else { throw self.missing(name) }
        return session
    }

    /// All that are open, in the order of their start.
    var open: [Session] {
        self.names.compactMap { name in
            guard case .open(let session)? = self.entries[name]?.state else { return nil }
            return session
        }
    }

    /// From now on nobody else may end the session, or ask about it; its name and its cassette stay taken.
    mutating func beginClosing(_ name: SessionName) throws(SessionError) -> Session {
        let session = try self.session(name)
        self.entries[name]?.state = .closing
        return session
    }

    /// The session is gone, or never came to be.
    mutating func closed(_ name: SessionName) {
        self.entries[name] = nil
        self.names.removeAll { $0 == name }
    }

    /// Lets nobody in any more.
    ///
    /// - Returns: the sessions that the caller has to close.
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
        case .reserved: SessionError(.notFound, "session \"\(name)\" is being started: ask again when its POST is answered.")
        case .closing: SessionError(.notFound, "session \"\(name)\" is being ended: the answer to its DELETE has the verdict.")
        case .open, nil: SessionError(.notFound, "there is no session \"\(name)\": GET /sessions lists those there are.")
        }
    }

    private static var stopping: SessionError { SessionError(.stopping, "wiretape is being stopped: no session can be started.") }
}
