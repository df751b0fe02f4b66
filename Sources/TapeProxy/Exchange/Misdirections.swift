internal import TapeBytes

/// Requests of HTTP/2 that were answered with 421 in a tunnel to another server, until their clients ask again on another connection, as
/// browsers do that share one connection among several hosts (RFC 9113, 9.1.2).
///
/// What never comes again was not forwarded, and nobody knows, since the client may not care about the status.
final class Misdirections: Sendable {
    struct Request: Sendable, Hashable {
        var method: String
        /// The host that it names, perhaps with a port.
        var authority: String
        /// The authority of the tunnel's server.
        var tunnel: String
        /// Of the proxy's answer.
        var text: String
    }

    /// Far more than clients have under way.
    static let limit = 10_000

    private let waiting = Guarded<[String: [Request]]>([:])

    /// - Returns: false if there are too many already.
    func wait(for request: Request, url: String) -> Bool {
        self.waiting.withLock { waiting in
            let key = Self.key(request.method, url)
            guard waiting.count < Self.limit, waiting[key, default: []].count < Self.limit else { return false }
            waiting[key, default: []].append(request)
            return true
        }
    }

    /// A request came to the server that it is for.
    func arrived(method: String, url: String) {
        self.waiting.withLock { waiting in
            guard !waiting.isEmpty else { return }
            let key = Self.key(method, url)
            guard waiting[key]?.popLast() != nil else { return }
            if waiting[key]?.isEmpty == true { waiting[key] = nil }
        }
    }

    /// Those that have not come again. Forgets them.
    func end() -> [Request] {
        self.waiting.withLock { waiting in
            defer { waiting = [:] }
            return waiting.sorted { $0.key < $1.key }.flatMap(\.value)
        }
    }

    private static func key(_ method: String, _ url: String) -> String { "\(method) \(url)" }
}
