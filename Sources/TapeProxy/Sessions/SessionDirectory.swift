internal import LocalHTTP
/// The sessions that a shared port serves, by the names that clients give as their user.
///
/// Not Sendable: lives on its event loop.
final class SessionDirectory {
    private struct Entry {
        var token: Secret
        var session: ProxyContext
    }

    private var entries: [String: Entry] = [:]
    /// Compared if there is no such session, so that timing does not reveal which names exist.
    private let nobody = Secret.random()

    func add(_ session: ProxyContext, name: SessionName, token: Secret) {
        self.entries[name.text] = Entry(token: token, session: session)
    }

    func remove(_ name: SessionName) { self.entries[name.text] = nil }

    /// - Parameter fieldValue: the value of `Proxy-Authorization`.
    func session(for fieldValue: String?) -> ProxyContext? {
        guard let parts = BasicCredentials(fieldValue)?.parts else { return nil }
        let entry = self.entries[String(decoding: parts.user, as: UTF8.self)]
        guard (entry?.token ?? self.nobody).isEqual(to: parts.password) else { return nil }
        return entry?.session
    }
}
