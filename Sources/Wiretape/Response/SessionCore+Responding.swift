internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

// What runs when a request is over: without the request itself, which its waiting handlers would keep alive.
extension SessionCore {
    func respond<Serializer: ResponseSerializer>(
        _ outcome: RequestOutcome, _ serializer: Serializer
    ) -> DataResponse<Serializer.SerializedObject> {
        self.respond(outcome) { last in
            try serializer.serialize(
                request: last.request?.view(for: serializer), response: last.response, data: outcome.data, error: nil)
        }
    }

    func respond<Serializer: DownloadResponseSerializer>(
        download outcome: RequestOutcome, _ serializer: Serializer
    ) -> DownloadResponse<Serializer.SerializedObject> {
        self.respond(outcome) { last in
            try serializer.serializeDownload(
                request: last.request?.view(for: serializer), response: last.response, fileURL: outcome.fileURL, error: nil)
        }
    }

    /// Runs a serializer where there is something for it, and takes its time.
    private func respond<Content, Value>(
        _ outcome: RequestOutcome, _ serialize: (_ last: RequestAttempt) throws -> Value
    ) -> ContentResponse<Content, Value> {
        let start = self.clock.elapsed()
        let result = Result {
            if let error = outcome.error { throw error }
            return try serialize(outcome.last)
        }.mapError { WiretapeError($0, as: .serialization) }
        let end = self.clock.elapsed()
        let failure: WiretapeError? = if case .failure(let error) = result { error } else { nil }
        self.emit(.serialized(duration: end - start, error: failure), of: outcome.id)
        var metrics = outcome.metrics
        metrics.timeline.serializationCompleted = end - outcome.start
        return ContentResponse(outcome, result, metrics)
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
