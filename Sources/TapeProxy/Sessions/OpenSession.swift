internal import NIOConcurrencyHelpers
internal import NIOCore
internal import TapeCore

/// One session of a server: its cassette and recorder, and where clients reach it.
///
/// Sends and decides nothing: see `ProxyContext` and `Session`.
final class OpenSession: Sendable {
    let name: SessionName
    let order: SessionOrder
    let token: Secret
    let session: Session
    let recorder: Recorder?
    /// Nil where nothing is replayed.
    let cassette: RecordedCassette?
    let counts: NIOLockedValueBox<ProxyCounts>
    let proxy: NIOLoopBound<ProxyContext>
    /// The listener of a port of its own.
    let listener: (any Channel)?

    init(
        name: SessionName, order: SessionOrder, token: Secret, session: Session, recorder: Recorder?, cassette: RecordedCassette?,
        counts: NIOLockedValueBox<ProxyCounts>, proxy: NIOLoopBound<ProxyContext>, listener: (any Channel)?
    ) {
        self.name = name
        self.order = order
        self.token = token
        self.session = session
        self.recorder = recorder
        self.cassette = cassette
        self.counts = counts
        self.proxy = proxy
        self.listener = listener
    }

    /// The port of its own.
    var port: Int? { self.listener?.localAddress?.port }

    /// How it is doing.
    ///
    /// - Parameter isDetailed: exchange by exchange too.
    func report(isDetailed: Bool = false) -> SessionReport {
        SessionReport(
            name: self.name, cassette: self.order.cassette, mode: self.order.mode, isOpen: true,
            recorded: self.cassette?.answerableCount ?? 0,
            counts: self.counts.withLockedValue { $0 }, verdict: self.session.verdict(),
            details: isDetailed ? self.session.report(name: self.order.cassette, cassette: self.cassette) : nil,
            recorder: self.recorder?.currentStatus)
    }

    /// What came of it: closes the cassette, once nothing is in flight any more. Waits for the disk.
    ///
    /// - Parameter keepsOld: a cassette that the recording was to replace stays.
    func close(keepsOld: Bool) -> SessionReport {
        var file: String?
        var problem: String?
        do throws(CassetteError) {
            file = try self.recorder?.close(keepsOld: keepsOld)
        } catch {
            problem = error.message
        }
        var report = self.report(isDetailed: true)
        report.isOpen = false
        report.file = file
        report.problem = problem
        return report
    }
}
