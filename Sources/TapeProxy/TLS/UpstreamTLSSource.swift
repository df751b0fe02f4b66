internal import TapeTLS

/// The client's end of TLS for all sessions of one proxy, made when it is first needed: reading roots takes its time.
///
/// Not Sendable: lives on its event loop.
final class UpstreamTLSSource {
    private let settings: TLSSettings?
    private var tls: UpstreamTLS?

    /// - Parameter settings: nil where HTTPS is not intercepted.
    init(_ settings: TLSSettings?) {
        self.settings = settings
    }

    func get() throws(TLSFailure) -> UpstreamTLS {
        if let tls { return tls }
        guard let settings else { throw TLSFailure(cause: .other, message: "this proxy was started without TLS") }
        let tls = try UpstreamTLS(settings)
        self.tls = tls
        return tls
    }
}
