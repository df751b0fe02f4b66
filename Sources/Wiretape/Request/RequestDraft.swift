internal import CassetteStore

/// A request before adapters, cookies and credentials.
struct RequestDraft: Sendable {
    var request: TransportRequest
    /// In place of the session's.
    var idleTimeout: Duration?
    /// Keeps the file of the body as long as the request lives.
    var spool: TemporaryFile?

    init(_ request: TransportRequest, idleTimeout: Duration? = nil, spool: TemporaryFile? = nil) {
        self.request = request
        self.idleTimeout = idleTimeout
        self.spool = spool
    }
}
