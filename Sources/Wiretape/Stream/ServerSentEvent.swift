/// An event of a stream of the type `text/event-stream` (HTML Living Standard, 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// `message` where the stream names none.
    public var event: String
    /// The lines of `data`, joined by LF.
    public var data: String
    /// The last that the stream has named, in this event or before; empty where it named none.
    public var id: String
    /// How long to wait before the stream is asked for again, as the stream said last.
    public var retry: Duration?

    public init(event: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }
}
