internal import TapeExchange

/// Tells whether listening on a host lets in nobody but this machine.
enum LoopbackHost {
    /// Loopback addresses in their usual notation, and `localhost` (RFC 6761, 6.3); no other name, whatever it resolves to.
    static func contains(_ host: String) -> Bool {
        host.lowercased() == "localhost" || IPAddress(host)?.isLoopback == true
    }
}
