internal import Foundation
internal import TapeCore

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension Request {
    /// How the request ended; cancelled with the task that waits for it, where that is wanted.
    func outcome(cancelsAutomatically: Bool) async -> RequestOutcome {
        if let outcome = self.data.withLock({ $0.outcome }) { return outcome }
        guard cancelsAutomatically else { return await self.outcome() }
        return await withTaskCancellationHandler {
            await self.outcome()
        } onCancel: {
            self.cancel()
        }
    }

    /// Runs a serializer and takes its time.
    func serialized<Value>(_ outcome: RequestOutcome, _ serialize: () throws -> Value) -> (Result<Value, WiretapeError>, RequestMetrics) {
        let start = self.core.clock.elapsed()
        let result = Result(catching: serialize).mapError { WiretapeError($0, as: .serialization) }
        let end = self.core.clock.elapsed()
        let failure: WiretapeError? = if case .failure(let error) = result { error } else { nil }
        self.core.emit(.serialized(duration: end - start, error: failure), of: self)
        var metrics = outcome.metrics
        metrics.timeline.serializationCompleted = end - outcome.start
        return (result, metrics)
    }

    /// A handler that makes a response where serializers work, and hands it over on a queue.
    func add<Response: Sendable>(
        _ queue: DispatchQueue, _ make: @escaping @Sendable (RequestOutcome) -> Response, _ handler: @escaping @Sendable (Response) -> Void
    ) {
        self.add { outcome, done in
            SessionCore.serializationQueue.async {
                let response = make(outcome)
                queue.async {
                    self.withItsCassette { handler(response) }
                    done()
                }
            }
        }
    }
}

extension TransportRequest {
    fileprivate func view(for serializer: some Any) -> URLRequest {
        guard serializer is any MethodSerializer else { return URLRequest(self) }
        var view = URLRequest(url: self.url)
        view.httpMethod = self.method
        return view
    }
}

extension DataRequest {
    func respond<Serializer: ResponseSerializer>(
        _ outcome: RequestOutcome, _ serializer: Serializer
    ) -> DataResponse<Serializer.SerializedObject> {
        let last = outcome.last
        let (result, metrics) = self.serialized(outcome) {
            if let error = outcome.error { throw error }
            return try serializer.serialize(
                request: last.request?.view(for: serializer), response: last.response, data: outcome.data, error: nil)
        }
        return DataResponse(outcome, result, metrics)
    }
}

extension DownloadRequest {
    func respond<Serializer: DownloadResponseSerializer>(
        _ outcome: RequestOutcome, _ serializer: Serializer
    ) -> DownloadResponse<Serializer.SerializedObject> {
        let last = outcome.last
        let (result, metrics) = self.serialized(outcome) {
            if let error = outcome.error { throw error }
            return try serializer.serializeDownload(
                request: last.request?.view(for: serializer), response: last.response, fileURL: outcome.fileURL, error: nil)
        }
        return DownloadResponse(outcome, result, metrics)
    }
}
