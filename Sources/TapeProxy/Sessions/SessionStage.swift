internal import NIOCore

/// The sessions of a server as one of its event loops knows them.
///
/// Touches no file. Not Sendable: lives on its event loop.
final class SessionStage {
    let shared: ProxyLoop
    let directory = SessionDirectory()
    /// Where a client of the shared port is until it has named a session. Nothing is replayed, dialled or recorded there.
    let lobby: ProxyContext

    init(shared: ProxyLoop, lobby: ProxyContext) {
        self.shared = shared
        self.lobby = lobby
    }

    /// The event loop's side of a session; nobody finds it yet.
    func makeContext(_ common: SharedSession) -> ProxyContext {
        let context = ProxyContext(shared: self.shared, common: common)
        context.listens(at: self.lobby.address)
        return context
    }
}
