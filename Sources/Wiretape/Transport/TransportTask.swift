/// An exchange on its way.
public protocol TransportTask: Sendable {
    /// Gives the exchange up. Where it has not ended, `failed` with the kind `cancelled` comes as its last event, once; else nothing happens.
    func cancel()

    /// Goes on behind a `pause`. Harmless where there was none; one that comes before the transport has seen the pause counts.
    func resume()
}
