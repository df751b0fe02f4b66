internal import NIOCore

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
        let report = self.close(session, keepsOld: keepsOld)
        self.book.withLockedValue { $0.closed(name) }
        return report
    }

    /// Succeeds when no client is with the session any more.
    func beginEnd(_ session: OpenSession) -> EventLoopFuture<Void> {
        let stages = self.stages
        let ownPorts = self.loops.shared.ownPorts
        let closed = session.listener?.close().flatMapErrorThrowing { _ in } ?? self.loops.first.makeSucceededVoidFuture()
        return closed.hop(to: self.loops.first).flatMap {
            // On each loop before the session stops there.
            stages.execute { $0.directory.remove(session.name) }
            if let port = session.port { ownPorts.remove(port) }
            return session.common.stop(session.contexts)
        }
    }

    /// Closes the cassette of a session that nobody is with any more, and writes down what came of it.
    func close(_ session: OpenSession, keepsOld: Bool) -> SessionReport {
        let report = session.close(keepsOld: keepsOld)
        let log = self.loops.shared.log
        log.sessionEnded(report)
        if let recorder = report.recorder {
            if recorder.lost > 0 { log.recorderProblem(lost: recorder.lost, session: session.name) }
            if !recorder.leaks.isEmpty { log.secretsLeft(recorder.leaks.count, session: session.name) }
        }
        return report
    }
}
