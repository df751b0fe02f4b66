/// How long making a connection took, in milliseconds.
struct DialTiming {
    /// Nil where the host was an address.
    var dns: Double?
    var connect: Double
    /// Nil where there was no handshake.
    var tls: Double?
}
