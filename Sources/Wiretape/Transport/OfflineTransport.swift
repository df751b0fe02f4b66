/// Refuses each request: nobody recorded an answer, and nobody is to be asked.
struct OfflineTransport: Transport {
    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        let message =
            "\(request.method) \"\(LogURL.text(request.url))\" has no cassette, and \(FallbackTransport.variable) keeps it from the network: make it in the task of its test, or through Session(cassette:), or unset the variable."
        _ = receive(.failed(TransportFailure(.unsupported, message)))
        return FinishedTask.shared
    }
}
