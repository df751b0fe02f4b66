internal import COpenSSL

/// The settings of client connections: versions, trusted roots, callbacks.
// SAFETY: the context is never changed after init; OpenSSL counts its references atomically and locks its store of roots.
public struct TLSClientContext: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer
    let keyLog: KeyLog?

    /// - Parameters:
    ///   - trustsSystem: whether to trust the system's roots, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    ///   - roots: files with additional roots in PEM.
    public init(minimum: TLSVersion = .tls12, trustsSystem: Bool = true, roots: [String] = [], keyLog: KeyLog? = nil) throws(TLSFailure) {
        let context = try ContextSettings.make(TLS_client_method(), minimum: minimum, keyLog: keyLog)
        do throws(TLSFailure) {
            try Self.trust(context, trustsSystem: trustsSystem, roots: roots)
        } catch {
            SSL_CTX_free(context)
            throw error
        }
        self.pointer = context
        self.keyLog = keyLog
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(context, { store, _ in PeerVerifier.verify(store) }, nil)
        _ = wiretape_ctx_set_session_cache_mode(context, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
        SSL_CTX_sess_set_new_cb(context) { ssl, session in
            guard let session, let state = ConnectionState.of(ssl), let sessions = state.sessions else { return 0 }
            sessions.store(session, for: state.sessionKey)
            return 1
        }
        // Called if no certificate is set.
        SSL_CTX_set_client_cert_cb(context) { ssl, _, _ in
            ConnectionState.of(ssl)?.lacksCertificate = true
            return 0
        }
    }

    private static func trust(_ context: OpaquePointer, trustsSystem: Bool, roots: [String]) throws(TLSFailure) {
        if trustsSystem { SSL_CTX_set_default_verify_paths(context) }
        for file in roots {
            ERR_clear_error()
            guard SSL_CTX_load_verify_file(context, file) == 1 else {
                throw TLSFailure(
                    cause: .other, message: "\"\(file)\" has no certificates in PEM: use a file with the authority's certificate.",
                    reasons: ErrorQueue.drain())
            }
        }
    }

    deinit {
        SSL_CTX_free(self.pointer)
    }
}

/// Sessions to resume (RFC 8446, 2.2): the newest for each key, for the most recently used keys.
///
/// The key must identify everything that a session was checked against: host, port, name and policy. Not Sendable: lives where its
/// connections live.
public final class TLSSessionCache {
    private struct Entry {
        var session: OpaquePointer
        var used: UInt64
    }

    private var entries: [String: Entry] = [:]
    private var clock: UInt64 = 0
    private let capacity: Int

    /// A session with its chain of certificates takes about 10 KiB.
    public init(capacity: Int = 256) {
        self.capacity = capacity
    }

    deinit {
        for entry in self.entries.values { SSL_SESSION_free(entry.session) }
    }

    public var count: Int { self.entries.count }

    /// Takes over one reference to the session.
    func store(_ session: OpaquePointer, for key: String) {
        self.clock += 1
        if let old = self.entries.updateValue(Entry(session: session, used: self.clock), forKey: key) { SSL_SESSION_free(old.session) }
        guard self.entries.count > self.capacity, let oldest = self.entries.min(by: { $0.value.used < $1.value.used }) else { return }
        SSL_SESSION_free(oldest.value.session)
        self.entries[oldest.key] = nil
    }

    /// Calls `body` with the session if it can be resumed. The cache remains its owner.
    func withSession(for key: String, _ body: (OpaquePointer) -> Void) {
        guard var entry = self.entries[key] else { return }
        guard SSL_SESSION_is_resumable(entry.session) == 1 else { return self.remove(key) }
        self.clock += 1
        entry.used = self.clock
        self.entries[key] = entry
        body(entry.session)
    }

    /// Removes a session that could not be resumed.
    public func remove(_ key: String) {
        if let entry = self.entries.removeValue(forKey: key) { SSL_SESSION_free(entry.session) }
    }
}
