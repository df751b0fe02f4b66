/// Where the octets of an answer go.
enum BodySink: Sendable {
    /// Into the request's own data.
    case memory
    case file(DownloadFile)
    case stream(StreamHub)
}
