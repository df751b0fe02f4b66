internal import CassetteModel
internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One exchange with the network.
final class LiveTask: TransportTask {
    let number: Int
    private let task: URLSessionTask
    private let request: TransportRequest
    private let relay: EventRelay
    /// Its session lives as long as there are exchanges.
    private let transport: LiveTransport
    private let isAnswered = Guarded(false)

    init(
        _ task: URLSessionTask, request: TransportRequest, transport: LiveTransport,
        receive: @escaping @Sendable (TransportEvent) -> Demand
    ) {
        self.number = task.taskIdentifier
        self.task = task
        self.request = request
        self.transport = transport
        self.relay = EventRelay(receive)
    }

    func cancel() {
        self.relay.cancel()
        self.task.cancel()
    }

    func resume() {
        self.relay.resume()
        #if !canImport(FoundationNetworking)
        if self.task.state == .suspended { self.task.resume() }
        #endif
    }

    // MARK: What URLSession says, on its delegate queue

    func sent(_ count: Int64) {
        guard let size = self.request.body.size else { return }
        self.push(.sent(min(count, Int64(size)), of: Int64(size)))
    }

    func received(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let headers = ReceivedHeaders.list(response.allHeaderFields)
        guard response.statusCode >= 200 else { return self.push(.interim(status: response.statusCode, headers: headers)) }
        // A redirect that is not followed may be told twice.
        let isFirst = self.isAnswered.withLock { isAnswered in
            defer { isAnswered = true }
            return !isAnswered
        }
        if isFirst { self.push(.head(HTTPResponse(url: self.request.url, status: response.statusCode, headers: headers))) }
    }

    func received(_ data: Data) { self.push(.chunk(data)) }

    #if !canImport(FoundationNetworking)
    func collected(_ metrics: URLSessionTaskMetrics) {
        if let metrics = ExchangeMetrics(metrics) { self.push(.metrics(metrics)) }
    }
    #endif

    #if !canImport(FoundationNetworking)
    /// URLSession says "cancelled" behind this.
    func distrusted(_ error: ServerTrustError) {
        self.push(.failed(TransportFailure(.network(.tls), error.message, underlying: error)))
    }
    #endif

    func ended(_ error: (any Error)?) {
        guard let error else {
            guard self.isAnswered.withLock({ $0 }) else {
                let message = "\(self.name) ended without an answer: look at what the origin sends."
                return self.push(.failed(TransportFailure(.network(.malformed), message)))
            }
            return self.push(.end)
        }
        let system = error as NSError
        let kind: TransportFailure.Kind =
            system.domain == NSURLErrorDomain
            ? .network(
                FailureTable.current.kind(
                    of: system.code, isAnswered: self.isAnswered.withLock { $0 }, isSecure: self.request.url.scheme?.lowercased() == "https"
                ))
            : .unsupported
        self.push(.failed(TransportFailure(kind, "\(self.name) failed: \(system.localizedDescription)", underlying: error)))
    }

    private var name: String { "\(self.request.method) \"\(RequestDecider.url(of: self.request))\"" }

    private func push(_ event: TransportEvent) {
        self.relay.push(event)
        #if !canImport(FoundationNetworking)
        guard self.relay.isPaused, self.task.state == .running else { return }
        self.task.suspend()
        // Somebody may have resumed in between.
        if !self.relay.isPaused, self.task.state == .suspended { self.task.resume() }
        #endif
    }
}
