/// What was read of a request before it was decided what becomes of it.
struct ReadAhead {
    /// The whole request was read.
    var isRead = false
    /// The body's octets; nil where there are none, or nobody could want them.
    var body: HeldBody?
    /// The client was told to send the body (RFC 9110, 10.1.1).
    var toldToGoOn = false
}
