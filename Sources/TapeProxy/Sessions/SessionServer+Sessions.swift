internal import NIOConcurrencyHelpers
internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// Sessions are looked at and ended.
extension SessionServer {
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
