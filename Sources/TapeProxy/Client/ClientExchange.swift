internal import NIOCore

/// What a client connection is busy with between a request's head and the end of its answer; called on the event loop.
protocol ClientExchange: AnyObject {
    /// Begins, once the client connection knows of it.
    func start()
    /// Takes body octets from the front of `input`; what lies behind the request's end stays.
    func requestInput(_ input: inout ByteBuffer)
    /// Whether the request was read to its end, so that the rest of the input is the next one's.
    var isRequestRead: Bool { get }
    func clientReadComplete()
    func clientWritabilityChanged(_ isWritable: Bool)
    /// The client ended its side. Returns whether the exchange goes on without it (a tunnel's other direction).
    func clientEnded() -> Bool
    /// The proxy stops, and the time for what is in flight is over; the client's connection closes next.
    func proxyStopped()
    /// The client's connection is gone.
    func clientLeft(_ reason: String)
    /// The exchange has waited longer than it may.
    func deadlinePassed()
    /// Nothing is in flight: a proxy that stops need not wait.
    var isIdle: Bool { get }
}
