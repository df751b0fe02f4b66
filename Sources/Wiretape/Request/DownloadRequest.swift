internal import CassetteModel
public import Dispatch
public import Foundation
internal import TapeBytes

extension HTTPSession {
    /// A request whose response is written to a file as it arrives, with constant memory.
    // SAFETY: see Request; nothing is stored here.
    public final class DownloadRequest: Request, @unchecked Sendable {
        /// The actions that are allowed in order to move a file to its destination.
        public struct Options: OptionSet, Sendable, Hashable {
            /// Creates the folders of the destination.
            public static let createIntermediateDirectories = Options(rawValue: 1)
            /// Replaces an existing file, in one step.
            public static let removePreviousFile = Options(rawValue: 2)

            public let rawValue: Int

            public init(rawValue: Int) { self.rawValue = rawValue }
        }

        /// Returns the destination of a complete, valid response. Called once, before the first handler.
        public typealias Destination =
            @Sendable (_ temporaryURL: URL, _ response: Response) -> (destinationURL: URL, options: Options)

        /// A destination in a folder, named as the response suggests: by Content-Disposition, or the last part of the URL. The name is never a
        /// path.
        public static func suggestedDownloadDestination(in folder: URL, options: Options = []) -> Destination {
            { _, response in (folder.appendingPathComponent(Self.fileName(response)), options) }
        }

        /// The URL of the file: its destination, or a file in the temporary folder if no destination was given. The caller then has to
        /// remove it. Nil before the end, and if the request failed.
        public var fileURL: URL? { self.data.withLock { $0.outcome?.fileURL } }

        /// The data that ``HTTPSession/download(resumingWith:interceptor:to:)`` needs to continue this download: after
        /// `cancel(producingResumeData:)`, a network failure or a timeout. Nil before the end, and if the download cannot be continued.
        /// This is so if nothing has arrived, if the response has a content coding, or if it has neither a strong entity tag nor a date to
        /// prove that the rest belongs to it (RFC 9110, 13.1.5).
        ///
        /// Reading this keeps the partial file in the temporary folder; otherwise it is removed with the request. The data contains the
        /// path of this file and the request's header fields, including credentials.
        public var resumeData: Data? { self.data.withLock { $0.outcome }?.resumption?() }

        /// Ends the request with an error with the code `cancelled`, unless it has ended.
        ///
        /// - Parameter producesResumeData: whether `resumeData` is wanted. Otherwise the partial file is removed.
        @discardableResult
        public func cancel(producingResumeData producesResumeData: Bool) -> Self {
            self.data.withLock { $0.options.keepsPart = producesResumeData }
            return self.cancel()
        }

        /// Cancels the request, and calls a handler with the resume data, or with nil if the download cannot be continued.
        @discardableResult
        public func cancel(byProducingResumeData handler: @escaping @Sendable (_ data: Data?) -> Void) -> Self {
            self.cancel(producingResumeData: true)
            handler(self.resumeData)
            return self
        }

        static func fileName(_ response: Response) -> String {
            let suggested =
                response.headers.value(for: "Content-Disposition").flatMap(self.fileName(disposition:)) ?? response.url.lastPathComponent
            // Split at the separators of all systems, so that no response chooses the folder.
            let name = suggested.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
            return name.isEmpty || name.allSatisfy { $0 == "." } ? "unknown" : name
        }

        /// Prefers the extended name to the plain one (RFC 6266, 4.3). Foundation's own `suggestedFilename` is "Unknown" on Linux if there is
        /// none.
        private static func fileName(disposition: String) -> String? {
            let parameters = MIMEParameters(disposition.utf8).parameters
            if let extended = parameters.first(where: { $0.name == "filename*" }) {
                let parts = String(decoding: extended.value, as: UTF8.self).split(
                    separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
                if parts.count == 3, parts[0].lowercased() == "utf-8", let name = String(parts[2]).removingPercentEncoding { return name }
            }
            return parameters.first { $0.name == "filename" }.map { String(decoding: $0.value, as: UTF8.self) }
        }
    }
}

extension HTTPSession.DownloadRequest: HTTPSession.ContentRequest {
    public typealias Content = URL
    public typealias TaskRequest = HTTPSession.DownloadRequest

    /// Calls a handler with the unserialized response, after all handlers added before it, or at once if the request has ended.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (HTTPSession.DownloadResponse<URL?>) -> Void
    ) -> Self {
        self.add(queue, { HTTPSession.DownloadResponse($0, $0.fileURL) }, completionHandler)
        return self
    }

    /// Calls a handler on `queue` with the value that a serializer makes of the response. The serializer runs on another queue.
    @discardableResult
    public func response<Serializer: HTTPSession.DownloadResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (HTTPSession.DownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        self.add(queue, { [core] in core.respond(download: $0, responseSerializer) }, completionHandler)
        return self
    }

    /// Calls a handler with the URL of the file.
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (HTTPSession.DownloadResponse<URL>) -> Void
    ) -> Self {
        self.response(queue: queue, responseSerializer: HTTPSession.URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// The value that a serializer makes of the response.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializing<Serializer: HTTPSession.DownloadResponseSerializer>(
        _ serializer: Serializer, automaticallyCancelling: Bool = true
    ) -> HTTPSession.DownloadTask<Serializer.SerializedObject> {
        HTTPSession.DownloadTask(self, cancelsAutomatically: automaticallyCancelling) { [core] in core.respond(download: $0, serializer) }
    }

    /// The URL of the file.
    public func serializingDownloadedFileURL(automaticallyCancelling: Bool = true) -> HTTPSession.DownloadTask<URL> {
        self.serializing(HTTPSession.URLResponseSerializer(), automaticallyCancelling: automaticallyCancelling)
    }
}
