/// Refuses every request: nobody has said where to.
struct NoTransport: Transport {
    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        _ = receive(
            .failed(
                TransportFailure(
                    .unsupported,
                    "\(request.method) \"\(request.url.absoluteString)\" has no transport: give the session one, or run it with a cassette")
            ))
        return FinishedTask.shared
    }
}
