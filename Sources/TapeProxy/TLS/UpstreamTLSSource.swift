internal import NIOConcurrencyHelpers
internal import TapeTLS

/// The client's end of TLS for all sessions and event loops of one server, made when it is first needed: reading roots takes its time.
final class UpstreamTLSSource: Sendable {
    private let settings: TLSSettings?
    private let made = NIOLockedValueBox<UpstreamTLS?>(nil)

    /// - Parameter settings: nil where HTTPS is not intercepted.
    init(_ settings: TLSSettings?) {
        self.settings = settings
    }

    func get() throws(TLSFailure) -> UpstreamTLS {
        guard let settings else { throw TLSFailure(cause: .other, message: "this proxy was started without TLS") }
        // The one lock held while files are read: another loop that needs the roots meanwhile could do nothing without them.
        let result = self.made.withLockedValue { made -> Result<UpstreamTLS, TLSFailure> in
            if let made { return .success(made) }
            let result = Result { () throws(TLSFailure) in try UpstreamTLS(settings) }
            made = try? result.get()
            return result
        }
        return try result.get()
    }
}
