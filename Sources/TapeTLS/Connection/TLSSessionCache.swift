internal import COpenSSL

/// Sessions that servers gave, to resume with (RFC 8446, 2.2): the newest for each key, of the keys used last.
///
/// The key has to name all that the session was judged by: host, port, name and policy. Not Sendable: lives where its connections
/// live.
public final class TLSSessionCache {
    private struct Entry {
        var session: OpaquePointer
        var used: UInt64
    }

    private var entries: [String: Entry] = [:]
    private var clock: UInt64 = 0
    private let capacity: Int

    /// A session with its chain of certificates takes some 10 KiB.
    public init(capacity: Int = 256) {
        self.capacity = capacity
    }

    deinit {
        for entry in self.entries.values { SSL_SESSION_free(entry.session) }
    }

    public var count: Int { self.entries.count }

    /// Takes over one reference.
    func store(_ session: OpaquePointer, for key: String) {
        self.clock += 1
        if let old = self.entries.updateValue(Entry(session: session, used: self.clock), forKey: key) { SSL_SESSION_free(old.session) }
        guard self.entries.count > self.capacity, let oldest = self.entries.min(by: { $0.value.used < $1.value.used }) else { return }
        SSL_SESSION_free(oldest.value.session)
        self.entries[oldest.key] = nil
    }

    /// Lends a session, if one can be resumed.
    func withSession(for key: String, _ body: (OpaquePointer) -> Void) {
        guard var entry = self.entries[key] else { return }
        guard SSL_SESSION_is_resumable(entry.session) == 1 else { return self.remove(key) }
        self.clock += 1
        entry.used = self.clock
        self.entries[key] = entry
        body(entry.session)
    }

    /// Forgets a session that did not work.
    public func remove(_ key: String) {
        if let entry = self.entries.removeValue(forKey: key) { SSL_SESSION_free(entry.session) }
    }
}
