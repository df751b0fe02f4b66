internal import CassetteStore

/// Where the request of a load comes from.
enum LoadSource: Sendable {
    /// At once, where the load was started.
    case ready(TransportRequest)
    /// Elsewhere: its body has to be read first, or the transport must not be asked where URLSession calls.
    case later(@Sendable (_ done: @escaping @Sendable (Result<Made, TransportFailure>) -> Void) -> Void)

    struct Made: Sendable {
        var request: TransportRequest
        /// Its body, where it was too large for the memory: lives as long as the load.
        var file: TemporaryFile?
    }
}
