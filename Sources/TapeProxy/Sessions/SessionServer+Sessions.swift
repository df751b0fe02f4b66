internal import NIOConcurrencyHelpers
internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// Sessions are opened, looked at and ended.
extension SessionServer {
    /// Opens the cassette and lets clients in.
    ///
    /// - Throws: `SessionError` for an order that cannot be, `CassetteError` for a cassette that cannot, `MatchRuleError` for its rules.
    func open(_ order: SessionOrder) throws -> OpenSession {
        let path = try self.configuration.folder.cassette(order.cassette)
        // Under the lock: of two sessions that find no cassette only one may make it.
        let (plan, name) = try self.book.withLockedValue { book in
            let plan = try RecordingPlan(path: path, mode: order.mode, exists: CassettePlace.exists(path))
            return (plan, try book.reserve(order.name, cassette: path, writes: plan.target != .nothing))
        }
        do {
            let open = try self.open(order, plan, name)
            do {
                try self.book.withLockedValue { try $0.opened(name, open) }
            } catch {
                try? self.beginEnd(open).wait()
                _ = open.close(keepsOld: true)
                throw error
            }
            return open
        } catch {
            self.book.withLockedValue { $0.closed(name) }
            throw error
        }
    }

    private func open(_ order: SessionOrder, _ plan: RecordingPlan, _ name: SessionName) throws -> OpenSession {
        let notice = self.notice
        let tell: @Sendable (String) -> Void = { notice("session \"\(name)\": \($0)") }
        let cassette = plan.replays ? try RecordedCassette(path: plan.path) : nil
        if let damage = cassette?.damage { tell(damage.summary + ".") }
        let session = try order.session(for: cassette)
        let recorder = try Recorder(plan, version: self.configuration.version) { tell($0) }
        if let repaired = recorder?.repaired { tell(repaired.summary + ".") }
        do {
            return try self.admit(order, name, session: session, cassette: cassette, recorder: recorder, notice: tell)
        } catch {
            try recorder?.abandon()
            throw error
        }
    }

    private func admit(
        _ order: SessionOrder, _ name: SessionName, session: Session, cassette: RecordedCassette?, recorder: Recorder?,
        notice: @escaping @Sendable (String) -> Void
    ) throws -> OpenSession {
        let counts = NIOLockedValueBox(ProxyCounts())
        let token = Secret.random()
        let stage = self.stage
        let loop = stage.eventLoop
        let (proxy, entrance) = try loop.submit {
            let proxy = stage.value.makeContext(
                session, cassette: cassette, recorder: recorder, cassetteName: order.cassette, counts: counts, notice: notice)
            return (NIOLoopBound(proxy, eventLoop: loop), NIOLoopBound(Entrance.open, eventLoop: loop))
        }.wait()
        let listener =
            order.wantsPort
            ? try ProxyListener.bind(
                host: self.configuration.host, port: 0, interfaces: self.interfaces, session: proxy, entrance: entrance
            ).wait() : nil
        let door = self.door
        recorder?.onDrain { door.execute { proxy.value.recorderDrained() } }
        try loop.submit { stage.value.directory.add(proxy.value, name: name, token: token) }.wait()
        return OpenSession(
            name: name, order: order, token: token, session: session, recorder: recorder, cassette: cassette,
            counts: counts,
            proxy: proxy, listener: listener)
    }

    /// How a session is doing.
    ///
    /// - Throws: `SessionError`.
    func report(on name: SessionName) throws -> SessionReport {
        try self.book.withLockedValue { try $0.session(name) }.report(isDetailed: true)
    }

    /// How all are doing, in the order of their start.
    func reports() -> [SessionReport] {
        self.book.withLockedValue { $0.open }.map { $0.report() }
    }

    /// Lets nobody in any more, lets what is in flight end within the grace period, and closes the cassette.
    ///
    /// - Parameter keepsOld: a cassette that the recording was to replace stays, the recording beside it.
    /// - Throws: `SessionError`.
    func end(_ name: SessionName, keepsOld: Bool) throws -> SessionReport {
        let session = try self.book.withLockedValue { try $0.beginClosing(name) }
        try? self.beginEnd(session).wait()
        let report = session.close(keepsOld: keepsOld)
        self.book.withLockedValue { $0.closed(name) }
        return report
    }

    /// Succeeds when no client is with the session any more.
    func beginEnd(_ session: OpenSession) -> EventLoopFuture<Void> {
        let stage = self.stage
        let done = stage.eventLoop.makePromise(of: Void.self)
        let port = session.port
        let listener = session.listener
        let ended = listener?.close().flatMapError { _ in stage.eventLoop.makeSucceededVoidFuture() }
        (ended ?? stage.eventLoop.makeSucceededVoidFuture()).whenComplete { _ in
            stage.value.directory.remove(session.name)
            if let port { stage.value.shared.dialer.noLongerListens(on: port) }
            session.proxy.value.stop(then: done)
        }
        return done.futureResult
    }
}
