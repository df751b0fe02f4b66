public import Dispatch
public import Foundation

extension HTTPSession {
    /// A request whose response is collected in memory, with or without a body to upload.
    // SAFETY: see Request; nothing is stored here.
    public final class DataRequest: Request, @unchecked Sendable {}
}

extension HTTPSession.DataRequest: HTTPSession.ContentRequest {
    public typealias Content = Data
    public typealias TaskRequest = HTTPSession.DataRequest

    /// Calls a handler with the unserialized response, after all handlers added before it, or at once if the request has ended.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (HTTPSession.DataResponse<Data?>) -> Void
    ) -> Self {
        self.add(queue, { HTTPSession.DataResponse($0, $0.body) }, completionHandler)
        return self
    }

    /// Calls a handler on `queue` with the value that a serializer makes of the response. The serializer runs on another queue.
    @discardableResult
    public func response<Serializer: HTTPSession.ResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (HTTPSession.DataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        self.add(queue, { [core] in core.respond($0, responseSerializer) }, completionHandler)
        return self
    }

    /// The value that a serializer makes of the response.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializing<Serializer: HTTPSession.ResponseSerializer>(
        _ serializer: Serializer, automaticallyCancelling: Bool = true
    ) -> HTTPSession.DataTask<Serializer.SerializedObject> {
        HTTPSession.DataTask(self, cancelsAutomatically: automaticallyCancelling) { [core] in core.respond($0, serializer) }
    }
}
