public import Dispatch
public import Foundation

extension DownloadRequest: ContentRequest {
    public typealias Content = URL
    public typealias TaskRequest = DownloadRequest

    /// Calls a handler with the answer as it is, behind all handlers that were added before; at once where the request is over.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (DownloadResponse<URL?>) -> Void
    ) -> Self {
        self.add(queue, { DownloadResponse($0, $0.fileURL) }, completionHandler)
        return self
    }

    /// What a serializer makes of the answer. It works off the queue; the handler is called on it.
    @discardableResult
    public func response<Serializer: DownloadResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        self.add(queue, { [core] in core.respond(download: $0, responseSerializer) }, completionHandler)
        return self
    }

    /// Where the file is.
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (DownloadResponse<URL>) -> Void
    ) -> Self {
        self.response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// What a serializer makes of the answer.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializing<Serializer: DownloadResponseSerializer>(
        _ serializer: Serializer, automaticallyCancelling: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> {
        DownloadTask(self, cancelsAutomatically: automaticallyCancelling) { [core] in core.respond(download: $0, serializer) }
    }

    /// Where the file is.
    public func serializingDownloadedFileURL(automaticallyCancelling: Bool = true) -> DownloadTask<URL> {
        self.serializing(URLResponseSerializer(), automaticallyCancelling: automaticallyCancelling)
    }
}
