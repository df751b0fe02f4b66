public import Dispatch

/// A request whose answer is kept whole, in memory or in a file, until serializers make values of it.
///
/// ``DataRequest``, ``UploadRequest`` and ``DownloadRequest`` are such; a ``StreamRequest`` keeps nothing.
public protocol ContentRequest: Request {
    /// What the body is kept as: `Data`, or the `URL` of a file.
    associatedtype Content: Sendable
    /// What its tasks have for their request: for an upload, a ``DataRequest``.
    associatedtype TaskRequest: ContentRequest where TaskRequest.Content == Content

    /// Calls a handler with the answer as it is, behind all handlers that were added before; at once where the request is over.
    @discardableResult
    func response(
        queue: DispatchQueue, completionHandler: @escaping @Sendable (ContentResponse<Content, Content?>) -> Void
    ) -> Self

    /// What a serializer makes of the answer. It works off the queue; the handler is called on it.
    @discardableResult
    func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (ContentResponse<Content, Serializer.SerializedObject>) -> Void
    ) -> Self

    /// What a serializer makes of the answer.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    func serializing<Serializer: ResponseSerializer>(
        _ serializer: Serializer, automaticallyCancelling: Bool
    ) -> ContentTask<TaskRequest, Serializer.SerializedObject>
}
